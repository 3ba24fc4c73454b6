/* Gives pods with hostNetwork the names of services through /etc/hosts. Such pods are not in the
 * pod network, so they cannot reach the DNS responder there. The responder cannot serve the
 * machine's network either: a resolv.conf cannot name a port, and port 53 of the machine may belong
 * to another server. So /etc/hosts lists the headless services that select pods with hostNetwork on
 * this machine, with the addresses of these pods. A pod that is not ready is left out, unless the
 * service has publishNotReadyAddresses. Other services are not listed. The file is updated while
 * the pod runs. The node runtime owns the object, and the planner writes the first version of the
 * file. */
#ifndef TRAINYARD_NODE_NAMES_HOST_NAMES_H
#define TRAINYARD_NODE_NAMES_HOST_NAMES_H

#include "kube/client/informer.h"

struct host_names;

struct host_names_options {
    struct loop *loop;
    const char *state_dir;
    const char *const *node_names; /* the list ends with NULL */
    /* Each points to a variable that is NULL before the informer exists. The informers must exist
     * before host_names_text() and host_names_changed() are called. */
    struct kube_informer *const *pods, *const *services;
};

struct host_names *host_names_new(const struct host_names_options *options);
struct host_names *host_names_free(struct host_names *names);

/* Returns the lines about services for the file <pod directory>/hosts of a new pod. The file has
 * them after the pod's own lines. The result is in the arena. */
const char *host_names_text(const struct host_names *names, struct arena *arena,
                            const struct json *pod);
/* Schedules an update of the files. Must be called after a service or a pod with hostNetwork has
 * changed. */
void host_names_changed(struct host_names *names);

/* The pods with hostNetwork on this machine's nodes, and their addresses. */
struct host_names_pods {
    const struct json **pods;
    const char **addresses;
    size_t count;
};
/* Computes the lines for the hosts files of the pods of a namespace. The result is in the arena.
 * Pure. */
char *host_names_lines(struct arena *arena, const char *namespace_,
                       const struct json *const *services, size_t service_count,
                       const struct host_names_pods *pods);

#endif

/* Names for pods with hostNetwork. The DNS responder is in the pod network, in which they are not;
 * a resolv.conf cannot name a port, and port 53 of the machine may belong to another server. So
 * the names of services that they can reach are lines of their /etc/hosts; a headless service
 * lists those of its pods that use the machine's network too. The file is updated while the pod
 * runs. */
#ifndef TRAINYARD_NODE_NAMES_HOST_NAMES_H
#define TRAINYARD_NODE_NAMES_HOST_NAMES_H

#include "kube/client/informer.h"

struct host_names;

struct host_names_options {
    struct loop *loop;
    const char *state_dir;
    const char *const *node_names;
    struct kube_informer *const *pods, *const *services; /* NULL until the informers exist */
};

struct host_names *host_names_new(const struct host_names_options *options);
struct host_names *host_names_free(struct host_names *names);

/* Returns the lines about services for a new pod's file, <directory>/hosts; they follow the pod's
 * own lines. */
const char *host_names_text(const struct host_names *names, struct arena *arena,
                            const struct json *pod);
/* A service or pod has changed: updates the files soon. */
void host_names_changed(struct host_names *names);

/* Computes the lines for the pods of a namespace. Pure. `pods` are those that use the machine's
 * network and are bound to this machine's nodes; `addresses` are theirs. */
struct host_names_pods {
    const struct json **pods;
    const char **addresses;
    size_t count;
};
char *host_names_lines(struct arena *arena, const char *namespace_,
                       const struct json *const *services, size_t service_count,
                       const struct host_names_pods *pods);

#endif

/* Names for pods with hostNetwork. Our DNS responder is in the pod network, where they are not; a
 * resolv.conf can name no port, and port 53 of the machine is somebody else's. So the names of the
 * services they can reach are lines of their /etc/hosts: of the headless services, the pods that
 * have the machine's network too. The file is kept true while the pod runs. */
#ifndef TRAINYARD_NODE_NAMES_HOST_NAMES_H
#define TRAINYARD_NODE_NAMES_HOST_NAMES_H

#include "kube/client/informer.h"

struct host_names;

struct host_names_options {
    struct loop *loop;
    const char *state_dir;
    const char *const *node_names;
    struct kube_informer *const *pods, *const *services; /* NULL at first */
};

struct host_names *host_names_new(const struct host_names_options *options);
struct host_names *host_names_free(struct host_names *names);

/* The part of a new pod's file, <directory>/hosts, that names the services; it follows on what the
 * pod would have by itself. */
const char *host_names_text(const struct host_names *names, struct arena *arena,
                            const struct json *pod);
/* A service or pod has changed: the files follow soon. */
void host_names_changed(struct host_names *names);

/* The lines for the pods of a namespace, from objects; pure. `pods` are those on the machine's
 * network, bound to our nodes, and `addresses` theirs. */
struct host_names_pods {
    const struct json **pods;
    const char **addresses;
    size_t count;
};
char *host_names_lines(struct arena *arena, const char *namespace_,
                       const struct json *const *services, size_t service_count,
                       const struct host_names_pods *pods);

#endif

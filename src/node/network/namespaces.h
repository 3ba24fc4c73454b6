/* Gives the rest of this module access to the cluster's namespaces. node.h declares the functions
 * that enter and end the namespaces. */
#ifndef TRAINYARD_NODE_NETWORK_NAMESPACES_H
#define TRAINYARD_NODE_NETWORK_NAMESPACES_H

#include "node/node.h"

#include <stdbool.h>
#include <stdint.h>

static inline const char *node_resolv_conf(const struct node_options *options)
{
    return options->resolv_conf ? options->resolv_conf : "/etc/resolv.conf";
}

/* Whether pods run in a user namespace of an ordinary user. */
bool node_namespaces_are_nested(const struct node_namespaces *space);
/* Returns the lock file of the process that holds the pod network. */
const char *node_namespaces_network(const struct node_namespaces *space);

/* Writes a path to the pod network's namespace, for processes that join it while the current
 * process lives. */
enum { NODE_SPACE_FILE_MAX = 64 };
void node_namespaces_network_file(const struct node_namespaces *space,
                                  char ret[NODE_SPACE_FILE_MAX]);

/* Returns the control groups that contain the control groups of this cluster's pods. */
struct cgroup_base;
const struct cgroup_base *node_namespaces_groups(const struct node_namespaces *space);

/* Creates a non-blocking socket inside the pod network. This process stays in the machine's
 * network. */
int node_namespaces_socket(struct node_namespaces *space, int domain, int type, int protocol,
                           int *ret_fd, struct err *err);

/* Like node_namespaces_socket(), but in the own network of the pod with this directory. The pod
 * must be running. */
int node_pod_socket(const char *directory, int domain, int type, int protocol, int *ret_fd,
                    struct err *err);

/* Ends the pod with this directory, even if another process started it, and waits for its end.
 * Returns 0 if it has ended already. The call waits at most for the grace period and 30 seconds
 * more, or for 3 seconds if there is no grace period. Then it kills a supervisor that has not
 * ended. In plain mode it also ends remaining processes of the pod, which it finds in /proc. */
int node_pod_end(const char *directory, bool plain, int64_t grace_ms, struct err *err);

#endif

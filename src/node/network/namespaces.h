/* Gives the rest of this module access to the cluster's namespaces, and ends single pods. node.h
 * declares the functions that create, find and end the namespaces. */
#ifndef TRAINYARD_NODE_NETWORK_NAMESPACES_H
#define TRAINYARD_NODE_NETWORK_NAMESPACES_H

#include "node/node.h"

#include <stdbool.h>
#include <stdint.h>

/* Returns the path of the file that lists the machine's name servers. */
static inline const char *node_resolv_conf(const struct node_options *options)
{
    return options->resolv_conf ? options->resolv_conf : "/etc/resolv.conf";
}

/* With namespaces: returns true if an ordinary user runs the cluster, or a root without the needed
 * privileges. Then the namespaces are created in a user namespace. Without namespaces: returns true
 * if the cluster may not become another user. In both cases true means that pods cannot run as
 * other users of the machine. */
bool node_namespaces_are_nested(const struct node_namespaces *space);
/* Returns the path of the lock file of the holder, the process that keeps the pod network. */
const char *node_namespaces_holder_lock(const struct node_namespaces *space);

/* Writes a path by which other processes can join the pod network. The path is valid until `space`
 * is freed. Must not be called if pods have no namespaces. */
enum { NODE_SPACE_FILE_MAX = 64 };
void node_namespaces_network_file(const struct node_namespaces *space,
                                  char ret[NODE_SPACE_FILE_MAX]);

/* Returns the control groups that contain the groups of this cluster's pods. They are part of
 * `space`. */
struct cgroup_base;
const struct cgroup_base *node_namespaces_groups(const struct node_namespaces *space);

/* Creates a non-blocking socket inside the pod network. The calling process stays in the machine's
 * network. */
int node_namespaces_socket(struct node_namespaces *space, int domain, int type, int protocol,
                           int *ret_fd, struct err *err);

/* Like node_namespaces_socket(), but in the network namespace of the pod with this directory.
 * Returns -ERR_UNAVAILABLE if the pod is not running. */
int node_pod_socket(const char *directory, int domain, int type, int protocol, int *ret_fd,
                    struct err *err);

/* Ends the pod with this directory, even if another process started it, and waits for its end.
 * Returns 0 also if the pod has ended already. The call waits for the grace period and 30 seconds
 * more, or for 3 seconds if there is no grace period. Then it kills a supervisor that has not
 * ended, and waits 3 seconds more. If `plain`, pods have no namespaces; then the call also ends
 * remaining processes of the pod, which it finds in /proc. */
int node_pod_end(const char *directory, bool plain, int64_t grace_ms, struct err *err);

#endif

/* The cluster's namespaces, for the rest of this module. node.h has the functions that enter and
 * end them. */
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

/* Writes a path to the pod network's namespace, for processes that join it while this one lives. */
enum { NODE_SPACE_FILE_MAX = 64 };
void node_namespaces_network_file(const struct node_namespaces *space,
                                  char ret[NODE_SPACE_FILE_MAX]);

/* Returns the groups below which this cluster's pods have their control groups. */
struct cgroup_base;
const struct cgroup_base *node_namespaces_groups(const struct node_namespaces *space);

/* Creates a non-blocking socket inside the pod network; this process stays in the machine's
 * network. */
int node_namespaces_socket(struct node_namespaces *space, int domain, int type, int protocol,
                           int *ret_fd, struct err *err);

/* Like node_namespaces_socket(), in the own network of the pod with this directory; the pod must
 * be running. */
int node_pod_socket(const char *directory, int domain, int type, int protocol, int *ret_fd,
                    struct err *err);

/* Ends the pod with this directory, whichever process started it, and waits for its end. Returns 0
 * if nothing is to do. Blocks for the grace period, and for 30 seconds more if the order cannot be
 * stored; without a grace period for at most six seconds. Processes that do not end are killed. In
 * plain mode /proc is searched for remaining processes. */
int node_pod_end(const char *directory, bool plain, int64_t grace_ms, struct err *err);

#endif

/* The cluster's namespaces as the rest of this module sees them; entering and ending them is in
 * node.h. */
#ifndef TRAINYARD_NODE_NETWORK_SPACE_H
#define TRAINYARD_NODE_NETWORK_SPACE_H

#include "node/node.h"

#include <stdbool.h>
#include <stdint.h>

static inline const char *node_resolv_conf(const struct node_options *options)
{
    return options->resolv_conf ? options->resolv_conf : "/etc/resolv.conf";
}

/* True where pods run as an ordinary user's. */
bool node_namespaces_are_nested(const struct node_namespaces *space);
/* The lock file of the process that holds the pod network. */
const char *node_namespaces_network(const struct node_namespaces *space);

/* The pod network's namespace as a path, for processes that join it while this one lives. */
enum { NODE_SPACE_FILE_MAX = 64 };
void node_namespaces_network_file(const struct node_namespaces *space,
                                  char ret[NODE_SPACE_FILE_MAX]);

/* Below which the pods of this cluster have their control groups. */
struct cgroup_base;
const struct cgroup_base *node_namespaces_groups(const struct node_namespaces *space);

/* A socket inside the pod network, while this process stays in the machine's. It does not block. */
int node_namespaces_socket(struct node_namespaces *space, int domain, int type, int protocol,
                           int *ret_fd, struct err *err);

/* The same inside the own network of the pod whose directory this is; it must be running. */
int node_pod_socket(const char *directory, int domain, int type, int protocol, int *ret_fd,
                    struct err *err);

/* End the pod whose directory this is, whoever started it, and wait for that; nothing to do is
 * fine. Blocks for the grace period, and for half a minute more if its end cannot be written down;
 * without a grace period for six seconds at most. What does not end is killed. In plain mode /proc
 * is searched for what is left of it. */
int node_pod_end(const char *directory, bool plain, int64_t grace_ms, struct err *err);

#endif

/* Finds out which members of a group share a machine, and connects them with Unix sockets, over
 * which they pass descriptors to each other. Each member of a host has one connection to the
 * leader, which is the lowest rank of the host. Members share a machine if they have the same boot
 * id and can connect to the Unix socket of the leader. The socket is in the directory that
 * TRAINYARD_PEERS_DIR names, by default /run/trainyard/peers, which pods of one job on one node
 * share. If the socket cannot be created there, an abstract socket in the network namespace is
 * used. A random token, sent over the authenticated control connections, authenticates a member
 * that connects. Called by shm only. If one member of a host fails to connect, all members of that
 * host use TCP, and all members of the group learn this. */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_HOST_LINKS_H
#define TRAINYARD_COMM_TRANSPORT_SHM_HOST_LINKS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "comm/transport/transport.h"

#include <stdbool.h>

enum { HOST_NAME_SIZE = 128 };

struct host_links {
    int *leaders; /* by rank of the group: the leader, which is the lowest rank of the same host */
    int ranks[TRANSPORT_HOST_MAX]; /* ranks of the members of this host, in ascending order */
    int count, index; /* number of members of this host, and position of this member in `ranks` */
    /* On the leader: by index, the socket to each member. On other members: [0] is the socket to
     * the leader. -1: no socket. */
    int links[TRANSPORT_HOST_MAX];
    /* Number of members on this machine or pretended host, including those that cannot share
     * memory. */
    int on_machine;
    struct err failure; /* why this member cannot share memory; code 0: no failure */
};

/* A collective call of all members of the group: finds the members of each host and connects them.
 * Tests set `pretend` to a host name, to split one machine into several hosts; NULL: the machine is
 * one host. Fails only if the group breaks. The caller frees *ret with host_links_free(). */
int host_links_open(struct control *control, const char *pretend, struct host_links **ret,
                    struct err *err);
/* Closes the sockets. NULL-safe; returns NULL. */
struct host_links *host_links_free(struct host_links *links);
DEFINE_CLEANUP(host_links)

/* Fills `leaders`, `ranks`, `count`, `index` and `on_machine`, and sets `failure` if the machine
 * has more than TRANSPORT_HOST_MAX members: these then share no memory. `hosts` has the host names
 * of all members, by rank. A member with the host name "" shares memory with no other member.
 * Called by host_links_open(); exported for tests. */
void host_links_find(struct host_links *links, const char *const *hosts, int size, int rank);

/* Exchanges one descriptor per member between the members of this host. Blocks for at most some
 * seconds. ret_fds is indexed like `ranks`. The entry of this member is -1; the caller closes the
 * others. On failure closes the sockets; other members may have received their descriptors by
 * then. */
int host_links_swap(struct host_links *links, int fd, int *ret_fds, struct err *err);

/* A collective call of all members of the group, in which each member votes with `yes`. If one
 * member of a host votes no, the members of that host no longer share memory: every member of the
 * group records each of them as its own leader. Fails only if the group breaks. */
int host_links_agree(struct host_links *links, struct control *control, bool yes, struct err *err);

#endif

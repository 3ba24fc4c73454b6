/* Finds out which members of a group share a machine, and connects them with Unix sockets, over
 * which they pass descriptors to each other. Each member of a host has one connection to the lowest
 * rank of the host, its leader. Members share a machine if they have the same boot id and can reach
 * each other by a Unix socket: in the directory TRAINYARD_PEERS_DIR, or else /run/trainyard/peers,
 * if it is writable (pods of one job on one node have it), or else in the network namespace. A
 * random token, sent over the authenticated control connections, proves who connects. Called by
 * shm. If anything fails, the members of that host use TCP, and all members of the group know it.
 */
#ifndef TRAINYARD_COMM_TRANSPORT_SHM_HOST_LINKS_H
#define TRAINYARD_COMM_TRANSPORT_SHM_HOST_LINKS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "comm/transport/transport.h"

#include <stdbool.h>

enum { HOST_NAME_SIZE = 128 };

struct host_links {
    int *leaders;                  /* by rank of the group: the lowest rank of the same host */
    int ranks[TRANSPORT_HOST_MAX]; /* the members of this host, in ascending order */
    int count, index; /* the number of members of this host, and the place of this one */
    /* leader: by index, to each member; others: [0] to the leader; -1: none. */
    int links[TRANSPORT_HOST_MAX];
    int wanted;         /* the number of members of this host if nothing had failed */
    struct err failure; /* why this member cannot share memory; code 0: it can */
};

/* A collective call. `pretend` names the host, so that a test can split one machine into several
 * hosts; NULL: the machine is one host. Fails only if the group breaks. */
int host_links_open(struct control *control, const char *pretend, struct host_links **ret,
                    struct err *err);
struct host_links *host_links_free(struct host_links *links);
DEFINE_CLEANUP(host_links)

/* Fills all fields of `links` except the connections from the host names of all members, by rank. A
 * member with the name "" shares with none. Called by host_links_open(); exported for tests. */
void host_links_find(struct host_links *links, const char *const *hosts, int size, int rank);

/* Exchanges one descriptor per member between the members of this host. ret_fds is by index; that
 * of this member is -1; the caller closes the others. Fails after some seconds; other members may
 * have received their descriptors then. */
int host_links_swap(struct host_links *links, int fd, int *ret_fds, struct err *err);

/* A collective call: asks all members for a yes. The members of a host where one says no are
 * separated: each becomes its own leader, on every member of the group. */
int host_links_agree(struct host_links *links, struct control *control, bool yes, struct err *err);

#endif

/* Which members of a group share a machine, found out by themselves, and the Unix connections over
 * which those hand each other descriptors: one from each to the lowest rank among them, their
 * leader. Members share a machine if they have the same boot id and one can be reached by a Unix
 * socket: in the directory TRAINYARD_PEERS_DIR, else /run/trainyard/peers, where that is
 * writable (pods of one job on one node have it), else in the network namespace. A fresh token,
 * told over the authenticated links, proves who connects. Called by transport_shm; where anything
 * fails, the members concerned talk over TCP, and all members know it. */
#ifndef TRAINYARD_COMM_HOST_LINKS_H
#define TRAINYARD_COMM_HOST_LINKS_H

#include "base/cleanup.h"
#include "base/err.h"
#include "comm/transport/transport.h"

#include <stdbool.h>

enum { HOST_NAME_SIZE = 128 };

struct host_links {
    int *leaders; /* by rank of the whole group; its own rank if it shares with none */
    int ranks[TRANSPORT_HOST_MAX]; /* of this host, in order */
    int count, index;              /* of this host; where this member stands among them */
    int links[TRANSPORT_HOST_MAX]; /* the leader's to all, else the first: to the leader; or -1 */
    int wanted;                    /* how many of them there would be if nothing had failed */
    struct err failure;            /* why this member could not take part, if it could not */
};

/* A collective call. `pretend` splits one machine into several hosts, for tests; NULL: it is one.
 * An error only if the group is broken. */
int host_links_open(struct control *control, const char *pretend, struct host_links **ret,
                    struct err *err);
struct host_links *host_links_free(struct host_links *links);
DEFINE_CLEANUP(host_links)

/* Who shares a host with whom, from the names of all hosts, by rank; "": that one shares with none.
 * Of host_links_open; sets all of `links` but the connections. */
void host_links_find(struct host_links *links, const char *const *hosts, int size, int rank);

/* The members of this host give each other a descriptor each: ret_fds by index, the own -1. Within
 * seconds, or an error; then the others may have got theirs. */
int host_links_swap(struct host_links *links, int fd, int *ret_fds, struct err *err);

/* A collective call: whether all members of a host say yes. Where not, they are no longer one, and
 * the table says so on every member. */
int host_links_agree(struct host_links *links, struct control *control, bool yes, struct err *err);

#endif

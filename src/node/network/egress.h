/* The path from the pod network to addresses outside of the machine. For root it is a veth pair
 * and two nf_tables tables: one in the pod network translates all pods to one address, one on the
 * machine translates that to the machine's own. For an ordinary user it is a program, pasta or
 * slirp4netns, that trainyard-step runs. Pods do not reach the machine itself through it. A
 * cluster works without egress; `up` and `status` then say in one line what is missing. */
#ifndef TRAINYARD_NODE_NETWORK_EGRESS_H
#define TRAINYARD_NODE_NETWORK_EGRESS_H

#include "base/arena.h"
#include "node/process/helper.h"

#include <netinet/in.h>
#include <stdbool.h>

/* The link in the pod network, and the addresses of its ends. */
#define EGRESS_LINK    "tyout"
#define EGRESS_RANGE   "10.246.0.0" /* /16, from which each cluster takes four addresses */
#define EGRESS_GATEWAY "10.246.0.1" /* the program's own gateway, visible only to it */
#define EGRESS_ADDRESS "10.246.0.2"

enum egress_kind { EGRESS_NONE, EGRESS_KERNEL, EGRESS_PROGRAM };

/* What was set up; stored in <state>/run/way-out. */
struct egress {
    enum egress_kind kind;
    char *program;          /* for EGRESS_PROGRAM */
    struct in_addr address; /* for EGRESS_KERNEL: the address of the inner end */
    char *complaint;        /* what is wrong, in one line; or NULL */
};

void egress_release(struct egress *way);
int egress_load(const char *state_dir, struct egress *ret, struct err *err);

/* Sets egress up, or finds what an earlier run has set up. A failure is recorded as the complaint.
 */
void egress_open(const struct helper_options *options, int network_fd, bool nested);
/* Returns what is wrong now, in one line, or NULL. */
char *egress_complaint(struct arena *arena, const char *state_dir);
/* Removes what any run has set up. The helper is ended with the other helpers (HELPER_EGRESS). */
int egress_close(const char *state_dir, struct err *err);

/* Chooses four consecutive addresses that no route in the text of /proc/net/route covers, starting
 * the search at `seed`. Returns false if none are free. Pure. */
bool egress_choose(const char *routes, uint32_t seed, struct in_addr *ret);

#endif

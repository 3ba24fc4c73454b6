/* Sets up egress: the path from the pod network to addresses outside of the machine. For root,
 * egress is a veth pair and two nf_tables tables. The table in the pod network translates all pods
 * to one address. The table on the machine translates that address to the machine's own. For an
 * ordinary user, egress is a program, pasta or slirp4netns, that trainyard-step runs. Pods cannot
 * reach the machine itself through egress. A cluster works without egress; `up` and `status` then
 * print one line about the missing part. */
#ifndef TRAINYARD_NODE_NETWORK_EGRESS_H
#define TRAINYARD_NODE_NETWORK_EGRESS_H

#include "base/arena.h"
#include "node/process/helper.h"

#include <netinet/in.h>
#include <stdbool.h>

/* The link in the pod network. If egress is a program, the ends of the link have the addresses
 * EGRESS_GATEWAY and EGRESS_ADDRESS. */
#define EGRESS_LINK  "tyout"
#define EGRESS_RANGE "10.246.0.0" /* /16, from which each cluster takes four addresses */
#define EGRESS_GATEWAY                                                                             \
    "10.246.0.1" /* the gateway inside the program; other processes do not see it */
#define EGRESS_ADDRESS "10.246.0.2"

enum egress_kind { EGRESS_NONE, EGRESS_KERNEL, EGRESS_PROGRAM };

/* The egress that was set up. It is stored in <state>/run/way-out. */
struct egress {
    enum egress_kind kind;
    char *program;          /* for EGRESS_PROGRAM */
    struct in_addr address; /* for EGRESS_KERNEL: address of the end in the pod network */
    char *complaint;        /* the problem in one line, or NULL */
};

void egress_release(struct egress *way);
int egress_load(const char *state_dir, struct egress *ret, struct err *err);

/* Sets up egress, or reuses the setup of an earlier run. A failure is recorded as the complaint. */
void egress_open(const struct helper_options *options, int network_fd, bool nested);
/* Returns the current problem in one line, or NULL. */
char *egress_complaint(struct arena *arena, const char *state_dir);
/* Removes the links, addresses and tables that root has set up, if <state>/run/way-out exists, and
 * removes that file. It does not end the egress program, which ends with the other helpers
 * (HELPER_EGRESS). */
int egress_close(const char *state_dir, struct err *err);

/* Chooses four consecutive addresses in EGRESS_RANGE that no route in the text of /proc/net/route
 * covers, except the default route. The search starts at `seed`. Returns false if none are free.
 * Pure. */
bool egress_choose(const char *routes, uint32_t seed, struct in_addr *ret);

#endif

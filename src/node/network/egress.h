/* The way from the pod network to what is beyond the machine. For root it is a pair of links and
 * two tables of nf_tables: one inside gives all pods one address, one on the machine gives that the
 * machine's own. For an ordinary user it is a program, pasta or slirp4netns, kept by
 * trainyard-step. Pods do not reach the machine itself through it. A cluster works without: what is
 * missing is told in one line, at `up` and on `status`. */
#ifndef TRAINYARD_NODE_NETWORK_WAY_OUT_H
#define TRAINYARD_NODE_NETWORK_WAY_OUT_H

#include "base/arena.h"
#include "node/process/helper.h"

#include <netinet/in.h>
#include <stdbool.h>

/* The link in the pod network, whoever made it, and who has which end of it. */
#define EGRESS_LINK    "tyout"
#define EGRESS_RANGE   "10.246.0.0" /* /16, from which each cluster takes four addresses */
#define EGRESS_GATEWAY "10.246.0.1" /* of a program's own, which nobody else sees */
#define EGRESS_ADDRESS "10.246.0.2"

enum egress_kind { EGRESS_NONE, EGRESS_KERNEL, EGRESS_PROGRAM };

/* What was made of it, in <state>/run/way-out. */
struct egress {
    enum egress_kind kind;
    char *program;          /* of WAY_OUT_PROGRAM */
    struct in_addr address; /* of WAY_OUT_KERNEL: the inner end */
    char *complaint;        /* what is not as it should be, in one line; or NULL */
};

void egress_release(struct egress *way);
int egress_load(const char *state_dir, struct egress *ret, struct err *err);

/* Make it, or find it made by an earlier life. What cannot be made is in the complaint. */
void egress_open(const struct helper_options *options, int network_fd, bool nested);
/* What is not as it should be now, in one line; NULL: nothing. */
char *egress_complaint(struct arena *arena, const char *state_dir);
/* Undo it, whoever made it. The helper is ended with the others (HELPER_WAY_OUT). */
int egress_close(const char *state_dir, struct err *err);

/* The four addresses that begin at the one returned are in no route of /proc/net/route; `seed` is
 * where to begin to look. False: none is free. Pure. */
bool egress_choose(const char *routes, uint32_t seed, struct in_addr *ret);

#endif

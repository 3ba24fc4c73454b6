/* Sets up egress: the path of packets from the pod network to addresses outside of the machine. An
 * nf_tables table in the pod network gives packets of all pods one source address. If root runs the
 * cluster, a veth pair leads to the machine, and a table on the machine translates that address to
 * the machine's own. For an ordinary user, a helper process of trainyard-step runs a program for
 * egress, pasta or slirp4netns. Pods cannot reach the machine itself through egress; but if egress
 * is a program, this holds only for the addresses that egress_forbid_machine() has blocked. A
 * cluster works without egress; 'trainyard up' and 'trainyard status' then print the reason. */
#ifndef TRAINYARD_NODE_NETWORK_EGRESS_H
#define TRAINYARD_NODE_NETWORK_EGRESS_H

#include "base/arena.h"
#include "node/process/helper.h"

#include <netinet/in.h>
#include <stdbool.h>

/* The link in the pod network. If egress is pasta, the link has EGRESS_ADDRESS, and its gateway is
 * EGRESS_GATEWAY. slirp4netns chooses its own addresses in EGRESS_RANGE. */
#define EGRESS_LINK    "tyout"
#define EGRESS_RANGE   "10.246.0.0" /* /16, from which each cluster of root takes four addresses */
#define EGRESS_GATEWAY "10.246.0.1" /* an address that only the pod network and pasta know */
#define EGRESS_ADDRESS "10.246.0.2" /* the address of the link, for pasta */

enum egress_kind { EGRESS_NONE, EGRESS_KERNEL, EGRESS_PROGRAM };

/* The egress that was set up. It is stored in <state>/run/way-out. */
struct egress {
    enum egress_kind kind;
    char *program;          /* for EGRESS_PROGRAM: the path of the program */
    struct in_addr address; /* for EGRESS_KERNEL: the address of the link in the pod network */
    char *complaint;        /* the problem with egress in one line, or NULL */
};

void egress_release(struct egress *egress);
/* Reads <state>/run/way-out. Returns -ERR_NOT_FOUND if it does not exist. The caller releases
 * *ret. */
int egress_load(const char *state_dir, struct egress *ret, struct err *err);

/* Sets up egress, or reuses the setup of an earlier run, and stores the result in
 * <state>/run/way-out. A failure is stored as the complaint. `network_fd` refers to the pod
 * network. `nested` is node_namespaces_are_nested(); if it is true, egress is a program. */
void egress_open(const struct helper_options *options, int network_fd, bool nested);
/* Returns the current problem in one line, in the arena, or NULL. */
char *egress_complaint(struct arena *arena, const char *state_dir);
/* Removes root's link and table from the machine, if <state>/run/way-out exists, and then removes
 * that file. If the removal fails, the file stays, so that the next call tries again. Does not end
 * the egress program: its helper (HELPER_EGRESS) is ended with the other helpers. */
int egress_close(const char *state_dir, struct err *err);

/* Chooses four consecutive addresses in EGRESS_RANGE that no route in `routes` covers, except the
 * default route. `routes` is the text of /proc/net/route. Sets *ret to the first of the addresses.
 * The search starts at `seed`. Returns false if none are free. Pure. */
bool egress_choose(const char *routes, uint32_t seed, struct in_addr *ret);

#endif

/* How a group comes about, at the start and again after every change: who belongs to it (lobby),
 * how its members are linked (rendezvous), and the first call that all make together. What a task
 * knows from one group to the next lives here. Where a group needs all tasks of the cluster the
 * lobby is left out. Called by comm/group only. */
#ifndef TRAINYARD_COMM_FORMATION_H
#define TRAINYARD_COMM_FORMATION_H

#include "comm/group/group.h"
#include "comm/transport/control.h"

struct formation;

/* `options` as of comm_group_open(); nothing it points to is kept but stop, report and context. */
int formation_new(const struct comm_options *options, struct formation **ret, struct err *err);
struct formation *formation_free(struct formation *formation); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(formation)

/* The caller frees *ret with formation_disband() and releases the data connections. */
int formation_connect(struct formation *formation, struct control **ret,
                      struct connection_set *ret_connections, struct err *err);

/* The group is over, by decision or by a loss: keep in mind what became of its members, and free
 * the control plane. */
void formation_disband(struct formation *formation, struct control *control);

/* This task has all that is needed to go on from: it counts from now on, and has no more patience
 * with a member of its group, whose control plane this is, than it was asked to have. */
void formation_settle(struct formation *formation, struct control *control);

/* The member has said that it ends, and does not come to the next forming: nobody waits for it. */
void formation_dismiss(struct formation *formation, int rank);

void formation_member_name(const struct formation *formation, int rank, char *text, size_t size);

/* Whether a part of the tasks can be a group. */
bool formation_is_elastic(const struct formation *formation);

/* Whether somebody waits to be let in. */
bool formation_is_wanted(struct formation *formation);

/* "2 of 3 tasks, without worker 1 (host:port)" or "all 3 tasks". */
void formation_describe(const struct formation *formation, char *text, size_t size);

#endif

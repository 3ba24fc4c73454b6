/* Forms a group, at the start and again after every change. In peer_discovery the tasks agree on
 * the members, rendezvous connects them, and a first call of all members confirms the group. A
 * group that needs all tasks of the cluster skips discovery. A struct formation keeps the data that
 * a task needs from one group to the next. Called by group.c only. */
#ifndef TRAINYARD_COMM_GROUP_FORMATION_H
#define TRAINYARD_COMM_GROUP_FORMATION_H

#include "comm/group/group.h"
#include "comm/transport/control.h"

struct formation;

/* Checks `options`, the parameter of comm_group_open(). If the group is elastic, also opens the
 * listener, which stays open until formation_free(). */
int formation_new(const struct comm_options *options, struct formation **ret, struct err *err);
struct formation *formation_free(struct formation *formation); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(formation)

/* Forms a group. Blocks until every member is connected to every other member. Fails with
 * ERR_TIMEOUT after about comm_options.join_timeout_ms. The caller ends the group with
 * formation_disband() or control_free(), and releases *ret_connections, which has the data
 * connections. */
int formation_connect(struct formation *formation, struct control **ret,
                      struct connection_set *ret_connections, struct err *err);

/* Ends the group. If the group is elastic, records the outcome of each member (enum peer_outcome)
 * for the next forming. Frees `control`, which may be NULL. */
void formation_disband(struct formation *formation, struct control *control);

/* Records that this task has the training state of the group and can continue from it after a loss.
 * Sets the peer timeout of `control` to comm_options.peer_timeout_ms. Has no effect unless the
 * group is elastic. */
void formation_settle(struct formation *formation, struct control *control);

/* Records that the process of member `rank` has announced that it ends: the next forming does not
 * wait for it. Has no effect unless the group is elastic. */
void formation_dismiss(struct formation *formation, int rank);

/* Writes the name of member `rank`, such as "worker 1 (host:port)". */
void formation_member_name(const struct formation *formation, int rank, char *text, size_t size);

/* Whether a group may consist of only some of the tasks. */
bool formation_is_elastic(const struct formation *formation);

/* Whether a task that is not a member waits to join. Never blocks. */
bool formation_is_wanted(struct formation *formation);

/* Writes "2 of 3 workers, without worker 1 (host:port)" or "all 3 workers". */
void formation_describe(const struct formation *formation, char *text, size_t size);

#endif

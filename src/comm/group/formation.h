/* Forms a group, at the start and again after every change. In peer_discovery the tasks agree on
 * the members, rendezvous connects them, and a first call of all members confirms the group. A
 * group that needs all tasks of the cluster skips discovery. A struct formation keeps the data that
 * a task needs from one group to the next. Called by group.c only. */
#ifndef TRAINYARD_COMM_GROUP_FORMATION_H
#define TRAINYARD_COMM_GROUP_FORMATION_H

#include "comm/group/group.h"
#include "comm/transport/control.h"

struct formation;

/* `options` is the parameter of comm_group_open(). */
int formation_new(const struct comm_options *options, struct formation **ret, struct err *err);
struct formation *formation_free(struct formation *formation); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(formation)

/* Forms the group. The caller later passes *ret to formation_disband(), and releases the data
 * connections in *ret_connections. */
int formation_connect(struct formation *formation, struct control **ret,
                      struct connection_set *ret_connections, struct err *err);

/* Ends the group: records the outcome of each member (enum peer_outcome), and frees `control`,
 * which may be NULL. */
void formation_disband(struct formation *formation, struct control *control);

/* Records that this task has the training state of the group and can continue from it after a loss.
 * Also sets the peer timeout of `control` to comm_options.peer_timeout_ms. */
void formation_settle(struct formation *formation, struct control *control);

/* Records that the process of member `rank` has announced that it ends: the next group is formed
 * without waiting for it. */
void formation_dismiss(struct formation *formation, int rank);

void formation_member_name(const struct formation *formation, int rank, char *text, size_t size);

/* Whether a group may consist of only some of the tasks. */
bool formation_is_elastic(const struct formation *formation);

/* Whether a task that is not a member waits to join. Never blocks. */
bool formation_is_wanted(struct formation *formation);

/* Writes "2 of 3 workers, without worker 1 (host:port)" or "all 3 workers". */
void formation_describe(const struct formation *formation, char *text, size_t size);

#endif

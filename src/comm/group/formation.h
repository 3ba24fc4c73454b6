/* Forms a group, at the start and again after every change. peer_discovery agrees on the members,
 * rendezvous connects them, and a first call of all members ends it. A group that needs all tasks
 * of the cluster skips discovery. Keeps what a task remembers from one group to the next. Called by
 * group.c only. */
#ifndef TRAINYARD_COMM_GROUP_FORMATION_H
#define TRAINYARD_COMM_GROUP_FORMATION_H

#include "comm/group/group.h"
#include "comm/transport/control.h"

struct formation;

/* `options` is that of comm_group_open(). */
int formation_new(const struct comm_options *options, struct formation **ret, struct err *err);
struct formation *formation_free(struct formation *formation); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(formation)

/* Forms the group. The caller passes *ret to formation_disband() and releases the data connections.
 */
int formation_connect(struct formation *formation, struct control **ret,
                      struct connection_set *ret_connections, struct err *err);

/* Ends the group: records what became of its members, and frees the control plane, which may be
 * NULL.
 */
void formation_disband(struct formation *formation, struct control *control);

/* This task now has the state of the group, and can continue from it after a loss. Also sets the
 * peer timeout of the group's control plane to the one of the options. */
void formation_settle(struct formation *formation, struct control *control);

/* Member `rank` has said that it ends: the next group is formed without waiting for it. */
void formation_dismiss(struct formation *formation, int rank);

void formation_member_name(const struct formation *formation, int rank, char *text, size_t size);

/* Whether some of the tasks can be a group. */
bool formation_is_elastic(const struct formation *formation);

/* Whether a task that is not a member waits to join. Never blocks. */
bool formation_is_wanted(struct formation *formation);

/* Writes "2 of 3 workers, without worker 1 (host:port)" or "all 3 workers". */
void formation_describe(const struct formation *formation, char *text, size_t size);

#endif

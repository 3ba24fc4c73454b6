/* How a group comes about, at the start and again after every change: who belongs to it (lobby),
 * how its members are linked (rendezvous), and the first call that all make together. What a task
 * knows from one group to the next lives here. Where a group needs all tasks of the cluster the
 * lobby is left out. Called by comm/group only. */
#ifndef TRAINYARD_COMM_ASSEMBLY_H
#define TRAINYARD_COMM_ASSEMBLY_H

#include "comm/group/group.h"
#include "comm/transport/control.h"

struct assembly;

/* `options` as of comm_group_open(); nothing it points to is kept but stop, report and context. */
int assembly_new(const struct comm_options *options, struct assembly **ret, struct err *err);
struct assembly *assembly_free(struct assembly *assembly); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(assembly)

/* The caller frees *ret with assembly_part() and releases the data connections. */
int assembly_form(struct assembly *assembly, struct control **ret,
                  struct connection_set *ret_connections, struct err *err);

/* The group is over, by decision or by a loss: keep in mind what became of its members, and free
 * the control plane. */
void assembly_part(struct assembly *assembly, struct control *control);

/* This task has all that is needed to go on from: it counts from now on, and has no more patience
 * with a member of its group, whose control plane this is, than it was asked to have. */
void assembly_settle(struct assembly *assembly, struct control *control);

/* The member has said that it ends, and does not come to the next forming: nobody waits for it. */
void assembly_dismiss(struct assembly *assembly, int rank);

void assembly_name(const struct assembly *assembly, int rank, char *text, size_t size);

/* Whether a part of the tasks can be a group. */
bool assembly_is_elastic(const struct assembly *assembly);

/* Whether somebody waits to be let in. */
bool assembly_is_wanted(struct assembly *assembly);

/* "2 of 3 tasks, without worker 1 (host:port)" or "all 3 tasks". */
void assembly_describe(const struct assembly *assembly, char *text, size_t size);

#endif

/* A group of training processes that compute together: the chief and the workers of a cluster, with
 * ranks in that order. Opened once by every member, then all members make the same calls in the
 * same order; a member that makes another call, dies or does not come is named in the error. The
 * inside of <trainyard/comm.h>, called by train and by the benches.
 *
 * A group is used by one thread at a time; progress is made inside the calls. After an error the
 * group is broken and every later call answers with the same error, until it is formed anew.
 *
 * A group needs all tasks of the cluster, or, with `min_members`, as many as are left: then a
 * member that is lost is left out when the group is formed anew, and one that comes (back) is let
 * in at the next forming. Ranks are always 0, 1, … in the order of the tasks that are in it.
 */
#ifndef TRAINYARD_COMM_GROUP_H
#define TRAINYARD_COMM_GROUP_H

#include "base/cleanup.h"
#include "base/err.h"

#include <trainyard/tf_config.h>

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct collective_allreduce;
struct comm_group;
struct shared_memory;

enum { COMM_CHANNELS_MAX = 8 };

enum comm_wire {
    COMM_WIRE_F32,
    COMM_WIRE_BF16, /* large sums travel rounded to 8 bits of mantissa, in half the bytes */
};

enum comm_transport {
    COMM_TRANSPORT_AUTO, /* shared memory between members on one machine, TCP between others */
    COMM_TRANSPORT_TCP,  /* TCP between all */
};

struct comm_options {
    const struct ty_tf_config *config; /* must have this process as chief or worker */
    uint64_t shape;                    /* hash of the model's shape; all members must agree */
    const char *shape_text;            /* what it stands for, see terms.h; may be NULL */
    const char *secret;                /* proves membership; NULL: from the environment */
    bool encrypt;                      /* links, with TLS; needs a secret; all or none */
    int channels;                      /* connections between neighbours; 0: 1 */
    enum comm_transport transport;     /* the same for all members */
    enum comm_wire wire;               /* between machines; the same for all members */
    const char *pretended_host;        /* for tests: splits one machine into several hosts */
    int64_t join_timeout_ms;           /* how long to wait for all members; 0: 5 minutes */
    int64_t timeout_ms;                /* how long a call waits for a member; 0: 5 minutes */
    int64_t report_ms;                 /* between lines about who is missing; 0: 5 seconds */
    int min_members;        /* how many are enough to go on after a loss; 0: all, always */
    int start_members;      /* how many are enough to begin with; 0: all */
    int64_t start_after_ms; /* until then all are waited for, at the first start */
    /* With min_members: who does not answer for so long is lost, 0: 5 s. Before the first
     * comm_group_settle() it is `timeout_ms`: somebody may be reading what a run begins with. */
    int64_t peer_timeout_ms;
    /* Not 0: forming ends with ERR_CANCELED, and a call in which somebody is far behind with
     * ERR_UNAVAILABLE for all members; may be NULL, else it outlives the group. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* See rendezvous.h; also of one that is so late for a call that it is reported. May be NULL. */
    void (*waiting)(void *context, const char *whom);
    /* So much more was waited for "worker 1", which came to calls later than this member; as the
     * time adds up, on the thread that makes the calls. May be NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Returns when every member is connected with every other. Nothing the options point to is kept
 * but `stop`, `shape_text`, the functions and their context. */
int comm_group_open(const struct comm_options *options, struct comm_group **ret, struct err *err);

/* Says goodbye, so that the others do not take it for a loss. */
struct comm_group *comm_group_free(struct comm_group *group);
DEFINE_CLEANUP(comm_group)

/* After an error, or because somebody waits to be let in, which all members must know of each
 * other: form the group anew. Its size and the ranks may be others then. With ERR_UNAVAILABLE or
 * another error there is no group: it may be tried again or freed; calls answer with that error,
 * and rank and size are those of the last one. */
int comm_group_reform(struct comm_group *group, struct err *err);

/* This task has the state that the group works on: from now on it can go on with it after a loss,
 * and hand it to newcomers. To be called after every forming. */
void comm_group_settle(struct comm_group *group);

/* Whether it can go on without some of its tasks: asked for with `min_members`, and possible where
 * all tasks have addresses, and are not too many. */
bool comm_group_is_elastic(const struct comm_group *group);

/* Member `rank` has told all that it ends, and does: the next forming does not wait for it. */
void comm_group_dismiss(struct comm_group *group, int rank);

/* "worker 1 (host:port)" */
void comm_group_name(const struct comm_group *group, int rank, char *text, size_t size);

/* Whether a task that is not a member waits to be let in; cheap, never blocks. */
bool comm_group_is_wanted(struct comm_group *group);

/* "2 of 3 workers, without worker 1 (host:port)", or "all 3 workers". */
void comm_group_describe(const struct comm_group *group, char *text, size_t size);

int comm_group_rank(const struct comm_group *group);
int comm_group_size(const struct comm_group *group);

/* What is broken after a call has failed. Every member of a broken group comes to the same answer,
 * whoever noticed it first. */
enum comm_broken {
    COMM_BROKEN_MESSAGE, /* this call only: it was not begun, and the group is whole */
    COMM_BROKEN_PEER,    /* a member is lost, left, or did not come: forming anew may help */
    COMM_BROKEN_GROUP, /* members do not fit together, or this process cannot go on: it will not */
};
enum comm_broken comm_group_broken(const struct comm_group *group);

/* Let members on the same machine write into each other's `memory`, so that an all-reduce of data
 * in it happens in place. All members call it, with memory of the same size, which outlives the
 * group; its contents are lost. Once after every opening of a group: whoever was in an earlier one
 * cannot write into it any more. */
int comm_group_share(struct comm_group *group, struct shared_memory *memory, struct err *err);

/* Where this member sees the memory of another on its machine, NULL if it does not: for tests. */
void *comm_group_peer_memory(struct comm_group *group, size_t memory, int rank);

/* Element by element, the sum over all members, in place. The order of the additions is fixed by
 * rank and position: the result is the same bits on every member and in every run. */
int comm_allreduce_sum_f32(struct comm_group *group, float *data, size_t count, struct err *err);

/* The algorithm that comm_allreduce_sum_f32() uses for `count` floats. The group must be formed. */
const struct collective_allreduce *comm_allreduce_choice(const struct comm_group *group,
                                                         size_t count);

/* The same sum with an algorithm of the caller's choice (a row of comm/collective/collective.h),
 * for tests and measurements. Fails with ERR_UNSUPPORTED if the algorithm cannot be used in this
 * group for so many floats. */
int comm_allreduce_with(struct comm_group *group, const struct collective_allreduce *algorithm,
                        float *data, size_t count, struct err *err);

/* Whether comm_allreduce_with() can use the algorithm for `count` floats. */
bool comm_allreduce_can(const struct comm_group *group,
                        const struct collective_allreduce *algorithm, size_t count);

/* Whether all members share memory, so that no data passes through the network. */
bool comm_group_shares_memory(const struct comm_group *group);

/* What rank `root` has in `data` comes to be in every member's, to the last bit. */
int comm_broadcast(struct comm_group *group, int root, void *data, size_t size, struct err *err);

/* `size` bytes of each member, by rank, in ret_all (size × members); `own` may lie in its place
 * there already. */
int comm_allgather(struct comm_group *group, const void *own, size_t size, void *ret_all,
                   struct err *err);

/* Returns when every member has called it. */
int comm_barrier(struct comm_group *group, struct err *err);

#endif

/* A group of training processes that compute together: the chief and the workers of a cluster, with
 * ranks in that order. Every member opens it once; then all members make the same calls in the same
 * order. The error of a call names the member that makes another call, dies or does not arrive.
 * This implements <trainyard/comm.h>; called by train and by the benchmarks.
 *
 * A group is used by one thread at a time and makes progress only inside its calls. After an error
 * the group is broken, and every later call fails with the same error until the group is formed
 * again.
 *
 * A group needs all tasks of the cluster or, with `min_members`, at least so many. Then the next
 * forming leaves out lost members, and lets in tasks that are new or have restarted. Ranks are
 * always 0, 1, … in the order of the tasks that are members.
 */
#ifndef TRAINYARD_COMM_GROUP_GROUP_H
#define TRAINYARD_COMM_GROUP_GROUP_H

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
    COMM_WIRE_BF16, /* large sums travel as bfloat16, in half the bytes */
};

enum comm_transport {
    COMM_TRANSPORT_AUTO, /* shared memory between members on one machine, TCP between others */
    COMM_TRANSPORT_TCP,  /* TCP between all members */
};

struct comm_options {
    const struct ty_tf_config *config; /* this process must be its chief or a worker */
    uint64_t shape;                    /* hash of the model's shape; all members must agree */
    const char *shape_text; /* what `shape` is a hash of, see shape_text.h; may be NULL */
    const char *secret;     /* the job secret; NULL: from the environment */
    bool encrypt;           /* TLS on all connections; needs a secret; the same for all members */
    int channels;           /* data connections between neighbours in the ring; 0: 1 */
    enum comm_transport transport; /* the same for all members */
    enum comm_wire wire;        /* how floats travel between machines; the same for all members */
    const char *pretended_host; /* for tests: splits one machine into several hosts */
    int64_t join_timeout_ms;    /* how long to wait for all members; 0: 5 minutes */
    int64_t timeout_ms;         /* how long a call waits for a member; 0: 5 minutes */
    int64_t report_ms;          /* interval between reports about missing members; 0: 5 seconds */
    int min_members;   /* enough members to continue after a loss; 0: all tasks are always needed */
    int start_members; /* enough members for the first start; 0: all */
    int64_t start_after_ms; /* at the first start all tasks are waited for this long */
    /* With min_members: a member that does not answer for this long is lost; 0: 5 s. Before the
     * first comm_group_settle() it is `timeout_ms`, because a member may be reading a checkpoint.
     */
    int64_t peer_timeout_ms;
    /* Once not 0, forming fails with ERR_CANCELED, and a call in which a member is late fails with
     * ERR_UNAVAILABLE on all members. May be NULL; otherwise it must outlive the group. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called with the names of members that are missing while a group forms or late in a call, as
     * "worker 1 (host:port), …", and with NULL when the wait is over. May be NULL. */
    void (*waiting)(void *context, const char *names);
    /* Called with the additional nanoseconds that this member waited for `task` ("worker 1"), which
     * came later to calls, on the thread that makes the calls. May be NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Returns when every member is connected to every other. After the call the group uses only
 * `stop`, `shape_text`, the functions and their context; the caller may free everything else that
 * the options point to. */
int comm_group_open(const struct comm_options *options, struct comm_group **ret, struct err *err);

/* Tells the others that this member leaves, so that they do not take it for lost. NULL-safe;
 * returns NULL. */
struct comm_group *comm_group_free(struct comm_group *group);
DEFINE_CLEANUP(comm_group)

/* Forms the group again, after an error or because a task waits to join; all members must call it.
 * The size and the ranks may change. After a failure there is no group: the caller may try again or
 * free it, calls fail with the same error, and rank and size are those of the last group. */
int comm_group_reform(struct comm_group *group, struct err *err);

/* This task has the state that the group works on: from now on it can continue from it after a
 * loss, and pass it to new members. Must be called after every forming. */
void comm_group_settle(struct comm_group *group);

/* Whether the group can continue without some of its tasks: if `min_members` is set, all tasks have
 * addresses, and there are at most MEMBERSHIP_TASKS_MAX of them. */
bool comm_group_is_elastic(const struct comm_group *group);

/* Member `rank` has told all members that it ends: the next forming does not wait for it. */
void comm_group_dismiss(struct comm_group *group, int rank);

/* Writes "worker 1 (host:port)". */
void comm_group_name(const struct comm_group *group, int rank, char *text, size_t size);

/* Whether a task that is not a member waits to join. Cheap; never blocks. */
bool comm_group_is_wanted(struct comm_group *group);

/* Writes "2 of 3 workers, without worker 1 (host:port)", or "all 3 workers". */
void comm_group_describe(const struct comm_group *group, char *text, size_t size);

int comm_group_rank(const struct comm_group *group);
int comm_group_size(const struct comm_group *group);

/* What is broken after a call has failed. Every member of a broken group gets the same answer,
 * whichever member noticed the failure first. */
enum comm_broken {
    COMM_BROKEN_MESSAGE, /* only this call, which was not begun; the group is intact */
    COMM_BROKEN_PEER,    /* a member is lost, left, or did not arrive: forming again may help */
    /* Members do not fit together, or this process cannot continue: forming again does not help. */
    COMM_BROKEN_GROUP,
};
enum comm_broken comm_group_broken(const struct comm_group *group);

/* Lets members on the same machine write into each other's `memory`, so that an all-reduce of data
 * in it happens in place. All members must call it once after every forming, with memory of the
 * same size, which must outlive the group. The contents are lost, and members of an earlier group
 * can no longer write into it. */
int comm_group_share(struct comm_group *group, struct shared_memory *memory, struct err *err);

/* The address at which this member sees the `memory`-th shared memory of another member on its
 * machine; NULL if it does not see it. For tests. */
void *comm_group_peer_memory(struct comm_group *group, size_t memory, int rank);

/* Sums `data` over all members, element by element, in place. Rank and position fix the order of
 * the additions: the result has the same bits on every member and in every run. */
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

/* Copies `data` of rank `root` to all members. */
int comm_broadcast(struct comm_group *group, int root, void *data, size_t size, struct err *err);

/* Gathers `size` bytes of each member into ret_all (size × members), by rank. `own` may already be
 * in its place in ret_all. */
int comm_allgather(struct comm_group *group, const void *own, size_t size, void *ret_all,
                   struct err *err);

/* Returns when every member has called it. */
int comm_barrier(struct comm_group *group, struct err *err);

#endif

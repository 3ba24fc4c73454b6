/* A group of training processes that compute together: the chief and the workers of a cluster, with
 * ranks in that order. Every member opens the group once; then all members make the same calls in
 * the same order. If a member makes a different call, dies or does not arrive, the call fails with
 * an error that names the member. This implements <trainyard/comm.h>; called by train and by the
 * trainer's commands.
 *
 * A group is used by one thread at a time and makes progress only inside its calls. An error
 * usually breaks the group: every later call then fails with the same error until the group is
 * formed again. comm_group_broken() returns whether the group still works.
 *
 * A group needs the chief and all workers of the cluster. If `min_members` is set, the first start
 * needs `start_members` tasks, and a group that has lost members continues with at least
 * `min_members`. With `min_members`, the next forming leaves out lost members, and admits tasks
 * that are new or have restarted. Ranks are always 0, 1, … in the order of the tasks that are
 * members. */
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
    COMM_WIRE_BF16, /* large sums are sent as bfloat16, in half the bytes */
};

enum comm_transport {
    COMM_TRANSPORT_AUTO, /* shared memory on one machine, TCP between machines */
    COMM_TRANSPORT_TCP,  /* TCP between all members */
};

struct comm_options {
    const struct ty_tf_config *config; /* this process must be the chief or a worker */
    uint64_t shape;                    /* hash of the model's shape; all members must agree */
    const char *shape_text; /* text of which `shape` is the hash (shape_text.h); may be NULL */
    const char *secret;     /* the job secret; NULL: from the environment */
    bool encrypt;           /* TLS on all connections; needs a secret; the same for all members */
    int channels;           /* data connections per neighbour in the ring; 0 means 1 */
    enum comm_transport transport; /* the same for all members */
    enum comm_wire wire;           /* format of floats between machines; the same for all members */
    const char *pretended_host;    /* for tests: splits one machine into several hosts */
    int64_t join_timeout_ms;       /* limit for forming the group; 0: 5 minutes */
    int64_t timeout_ms;            /* how long a call waits for a member; 0: 5 minutes */
    int64_t report_ms;      /* interval between reports about missing members; 0: 5 seconds */
    int min_members;        /* least number of members to continue after a loss; 0: all tasks */
    int start_members;      /* least number of members for the first start; 0: all tasks */
    int64_t start_after_ms; /* how long the first start waits for all tasks */
    /* With min_members: a member that does not answer for this long counts as lost; 0: 5 s. Before
     * the first comm_group_settle() the limit is `timeout_ms`, because a member may be reading a
     * checkpoint. */
    int64_t peer_timeout_ms;
    /* When *stop is nonzero, forming fails with ERR_CANCELED, and a call in which a member is late
     * fails with ERR_UNAVAILABLE on all members. `stop` may be NULL; otherwise it must outlive the
     * group. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called with the names of the members that this member waits for: those that have not joined
     * while the group forms, or those that are late for a call. Called with NULL when the wait is
     * over. The names are text like "worker 1 (host:port), …" or "data
     * from worker 1 (host:port)". May be NULL. */
    void (*waiting)(void *context, const char *names);
    /* Called when this member has waited for `task` ("worker 1"), which came later to a call. `ns`
     * is the time waited since this function was last called for `task`, in nanoseconds. Runs on
     * the thread that makes the calls. May be NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Opens the group. Returns when every member is connected to every other member. The caller frees
 * *ret with comm_group_free(). The group keeps only these pointers of `options`: `stop`,
 * `shape_text`, the functions and their context. */
int comm_group_open(const struct comm_options *options, struct comm_group **ret, struct err *err);

/* Tells the other members that this member leaves, so that it does not count as lost, and frees the
 * group. NULL-safe; returns NULL. */
struct comm_group *comm_group_free(struct comm_group *group);
DEFINE_CLEANUP(comm_group)

/* Forms the group again, after an error or because a task waits to join; all members must call it.
 * The size and the ranks may change. After a failure, all calls fail with the same error, and rank
 * and size stay those of the last group. The caller may then try again, or free the group. */
int comm_group_reform(struct comm_group *group, struct err *err);

/* Declares that this task has the training state of the group: it can continue from this state
 * after a loss, and pass it to new members. Must be called after every forming. */
void comm_group_settle(struct comm_group *group);

/* Whether the group can continue without some of its tasks. That needs `min_members`, an address
 * for every task, and at most MEMBERSHIP_TASKS_MAX tasks. */
bool comm_group_is_elastic(const struct comm_group *group);

/* Records that the process of member `rank` has announced that it ends: the next forming does not
 * wait for it. */
void comm_group_dismiss(struct comm_group *group, int rank);

/* Writes "worker 1 (host:port)". */
void comm_group_name(const struct comm_group *group, int rank, char *text, size_t size);

/* Whether a task that is not a member waits to join. Cheap; never blocks. */
bool comm_group_is_wanted(struct comm_group *group);

/* Writes "2 of 3 workers, without worker 1 (host:port)", or "all 3 workers". */
void comm_group_describe(const struct comm_group *group, char *text, size_t size);

int comm_group_rank(const struct comm_group *group);
int comm_group_size(const struct comm_group *group);

/* What a failed call has broken. Every member of a broken group gets the same value, no matter
 * which member noticed the failure first. */
enum comm_broken {
    COMM_BROKEN_MESSAGE, /* only this call, which was not begun; the group still works */
    COMM_BROKEN_PEER,    /* a member is lost, left, or did not arrive: forming again may help */
    /* Members are incompatible, or this process cannot continue: forming again does not help. */
    COMM_BROKEN_GROUP,
};
enum comm_broken comm_group_broken(const struct comm_group *group);

/* Lets members on the same machine write into each other's `memory`. An all-reduce of data inside
 * `memory` then works directly on it, without a copy through the transport's slots. All members
 * must call it once after every forming, with memory of the same size. The memory must outlive the
 * group. Its contents are lost if it was shared in an earlier group. Members of an earlier group
 * can no longer write into it. */
int comm_group_share(struct comm_group *group, struct shared_memory *memory, struct err *err);

/* Returns the address at which this member has mapped shared memory number `memory` of member
 * `rank`, or NULL if it is not mapped. For tests. */
void *comm_group_peer_memory(struct comm_group *group, size_t memory, int rank);

/* Sums `data` over all members, element by element, in place. The order of the additions does not
 * depend on timing: the result has the same bits on every member, and in every run with the same
 * options, number of members and placement of ranks on machines. */
int comm_allreduce_sum_f32(struct comm_group *group, float *data, size_t count, struct err *err);

/* Returns the algorithm that comm_allreduce_sum_f32() uses for `count` floats. The group must be
 * formed. */
const struct collective_allreduce *comm_allreduce_choice(const struct comm_group *group,
                                                         size_t count);

/* Like comm_allreduce_sum_f32(), with an algorithm of the caller's choice
 * (comm/collective/collective.h). For tests and measurements. Fails with ERR_UNSUPPORTED if this
 * group cannot use the algorithm for `count` floats. */
int comm_allreduce_with(struct comm_group *group, const struct collective_allreduce *algorithm,
                        float *data, size_t count, struct err *err);

/* Whether comm_allreduce_with() can use the algorithm for `count` floats. */
bool comm_allreduce_can(const struct comm_group *group,
                        const struct collective_allreduce *algorithm, size_t count);

/* Whether all members share memory, so that no data passes through the network. */
bool comm_group_shares_memory(const struct comm_group *group);

/* Copies `data` of rank `root` to all members. */
int comm_broadcast(struct comm_group *group, int root, void *data, size_t size, struct err *err);

/* Copies `size` bytes of each member into ret_all, in the order of ranks. ret_all has room for size
 * × members bytes. `own` may point to this member's place in ret_all. */
int comm_allgather(struct comm_group *group, const void *own, size_t size, void *ret_all,
                   struct err *err);

/* Returns when every member has called it. */
int comm_barrier(struct comm_group *group, struct err *err);

#endif

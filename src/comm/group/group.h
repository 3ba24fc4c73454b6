/* A group of training processes that compute together: the chief and the workers of a cluster, with
 * ranks in that order. Every member opens the group once; then all members make the same calls in
 * the same order. If a member makes a different call, dies or does not arrive, the call fails with
 * an error that names the member. Called by train, by the trainer's commands, and by public.c,
 * which implements <trainyard/comm.h>.
 *
 * A group must be used by one thread at a time. It makes progress only inside its calls. Most
 * errors break the group: every later call then fails with the same error until the group is formed
 * again. comm_group_broken() returns what an error has broken.
 *
 * Without `min_members`, a group needs the chief and all workers of the cluster. With
 * `min_members`, the group is elastic (comm_group_is_elastic() lists further conditions): after
 * `start_after_ms`, `start_members` tasks are enough for the first start, and `min_members` tasks
 * for a group that has lost members. Forming an elastic group again leaves out lost members, and
 * admits tasks that are new or have restarted. Ranks are always 0, 1, … in the order of the tasks
 * that are members. */
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
    enum comm_wire wire;           /* format of large sums over TCP; the same for all members */
    const char *pretended_host;    /* for tests: splits one machine into several hosts */
    int64_t join_timeout_ms;       /* limit for forming the group; 0: 5 minutes */
    int64_t timeout_ms;            /* how long a call waits for a member; 0: 5 minutes */
    int64_t report_ms; /* interval between reports about missing members; 0: 5 seconds */
    int min_members;   /* least number of members to continue after a loss; 0: all tasks */
    int start_members; /* least number of members for the first start; 0: all tasks */
    /* how long the first start waits for all tasks before `start_members` are enough */
    int64_t start_after_ms;
    /* Only in an elastic group: a member that does not answer for this long counts as lost; 0: 5
     * seconds. From the end of the first forming to the first comm_group_settle() the limit is
     * `timeout_ms`, because a member may be reading a checkpoint. */
    int64_t peer_timeout_ms;
    /* When *stop is nonzero, forming fails with ERR_CANCELED, and a call that has waited for a late
     * member for about `report_ms` fails with ERR_UNAVAILABLE on all members. `stop` may be NULL;
     * otherwise it must outlive the group. */
    const volatile sig_atomic_t *stop;
    void (*report)(void *context, const char *line); /* may be NULL */
    /* Called with the names of the members that this member waits for, such as "worker 1
     * (host:port), …" or "data from worker 1 (host:port)". While the group forms, these are the
     * members that have not joined; in a call, the members that are late. Called with NULL when the
     * wait is over. May be NULL. */
    void (*waiting)(void *context, const char *names);
    /* Called when this member has waited for `task` ("worker 1"), which began a call later than
     * this member. `ns` is the time waited since this function was last called for `task`, in
     * nanoseconds. Runs on the thread that makes the calls. May be NULL. */
    void (*waited)(void *context, const char *task, int64_t ns);
    void *context;
};

/* Forms the group and blocks until every member is connected to every other member. Fails with
 * ERR_TIMEOUT after `join_timeout_ms`, and with ERR_FORBIDDEN if a member is incompatible. The
 * caller frees *ret with comm_group_free(). The group keeps only these pointers of `options`:
 * `stop`, `shape_text`, the functions and their context. */
int comm_group_open(const struct comm_options *options, struct comm_group **ret, struct err *err);

/* Frees the group. Unless the group is broken, first tells the other members that this member
 * leaves, so that it does not count as lost. NULL-safe; returns NULL. */
struct comm_group *comm_group_free(struct comm_group *group);
DEFINE_CLEANUP(comm_group)

/* Forms the group again, after an error or because a task waits to join; all members must call it.
 * The size and the ranks may change. After a failure, all calls fail with the same error, and rank
 * and size stay those of the previous group. The caller may then try again, or free the group. */
int comm_group_reform(struct comm_group *group, struct err *err);

/* Declares that this task has the training state of the group: it can continue from this state
 * after a loss, and pass it to new members. Must be called after every successful forming. */
void comm_group_settle(struct comm_group *group);

/* Whether the group can continue without some of its tasks. That needs `min_members`, an address
 * for every task, and 2 to MEMBERSHIP_TASKS_MAX tasks. */
bool comm_group_is_elastic(const struct comm_group *group);

/* Records that the process of member `rank` has announced that it ends: the next forming of an
 * elastic group does not wait for it. */
void comm_group_dismiss(struct comm_group *group, int rank);

/* Writes the name of member `rank`, such as "worker 1 (host:port)". */
void comm_group_name(const struct comm_group *group, int rank, char *text, size_t size);

/* Whether a task that is not a member waits to join. Cheap; never blocks. */
bool comm_group_is_wanted(struct comm_group *group);

/* Writes "2 of 3 workers, without worker 1 (host:port)", or "all 3 workers". */
void comm_group_describe(const struct comm_group *group, char *text, size_t size);

int comm_group_rank(const struct comm_group *group);
int comm_group_size(const struct comm_group *group);

/* What a failed call has broken. The member that detects a failure sends it to the others, so that
 * they get the same value. A group that could not be formed again has COMM_BROKEN_PEER. */
enum comm_broken {
    COMM_BROKEN_MESSAGE, /* nothing: the failed call was not begun, and the group still works */
    COMM_BROKEN_PEER,    /* a member is lost, left, or did not arrive: forming again may help */
    /* Members are incompatible, or this process cannot continue: forming again does not help. */
    COMM_BROKEN_GROUP,
};
enum comm_broken comm_group_broken(const struct comm_group *group);

/* Lets members on the same machine write into each other's `memory`. An all-reduce of data inside
 * `memory` then works directly on it, without a copy through the transport's slots. Returns 0 also
 * if the memory cannot be shared; then its data is copied. All members must call it once per memory
 * after every forming, in the same order and with the same sizes. The memory must outlive the
 * group. Memory that was shared in an earlier group is replaced by zeroed memory at the same
 * address, so that members of the earlier group can no longer write into it. */
int comm_group_share(struct comm_group *group, struct shared_memory *memory, struct err *err);

/* Returns the address at which this member has mapped memory number `memory` of member `rank`, or
 * NULL if it is not mapped. Memories are numbered from 0 in the order of comm_group_share(). For
 * tests. */
void *comm_group_peer_memory(struct comm_group *group, size_t memory, int rank);

/* Sums `data` over all members, element by element, in place. The order of the additions does not
 * depend on timing: the result has the same bits on every member, and in every run with the same
 * options, number of members and placement of ranks on machines. */
int comm_allreduce_sum_f32(struct comm_group *group, float *data, size_t count, struct err *err);

/* Returns the algorithm that comm_allreduce_sum_f32() uses for `count` floats in a group of several
 * members. The group must be formed. */
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

/* Copies `data` of rank `root`, which must be a rank of the group, to all members. */
int comm_broadcast(struct comm_group *group, int root, void *data, size_t size, struct err *err);

/* Copies `size` bytes of each member into ret_all, in the order of ranks. ret_all has room for size
 * × members bytes. `own` may point to this member's place in ret_all. */
int comm_allgather(struct comm_group *group, const void *own, size_t size, void *ret_all,
                   struct err *err);

/* Returns when every member has called it. */
int comm_barrier(struct comm_group *group, struct err *err);

#endif

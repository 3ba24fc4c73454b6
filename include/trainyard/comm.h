/* Collective operations between the processes of one training run, for any C program: all-reduce,
 * broadcast, all-gather and barrier. They use shared memory between processes on one machine and
 * TCP between machines. Each process opens the group with its description of the cluster
 * (trainyard/tf_config.h); then all processes make the same calls in the same order.
 *
 * If a process is lost, missing or belongs to another job, the call fails with an error that names
 * the process. Every wait has a time limit. A group must be used by one thread at a time. After
 * most errors the group is broken: every later call fails until ty_comm_reform() has formed the
 * group again. ty_comm_broken() tells what a failed call has broken. With `min_members`,
 * ty_comm_reform() leaves out lost processes, and a restarted process can join later. Without
 * `min_members`, ty_comm_reform() waits for all processes, up to `join_timeout_ms`.
 *
 * Processes prove to each other that they know the job secret. The secret comes from the option
 * `secret`, or else from TRAINYARD_JOB_SECRET or the file named by TRAINYARD_JOB_SECRET_FILE.
 * Without a secret, any process that reaches the ports can join. Data on the network is not
 * encrypted unless `encrypt` is set. */
#ifndef TRAINYARD_COMM_H
#define TRAINYARD_COMM_H

#include <trainyard/error.h>
#include <trainyard/tf_config.h>

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

struct ty_comm;

enum ty_comm_transport {
    TY_COMM_AUTO, /* shared memory on one machine, TCP between machines */
    TY_COMM_TCP,  /* TCP between all processes */
};

enum ty_comm_wire {
    TY_COMM_F32,
    /* Large sums are sent over TCP as bfloat16, which halves the traffic. The receiver converts the
     * numbers to floats before it adds them. All processes get the same bits. */
    TY_COMM_BF16,
};

struct ty_comm_options {
    uint64_t shape;     /* hash of the model's shape; processes with another shape are refused */
    const char *secret; /* NULL: from the environment */
    int channels;       /* number of data connections to the next rank, 1 to 8; 0 means 1 */
    enum ty_comm_transport transport; /* the same for all processes */
    enum ty_comm_wire wire;           /* the same for all processes */
    int join_timeout_ms;              /* limit for forming the group; 0: 5 minutes */
    int timeout_ms;                   /* limit for a call that makes no progress; 0: 5 minutes */
    int report_ms; /* interval between reports about missing or late processes; 0: 5 seconds */
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
    int encrypt; /* not 0: TLS 1.3 on all connections; needs a secret; the same for all processes */
    /* The least number of processes with which the group continues after a loss; 0: all processes
     * are always needed. The first group always needs all processes. If only rank 0 has an address
     * (MASTER_ADDR), or with more than 8192 processes, all are always needed. */
    int min_members;
    /* With min_members: a process that does not answer for this long counts as lost; 0: 5 s. */
    int peer_timeout_ms;
};

/* Opens the group. `options` may be NULL. Returns when this process is connected to all others. The
 * caller closes *ret with ty_comm_close(). Ranks are in the order chief, worker 0, worker 1, … */
int ty_comm_open(const struct ty_tf_config *config, const struct ty_comm_options *options,
                 struct ty_comm **ret, struct ty_error *error);
void ty_comm_close(struct ty_comm *comm); /* NULL-safe */

int ty_comm_rank(const struct ty_comm *comm);
int ty_comm_size(const struct ty_comm *comm);

/* What a failed call has broken. The process that detects a failure tells the others, so that all
 * get the same value. */
enum ty_comm_broken {
    TY_COMM_BROKEN_MESSAGE, /* nothing: the failed call was not begun, and the group still works */
    /* A process is lost, left or did not arrive: form the group again. Also the value if
     * ty_comm_reform() could not form the group, for any reason. */
    TY_COMM_BROKEN_PEER,
    /* The processes are incompatible, or this process cannot continue: forming again does not
     * help. */
    TY_COMM_BROKEN_GROUP,
};
enum ty_comm_broken ty_comm_broken(const struct ty_comm *comm);

/* Forms the group again, after TY_COMM_BROKEN_PEER, or when all processes know that a new process
 * waits to join. Every process must call ty_comm_reform(). Rank and size may change. A new process
 * has no training state: the process that is farthest ahead must broadcast its training state.
 * Memory of ty_comm_allocate() keeps its address, but its contents may be lost. A new process must
 * make the same allocations as the others before its first collective operation. After a failure,
 * ty_comm_reform() may be called again. */
int ty_comm_reform(struct ty_comm *comm, struct ty_error *error);

/* Declares that this process has the training state of the group and can continue from it after a
 * loss. With `min_members` every process must call ty_comm_settle() after every forming. Until this
 * process has called ty_comm_settle() once, it counts a silent member of a formed group as lost
 * only after `timeout_ms`, not after `peer_timeout_ms`. */
void ty_comm_settle(struct ty_comm *comm);

/* Returns 1 if this process knows of a new process that waits to join, otherwise 0. Never blocks.
 * Sum the results over all processes, so that all of them form the group again after the same
 * call. */
int ty_comm_wanted(struct ty_comm *comm);

/* Sets *ret to `size` bytes of zeroed memory. All processes must make these calls in the same
 * order, with the same sizes. `size` must not be 0. An all-reduce is fastest if its data lies in
 * this memory, at the same offset in all processes: processes on one machine then sum large data in
 * place, without a copy. ty_comm_close() frees the memory. */
int ty_comm_allocate(struct ty_comm *comm, size_t size, void **ret, struct ty_error *error);

/* Sums `data` over all processes, element by element, in place. The result has the same bits on
 * every process. It also has the same bits in every run with the same options, number of processes
 * and placement of ranks on machines. */
int ty_comm_allreduce_sum_f32(struct ty_comm *comm, float *data, size_t count,
                              struct ty_error *error);

/* Copies `data` of rank `root` to all processes. */
int ty_comm_broadcast(struct ty_comm *comm, int root, void *data, size_t size,
                      struct ty_error *error);

/* Copies `size` bytes of each process into ret_all, in the order of ranks. ret_all has room for
 * size × processes bytes. */
int ty_comm_allgather(struct ty_comm *comm, const void *own, size_t size, void *ret_all,
                      struct ty_error *error);

/* Returns when every process has called it. */
int ty_comm_barrier(struct ty_comm *comm, struct ty_error *error);

#ifdef __cplusplus
}
#endif

#endif

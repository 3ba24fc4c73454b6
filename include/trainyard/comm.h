/* Collective operations between the processes of one training run, for any C program: all-reduce,
 * broadcast, all-gather, barrier; in shared memory between processes on one machine, over TCP
 * between machines. Each process opens the group with its view of the
 * cluster (trainyard/tf_config.h); then all make the same calls in the same order.
 *
 * A lost, missing or foreign process ends the call with an error that names it, never with a hang.
 * A group is used by one thread at a time. After an error it is broken: form it anew with
 * ty_comm_reform(), or close it. With `min_members` those that are left go on without one that was
 * lost, and let it in again when it is back; else all are waited for.
 *
 * Processes prove to each other that they know the job secret, from the option, else from
 * TRAINYARD_JOB_SECRET or the file that TRAINYARD_JOB_SECRET_FILE names; without one, anybody who
 * reaches the ports can join. What goes over the network travels in the clear, unless `encrypt` is
 * set.
 */
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
    TY_COMM_AUTO, /* shared memory where processes share a machine, else TCP */
    TY_COMM_TCP,  /* TCP between all */
};

enum ty_comm_wire {
    TY_COMM_F32,
    TY_COMM_BF16, /* sums of more than some KiB travel over TCP rounded to 8 bits of mantissa, in
                   * half the bytes; they are added as floats, and all processes end with the same
                   * bits */
};

struct ty_comm_options {
    uint64_t shape;     /* hash of the model's shape; processes with another are refused */
    const char *secret; /* NULL: from the environment */
    int channels;       /* connections between neighbours, 1 to 8; 0: 1 */
    enum ty_comm_transport transport; /* this and the next: the same for all processes */
    enum ty_comm_wire wire;
    int join_timeout_ms; /* for all to come; 0: 5 minutes */
    int timeout_ms;      /* for a call that makes no progress; 0: 5 minutes */
    int report_ms;       /* between lines about who is missing; 0: 5 seconds */
    void (*report)(void *context, const char *line); /* may be NULL */
    void *context;
    int encrypt; /* not 0: links with TLS 1.3; needs a secret, and all processes must say so */
    /* How many are enough to go on with after a loss; 0: all, always. The first forming waits for
     * all. Where only rank 0 has an address (MASTER_ADDR) all are needed, whatever is said here. */
    int min_members;
    int peer_timeout_ms; /* with min_members: who does not answer for so long is lost; 0: 5 s */
};

/* `options` may be NULL. Returns when this process is connected with all others. Ranks are in the
 * order chief, worker 0, worker 1, … */
int ty_comm_open(const struct ty_tf_config *config, const struct ty_comm_options *options,
                 struct ty_comm **ret, struct ty_error *error);
void ty_comm_close(struct ty_comm *comm); /* NULL-safe */

int ty_comm_rank(const struct ty_comm *comm);
int ty_comm_size(const struct ty_comm *comm);

/* What is broken after a call has failed; all processes come to the same answer. */
enum ty_comm_broken {
    TY_COMM_BROKEN_MESSAGE, /* this call only: it was not begun, others can be made */
    TY_COMM_BROKEN_PEER,    /* a process is lost, left or did not come: form anew */
    TY_COMM_BROKEN_GROUP,   /* the processes do not fit together: opening again will not help */
};
enum ty_comm_broken ty_comm_broken(const struct ty_comm *comm);

/* Form the group anew: after TY_COMM_BROKEN_PEER, or when all have told each other that somebody
 * waits to be let in. Every process calls it. Rank and size may be others then, and newcomers have
 * no state: whoever came farthest broadcasts it. Memory of the group stays where it is and loses
 * its contents; a newcomer allocates what the others have before its first call. If it fails with
 * TY_ERROR_UNAVAILABLE it may be tried again. */
int ty_comm_reform(struct ty_comm *comm, struct ty_error *error);

/* This process has what the group works on, and can go on with it after a loss. With `min_members`,
 * after every forming; before the first time nobody is taken for lost because it is silent. */
void ty_comm_settle(struct ty_comm *comm);

/* Not 0: a process waits to be let in, as far as this one knows; cheap. Add it up over all in a
 * sum, so that all form anew after the same call. */
int ty_comm_wanted(struct ty_comm *comm);

/* Zeroed memory of `size` bytes, the same for all processes, which all call this. An all-reduce of
 * data in it, at the same place for all, is the fastest: processes on one machine sum it in place,
 * without a copy. It is there until the group is closed. */
int ty_comm_allocate(struct ty_comm *comm, size_t size, void **ret, struct ty_error *error);

/* The sum over all processes, element by element, in place: the same bits on every process and in
 * every run. */
int ty_comm_allreduce_sum_f32(struct ty_comm *comm, float *data, size_t count,
                              struct ty_error *error);

/* What rank `root` has in `data` comes to be in every process's, to the last bit. */
int ty_comm_broadcast(struct ty_comm *comm, int root, void *data, size_t size,
                      struct ty_error *error);

/* `size` bytes of each process, by rank, in ret_all. */
int ty_comm_allgather(struct ty_comm *comm, const void *own, size_t size, void *ret_all,
                      struct ty_error *error);

int ty_comm_barrier(struct ty_comm *comm, struct ty_error *error);

#ifdef __cplusplus
}
#endif

#endif

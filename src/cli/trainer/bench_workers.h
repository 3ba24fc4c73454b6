/* Forks this process several times, so that a benchmark can run all workers of one cluster on this
 * machine. `trainer bench` calls it, before the process has other threads. */
#ifndef TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H
#define TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H

#include "base/err.h"

#include <trainyard/tf_config.h>

#include <sys/types.h>

enum { BENCH_WORKERS_MAX = 64 };

struct bench_workers {
    int count;                         /* number of processes */
    int index;                         /* index of this process; 0: the original process */
    pid_t children[BENCH_WORKERS_MAX]; /* by index; 0 or less: not started by this process */
    /* One per process, in shared memory; code 0: no failure. NULL before the start. */
    struct err *failures;
};

/* Returns in every process, with the description of the cluster for this process in *ret. The
 * kernel kills the forked processes when the original process ends. Every process must call
 * bench_workers_end() afterwards, after a failure, too. The caller frees *ret with
 * ty_tf_config_free(). */
int bench_workers_start(struct bench_workers *workers, int count, struct ty_tf_config **ret,
                        struct err *err);

/* Records why this process fails. Must be called before comm_group_free(). After comm_group_free(),
 * the other processes fail, too, and the original process may kill this process. */
void bench_workers_fail(struct bench_workers *workers, const struct err *err);

/* A forked process exits here, with status 0, or 1 if `result` is an error. The original process
 * waits for the forked processes, and kills them first if `result` is an error. Returns `result`,
 * or the failure of a forked process if `result` is 0 or only the loss of a peer. */
int bench_workers_end(struct bench_workers *workers, int result, struct err *err);

#endif

/* Forks several processes of this program on this machine. Together they are the workers of one
 * cluster. Used by benchmarks. */
#ifndef TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H
#define TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H

#include "base/err.h"

#include <trainyard/tf_config.h>

#include <sys/types.h>

enum { BENCH_WORKERS_MAX = 64 };

struct bench_workers {
    int count, index; /* index 0 is the original process */
    pid_t children[BENCH_WORKERS_MAX];
    struct err *failures; /* one per process, in shared memory; NULL before the start */
};

/* Returns in every process, each with its own description of the cluster in *ret. The kernel kills
 * the forked processes when the original process ends. bench_workers_end() must be called
 * afterwards, also on failure. */
int bench_workers_start(struct bench_workers *workers, int count, struct ty_tf_config **ret,
                        struct err *err);

/* Records why this process fails. Must be called before this process leaves the group, because the
 * original process may kill it after that. */
void bench_workers_fail(struct bench_workers *workers, const struct err *err);

/* In a forked process, exits with `result`. In the original process, waits for the others; kills
 * them first if `result` is an error. Returns `result`, or the failure of another process if
 * `result` is 0 or only the loss of a peer. */
int bench_workers_end(struct bench_workers *workers, int result, struct err *err);

#endif

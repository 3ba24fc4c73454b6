/* Forks several processes of this program on this machine, which know each other as the workers of
 * a cluster. Used by benchmarks. */
#ifndef TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H
#define TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H

#include "base/err.h"

#include <trainyard/tf_config.h>

#include <sys/types.h>

enum { BENCH_WORKERS_MAX = 64 };

struct bench_workers {
    int count, index; /* index 0 is the original process */
    pid_t children[BENCH_WORKERS_MAX];
    struct err *failures; /* one per process, in shared memory; NULL before they start */
};

/* Returns in every process, each with its own view of the cluster. The forked processes end with
 * the original one. bench_workers_end() must be called afterwards, also on failure. */
int bench_workers_start(struct bench_workers *workers, int count, struct ty_tf_config **ret,
                        struct err *err);

/* Records why this process fails, before the others notice that it is gone: the original process
 * ends them then. */
void bench_workers_fail(struct bench_workers *workers, const struct err *err);

/* A forked process ends here, with `result`. The original process waits for the others, or ends
 * them if it has failed itself. It returns the failure of another process unless it has a reason of
 * its own that is more than a lost peer. */
int bench_workers_end(struct bench_workers *workers, int result, struct err *err);

#endif

/* Several processes of this program on this machine, made by fork, that know each other as the
 * workers of a cluster. Called by measurements. */
#ifndef TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H
#define TRAINYARD_CLI_TRAINER_BENCH_WORKERS_H

#include "base/err.h"

#include <trainyard/tf_config.h>

#include <sys/types.h>

enum { BENCH_WORKERS_MAX = 64 };

struct bench_workers {
    int count, index; /* 0 for the process that was there before */
    pid_t children[BENCH_WORKERS_MAX];
};

/* Returns in each of them, each with its own view. The others end with the first one. */
int bench_workers_start(struct bench_workers *workers, int count, struct ty_tf_config **ret,
                        struct err *err);

/* A worker that is not the first ends here, with `result`; the first waits for the others, or ends
 * them if it has failed itself. */
int bench_workers_end(struct bench_workers *workers, int result, struct err *err);

#endif

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
    struct err *failures; /* of all, in memory that all see; NULL before they start */
};

/* Returns in each of them, each with its own view. The others end with the first one. Whatever it
 * returns, bench_workers_end is called afterwards. */
int bench_workers_start(struct bench_workers *workers, int count, struct ty_tf_config **ret,
                        struct err *err);

/* Why this one fails, before the others notice its absence: the first one ends them then. */
void bench_workers_fail(struct bench_workers *workers, const struct err *err);

/* A worker that is not the first ends here, with `result`; the first waits for the others, or ends
 * them if it has failed itself. Why another one failed is said by the first, unless it has a reason
 * of its own that is more than having lost somebody. */
int bench_workers_end(struct bench_workers *workers, int result, struct err *err);

#endif

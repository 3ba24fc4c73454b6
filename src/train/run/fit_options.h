/* The options that every training has, as one table: a model's own goes on in it, so that they mean
 * the same for all. */
#ifndef TRAINYARD_CLI_TRAINER_FIT_OPTIONS_H
#define TRAINYARD_CLI_TRAINER_FIT_OPTIONS_H

#include "cli/trainer/fit_cluster.h"
#include "cli/trainer/fit_watch.h"

/* The struct of a model's options begins with this. */
struct fit_shared {
    struct option_config config;
    struct fit_cluster_values cluster;
    struct fit_watch_values watch;
    const char *model_dir;
    int64_t seed;
    /* Those of FIT_NETWORK_OPTIONS; 0 for others. */
    const char *precision;
    int64_t threads, loaders, checkpoint_every, keep;
    double clip;
};

#define FIT_SHARED_FIRST(values)                                                                   \
    _Static_assert(offsetof(values, shared) == 0, "shared tables count from the beginning")

/* Marks of a row. Without one, workers that train in step must have it alike, and a run that goes
 * on may change it. */
enum {
    FIT_FREE = 1, /* each worker for itself */
    FIT_KEPT = 2, /* a run that goes on has it as it began: what is judged hangs on it */
};

extern const struct option FIT_OPTIONS[];         /* every model */
extern const struct option FIT_NETWORK_OPTIONS[]; /* one that can train in step; has FIT_OPTIONS */

/* On standard error, before anything is trained: that nothing of it stays. */
void fit_say_not_kept(void);

/* A value that fits its row and yet not the others: the same exit code. Returns -ERR_USAGE. */
int fit_refuse_usage(struct err *err);

#endif

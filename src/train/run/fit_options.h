/* The options that every model's `trainer fit` has, as one table in which the table of a model goes
 * on, so that they mean the same for all; and those of them that training reads, converted. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_OPTIONS_H
#define TRAINYARD_TRAIN_RUN_FIT_OPTIONS_H

#include "base/options/options.h"
#include "train/run/run_log.h"

#include <signal.h>

/* Who trains together, and how they are connected. */
struct fit_cluster_values {
    const char *ps_hosts, *worker_hosts, *job_name, *log, *wire;
    int64_t task_index, join_timeout, min_workers;
    double peer_timeout;
    bool encrypt;
};

/* Where the run can be watched. */
struct fit_watch_values {
    const char *monitor, *events;
};

/* The values of these tables. The struct of a model's own options begins with it. */
struct fit_values {
    struct option_config config;
    struct fit_cluster_values cluster;
    struct fit_watch_values watch;
    const char *model_dir;
    int64_t seed;
    /* Of FIT_NETWORK_OPTIONS; 0 or NULL for models without that table. */
    const char *precision;
    int64_t threads, loaders, checkpoint_every, keep;
    double clip;
};

#define FIT_VALUES_FIRST(values)                                                                   \
    _Static_assert(offsetof(values, shared) == 0, "shared tables count from the beginning")

/* Marks of a row. A row without a mark must be equal in all workers that train synchronously, and
 * may change when a run is resumed. */
enum {
    FIT_FREE = 1, /* may differ between workers */
    FIT_KEPT = 2, /* must not change when a run is resumed: the evaluation depends on it */
};

extern const struct option FIT_OPTIONS[];         /* of every model */
extern const struct option FIT_NETWORK_OPTIONS[]; /* of a model that trains synchronously; includes
                                                     FIT_OPTIONS */

/* What the training of every model reads. */
struct fit_options {
    uint64_t seed;
    int threads;               /* of this worker */
    int loaders;               /* threads that make batches ahead; 0: none */
    float clip;                /* the longest gradient that is not shortened; 0: any */
    const char *model_dir;     /* NULL: nothing is written or resumed */
    uint64_t checkpoint_every; /* steps between checkpoints; 0: only at the end */
    size_t keep;               /* how many checkpoints to keep */
    /* Options, by name, that a checkpoint is bound to: each checkpoint holds them, and a run whose
     * options differ is not resumed from it. NULL: none. */
    const struct json *kept;
    struct run_log_options log;
    const volatile sig_atomic_t *stop; /* not 0: save and end after this step; NULL: never */
};

/* Defaults of a model that trains a network on one thread. */
#define FIT_OPTIONS_DEFAULT                                                                        \
    {                                                                                              \
        .seed = 1, .threads = 1, .loaders = 1, .checkpoint_every = 100, .keep = 3                  \
    }

/* Converts the shared values. The caller sets `kept`, `stop` and the streams of `log`. */
struct fit_options fit_options_read(const struct fit_values *values);

/* The style that the value of --log means: "auto", "plain" or "json". */
enum progress_style fit_options_style(const char *log);

/* Marks an error of values that each fit their row but not each other as wrong usage, which is the
 * exit code of a wrong option. Returns -ERR_USAGE. */
int fit_options_refuse(struct err *err);

#endif

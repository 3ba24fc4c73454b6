/* The options of `trainer fit` that are the same for every model. The option table of a model ends
 * with an entry whose `more` is FIT_OPTIONS or FIT_NETWORK_OPTIONS. struct fit_options has the
 * converted values that training needs. */
#ifndef TRAINYARD_TRAIN_RUN_FIT_OPTIONS_H
#define TRAINYARD_TRAIN_RUN_FIT_OPTIONS_H

#include "base/options/options.h"
#include "train/run/run_log.h"

#include <signal.h>

/* Values of the options that name the processes of a run and say how they are connected; also
 * --log. */
struct fit_cluster_values {
    const char *ps_hosts, *worker_hosts, *job_name, *log, *wire;
    int64_t task_index, min_workers;
    int64_t join_timeout; /* seconds */
    double peer_timeout;  /* seconds */
    bool encrypt;
};

/* Values of the options for watching a run. */
struct fit_watch_values {
    const char *monitor, *events;
};

/* The values of the shared options. The struct with the values of a model's options begins with
 * this struct. */
struct fit_values {
    struct option_config config;
    struct fit_cluster_values cluster;
    struct fit_watch_values watch;
    const char *model_dir;
    int64_t seed;
    /* Values of options that only FIT_NETWORK_OPTIONS has, like wire, min_workers and peer_timeout
     * in `cluster`. The options are 0 or NULL for models without that table, unless the model has
     * options of its own for them. */
    const char *precision;
    int64_t threads, loaders, checkpoint_every, keep;
    double clip;
};

/* Checks at compile time that the struct with the values of a model's options begins with its
 * member `shared`, a struct fit_values. The offsets in FIT_OPTIONS count from there. */
#define FIT_VALUES_FIRST(values)                                                                   \
    _Static_assert(offsetof(values, shared) == 0, "shared tables count from the beginning")

/* Bits of option.marks. An option without marks must be equal on all synchronous workers, and may
 * change when a run is resumed. The seed has no marks, but must not change: each checkpoint has the
 * seed of its run, and fit_save_restore() compares it. */
enum {
    FIT_FREE = 1, /* may differ between workers */
    FIT_KEPT = 2, /* must not change when a run is resumed, because the evaluation depends on it */
};

extern const struct option FIT_OPTIONS[]; /* the options of every model */
/* FIT_OPTIONS, and the options of synchronous training. */
extern const struct option FIT_NETWORK_OPTIONS[];

/* The shared options in the form that the training of every model needs. */
struct fit_options {
    uint64_t seed;
    int threads;               /* number of threads of this worker */
    int loaders;               /* number of threads that prepare batches in advance; 0: none */
    float clip;                /* largest norm of the gradient; 0: no limit */
    const char *model_dir;     /* NULL: nothing is written or resumed */
    uint64_t checkpoint_every; /* steps between checkpoints; 0: only at the end */
    size_t keep;               /* number of checkpoints to keep */
    /* The options that must not change when a run is resumed, by name. They are stored in each
     * checkpoint and compared on resume. NULL: none. */
    const struct json *kept;
    struct run_log_options log;
    /* A signal handler sets *stop to 1 to ask this worker to stop after the current step
     * (fit_leave.h). May be NULL. */
    const volatile sig_atomic_t *stop;
};

/* The default options, with one thread. */
#define FIT_OPTIONS_DEFAULT                                                                        \
    {                                                                                              \
        .seed = 1, .threads = 1, .loaders = 1, .checkpoint_every = 100, .keep = 3                  \
    }

/* Converts the shared values. The result points to the strings of `values`. The caller sets `kept`,
 * `stop` and all members of `log` except `style`. */
struct fit_options fit_options_read(const struct fit_values *values);

/* Returns the style for a value of --log: "auto", "plain" or "json". */
enum progress_style fit_options_style(const char *log);

/* Changes the code of `err` to ERR_USAGE, so that the process has the exit code of an invalid
 * option. Used if several options contradict each other. `err` may be NULL. Returns -ERR_USAGE. */
int fit_options_refuse(struct err *err);

#endif

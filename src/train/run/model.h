/* A kind of model as a table of operations. `trainer fit` calls them to read the options of a
 * model, open its data, compare the numbers that must be equal on all workers, train, and report
 * the result. The synchronous loop (fit_loop.h) calls the operations of a step. A new model is a
 * folder in src/models/ with one such table, and one row in the table of models in
 * cli/trainer/fit.c.
 *
 * This file does not depend on any particular model. */
#ifndef TRAINYARD_TRAIN_RUN_MODEL_H
#define TRAINYARD_TRAIN_RUN_MODEL_H

#include "comm/cluster/tf_config.h"
#include "comm/ps/ps.h"
#include "train/run/fit_loop.h"
#include "train/run/fit_options.h"
#include "train/run/fit_terms.h"
#include "train/team/reducer.h"

enum {
    /* Workers sum their gradients at every step. N workers compute the same result as one
     * worker. */
    MODEL_TRAINS_SYNCHRONOUSLY = 1,
    /* Parameter servers hold the variables. Workers do not wait for each other. */
    MODEL_TRAINS_WITH_SERVERS = 2,
};

enum { MODEL_NUMBERS_MAX = 64 }; /* limit of the numbers that model.numbers() sets */

struct model_run;

/* The operations that the loop of fit_loop.h calls. A run with parameter servers does not use the
 * loop, and calls none of them. `context` is fit_loop.context. `step`, `changed` and `config` must
 * be set. The other operations may be NULL. */
struct model_steps {
    /* Runs step `step`, counted from 1. `stop`: this worker was asked to stop. ret->stop is set on
     * all workers if `stop` is set on any worker. A step that fails must change nothing. Returns
     * -ERR_INVALID if the loss is nan or infinite. */
    int (*step)(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                struct err *err);
    /* Sets the values with which a new run starts. Called on rank 0 only, if no checkpoint can be
     * resumed. If NULL, the run starts with the values that the parameters already have. */
    int (*first_values)(void *context, struct err *err);
    /* Called after the loop has replaced the parameters, for example by those of a checkpoint. */
    void (*changed)(void *context);
    /* Returns floats that training changes in addition to the parameters and the optimizer state,
     * such as running means. They are equal on all workers. The loop stores them in checkpoints,
     * restores them, and copies them to new workers. */
    float *(*learned)(void *context, size_t *ret_count);
    /* Computes which samples of a batch this worker processes. Called after the rank of this worker
     * or the number of workers may have changed. */
    int (*regroup)(void *context, struct err *err);
    /* Returns the model's configuration for checkpoints, allocated in `arena`. */
    struct json *(*config)(void *context, struct arena *arena);
    /* Adds facts about the model, such as its labels, to the notes of a checkpoint. */
    void (*note)(void *context, struct arena *arena, struct json *notes);
    /* Called before a checkpoint is written. Copies values that are stored elsewhere into the
     * parameters and the optimizer state. */
    int (*collect)(void *context, struct err *err);
};

struct model {
    /* The command `trainer fit NAME`: name, help texts and option table. The struct with the values
     * of the options begins with struct fit_values. command.run is NULL. */
    struct command command;
    const char *unit;              /* name of the samples in the log: "images" */
    unsigned modes;                /* MODEL_TRAINS_… */
    const char *length_option;     /* the option that makes a run longer; NULL: "--steps" */
    const char *divergence_advice; /* advice for a run that has diverged; NULL: the default */
    size_t run_size; /* size of the model's struct, which begins with struct model_run */
    const struct model_steps *steps;

    /* Reads the options from run->values and checks them. The data is not open yet. Sets the fields
     * of struct model_run below "Set by init()". Called in every process, including parameter
     * servers. */
    int (*init)(struct model_run *run, struct err *err);
    /* Opens the training data. Called in the chief and the workers. */
    int (*open)(struct model_run *run, struct err *err);
    /* Replaces values of options in `terms` by their meaning, such as the path of the data by a
     * digest of the data. Called after open(). */
    void (*terms)(const struct model_run *run, struct fit_terms *terms);
    /* Sets the numbers that must be equal in all processes: the shape of the model and those
     * options of the model that affect the result. If `data` is set, the data is open, and its size
     * is included. Returns how many numbers were set. */
    size_t (*numbers)(const struct model_run *run, bool data, uint64_t ret[MODEL_NUMBERS_MAX]);
    /* Appends lines for standard output before the training begins. May be NULL. */
    void (*announce)(const struct model_run *run, struct buf *text);
    /* Trains from the newest checkpoint to the final model. Sets run->stopped. */
    int (*train)(struct model_run *run, struct err *err);
    /* Describes the result as members of `line` and as lines of `text`. Returns false if this
     * process has no result to report. */
    bool (*report)(const struct model_run *run, struct arena *arena, struct json *line,
                   struct buf *text);
    /* Frees everything that init(), open() and train() have allocated. Safe on zeroed memory. */
    void (*release)(struct model_run *run);
};

/* What one process of a training run knows about the run. */
struct model_run {
    const struct model *model;
    /* the values of the shared options; they are the first member of the struct with the values of
     * all options of the model */
    const struct fit_values *values;
    const struct ty_tf_config *cluster; /* the processes that train together */
    struct fit_options fit;             /* the shared options, converted */
    bool servers;                       /* training accesses the variables through `client` */
    bool chief;                         /* this process is the cluster's chief */

    /* Set by init(). */
    size_t batch;              /* samples per synchronous step, of all workers */
    bool exports;              /* the model is also written outside of --model-dir */
    int64_t snapshot_every_ms; /* interval of snapshots of the parameter servers; 0: the default */
    int64_t server_timeout_ms; /* how long to wait for a lost server; 0: the default */

    /* Set before train(): `client` if `servers` is set, else `reducer`. */
    struct reducer *reducer;
    struct ps_client *client;

    /* the run was stopped before the last step; set by train(), or in a parameter server by
     * ps_server_run() */
    bool stopped;
};

/* Allocates model->run_size bytes. Sets the members up to `chief`, and all other bytes to zero. The
 * caller frees it with model_run_free(). */
struct model_run *model_run_new(const struct model *model, const void *values,
                                const struct ty_tf_config *cluster);
struct model_run *model_run_free(struct model_run *run); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(model_run)

/* Returns the hash that all processes of a run compare before they train together. Synchronous
 * workers pass their terms. With parameter servers `terms` is NULL, because a server does not have
 * the data. */
uint64_t model_run_hash(const struct model_run *run, const struct fit_terms *terms);

/* Returns whether this process logs and writes files for the whole run: rank 0 of synchronous
 * workers, or the chief if the run uses parameter servers. */
bool model_run_is_reporter(const struct model_run *run);

/* Returns a hash of the numbers, which is equal on every machine. */
uint64_t model_hash(const uint64_t *numbers, size_t count);
uint64_t model_hash_float(float value); /* the bits of a float, for model_hash() */

#endif

/* A kind of model as a table of operations. `trainer fit` reads everything it must know about a
 * model from this table: the words and options of its command, how its data is opened, which
 * numbers all workers must have in common, and how it is trained and reported. The synchronous
 * loop (fit_loop.h) reads the operations of a step from it. A new model is a folder below
 * src/models/ with one such table, and one row in cli/trainer/fit.c.
 *
 * Nothing here knows which models exist. */
#ifndef TRAINYARD_TRAIN_RUN_MODEL_H
#define TRAINYARD_TRAIN_RUN_MODEL_H

#include "comm/cluster/tf_config.h"
#include "comm/ps/ps.h"
#include "train/run/fit_loop.h"
#include "train/run/fit_options.h"
#include "train/run/fit_terms.h"
#include "train/team/reducer.h"

enum {
    /* Workers sum their gradients at every step; N workers give the result of one. */
    MODEL_TRAINS_SYNCHRONOUSLY = 1,
    /* Parameter servers hold the variables; workers do not wait for each other. */
    MODEL_TRAINS_WITH_SERVERS = 2,
};

enum { MODEL_NUMBERS_MAX = 64 };

struct model_run;

/* Operations of one synchronous step. `context` is fit_loop.context. Operations that are NULL have
 * nothing to do, except `step`, `changed` and `config`, which every model has. */
struct model_steps {
    /* Runs one step of this worker, counted from 1. `stop`: this worker asks to end. A step that
     * fails has changed nothing. Returns -ERR_INVALID if the loss is not a number any more. */
    int (*step)(void *context, uint64_t step, bool stop, struct fit_loop_step *ret,
                struct err *err);
    /* Sets the values with which a new run starts. Called on rank 0 only, if there is no
     * checkpoint. NULL: the parameters already hold the values drawn from the seed. */
    int (*first_values)(void *context, struct err *err);
    /* Called after the loop has replaced the parameters outside of a step. */
    void (*changed)(void *context);
    /* Returns the floats that the model carries from step to step beside parameters and optimizer.
     * All workers have the same. The loop reads and writes them. */
    float *(*learned)(void *context, size_t *ret_count);
    /* Called after the reducer's rank or size may have changed: adapts this worker's share of a
     * batch. */
    int (*regroup)(void *context, struct err *err);
    /* Returns the model's configuration for checkpoints, allocated in `arena`. */
    struct json *(*config)(void *context, struct arena *arena);
    /* Adds members to the notes of a checkpoint. */
    void (*note)(void *context, struct arena *arena, struct json *notes);
    /* Copies values that live elsewhere into parameters and optimizer, before a checkpoint. */
    int (*collect)(void *context, struct err *err);
};

struct model {
    /* `trainer fit NAME`: name, texts and option table. The values of the options begin with struct
     * fit_values. `run` stays NULL: `trainer fit` runs it. */
    struct command command;
    const char *unit;          /* what a batch counts, for progress: "images" */
    unsigned modes;            /* MODEL_TRAINS_… */
    const char *length_option; /* the option that makes a run longer; NULL: "--steps" */
    const char
        *divergence_advice; /* advice after a loss that is not a number; NULL: rate or --clip */
    size_t run_size;        /* of the model's own struct, which begins with struct model_run */
    const struct model_steps *steps;

    /* Reads the options from run->values and checks them. The data is not open yet. Sets the
     * fields of `run` that are marked "set by init". Runs in every process, parameter servers
     * included. */
    int (*init)(struct model_run *run, struct err *err);
    /* Opens the training data. Runs in chief and workers. */
    int (*open)(struct model_run *run, struct err *err);
    /* Writes into `terms` the meaning of options whose text does not say it: the data itself
     * instead of its path. Called after open(). */
    void (*terms)(const struct model_run *run, struct fit_terms *terms);
    /* Lists the numbers that all processes must have in common: the shape of the model and every
     * option that decides the course of the run. `data`: the process has the data open, and its
     * extent counts, too. Returns how many. */
    size_t (*numbers)(const struct model_run *run, bool data, uint64_t ret[MODEL_NUMBERS_MAX]);
    /* Appends lines for standard output before the training begins. May be NULL. */
    void (*announce)(const struct model_run *run, struct buf *text);
    /* Trains from the newest checkpoint to the final model. Sets run->stopped. */
    int (*train)(struct model_run *run, struct err *err);
    /* Describes the result: as members of `line` and as lines of `text`. Returns false if this
     * worker has nothing to report. */
    bool (*report)(const struct model_run *run, struct arena *arena, struct json *line,
                   struct buf *text);
    /* Frees what init(), open() and train() made. Safe on zeroed memory. */
    void (*release)(struct model_run *run);
};

/* One process that trains one model. */
struct model_run {
    const struct model *model;
    const struct fit_values *values;    /* of the command's options; the model's own follow */
    const struct ty_tf_config *cluster; /* who trains together */
    struct fit_options fit;             /* the shared options, converted */
    bool servers;                       /* variables are reached through `client` */
    bool chief;                         /* this process is the cluster's chief */

    /* Set by init(). */
    size_t batch;              /* samples of a synchronous step, of all workers */
    bool exports;              /* the model is also kept outside of --model-dir */
    int64_t snapshot_every_ms; /* of parameter servers; 0: their default */
    int64_t server_timeout_ms; /* how long to wait for a lost server; 0: the default */

    /* Set before train(): one of the two. */
    struct reducer *reducer;
    struct ps_client *client;

    bool stopped; /* set by train(): asked to end before the last step */
};

/* Returns zeroed memory for a run of `model`. The caller frees it with model_run_free(). */
struct model_run *model_run_new(const struct model *model, const void *values,
                                const struct ty_tf_config *cluster);
struct model_run *model_run_free(struct model_run *run); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(model_run)

/* The one number that all processes of a run compare before they train together. Workers that
 * train synchronously pass their terms; with parameter servers `terms` is NULL, for a server does
 * not have the data. */
uint64_t model_run_hash(const struct model_run *run, const struct fit_terms *terms);

/* Whether this process speaks for the run: rank 0, or with parameter servers the chief. */
bool model_run_speaks(const struct model_run *run);

/* One number for a list of numbers, the same on every machine. */
uint64_t model_hash(const uint64_t *numbers, size_t count);
uint64_t model_hash_float(float value); /* the bits of a float, as a number for such a list */

#endif

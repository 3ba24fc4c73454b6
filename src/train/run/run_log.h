/* Reports what happens in a run to everything that shows or keeps it: the terminal (progress),
 * requests for the current state (run_state), TensorBoard (event_file), and the history and report
 * of the run (run_history, run_report). Every worker has a log; only the worker that speaks for the
 * run shows and writes anything. A file that cannot be written costs a warning, not the run. All
 * functions accept a NULL log. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_LOG_H
#define TRAINYARD_TRAIN_RUN_RUN_LOG_H

#include "base/cleanup.h"
#include "train/run/progress.h"
#include "train/run/run_state.h"

struct run_log_options {
    enum progress_style style;
    FILE *stream;            /* where progress goes; NULL: nowhere */
    struct run_state *state; /* read by the monitor; NULL: there is no monitor */
    const char *events_dir;  /* where TensorBoard events go; NULL: nowhere */
    /* the options, for the report; must outlive the log; may be NULL */
    const struct json *settings;
};

/* The facts about a run that its model knows. */
struct run_log_subject {
    const char *model;      /* "face"; a constant */
    const char *directory;  /* of history and report; NULL: none; must outlive the log */
    const char *unit;       /* what a step counts: "images"; a constant */
    double steps_per_epoch; /* 0: epochs are not counted */
};

struct run_log;

struct run_log *run_log_new(const struct run_log_options *options,
                            const struct run_log_subject *subject);
/* Writes the report. NULL-safe; returns NULL. */
struct run_log *run_log_free(struct run_log *log);
DEFINE_CLEANUP(run_log)

/* Whether this process shows progress, and whether it writes files. A new log does neither. */
void run_log_set_role(struct run_log *log, bool speaks, bool keeps);

/* Begins to count steps. `first`: how many were done before. */
void run_log_begin(struct run_log *log, uint64_t first, uint64_t steps);
void run_log_step(struct run_log *log, const struct progress_step *step);

/* Logs a sentence between the steps. */
void run_log_note(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs a sentence about this process alone. Shown whether or not the process speaks for the run;
 * not written to the history. */
void run_log_note_process(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs a sentence about a lost worker, and counts the loss. */
void run_log_worker_lost(struct run_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void run_log_saved(struct run_log *log, uint64_t step);
void run_log_save_failed(struct run_log *log);

/* Logs the value of a metric of the finished run, such as "accuracy", at its last step. */
void run_log_metric(struct run_log *log, uint64_t step, const char *what, double value);

/* Logs the evaluation of the finished model as a sentence. */
void run_log_result(struct run_log *log, const char *sentence);

#endif

/* Reports the events of a run to all outputs: the terminal (progress), the monitor (run_state),
 * TensorBoard (event_file), and the history and report of the run (run_history, run_report). Every
 * worker has a log; its role (run_log_set_role()) decides whether it shows progress and whether it
 * writes files. If a file cannot be written, a warning is shown, and the run continues. All
 * functions accept a NULL log. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_LOG_H
#define TRAINYARD_TRAIN_RUN_RUN_LOG_H

#include "base/cleanup.h"
#include "train/run/progress.h"
#include "train/run/run_state.h"

struct run_log_options {
    enum progress_style style;
    FILE *stream;            /* stream for progress; NULL: none */
    struct run_state *state; /* read by the monitor; NULL: there is no monitor */
    const char *events_dir;  /* directory for TensorBoard events; NULL or "": none */
    /* the values of the options, for the report; must outlive the log; may be NULL */
    const struct json *settings;
};

/* Facts about a run that the model provides. */
struct run_log_subject {
    const char *model;      /* "face"; a constant */
    const char *directory;  /* directory of history and report; NULL: none; must outlive the log */
    const char *unit;       /* name of the samples: "images"; a constant */
    double steps_per_epoch; /* 0: epochs are not counted */
};

struct run_log;

struct run_log *run_log_new(const struct run_log_options *options,
                            const struct run_log_subject *subject);
/* Writes the report if this process has written to the history. NULL-safe; returns NULL. */
struct run_log *run_log_free(struct run_log *log);
DEFINE_CLEANUP(run_log)

/* Sets whether this process shows progress (`speaks`), and whether it writes files (`keeps`). A new
 * log does neither. */
void run_log_set_role(struct run_log *log, bool speaks, bool keeps);

/* Begins a run of `steps` steps, of which `first` were done before. */
void run_log_begin(struct run_log *log, uint64_t first, uint64_t steps);
void run_log_step(struct run_log *log, const struct progress_step *step);

/* Logs a sentence between the steps. */
void run_log_note(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs a sentence about this process alone. It is shown even if `speaks` is not set, and is not
 * written to the history. */
void run_log_note_process(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs a sentence about a lost worker, and counts the loss. */
void run_log_worker_lost(struct run_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void run_log_saved(struct run_log *log, uint64_t step);
void run_log_save_failed(struct run_log *log);

/* Logs the value of a metric of the finished run, such as "accuracy". `step` is the last step. */
void run_log_metric(struct run_log *log, uint64_t step, const char *what, double value);

/* Logs the evaluation of the finished model as a sentence. */
void run_log_result(struct run_log *log, const char *sentence);

#endif

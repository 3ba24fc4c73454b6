/* Reports the events of a run to all outputs: the terminal (progress), the monitor (run_state),
 * TensorBoard (event_file), and the history and report of the run (run_history, run_report). The
 * fit functions of the models create a log on every worker. The role of a log
 * (run_log_set_role()) decides whether it shows progress and whether it writes files. If a file
 * cannot be written, the log shows a warning, and the run continues. All functions that take a log
 * accept NULL and then do nothing. Only the training thread may call them. */
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
    const char *model;      /* "face"; must outlive the log */
    const char *directory;  /* directory of history and report; NULL: none; must outlive the log */
    const char *unit;       /* name of the samples: "images"; must outlive the log */
    double steps_per_epoch; /* 0: epochs are not counted */
};

struct run_log;

/* Creates a log. The log creates each of its files when it first writes to the file. The caller
 * frees it. */
struct run_log *run_log_new(const struct run_log_options *options,
                            const struct run_log_subject *subject);
/* Writes the report if this process has written to the history. Before that, logs the worker that
 * delayed this worker most in the whole run, if the delay was large. NULL-safe; returns NULL. */
struct run_log *run_log_free(struct run_log *log);
DEFINE_CLEANUP(run_log)

/* Sets whether this process shows progress (`shows`), and whether it writes files (`writes`). A new
 * log does neither. */
void run_log_set_role(struct run_log *log, bool shows, bool writes);

/* Begins a run of `steps` steps, of which `first` were done before. */
void run_log_begin(struct run_log *log, uint64_t first, uint64_t steps);
/* Logs a finished step. */
void run_log_step(struct run_log *log, const struct progress_step *step);

/* Logs a sentence between the steps, to the progress and the history. `event` is its kind:
 * "warning". */
void run_log_note(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs a sentence about this process alone. The sentence is shown even if this process does not
 * show progress, and is not written to the history. */
void run_log_note_process(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* Logs a sentence about lost workers, and counts one loss. */
void run_log_worker_lost(struct run_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

/* Counts a written checkpoint. Also writes it to the history, but at most once per point of the
 * curves. */
void run_log_saved(struct run_log *log, uint64_t step);
/* Counts a checkpoint that could not be written. */
void run_log_save_failed(struct run_log *log);

/* Writes the value of a metric of the finished run, such as "accuracy", for TensorBoard. The
 * monitor gets the value of "accuracy". `step` is the last step. */
void run_log_metric(struct run_log *log, uint64_t step, const char *name, double value);

/* Writes the evaluation of the finished model, as a sentence, to the history and so to the
 * report. */
void run_log_result(struct run_log *log, const char *sentence);

#endif

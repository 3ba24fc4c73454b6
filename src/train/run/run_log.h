/* What a run says while it goes on, said once for all who listen: the person at the terminal
 * (progress), whoever asks meanwhile (run_state), TensorBoard (event_file), and whoever comes later
 * (run_history, run_report). Every worker has one; only the one that speaks for the run shows and
 * writes anything. A file that cannot be written costs the run nothing but a sentence. Everything
 * accepts NULL for the log. */
#ifndef TRAINYARD_TRAIN_RUN_LOG_H
#define TRAINYARD_TRAIN_RUN_LOG_H

#include "base/cleanup.h"
#include "train/run/progress.h"
#include "train/run/run_state.h"

struct run_log_options {
    enum progress_style style;
    FILE *stream;                /* for progress; NULL: silent */
    struct run_state *state;     /* for whoever asks; NULL: nobody does */
    const char *events_dir;      /* for TensorBoard; NULL: nothing is written */
    const struct json *settings; /* options, for the report; must outlive the log; may be NULL */
};

/* What the options leave to the model. */
struct run_log_subject {
    const char *model;     /* "face"; a constant */
    const char *directory; /* where history and report go; NULL: nowhere; must outlive the log */
    const char *unit;      /* of what a step goes through: "images"; a constant */
    double steps_an_epoch; /* 0: epochs are not counted */
};

struct run_log;

struct run_log *run_log_new(const struct run_log_options *options,
                            const struct run_log_subject *subject);
/* Writes the report. NULL-safe; returns NULL. */
struct run_log *run_log_free(struct run_log *log);
DEFINE_CLEANUP(run_log)

/* Whether this process shows progress, and whether it keeps files: at first neither. */
void run_log_set_role(struct run_log *log, bool speaks, bool keeps);

/* From here on steps are counted: `first` were done before. */
void run_log_begin(struct run_log *log, uint64_t first, uint64_t steps);
void run_log_step(struct run_log *log, const struct progress_step *step);

/* A sentence between the steps. */
void run_log_note(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* The same about this process alone, said whether it speaks for the run or not, and not kept. */
void run_log_note_process(struct run_log *log, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));
/* A sentence of a worker that was lost. */
void run_log_worker_lost(struct run_log *log, const char *format, ...)
    __attribute__((format(printf, 2, 3)));

void run_log_saved(struct run_log *log, uint64_t step);
void run_log_save_failed(struct run_log *log);

/* Some quantity at the end of a step, as "accuracy". */
void run_log_metric(struct run_log *log, uint64_t step, const char *what, double value);

/* What came of it, in a sentence. */
void run_log_result(struct run_log *log, const char *sentence);

#endif

/* Shows the progress of training. By default this is a bar that is redrawn in place if the stream
 * is a terminal, or else at most one line per second. The user can choose one line per step, as
 * text or JSON, instead. Only run_log.c calls these functions. The caller passes the time, so that
 * tests need no clock. */
#ifndef TRAINYARD_TRAIN_RUN_PROGRESS_H
#define TRAINYARD_TRAIN_RUN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum progress_style {
    PROGRESS_AUTO, /* PROGRESS_BAR if the stream is a terminal, else PROGRESS_LINES */
    PROGRESS_BAR,
    PROGRESS_LINES, /* at most one line per second */
    PROGRESS_PLAIN, /* one line per step */
    PROGRESS_JSON,  /* one JSON object per step */
};

struct progress {
    FILE *stream;
    enum progress_style style;
    uint64_t first;     /* number of steps of the run done before progress_init() */
    uint64_t steps;     /* total number of steps of the run */
    int64_t started_ns; /* time of progress_init() */
    int64_t shown_ns;   /* time at which a step was last shown */
    uint64_t pictures;  /* number of samples since progress_init() */
    double loss;        /* exponentially smoothed, for the bar */
    double accuracy;    /* exponentially smoothed, for the bar; NAN: not known */
    bool drawn;         /* the bar is on the current line of the terminal */
    const char *unit;   /* name of the samples: "images"; may be set after progress_init() */
};

struct progress_step {
    uint64_t step; /* the finished step, counted from 1 */
    double loss;
    uint64_t pictures; /* number of samples in this step, of all workers */
    double rate;       /* learning rate */
    double accuracy;   /* accuracy on the samples of this step; NAN: not known */
};

/* Sets `progress`. It holds nothing that must be freed. `first` of the `steps` steps of the run
 * were done before. The stream must stay open. */
void progress_init(struct progress *progress, FILE *stream, enum progress_style style,
                   uint64_t first, uint64_t steps, int64_t now_ns);

/* Shows a finished step, unless the style limits the rate and a step was shown too recently. The
 * bar is redrawn at most ten times per second. The last step of the run is always shown. */
void progress_show(struct progress *progress, const struct progress_step *step, int64_t now_ns);

/* Shows a sentence between the steps: "saved …". With PROGRESS_JSON this is an object with the
 * event and the text. */
void progress_note(struct progress *progress, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the line of the bar, so that other output starts on a new line. */
void progress_finish(struct progress *progress);

#endif

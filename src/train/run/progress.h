/* Shows the progress of training to a person: a bar on a terminal, redrawn in place; elsewhere one
 * line per second; or one line per step, as text or JSON, on request. Only the worker that speaks
 * for the run has one. The caller passes the time, so that tests need no clock. */
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
    uint64_t first, steps; /* steps done before the run began, and in all */
    int64_t started_ns, shown_ns;
    uint64_t pictures; /* samples trained on since the start */
    double loss;       /* smoothed over the last steps, for the bar */
    double accuracy;   /* smoothed over the last steps, for the bar; NAN: not known */
    bool drawn;        /* the bar is on the current line of the terminal */
    const char *unit;  /* what `pictures` counts: "images"; may be set after init */
};

struct progress_step {
    uint64_t step; /* just finished, from 1 */
    double loss;
    uint64_t pictures; /* samples of this step, of all workers */
    double rate;       /* learning rate */
    double accuracy;   /* of the samples of this step; NAN: not known */
};

void progress_init(struct progress *progress, FILE *stream, enum progress_style style,
                   uint64_t first, uint64_t steps, int64_t now_ns);

/* Shows a finished step. The bar is redrawn at most ten times per second; the last step is always
 * shown. */
void progress_show(struct progress *progress, const struct progress_step *step, int64_t now_ns);

/* Shows a sentence between the steps: "saved …". In JSON an object with the event and the text. */
void progress_note(struct progress *progress, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Ends the line of the bar. */
void progress_finish(struct progress *progress);

#endif

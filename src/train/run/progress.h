/* How training tells a person where it is: a bar on a terminal, redrawn in place; one line a second
 * otherwise; one line a step where that is asked for, as text or as a JSON object. Only the worker
 * that speaks for the run has one. Times are given by the caller, so that tests need no clock. */
#ifndef TRAINYARD_TRAIN_PROGRESS_H
#define TRAINYARD_TRAIN_PROGRESS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

enum progress_style {
    PROGRESS_AUTO, /* a bar where the stream is a terminal, else lines */
    PROGRESS_BAR,
    PROGRESS_LINES, /* at most one a second */
    PROGRESS_PLAIN, /* one a step */
    PROGRESS_JSON,  /* one a step */
};

struct progress {
    FILE *stream;
    enum progress_style style;
    uint64_t first, steps; /* the run goes from `first` (done before it began) to `steps` */
    int64_t started_ns, shown_ns;
    uint64_t pictures; /* seen since the start */
    double loss;       /* this and the next smoothed over the last steps, for the bar */
    double accuracy;   /* NAN: not known */
    bool drawn;        /* a bar stands on the terminal's line */
    const char *unit;  /* of what is counted as pictures: "images"; may be set after init */
};

struct progress_step {
    uint64_t step; /* just finished, from 1 */
    double loss;
    uint64_t pictures; /* of this step, all workers */
    double rate;       /* learning rate */
    double accuracy;   /* of this step's pictures; NAN: not known */
};

void progress_init(struct progress *progress, FILE *stream, enum progress_style style,
                   uint64_t first, uint64_t steps, int64_t now_ns);

/* The bar is redrawn at most ten times a second; the last step is always shown. */
void progress_show(struct progress *progress, const struct progress_step *step, int64_t now_ns);

/* A sentence between the steps: "saved …". In JSON an object of the event and the text. */
void progress_note(struct progress *progress, const char *event, const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/* Leave the bar's line. */
void progress_finish(struct progress *progress);

#endif

/* A curve as a picture of SVG for a report: axes with round numbers, the line, and marks of what
 * happened at some step. Colours are those of the page's style sheet. */
#ifndef TRAINYARD_TRAIN_RUN_CHART_H
#define TRAINYARD_TRAIN_RUN_CHART_H

#include "base/buf.h"

#include <stddef.h>

struct run_chart_mark {
    double x;
    const char *kind; /* class of the style sheet: "lost", "resumed" */
};

struct run_chart {
    const char *title;
    const double *x, *y; /* x rises; y that is not finite is left out */
    size_t count;
    const struct run_chart_mark *marks;
    size_t mark_count;
};

/* Nothing is written for fewer than two points. */
void run_chart_write(const struct run_chart *chart, struct buf *html);

/* At most `wanted` + 1 steps of 1, 2 or 5 times a power of ten cover low … high; returns the step.
 */
double run_chart_step(double low, double high, int wanted);

/* "0.25", "1200", "1.2e+06": as many digits as the step needs. */
void run_chart_number(double value, double step, char *text, size_t size);

#endif

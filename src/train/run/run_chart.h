/* Draws a curve for the report of a run, as HTML with an SVG drawing: axes with round numbers, the
 * line, and marks for events at single steps. The page's style sheet sets the colours. Only
 * run_report_page.c calls run_chart_write(). */
#ifndef TRAINYARD_TRAIN_RUN_RUN_CHART_H
#define TRAINYARD_TRAIN_RUN_RUN_CHART_H

#include "base/buf.h"

#include <stddef.h>

/* A vertical line across the curve. */
struct run_chart_mark {
    double x;         /* step of the event */
    const char *kind; /* CSS class: "lost", "resumed" */
};

struct run_chart {
    const char *title;                  /* HTML text, already escaped */
    const double *x;                    /* steps, ascending */
    const double *y;                    /* values; points whose value is not finite are left out */
    size_t count;                       /* number of points */
    const struct run_chart_mark *marks; /* marks outside of the curve are left out */
    size_t mark_count;
};

/* Appends the chart to `html`. Appends nothing if fewer than two points have a finite value, or if
 * all points are at the same step. */
void run_chart_write(const struct run_chart *chart, struct buf *html);

/* Returns the distance between the ticks of an axis. It is 1, 2 or 5 times a power of ten, such
 * that at most `wanted` + 1 ticks cover the range from `low` to `high`. Returns 1 if the range is
 * empty or not finite. */
double run_chart_step(double low, double high, int wanted);

/* Writes a number with as many digits as the tick distance needs: "0.25", "1200", "1.2e+06". */
void run_chart_number(double value, double step, char *text, size_t size);

#endif

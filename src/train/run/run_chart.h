/* Draws a curve as SVG for a report: axes with round numbers, the line, and marks for events at
 * single steps. The page's style sheet sets the colours. */
#ifndef TRAINYARD_TRAIN_RUN_RUN_CHART_H
#define TRAINYARD_TRAIN_RUN_RUN_CHART_H

#include "base/buf.h"

#include <stddef.h>

struct run_chart_mark {
    double x;
    const char *kind; /* CSS class: "lost", "resumed" */
};

struct run_chart {
    const char *title;
    const double *x, *y; /* x is ascending; points whose y is not finite are left out */
    size_t count;
    const struct run_chart_mark *marks;
    size_t mark_count;
};

/* Writes the SVG, or nothing if there are fewer than two points. */
void run_chart_write(const struct run_chart *chart, struct buf *html);

/* Returns the distance between the ticks of an axis. It is 1, 2 or 5 times a power of ten, such
 * that at most `wanted` + 1 ticks cover the range from `low` to `high`. */
double run_chart_step(double low, double high, int wanted);

/* Writes a number with as many digits as the tick distance needs: "0.25", "1200", "1.2e+06". */
void run_chart_number(double value, double step, char *text, size_t size);

#endif

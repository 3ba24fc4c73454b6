/* Implements the charts of a report; see run_chart.h. */
#include "train/run/run_chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* The size of the drawing in SVG units. The drawing is stretched to the width of the page. Text
 * would be stretched, too, so text is HTML beside the drawing, positioned in percent. */
static const double WIDTH = 1000, HEIGHT = 200;

enum { TICKS_MAX = 12 };

/* The ranges of the axes. */
struct frame {
    double x_low, x_high, y_low, y_high;
};

double run_chart_step(double low, double high, int wanted)
{
    double span = high - low;
    if (!(span > 0) || !isfinite(span))
        return 1;
    double power = pow(10, floor(log10(span / wanted)));
    static const double FACTORS[] = {1, 2, 5, 10};
    for (size_t i = 0; i < sizeof(FACTORS) / sizeof(*FACTORS); i++)
        if (span / (FACTORS[i] * power) <= wanted)
            return FACTORS[i] * power;
    return 10 * power;
}

void run_chart_number(double value, double step, char *text, size_t size)
{
    int digits = step < 1 ? (int)ceil(-log10(step) - 1e-9) : 0;
    if (fabs(value) < step / 1e6)
        value = 0; /* avoids "-0.00" */
    if (fabs(value) >= 1e6 || digits > 6)
        snprintf(text, size, "%.3g", value);
    else
        snprintf(text, size, "%.*f", digits, value);
}

/* Converts a value to a fraction of the width of the drawing, counted from the left. */
static double fraction_x(const struct frame *frame, double x)
{
    return (x - frame->x_low) / (frame->x_high - frame->x_low);
}

/* Converts a value to a fraction of the height of the drawing, counted from the top. */
static double fraction_y(const struct frame *frame, double y)
{
    return 1 - (y - frame->y_low) / (frame->y_high - frame->y_low);
}

/* Sets the ranges of the axes. Returns the number of points with a finite value, or 0 if no curve
 * can be drawn. Both ends of the y axis are round numbers. The y axis begins at zero if the
 * smallest value is positive and below 0.6 of the largest value. */
static size_t find_frame(const struct run_chart *chart, struct frame *ret)
{
    size_t shown = 0;
    double low = 0, high = 0;
    for (size_t i = 0; i < chart->count; i++) {
        if (!isfinite(chart->y[i]))
            continue;
        low = shown ? fmin(low, chart->y[i]) : chart->y[i];
        high = shown ? fmax(high, chart->y[i]) : chart->y[i];
        ret->x_low = shown ? ret->x_low : chart->x[i];
        ret->x_high = chart->x[i];
        shown++;
    }
    if (low > 0 && low < 0.6 * high)
        low = 0;
    if (high - low < 1e-9 * fabs(high) + 1e-12) {
        low -= 0.5;
        high += 0.5;
    }
    double step = run_chart_step(low, high, 4);
    ret->y_low = floor(low / step + 1e-9) * step;
    ret->y_high = ceil(high / step - 1e-9) * step;
    bool drawable = isfinite(ret->y_high - ret->y_low) && isfinite(ret->x_high - ret->x_low) &&
                    ret->y_high > ret->y_low && ret->x_high > ret->x_low;
    return drawable ? shown : 0;
}

/* Writes the numbers of the axes. The style sheet hides every other number of the x axis on a
 * narrow screen. */
static void write_numbers(const struct frame *frame, struct buf *html)
{
    char text[32];
    double step = run_chart_step(frame->y_low, frame->y_high, 5);
    for (int i = 0; i < TICKS_MAX && frame->y_low + i * step <= frame->y_high + step / 2; i++) {
        double value = frame->y_low + i * step;
        run_chart_number(value, step, text, sizeof(text));
        buf_printf(html, "<span class=\"y\" style=\"top:%.2f%%\">%s</span>",
                   100 * fraction_y(frame, value), text);
    }
    step = fmax(run_chart_step(frame->x_low, frame->x_high, 8), 1);
    for (int i = 0; i < TICKS_MAX; i++) {
        double value = (ceil(frame->x_low / step) + i) * step;
        if (value > frame->x_high)
            break;
        run_chart_number(value, step, text, sizeof(text));
        buf_printf(html, "<span class=\"x%s\" style=\"left:%.2f%%\">%s</span>",
                   i % 2 ? " wide" : "", 100 * fraction_x(frame, value), text);
    }
    buf_append_char(html, '\n');
}

static void write_line(struct buf *html, const char *kind, double x1, double x2, double y1,
                       double y2)
{
    buf_printf(html, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.1f\" y2=\"%.1f\"/>\n", kind,
               x1, x2, y1, y2);
}

static void write_grid(const struct frame *frame, struct buf *html)
{
    double step = run_chart_step(frame->y_low, frame->y_high, 5);
    for (int i = 0; i < TICKS_MAX && frame->y_low + i * step <= frame->y_high + step / 2; i++) {
        double y = HEIGHT * fraction_y(frame, frame->y_low + i * step);
        write_line(html, "grid", 0, WIDTH, y, y);
    }
}

void run_chart_write(const struct run_chart *chart, struct buf *html)
{
    struct frame frame = {0};
    if (find_frame(chart, &frame) < 2)
        return;
    buf_printf(html, "<figure><figcaption>%s</figcaption>\n<div class=\"plot\">", chart->title);
    write_numbers(&frame, html);
    buf_printf(html,
               "<svg viewBox=\"0 0 %.0f %.0f\" preserveAspectRatio=\"none\" role=\"img\" "
               "aria-label=\"%s by step\">\n",
               WIDTH, HEIGHT, chart->title);
    write_grid(&frame, html);
    for (size_t i = 0; i < chart->mark_count; i++) {
        const struct run_chart_mark *mark = &chart->marks[i];
        double x = WIDTH * fraction_x(&frame, mark->x);
        if (mark->x >= frame.x_low && mark->x <= frame.x_high)
            write_line(html, mark->kind, x, x, 0, HEIGHT);
    }
    buf_append_str(html, "<polyline points=\"");
    for (size_t i = 0; i < chart->count; i++)
        if (isfinite(chart->y[i]))
            buf_printf(html, "%.1f,%.1f ", WIDTH * fraction_x(&frame, chart->x[i]),
                       HEIGHT * fraction_y(&frame, chart->y[i]));
    buf_append_str(html, "\"/></svg></div></figure>\n");
}

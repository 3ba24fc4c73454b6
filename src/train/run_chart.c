/* A curve as a picture of SVG; see run_chart.h. */
#include "train/run_chart.h"

#include <math.h>
#include <stdbool.h>
#include <stdio.h>

/* In units of the picture; the page scales it. */
static const double WIDTH = 760, HEIGHT = 220, LEFT = 56, RIGHT = 12, TOP = 10, BOTTOM = 26;

enum { TICKS_MAX = 12 };

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
        value = 0; /* and not -0.00 */
    if (fabs(value) >= 1e6 || digits > 6)
        snprintf(text, size, "%.3g", value);
    else
        snprintf(text, size, "%.*f", digits, value);
}

static double place_x(const struct frame *frame, double x)
{
    return LEFT + (x - frame->x_low) / (frame->x_high - frame->x_low) * (WIDTH - LEFT - RIGHT);
}

static double place_y(const struct frame *frame, double y)
{
    return HEIGHT - BOTTOM -
           (y - frame->y_low) / (frame->y_high - frame->y_low) * (HEIGHT - TOP - BOTTOM);
}

/* The y axis ends at round numbers, and begins at zero where that costs little. */
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

static void write_axes(const struct frame *frame, struct buf *html)
{
    char text[32];
    double step = run_chart_step(frame->y_low, frame->y_high, 5);
    for (int i = 0; i < TICKS_MAX && frame->y_low + i * step <= frame->y_high + step / 2; i++) {
        double value = frame->y_low + i * step, y = place_y(frame, value);
        run_chart_number(value, step, text, sizeof(text));
        buf_printf(html,
                   "<line class=\"grid\" x1=\"%.0f\" x2=\"%.0f\" y1=\"%.1f\" y2=\"%.1f\"/>"
                   "<text x=\"%.0f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n",
                   LEFT, WIDTH - RIGHT, y, y, LEFT - 8, y + 4, text);
    }
    step = fmax(run_chart_step(frame->x_low, frame->x_high, 8), 1);
    for (int i = 0; i < TICKS_MAX; i++) {
        double value = (ceil(frame->x_low / step) + i) * step;
        if (value > frame->x_high)
            break;
        run_chart_number(value, step, text, sizeof(text));
        buf_printf(html, "<text x=\"%.1f\" y=\"%.0f\" text-anchor=\"middle\">%s</text>\n",
                   place_x(frame, value), HEIGHT - 6, text);
    }
}

void run_chart_write(const struct run_chart *chart, struct buf *html)
{
    struct frame frame = {0};
    if (find_frame(chart, &frame) < 2)
        return;
    buf_printf(html,
               "<figure><figcaption>%s</figcaption>\n"
               "<svg viewBox=\"0 0 %.0f %.0f\" role=\"img\" aria-label=\"%s by step\">\n",
               chart->title, WIDTH, HEIGHT, chart->title);
    write_axes(&frame, html);
    for (size_t i = 0; i < chart->mark_count; i++) {
        const struct run_chart_mark *mark = &chart->marks[i];
        if (mark->x < frame.x_low || mark->x > frame.x_high)
            continue;
        double x = place_x(&frame, mark->x);
        buf_printf(html, "<line class=\"%s\" x1=\"%.1f\" x2=\"%.1f\" y1=\"%.0f\" y2=\"%.0f\"/>\n",
                   mark->kind, x, x, TOP, HEIGHT - BOTTOM);
    }
    buf_append_str(html, "<polyline points=\"");
    for (size_t i = 0; i < chart->count; i++)
        if (isfinite(chart->y[i]))
            buf_printf(html, "%.1f,%.1f ", place_x(&frame, chart->x[i]),
                       place_y(&frame, chart->y[i]));
    buf_append_str(html, "\"/></svg></figure>\n");
}

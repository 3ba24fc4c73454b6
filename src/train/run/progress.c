/* Implements the bar and the lines that show progress; see progress.h. */
#include "train/run/progress.h"

#include "base/arena.h"
#include "base/json/json.h"

#include <math.h>
#include <stdarg.h>
#include <unistd.h>

static const int64_t SECOND = 1000000000;
enum {
    BAR_CELLS = 24,
    BAR_CELLS_SHORT = 10 /* used if an accuracy is shown, so that the line fits in 80 columns */
};

void progress_init(struct progress *progress, FILE *stream, enum progress_style style,
                   uint64_t first, uint64_t steps, int64_t now_ns)
{
    if (style == PROGRESS_AUTO)
        style = isatty(fileno(stream)) ? PROGRESS_BAR : PROGRESS_LINES;
    *progress = (struct progress){
        .stream = stream,
        .style = style,
        .first = first,
        .steps = steps,
        .started_ns = now_ns,
        .shown_ns = now_ns - SECOND,
        .unit = "images",
    };
}

static void format_time(double seconds, char *text, size_t size)
{
    long whole = (long)(seconds + 0.5);
    if (whole >= 3600)
        snprintf(text, size, "%ldh%02ldm", whole / 3600, whole / 60 % 60);
    else if (whole >= 60)
        snprintf(text, size, "%ldm%02lds", whole / 60, whole % 60);
    else
        snprintf(text, size, "%lds", whole);
}

/* Writes `gap` and the accuracy, or an empty text if the accuracy is not known. */
static void format_accuracy(double accuracy, const char *gap, char *text, size_t size)
{
    text[0] = '\0';
    if (isfinite(accuracy))
        snprintf(text, size, "%saccuracy %.3f", gap, accuracy);
}

static void show_bar(struct progress *progress, uint64_t step, double speed, const char *left)
{
    char bar[BAR_CELLS * 3 + 1] = "", accuracy[32];
    size_t cells = isfinite(progress->accuracy) ? BAR_CELLS_SHORT : BAR_CELLS, at = 0;
    size_t full = progress->steps ? (size_t)(step * cells / progress->steps) : 0;
    for (size_t i = 0; i < cells; i++)
        at += (size_t)snprintf(bar + at, sizeof(bar) - at, "%s", i < full ? "█" : "░");
    format_accuracy(progress->accuracy, "  ", accuracy, sizeof(accuracy));
    fprintf(progress->stream, "\r\033[K%s %llu/%llu  loss %.4f%s  %.0f %s/s  %s left", bar,
            (unsigned long long)step, (unsigned long long)progress->steps, progress->loss, accuracy,
            speed, progress->unit, left);
    progress->drawn = true;
}

static void show_json(struct progress *progress, const struct progress_step *step, double speed,
                      double left)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *line = json_object(arena);
    json_set_string(arena, line, "event", "step");
    json_set_int(arena, line, "step", (int64_t)step->step);
    json_set_int(arena, line, "steps", (int64_t)progress->steps);
    json_set(arena, line, "loss", json_real(arena, step->loss));
    if (isfinite(step->accuracy))
        json_set(arena, line, "accuracy", json_real(arena, step->accuracy));
    json_set(arena, line, "learningRate", json_real(arena, step->rate));
    json_set(arena, line, arena_printf(arena, "%sPerSecond", progress->unit),
             json_real(arena, round(speed * 10) / 10));
    json_set(arena, line, "secondsLeft", json_real(arena, round(left * 10) / 10));
    fprintf(progress->stream, "%s\n", json_to_string(arena, line));
}

void progress_show(struct progress *progress, const struct progress_step *step, int64_t now_ns)
{
    bool first = progress->pictures == 0;
    progress->pictures += step->pictures;
    progress->loss = first ? step->loss : 0.9 * progress->loss + 0.1 * step->loss;
    progress->accuracy = first ? step->accuracy : 0.9 * progress->accuracy + 0.1 * step->accuracy;
    int64_t pause = progress->style == PROGRESS_BAR     ? SECOND / 10
                    : progress->style == PROGRESS_LINES ? SECOND
                                                        : 0;
    if (step->step < progress->steps && now_ns - progress->shown_ns < pause)
        return;
    progress->shown_ns = now_ns;
    double seconds = fmax((double)(now_ns - progress->started_ns) / (double)SECOND, 1e-9);
    double speed = (double)progress->pictures / seconds;
    double done = (double)(step->step - progress->first);
    double left = (double)(progress->steps - step->step) * seconds / fmax(done, 1);
    char left_text[32], accuracy[32];
    format_time(left, left_text, sizeof(left_text));
    format_accuracy(step->accuracy, " ", accuracy, sizeof(accuracy));
    switch (progress->style) {
    case PROGRESS_BAR:
        show_bar(progress, step->step, speed, left_text);
        break;
    case PROGRESS_JSON:
        show_json(progress, step, speed, left);
        break;
    default:
        fprintf(progress->stream, "step %llu/%llu loss %.4f%s %s/s %.0f left %s\n",
                (unsigned long long)step->step, (unsigned long long)progress->steps, step->loss,
                accuracy, progress->unit, speed, left_text);
    }
    fflush(progress->stream);
}

void progress_note(struct progress *progress, const char *event, const char *format, ...)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(arena, format, args);
    va_end(args);
    if (progress->style == PROGRESS_JSON) {
        struct json *line = json_object(arena);
        json_set_string(arena, line, "event", event);
        json_set_string(arena, line, "message", text);
        text = json_to_string(arena, line);
    }
    fprintf(progress->stream, "%s%s\n", progress->drawn ? "\r\033[K" : "", text);
    fflush(progress->stream);
    progress->drawn = false;
}

void progress_finish(struct progress *progress)
{
    if (progress->drawn)
        fputc('\n', progress->stream);
    fflush(progress->stream);
    progress->drawn = false;
}

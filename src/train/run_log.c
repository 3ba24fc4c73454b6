/* What a run says while it goes on; see run_log.h. */
#include "train/run_log.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "train/event_file.h"

#include <math.h>

enum { POINTS = 1000 }; /* of a curve, about: more than a screen can show */

struct run_log {
    struct run_log_options options;
    struct run_log_subject subject;
    struct run_state *own; /* where the options bring none */
    struct progress progress;
    bool speaks, keeps;
    uint64_t first, steps;
    struct event_file *events;
    bool events_failed; /* and it was said */
    double loss_sum;    /* of the steps since the last point */
    uint64_t loss_count;
    char *rate_tag;
};

struct run_log *run_log_new(const struct run_log_options *options,
                            const struct run_log_subject *subject)
{
    struct run_log *log = mem_zalloc(sizeof(*log));
    log->options = *options;
    log->subject = *subject;
    if (!options->state)
        log->options.state = log->own = run_state_new();
    log->rate_tag = mem_printf("%s-per-second", subject->unit);
    return log;
}

struct run_log *run_log_free(struct run_log *log)
{
    if (!log)
        return NULL;
    if (log->speaks)
        progress_finish(&log->progress);
    event_file_close(log->events);
    run_state_free(log->own);
    free(log->rate_tag);
    free(log);
    return NULL;
}

static void start_progress(struct run_log *log)
{
    progress_init(&log->progress, log->options.stream, log->options.style, log->first, log->steps,
                  moment_monotonic_ns());
    log->progress.unit = log->subject.unit;
}

void run_log_speak(struct run_log *log, bool speaks, bool keeps)
{
    if (!log)
        return;
    bool spoke = log->speaks;
    log->speaks = speaks && log->options.stream;
    log->keeps = keeps;
    if (log->speaks && !spoke)
        start_progress(log);
}

void run_log_begin(struct run_log *log, uint64_t first, uint64_t steps)
{
    if (!log)
        return;
    log->first = first;
    log->steps = steps;
    run_state_begin(log->options.state, first, steps, log->subject.steps_an_epoch);
    if (log->speaks)
        start_progress(log);
}

/* ---- Files */

static void tell_once(struct run_log *log, bool *told, const struct err *err)
{
    if (!*told)
        run_log_note(log, "warning", "%s; going on without", err->message);
    *told = true;
}

static void put_events(struct run_log *log, uint64_t step, const struct event_scalar *scalars,
                       size_t count)
{
    struct err err = ERR_INIT;
    int result = 0;
    if (!log->keeps || str_is_empty(log->options.events_dir))
        return;
    if (!log->events)
        result = event_file_open(log->options.events_dir, moment_wall_ms(), log->first,
                                 &log->events, &err);
    if (result == 0)
        result = event_file_add(log->events, moment_wall_ms(), step, scalars, count, &err);
    if (result < 0)
        tell_once(log, &log->events_failed, &err);
    else
        log->events_failed = false;
}

/* A point of the curves: the mean loss since the last one. */
static void put_point(struct run_log *log, const struct progress_step *step)
{
    struct run_state_view view;
    run_state_look(log->options.state, moment_monotonic_ns(), &view);
    struct event_scalar scalars[4] = {
        {"loss", log->loss_sum / (double)log->loss_count},
        {"learning-rate", step->rate},
    };
    size_t count = 2;
    if (isfinite(view.rate))
        scalars[count++] = (struct event_scalar){log->rate_tag, view.rate};
    if (isfinite(step->accuracy))
        scalars[count++] = (struct event_scalar){"accuracy", step->accuracy};
    put_events(log, step->step, scalars, count);
    log->loss_sum = 0;
    log->loss_count = 0;
}

/* ---- What is said */

void run_log_step(struct run_log *log, const struct progress_step *step)
{
    if (!log)
        return;
    int64_t now_ns = moment_monotonic_ns();
    run_state_step(log->options.state, step->step, step->loss, step->pictures, now_ns);
    if (isfinite(step->accuracy))
        run_state_accuracy(log->options.state, step->accuracy);
    if (log->speaks)
        progress_show(&log->progress, step, now_ns);
    log->loss_sum += step->loss;
    log->loss_count++;
    if (log->loss_count >= log->steps / POINTS || step->step >= log->steps)
        put_point(log, step);
}

static void note(struct run_log *log, const char *event, const char *format, va_list args)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    if (log->speaks)
        progress_note(&log->progress, event, "%s", arena_vprintf(arena, format, args));
}

void run_log_note(struct run_log *log, const char *event, const char *format, ...)
{
    if (!log)
        return;
    va_list args;
    va_start(args, format);
    note(log, event, format, args);
    va_end(args);
}

void run_log_lost(struct run_log *log, const char *format, ...)
{
    if (!log)
        return;
    run_state_lost(log->options.state);
    va_list args;
    va_start(args, format);
    note(log, "lost", format, args);
    va_end(args);
}

void run_log_saved(struct run_log *log, uint64_t step)
{
    if (log)
        run_state_saved(log->options.state, step);
}

void run_log_save_failed(struct run_log *log)
{
    if (log)
        run_state_save_failed(log->options.state);
}

void run_log_judged(struct run_log *log, uint64_t step, const char *what, double value)
{
    if (!log)
        return;
    if (str_eq(what, "accuracy"))
        run_state_accuracy(log->options.state, value);
    put_events(log, step, &(struct event_scalar){what, value}, 1);
}

/* Distributes the events of a run to the outputs; see run_log.h. */
#include "train/run/run_log.h"

#include "base/arena.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "train/run/event_file.h"
#include "train/run/run_history.h"
#include "train/run/run_report.h"
#include "train/run/straggler.h"

#include <math.h>

enum { POINTS = 1000 }; /* approximate number of points per curve */

struct run_log {
    struct run_log_options options;
    struct run_log_subject subject;
    struct run_state *own_state; /* options.state if the caller has passed none; else NULL */
    struct progress progress;
    bool shows;                  /* this process shows progress */
    bool writes;                 /* this process writes files */
    uint64_t first;              /* number of steps of the run done before run_log_begin() */
    uint64_t steps;              /* total number of steps of the run */
    uint64_t last;               /* last finished step */
    uint64_t files_after;        /* the step after which this process began to write files */
    struct event_file *events;   /* NULL: not open yet */
    struct run_history *history; /* NULL: not open yet */
    bool events_failed;          /* the previous write of events has failed, with a warning */
    bool history_failed;         /* a write of the history has failed, with a warning */
    uint64_t saved;              /* step of the last checkpoint in the history */
    double loss_sum;             /* sum of the losses since the previous point of the curves */
    uint64_t loss_count;         /* number of losses in loss_sum */
    bool begun;                  /* run_log_begin() was called */
    struct straggler straggler;
    char *rate_tag; /* name of the rate in TensorBoard: "images-per-second" */
};

struct run_log *run_log_new(const struct run_log_options *options,
                            const struct run_log_subject *subject)
{
    struct run_log *log = mem_zalloc(sizeof(*log));
    log->options = *options;
    log->subject = *subject;
    if (!options->state)
        log->options.state = log->own_state = run_state_new();
    log->rate_tag = mem_printf("%s-per-second", subject->unit);
    return log;
}

static void start_progress(struct run_log *log)
{
    progress_init(&log->progress, log->options.stream, log->options.style, log->last, log->steps,
                  moment_monotonic_ns());
    log->progress.unit = log->subject.unit;
}

void run_log_set_role(struct run_log *log, bool shows, bool writes)
{
    if (!log)
        return;
    bool did_show = log->shows;
    log->shows = shows && log->options.stream;
    if (writes && !log->writes)
        log->files_after = log->last;
    log->writes = writes;
    if (log->shows && !did_show)
        start_progress(log);
}

/* ---- Files */

/* Shows a warning about a file unless *warned is set, and sets *warned. */
static void warn_once(struct run_log *log, bool *warned, const struct err *err)
{
    if (!*warned && log->shows)
        progress_note(&log->progress, "warning", "%s; training continues without it", err->message);
    *warned = true;
}

/* Appends a line to the history. Marks the first line of this process with "opened", because the
 * run was paused before this line. */
static void put_line(struct run_log *log, struct arena *arena, struct json *line)
{
    struct err err = ERR_INIT;
    int result = 0;
    if (!log->writes || !log->subject.directory)
        return;
    json_set_int(arena, line, "time", moment_wall_ms());
    if (!log->history) {
        result = run_history_open(log->subject.directory, &log->history, &err);
        json_set_bool(arena, line, "opened", true);
    }
    if (result == 0)
        result = run_history_add(log->history, line, &err);
    if (result < 0)
        warn_once(log, &log->history_failed, &err);
}

static void put_event(struct run_log *log, const char *event, uint64_t step, const char *message)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *line = json_object(arena);
    json_set_string(arena, line, "event", event);
    json_set_int(arena, line, "step", (int64_t)step);
    json_set_string(arena, line, "message", message);
    put_line(log, arena, line);
}

static void put_begin(struct run_log *log)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *line = json_object(arena);
    json_set_string(arena, line, "event", "begin");
    json_set_string(arena, line, "message", log->first ? "the run goes on" : "the run begins");
    json_set_int(arena, line, "step", (int64_t)log->first);
    json_set_int(arena, line, "first", (int64_t)log->first);
    json_set_int(arena, line, "steps", (int64_t)log->steps);
    json_set_string(arena, line, "model", log->subject.model);
    json_set_string(arena, line, "unit", log->subject.unit);
    if (log->options.settings)
        json_set(arena, line, "options", json_clone(arena, log->options.settings));
    put_line(log, arena, line);
}

static void put_events(struct run_log *log, uint64_t step, const struct event_scalar *scalars,
                       size_t count)
{
    struct err err = ERR_INIT;
    int result = 0;
    if (!log->writes || str_is_empty(log->options.events_dir))
        return;
    if (!log->events)
        result = event_file_open(log->options.events_dir, moment_wall_ms(), log->files_after,
                                 &log->events, &err);
    if (result == 0)
        result = event_file_add(log->events, moment_wall_ms(), step, scalars, count, &err);
    if (result < 0)
        warn_once(log, &log->events_failed, &err);
    else
        log->events_failed = false;
}

/* Appends a point of the curves, with the mean loss since the previous point. */
static void put_point(struct run_log *log, const struct progress_step *step)
{
    struct run_state_view view;
    run_state_read(log->options.state, moment_monotonic_ns(), &view);
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

    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *line = json_object(arena);
    json_set_int(arena, line, "step", (int64_t)step->step);
    json_set(arena, line, "loss", json_real(arena, scalars[0].value));
    json_set(arena, line, "learningRate", json_real(arena, step->rate));
    if (isfinite(view.rate))
        json_set(arena, line, "rate", json_real(arena, view.rate));
    if (isfinite(step->accuracy))
        json_set(arena, line, "accuracy", json_real(arena, step->accuracy));
    put_line(log, arena, line);
    log->loss_sum = 0;
    log->loss_count = 0;
}

/* Writes the report if this process has written to the history. */
static void write_report(struct run_log *log)
{
    struct err err = ERR_INIT;
    if (log->history && run_report_write(log->subject.directory, &err) < 0 && log->shows)
        progress_note(&log->progress, "warning", "this run has no report: %s", err.message);
}

/* Logs the worker that delayed this worker most: in the whole run if `all` is set, else since the
 * previous check. Logs nothing if the delay was small; see straggler.h. */
static void log_straggler(struct run_log *log, bool all, int64_t now_ns)
{
    struct run_state_view view;
    char text[STRAGGLER_TEXT_MAX];
    run_state_read(log->options.state, now_ns, &view);
    if (!(all ? straggler_summarize(&log->straggler, &view, now_ns, text)
              : straggler_check(&log->straggler, &view, now_ns, text)))
        return;
    if (log->shows)
        progress_note(&log->progress, "late", "%s", text);
    put_event(log, "late", log->last, text);
}

struct run_log *run_log_free(struct run_log *log)
{
    if (!log)
        return NULL;
    if (log->begun)
        log_straggler(log, true, moment_monotonic_ns());
    if (log->shows)
        progress_finish(&log->progress);
    write_report(log);
    event_file_close(log->events);
    run_history_close(log->history);
    run_state_free(log->own_state);
    free(log->rate_tag);
    free(log);
    return NULL;
}

/* ---- Messages */

void run_log_begin(struct run_log *log, uint64_t first, uint64_t steps)
{
    if (!log)
        return;
    log->first = log->last = log->files_after = first;
    log->steps = steps;
    run_state_begin(log->options.state, first, steps, log->subject.steps_per_epoch);
    if (log->shows)
        start_progress(log);
    struct run_state_view view;
    int64_t now_ns = moment_monotonic_ns();
    run_state_read(log->options.state, now_ns, &view);
    straggler_begin(&log->straggler, &view, now_ns);
    log->begun = true;
    put_begin(log);
}

void run_log_step(struct run_log *log, const struct progress_step *step)
{
    if (!log)
        return;
    int64_t now_ns = moment_monotonic_ns();
    log->last = step->step;
    run_state_step(log->options.state, step->step, step->loss, step->pictures, now_ns);
    if (isfinite(step->accuracy))
        run_state_accuracy(log->options.state, step->accuracy);
    if (log->shows)
        progress_show(&log->progress, step, now_ns);
    log->loss_sum += step->loss;
    log->loss_count++;
    if (log->loss_count >= log->steps / POINTS || step->step >= log->steps)
        put_point(log, step);
    if (straggler_is_due(&log->straggler, now_ns))
        log_straggler(log, false, now_ns);
}

__attribute__((format(printf, 3, 0))) static void log_note(struct run_log *log, const char *event,
                                                           const char *format, va_list args)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *text = arena_vprintf(arena, format, args);
    if (log->shows)
        progress_note(&log->progress, event, "%s", text);
    put_event(log, event, log->last, text);
}

void run_log_note(struct run_log *log, const char *event, const char *format, ...)
{
    if (!log)
        return;
    va_list args;
    va_start(args, format);
    log_note(log, event, format, args);
    va_end(args);
}

void run_log_note_process(struct run_log *log, const char *event, const char *format, ...)
{
    if (!log || !log->options.stream)
        return;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    va_list args;
    va_start(args, format);
    const char *text = arena_vprintf(arena, format, args);
    va_end(args);
    if (!log->shows)
        start_progress(log);
    progress_note(&log->progress, event, "%s", text);
}

void run_log_worker_lost(struct run_log *log, const char *format, ...)
{
    if (!log)
        return;
    run_state_lost(log->options.state);
    va_list args;
    va_start(args, format);
    log_note(log, "lost", format, args);
    va_end(args);
}

void run_log_saved(struct run_log *log, uint64_t step)
{
    if (!log)
        return;
    run_state_saved(log->options.state, step);
    if (log->saved && step - log->saved < log->steps / POINTS)
        return; /* at most one event per point of the curves */
    log->saved = step;
    put_event(log, "saved", step, "checkpoint written");
}

void run_log_save_failed(struct run_log *log)
{
    if (log)
        run_state_save_failed(log->options.state);
}

void run_log_metric(struct run_log *log, uint64_t step, const char *name, double value)
{
    if (!log)
        return;
    if (str_eq(name, "accuracy"))
        run_state_accuracy(log->options.state, value);
    put_events(log, step, &(struct event_scalar){name, value}, 1);
}

void run_log_result(struct run_log *log, const char *sentence)
{
    if (log)
        put_event(log, "result", log->last, sentence);
}

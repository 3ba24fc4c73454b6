/* Makes the report of a run from its history; see run_report.h. run_report_page.c writes the HTML
 * page. */
#include "train/run/run_report.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"
#include "base/vec.h"
#include "train/run/run_history.h"

#include <math.h>

enum { FILE_MAX = 64 << 20, EVENTS_MAX = 500, POINTS_MAX = 2000 };

static void copy_report_member(struct arena *arena, struct json *to, const struct json *from,
                               const char *name)
{
    const struct json *value = json_get(from, name);
    if (value)
        json_set(arena, to, name, json_clone(arena, value));
}

static void set_report_time(struct arena *arena, struct json *to, const char *name, int64_t wall_ms)
{
    char text[MOMENT_TEXT_MAX];
    moment_format(wall_ms, text);
    json_set_string(arena, to, name, text);
}

static double step_of(const struct json *line)
{
    return json_number(json_get(line, "step"), 0);
}

/* Collects the points of the curves. When a run is resumed after step N, the steps after N of
 * earlier processes were lost, so their points are left out. If there are POINTS_MAX points or
 * more, only every n-th point is kept, including the last. */
static struct json *collect_points(struct arena *arena, const struct json *lines)
{
    VEC(const struct json *) kept = {0}, all = {0};
    struct json *points = json_array(arena);
    double limit = (double)INFINITY;
    JSON_EACH (line, lines)
        vec_push(&all, line);
    for (size_t i = all.count; i-- > 0;) {
        const struct json *line = all.items[i];
        if (json_get(line, "first"))
            limit = fmin(limit, json_number(json_get(line, "first"), limit));
        else if (!json_get(line, "event") && json_get(line, "step") && step_of(line) <= limit)
            vec_push(&kept, line);
    }
    size_t every = kept.count / POINTS_MAX + 1;
    for (size_t i = kept.count; i-- > 0;) { /* `kept` is in reverse order */
        if (i % every != 0)
            continue;
        struct json *point = json_clone(arena, kept.items[i]);
        json_remove(point, "time");
        json_append(points, point);
    }
    vec_release(&kept);
    vec_release(&all);
    return points;
}

/* Collects the last EVENTS_MAX events. Includes only the last of several consecutive "saved"
 * events. */
static struct json *collect_events(struct arena *arena, const struct json *lines)
{
    struct json *events = json_array(arena);
    JSON_EACH (line, lines) {
        const char *event = json_get_string(line, "event", NULL);
        if (!event)
            continue;
        struct json *last = events->last;
        if (str_eq(event, "saved") && str_eq(json_get_string(last, "event", NULL), "saved"))
            json_remove_element(events, last);
        struct json *entry = json_object(arena);
        set_report_time(arena, entry, "time", json_get_int(line, "time", 0));
        copy_report_member(arena, entry, line, "step");
        copy_report_member(arena, entry, line, "event");
        copy_report_member(arena, entry, line, "message");
        json_append(events, entry);
        if (json_count(events) > EVENTS_MAX)
            json_remove_element(events, events->first);
    }
    return events;
}

/* Returns the number of seconds between the lines of the history, without the pauses before lines
 * that have "opened". */
static double seconds_at_work(const struct json *lines)
{
    int64_t sum = 0, before = 0;
    JSON_EACH (line, lines) {
        int64_t now = json_get_int(line, "time", before);
        if (before && now > before && !json_get_bool(line, "opened", false))
            sum += now - before;
        before = now;
    }
    return (double)sum / 1000;
}

struct json *run_report_document(struct arena *arena, const struct json *lines)
{
    struct json *document = json_object(arena);
    int64_t runs = 0, started = 0, ended = 0;
    double done = 0;
    JSON_EACH (line, lines) {
        ended = json_get_int(line, "time", ended);
        started = started ? started : ended;
        if (json_get(line, "first")) { /* the line of run_log_begin() */
            runs++;
            done = json_number(json_get(line, "first"), 0);
            copy_report_member(arena, document, line, "model");
            copy_report_member(arena, document, line, "unit");
            copy_report_member(arena, document, line, "steps");
            copy_report_member(arena, document, line, "options");
            json_remove(document, "result");
        }
        if (str_eq(json_get_string(line, "event", NULL), "start"))
            json_set(arena, document, "about",
                     json_string(arena, json_get_string(line, "message", NULL)));
        if (str_eq(json_get_string(line, "event", NULL), "result"))
            json_set(arena, document, "result",
                     json_string(arena, json_get_string(line, "message", NULL)));
        if (!json_get(line, "event") && json_get(line, "step"))
            done = step_of(line);
    }
    json_set(arena, document, "done", json_int(arena, (int64_t)fmax(fmin(done, 1e18), 0)));
    json_set_int(arena, document, "runs", runs);
    set_report_time(arena, document, "started", started);
    set_report_time(arena, document, "ended", ended);
    json_set(arena, document, "seconds", json_real(arena, seconds_at_work(lines)));
    json_set(arena, document, "points", collect_points(arena, lines));
    json_set(arena, document, "events", collect_events(arena, lines));
    return document;
}

static int write_report_file(const char *directory, const char *name, const struct buf *text,
                             struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    if (text->overflowed)
        return err_set(err, ERR_TOO_LARGE, "'%s' would have more than %d bytes", path, FILE_MAX);
    return file_replace(path, text->data, text->size, 0644, err);
}

int run_report_write(const char *directory, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *lines = NULL;
    size_t unread;
    int result = run_history_read(arena, directory, &lines, &unread, err);
    if (result < 0)
        return result;
    struct json *document = run_report_document(arena, lines);
    _cleanup_buf_ struct buf text;
    buf_init(&text, FILE_MAX);
    json_write_pretty(document, &text);
    buf_append_char(&text, '\n');
    result = write_report_file(directory, "report.json", &text, err);
    if (result < 0)
        return result;
    buf_clear(&text);
    run_report_page(document, &text);
    return write_report_file(directory, RUN_REPORT_PAGE, &text, err);
}

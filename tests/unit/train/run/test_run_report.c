/* Tests the history of a run, which can be read after any crash, and its report: numbers of a known
 * history, names that look like markup, and curves with round axes. */
#include "scratch_directory.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/run_chart.h"
#include "train/run/run_history.h"
#include "train/run/run_log.h"
#include "train/run/run_report.h"

#include <math.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cmocka.h>

static void add_lines(int first, int count)
{
    struct run_history *history = NULL;
    struct err err = ERR_INIT;
    if (run_history_open(directory, &history, &err) < 0)
        fail_msg("%s", err.message);
    for (int i = 0; i < count; i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *line = json_object(arena);
        json_set_int(arena, line, "step", first + i);
        assert_int_equal(run_history_add(history, line, NULL), 0);
    }
    assert_null(run_history_close(history));
}

static struct json *read_lines(struct arena *arena, size_t *ret_unread)
{
    struct json *lines = NULL;
    struct err err = ERR_INIT;
    if (run_history_read(arena, directory, &lines, ret_unread, &err) < 0)
        fail_msg("%s", err.message);
    return lines;
}

static void append_raw(const char *text)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, RUN_HISTORY_FILE);
    FILE *file = fopen(path, "a");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static void history_is_appended(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    size_t unread;
    assert_int_equal(json_count(read_lines(arena, &unread)), 0);
    add_lines(1, 3);
    add_lines(4, 2);
    struct json *lines = read_lines(arena, &unread);
    assert_int_equal(json_count(lines), 5);
    assert_int_equal(unread, 0);
    assert_int_equal(json_get_int(json_element(lines, 4), "step", 0), 5);
}

/* If a crash has truncated the last line at any byte, the lines before and after it are still
 * read. */
static void truncated_line_is_skipped(void **state)
{
    static const char LINE[] = "{\"step\":2,\"loss\":0.5}";
    for (size_t cut = 1; cut < strlen(LINE); cut++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        _cleanup_free_ char *part = mem_strndup(LINE, cut);
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, RUN_HISTORY_FILE);
        size_t unread;
        add_lines(1, 1);
        append_raw(part);
        assert_int_equal(json_count(read_lines(arena, &unread)), 1);
        add_lines(3, 1);
        struct json *lines = read_lines(arena, &unread);
        assert_int_equal(json_count(lines), 2);
        assert_int_equal(unread, 1);
        assert_int_equal(json_get_int(json_element(lines, 1), "step", 0), 3);
        unlink(path);
    }
}

/* After a crash of the machine, a part of the file may be NUL bytes. Later lines are still read. */
static void nul_bytes_hide_no_line(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char text[] = "{\"step\":1}\n\0\0\0\0{\"step\":2}\n{\"step\":3}\n{\"st";
    size_t unread;
    struct json *lines = run_history_parse(arena, text, sizeof(text) - 1, &unread);
    assert_int_equal(json_count(lines), 2);
    assert_int_equal(json_get_int(json_element(lines, 1), "step", 0), 3);
    assert_int_equal(unread, 1);
}

/* If there is no room for a whole line, no part of it stays. */
static void partial_line_is_removed(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct run_history *history = NULL;
    struct rlimit old;
    size_t unread;
    add_lines(1, 1);
    assert_int_equal(run_history_open(directory, &history, NULL), 0);
    struct json *line = json_object(arena);
    json_set_string(arena, line, "message", "longer than there is room for");
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = (struct rlimit){20, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_true(run_history_add(history, line, NULL) < 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_int_equal(run_history_add(history, line, NULL), 0);
    run_history_close(history);
    assert_int_equal(json_count(read_lines(arena, &unread)), 2);
    assert_int_equal(unread, 0);
}

static struct json *document_of(struct arena *arena, const char *const *texts, size_t count)
{
    struct json *lines = json_array(arena);
    for (size_t i = 0; i < count; i++) {
        struct json *line = NULL;
        assert_int_equal(json_parse(arena, texts[i], strlen(texts[i]), NULL, &line, NULL), 0);
        json_append(lines, line);
    }
    return run_report_document(arena, lines);
}

/* A report shows a limited number of events and points. */
static void events_and_points_of_a_report_are_limited(void **state)
{
    enum { EVENTS = 500, POINTS = 2000 };
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *lines = json_array(arena), *document;
    for (int i = 0; i <= EVENTS; i++) {
        struct json *line = json_object(arena);
        json_set_string(arena, line, "event", "warning");
        json_set_int(arena, line, "step", i);
        json_append(lines, line);
        if (i < EVENTS - 1)
            continue;
        document = json_get(run_report_document(arena, lines), "events"); /* only the last ones */
        assert_int_equal(json_count(document), EVENTS);
        assert_int_equal(json_get_int(document->first, "step", -1), i - EVENTS + 1);
        assert_int_equal(json_get_int(document->last, "step", -1), i);
    }
    lines = json_array(arena);
    for (int i = 1; i <= POINTS; i++) {
        struct json *line = json_object(arena);
        json_set_int(arena, line, "step", i);
        json_append(lines, line);
        if (i < POINTS - 1)
            continue;
        document = json_get(run_report_document(arena, lines), "points");
        assert_int_equal(json_count(document), i < POINTS ? i : POINTS / 2); /* every second one */
        assert_int_equal(json_get_int(document->last, "step", -1), i);
    }
}

static void length_of_history_lines_is_limited(void **state)
{
    enum { LINE_BYTES = 1 << 20 };
    static const char rest[] = "{\"m\":\"\"}\n";
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct run_history *history = NULL;
    struct err err = ERR_INIT;
    size_t unread;
    assert_int_equal(run_history_open(directory, &history, NULL), 0);
    for (size_t over = 0; over < 2; over++) {
        char *text = arena_zalloc(arena, LINE_BYTES + 1);
        memset(text, 'x', LINE_BYTES - strlen(rest) + over);
        struct json *line = json_object(arena);
        json_set_string(arena, line, "m", text);
        assert_int_equal(run_history_add(history, line, &err), over ? -ERR_TOO_LARGE : 0);
    }
    run_history_close(history);
    assert_int_equal(json_count(read_lines(arena, &unread)), 1);
    assert_int_equal(unread, 0);
}

static void size_of_history_files_is_limited(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, RUN_HISTORY_FILE);
    struct err err = ERR_INIT;
    struct json *lines = NULL;
    size_t unread;
    add_lines(1, 3);
    assert_int_equal(truncate(path, RUN_HISTORY_MAX), 0); /* the end is no text, and is not read */
    assert_int_equal(json_count(read_lines(arena, &unread)), 3);
    assert_int_equal(truncate(path, RUN_HISTORY_MAX + 1), 0);
    assert_true(run_history_read(arena, directory, &lines, &unread, &err) < 0);
}

/* Two runs: the first reached step 3, but only step 2 was saved, and the second repeated step 3. */
static const char *const TWO_RUNS[] = {
    "{\"event\":\"begin\",\"first\":0,\"steps\":4,\"model\":\"face\",\"unit\":\"images\","
    "\"options\":"
    "{\"data\":\"<b>&\\\"x\\\"\",\"steps\":4,\"events\":null},\"time\":1000000,\"opened\":true}",
    "{\"event\":\"start\",\"message\":\"old\",\"step\":0,\"time\":1000000}",
    "{\"step\":1,\"loss\":4,\"rate\":100,\"time\":1001000}",
    "{\"step\":2,\"loss\":3,\"rate\":100,\"time\":1002000}",
    "{\"event\":\"saved\",\"step\":1,\"message\":\"checkpoint written\",\"time\":1002000}",
    "{\"event\":\"saved\",\"step\":2,\"message\":\"checkpoint written\",\"time\":1002000}",
    "{\"step\":3,\"loss\":99,\"rate\":100,\"time\":1003000}",
    "{\"event\":\"result\",\"message\":\"of the first run\",\"step\":3,\"time\":1003000}",
    "{\"event\":\"warning\",\"message\":\"'<script>alert(1)</script>' is damaged\",\"step\":0,"
    "\"time\":9000000,\"opened\":true}",
    "{\"event\":\"begin\",\"first\":2,\"steps\":4,\"model\":\"face\",\"unit\":\"images\",\"time\":"
    "9000000}",
    "{\"event\":\"start\",\"message\":\"a model & more\",\"step\":2,\"time\":9000000}",
    "{\"event\":\"resumed\",\"message\":\"resumed after step 2\",\"step\":2,\"time\":9000000}",
    "{\"step\":3,\"loss\":2,\"rate\":200,\"time\":9001000}",
    "{\"event\":\"lost\",\"message\":\"lost worker 1\",\"step\":3,\"time\":9001000}",
    "{\"step\":4,\"loss\":1,\"rate\":250,\"accuracy\":0.75,\"time\":9002000}",
    "{\"event\":\"result\",\"message\":\"AUC 0.9\",\"step\":4,\"time\":9002500}",
};

static void resumed_run_has_one_report(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *document = document_of(arena, TWO_RUNS, ARRAY_SIZE(TWO_RUNS));
    assert_string_equal(json_get_string(document, "model", ""), "face");
    assert_string_equal(json_get_string(document, "about", ""), "a model & more");
    assert_string_equal(json_get_string(document, "result", ""), "AUC 0.9");
    assert_int_equal(json_get_int(document, "done", 0), 4);
    assert_int_equal(json_get_int(document, "runs", 0), 2);
    assert_true(json_number(json_get(document, "seconds"), 0) == 5.5);
    struct json *points = json_get(document, "points");
    assert_int_equal(json_count(points), 4);
    for (size_t i = 0; i < 4; i++)
        assert_true(json_number(json_get(json_element(points, i), "loss"), 0) == 4.0 - (double)i);
    struct json *events = json_get(document, "events");
    assert_int_equal(json_count(events), 10); /* only the last of two consecutive checkpoints */
    assert_int_equal(json_get_int(json_element(events, 2), "step", 0), 2);
}

static void page_escapes_names(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf html;
    buf_init(&html, 1 << 20);
    run_report_page(document_of(arena, TWO_RUNS, ARRAY_SIZE(TWO_RUNS)), &html);
    static const char *const PARTS[] = {
        "4 / 4",
        "1.0000",
        "75.0 %",
        "a model &amp; more",
        "AUC 0.9",
        "in 2 runs",
        "&lt;b&gt;&amp;&quot;x&quot;",
        "&lt;script&gt;alert(1)&lt;/script&gt;",
        "class=\"lost\"",
        "class=\"resumed\"",
        "<polyline",
        "images per second",
    };
    for (size_t i = 0; i < ARRAY_SIZE(PARTS); i++)
        if (!strstr(html.data, PARTS[i]))
            fail_msg("no '%s' in:\n%s", PARTS[i], html.data);
    assert_null(strstr(html.data, "<script"));
    assert_null(strstr(html.data, "<b>"));
    assert_null(strstr(html.data, "http"));     /* no external resources */
    assert_null(strstr(html.data, "--events")); /* the option was not given */
}

static void empty_history_gives_a_report(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf html;
    buf_init(&html, 1 << 20);
    run_report_page(document_of(arena, NULL, 0), &html);
    assert_non_null(strstr(html.data, "</html>"));
    assert_int_equal(run_report_write(directory, NULL), 0);
}

static void axes_have_round_numbers(void **state)
{
    static const struct {
        double low, high, step;
    } ROWS[] = {{0, 4, 1}, {0, 1, 0.5}, {0, 0.35, 0.1}, {0, 900, 500}, {3, 3, 1}, {0, 1e9, 5e8}};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++)
        assert_true(fabs(run_chart_step(ROWS[i].low, ROWS[i].high, 4) - ROWS[i].step) <
                    1e-9 * ROWS[i].step);
    static const struct {
        double value, step;
        const char *text;
    } NUMBERS[] = {{0.25, 0.05, "0.25"}, {1200, 200, "1200"}, {2e6, 5e5, "2e+06"},
                   {-1e-17, 0.1, "0.0"}, {0.3, 0.1, "0.3"},   {1e-9, 1e-9, "1e-09"}};
    for (size_t i = 0; i < ARRAY_SIZE(NUMBERS); i++) {
        char text[32];
        run_chart_number(NUMBERS[i].value, NUMBERS[i].step, text, sizeof(text));
        assert_string_equal(text, NUMBERS[i].text);
    }
}

static void curves_without_numbers_are_left_out(void **state)
{
    const double nothing = (double)NAN;
    const double x[] = {1, 2, 3}, flat[] = {5, 5, 5}, holes[] = {nothing, 2, nothing},
                 wild[] = {1, (double)INFINITY, -1e300};
    const struct {
        const double *y;
        bool drawn;
    } ROWS[] = {{flat, true}, {holes, false}, {wild, true}};
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        _cleanup_buf_ struct buf html;
        buf_init(&html, 1 << 20);
        struct run_chart chart = {.title = "loss", .x = x, .y = ROWS[i].y, .count = 3};
        run_chart_write(&chart, &html);
        assert_int_equal(strstr(html.data, "<svg") != NULL, ROWS[i].drawn);
        assert_null(strstr(html.data, "nan"));
        assert_null(strstr(html.data, "inf"));
    }
}

/* The log writes the history and the report. */
static void log_writes_a_report(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *settings = json_object(arena);
    json_set_int(arena, settings, "steps", 3);
    for (uint64_t first = 0; first < 3; first += 2) {
        struct run_log *log =
            run_log_new(&(struct run_log_options){.settings = settings},
                        &(struct run_log_subject){
                            .model = "counting", .directory = directory, .unit = "images"});
        run_log_set_role(log, true, true);
        run_log_begin(log, first, 3);
        run_log_note(log, "start", "of %d numbers", 4);
        for (uint64_t step = first + 1; step <= first + 2 && step <= 3; step++)
            run_log_step(log, &(struct progress_step){.step = step,
                                                      .loss = 1.0 / (double)step,
                                                      .pictures = 8,
                                                      .accuracy = (double)NAN});
        run_log_saved(log, first + 1);
        run_log_worker_lost(log, "lost worker %d", 1);
        run_log_result(log, "counted");
        run_log_free(log);
    }
    size_t unread, opened = 0;
    JSON_EACH (line, read_lines(arena, &unread))
        opened += json_get_bool(line, "opened", false);
    assert_int_equal(opened, 2); /* the pauses before them do not count as work */
    _cleanup_free_ char *json_path = mem_printf("%s/report.json", directory);
    _cleanup_free_ char *html_path = mem_printf("%s/report.html", directory);
    _cleanup_buf_ struct buf text;
    struct json *document = NULL;
    buf_init(&text, 1 << 20);
    assert_true(file_exists(html_path));
    assert_int_equal(file_read(json_path, &text, NULL), 0);
    assert_int_equal(json_parse(arena, text.data, text.size, NULL, &document, NULL), 0);
    assert_string_equal(json_get_string(document, "model", ""), "counting");
    assert_string_equal(json_get_string(document, "about", ""), "of 4 numbers");
    assert_string_equal(json_get_string(document, "result", ""), "counted");
    assert_int_equal(json_get_int(document, "runs", 0), 2);
    assert_int_equal(json_count(json_get(document, "points")), 3);
    assert_int_equal(json_get_int(json_get(document, "options"), "steps", 0), 3);
}

static void unreadable_history_is_reported(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, RUN_HISTORY_FILE);
    assert_int_equal(mkdir(path, 0700), 0);
    assert_true(run_report_write(directory, &err) < 0);
    assert_non_null(strstr(err.message, RUN_HISTORY_FILE));
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(history_is_appended),
        TEST(truncated_line_is_skipped),
        TEST(partial_line_is_removed),
        TEST(nul_bytes_hide_no_line),
        TEST(length_of_history_lines_is_limited),
        TEST(size_of_history_files_is_limited),
        TEST(events_and_points_of_a_report_are_limited),
        TEST(resumed_run_has_one_report),
        TEST(page_escapes_names),
        TEST(empty_history_gives_a_report),
        TEST(axes_have_round_numbers),
        TEST(curves_without_numbers_are_left_out),
        TEST(log_writes_a_report),
        TEST(unreadable_history_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

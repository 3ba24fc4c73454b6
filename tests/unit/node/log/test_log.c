/* Tests log records: a reader gets back what the supervisor writes, also with tail and filters. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/log/container_log.h"
#include "node/log/read.h"

#include <stdlib.h>
#include <unistd.h>

enum { RECORDS_MAX = 1024 * 1024 };
#define NOON INT64_C(1794744000000000000)

static void write_records(struct node_log_writer *writer, struct buf *records, const char *text)
{
    node_log_writer_add(writer, NOON + 123456789, text, strlen(text), records);
}

static void lines_become_records(void **state)
{
    static struct node_log_writer writer;
    _cleanup_buf_ struct buf records;
    buf_init(&records, RECORDS_MAX);
    node_log_writer_init(&writer, "stderr");
    write_records(&writer, &records, "one\ntw");
    assert_string_equal(records.data, "2026-11-15T12:00:00.123456789Z stderr F one\n");
    buf_clear(&records);
    write_records(&writer, &records, "o\n\n");
    assert_string_equal(records.data, "2026-11-15T12:00:00.123456789Z stderr F two\n"
                                      "2026-11-15T12:00:00.123456789Z stderr F \n");
    buf_clear(&records);
    write_records(&writer, &records, "end");
    assert_int_equal(records.size, 0);
    node_log_writer_finish(&writer, NOON, &records);
    assert_string_equal(records.data, "2026-11-15T12:00:00.000000000Z stderr P end\n");
}

static void long_lines_are_split_and_rendered_whole(void **state)
{
    static struct node_log_writer writer;
    static char line[2 * LOG_LINE_MAX + 100];
    _cleanup_buf_ struct buf records, text;
    buf_init(&records, RECORDS_MAX);
    buf_init(&text, RECORDS_MAX);
    node_log_writer_init(&writer, "stdout");
    memset(line, 'x', sizeof(line));
    line[sizeof(line) - 2] = '\n';
    line[sizeof(line) - 1] = '\0';
    write_records(&writer, &records, line);
    assert_int_equal(node_log_render(records.data, records.size, false, 0, &text), records.size);
    assert_string_equal(text.data, line);
}

/* A line of the maximum length is one record. One byte more makes a second record, for any split of
 * the input. */
static void line_length_is_limited(void **state)
{
    static struct node_log_writer writer;
    static char line[LOG_LINE_MAX + 2];
    for (size_t over = 0; over < 2; over++) {
        for (size_t first = 0; first <= LOG_LINE_MAX; first += LOG_LINE_MAX / 2) {
            _cleanup_buf_ struct buf records;
            struct node_log_record record;
            buf_init(&records, RECORDS_MAX);
            node_log_writer_init(&writer, "stdout");
            memset(line, 'x', sizeof(line));
            line[LOG_LINE_MAX + over] = '\n';
            node_log_writer_add(&writer, NOON, line, first, &records);
            node_log_writer_add(&writer, NOON, line + first, LOG_LINE_MAX + over + 1 - first,
                                &records);
            const char *end = strchr(records.data, '\n');
            assert_true(node_log_record_parse(records.data, (size_t)(end - records.data), &record));
            assert_int_equal(record.text_size, LOG_LINE_MAX);
            assert_int_equal(record.is_full, over == 0);
            if (over == 0) {
                assert_int_equal(end[1], '\0');
                continue;
            }
            assert_true(node_log_record_parse(end + 1, strlen(end + 1) - 1, &record));
            assert_int_equal(record.text_size, 1);
            assert_true(record.is_full);
        }
    }
}

static void records_are_parsed(void **state)
{
    struct node_log_record record;
    static const char good[] = "2026-11-15T12:00:00.5Z stdout F a b";
    assert_true(node_log_record_parse(good, strlen(good), &record));
    assert_int_equal(record.wall_ms, NOON / 1000000 + 500);
    assert_true(record.is_full);
    assert_false(record.is_error);
    assert_memory_equal(record.text, "a b", 3);
    static const char *const BAD[] = {"",
                                      "x",
                                      "2026-11-15T12:00:00.5Z stdout F",
                                      "2026-11-15T12:00:00.5Z stdout X a",
                                      "2026-11-15T12:00:00.5Z stdfoo F a",
                                      "yesterday stdout F a",
                                      " stdout F a"};
    for (size_t i = 0; i < ARRAY_SIZE(BAD); i++)
        if (node_log_record_parse(BAD[i], strlen(BAD[i]), &record))
            fail_msg("'%s' was taken", BAD[i]);
}

static void records_are_rendered(void **state)
{
    static const char records[] = "2026-11-15T12:00:00.000000000Z stdout F old\n"
                                  "rubbish\n"
                                  "2026-11-15T12:00:01.000000000Z stdout P ne\n"
                                  "2026-11-15T12:00:01.000000000Z stdout F w\n"
                                  "2026-11-15T12:00:02.00";
    _cleanup_buf_ struct buf text;
    buf_init(&text, RECORDS_MAX);
    size_t used = node_log_render(records, strlen(records), false, 0, &text);
    assert_string_equal(text.data, "old\nnew\n");
    assert_string_equal(records + used, "2026-11-15T12:00:02.00");
    buf_clear(&text);
    node_log_render(records, strlen(records), true, NOON / 1000000 + 1000, &text);
    assert_string_equal(text.data, "2026-11-15T12:00:01.000000000Z ne"
                                   "2026-11-15T12:00:01.000000000Z w\n");
}

static void assert_tail(const char *content, int64_t lines, const char *expected)
{
    char path[] = "/tmp/trainyard-log.XXXXXX";
    int fd = mkstemp(path);
    unlink(path);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, content, strlen(content), NULL), 0);
    int64_t offset = node_log_tail_offset(fd, (int64_t)strlen(content), true, &lines);
    _cleanup_buf_ struct buf text;
    buf_init(&text, RECORDS_MAX);
    node_log_render(content + offset, strlen(content) - (size_t)offset, false, 0, &text);
    assert_string_equal(text.data, expected);
    close(fd);
}

static void tail_returns_the_last_lines(void **state)
{
#define R(tag, text) "2026-11-15T12:00:00.000000000Z stdout " tag " " text "\n"
    static const char three[] = R("F", "one") R("P", "tw") R("F", "o") R("F", "three");
    assert_tail(three, 0, "");
    assert_tail(three, 1, "three\n");
    assert_tail(three, 2, "two\nthree\n");
    assert_tail(three, 3, "one\ntwo\nthree\n");
    assert_tail(three, 100, "one\ntwo\nthree\n");
    assert_tail("", 5, "");
    assert_tail(R("F", "one") R("P", "unfinished"), 1, "unfinished");
    assert_tail(R("F", "one") R("P", "unfinished"), 2, "one\nunfinished");
#undef R
}

static void tail_crosses_many_blocks(void **state)
{
    static struct node_log_writer writer;
    _cleanup_buf_ struct buf records, expected;
    buf_init(&records, RECORDS_MAX);
    buf_init(&expected, RECORDS_MAX);
    node_log_writer_init(&writer, "stdout");
    for (int i = 0; i < 1000; i++) {
        char line[32];
        snprintf(line, sizeof(line), "line %d\n", i);
        write_records(&writer, &records, line);
        if (i >= 500)
            buf_append_str(&expected, line);
    }
    assert_tail(records.data, 500, expected.data);
}

static void run_of_a_container_is_chosen(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod = read_json(arena, "{'metadata':{'name':'p'}}");
    struct err err = ERR_INIT;
    int64_t run;
    struct container_state container = {.phase = CONTAINER_WAITING};
    assert_int_equal(node_log_choose_run(NULL, pod, "c", false, &run, &err), -ERR_BAD_REQUEST);
    assert_int_equal(node_log_choose_run(&container, pod, "c", false, &run, &err),
                     -ERR_BAD_REQUEST);
    assert_string_equal(err.message,
                        "container \"c\" in pod \"p\" is waiting to start: ContainerCreating");
    container.phase = CONTAINER_RUNNING;
    assert_int_equal(node_log_choose_run(&container, pod, "c", false, &run, &err), 0);
    assert_int_equal(run, 0);
    assert_int_equal(node_log_choose_run(&container, pod, "c", true, &run, &err), -ERR_BAD_REQUEST);
    container.restarts = 2;
    container.last.known = true;
    assert_int_equal(node_log_choose_run(&container, pod, "c", true, &run, &err), 0);
    assert_int_equal(run, 1);
    container.phase = CONTAINER_WAITING; /* in back-off: the last run is the newest one */
    assert_int_equal(node_log_choose_run(&container, pod, "c", false, &run, &err), 0);
    assert_int_equal(run, 1);
}

static void waiting_reason_is_in_the_message(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod =
        read_json(arena, "{'metadata':{'name':'p'},'status':{'containerStatuses':[{'name':'c',"
                         "'state':{'waiting':{'reason':'ErrImageNeverPull','message':'run it'}}}],"
                         "'initContainerStatuses':[{'name':'i','state':{'waiting':{'reason':"
                         "'PodInitializing'}}}]}}");
    struct err err = ERR_INIT;
    int64_t run;
    assert_int_equal(node_log_choose_run(NULL, pod, "c", false, &run, &err), -ERR_BAD_REQUEST);
    assert_string_equal(
        err.message, "container \"c\" in pod \"p\" is waiting to start: ErrImageNeverPull: run it");
    assert_int_equal(node_log_choose_run(NULL, pod, "i", false, &run, &err), -ERR_BAD_REQUEST);
    assert_string_equal(err.message,
                        "container \"i\" in pod \"p\" is waiting to start: PodInitializing");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lines_become_records),
        cmocka_unit_test(long_lines_are_split_and_rendered_whole),
        cmocka_unit_test(line_length_is_limited),
        cmocka_unit_test(records_are_parsed),
        cmocka_unit_test(records_are_rendered),
        cmocka_unit_test(tail_returns_the_last_lines),
        cmocka_unit_test(tail_crosses_many_blocks),
        cmocka_unit_test(run_of_a_container_is_chosen),
        cmocka_unit_test(waiting_reason_is_in_the_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

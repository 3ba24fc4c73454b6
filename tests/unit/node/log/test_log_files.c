/* Tests log files that are rotated while they are read: a reader gets every line once. Also tests
 * the last lines, and a full disk. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/log/container_log.h"
#include "node/log/files.h"
#include "node/log/read.h"
#include "node/pod/record/state.h"
#include "node/step/log.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LINES = 60 * 1000, LINE_SIZE = 1000, PIECE = 64 * 1024, BATCH = 1000, AHEAD = 30 * 1000 };

static char root[] = "/tmp/trainyard-logs.XXXXXX";

static void write_line(struct step_log *log, int number)
{
    _cleanup_buf_ struct buf record;
    buf_init(&record, 2 * LINE_SIZE);
    buf_printf(&record, "2026-11-15T12:00:00.000000000Z stdout F %0*d\n", LINE_SIZE, number);
    step_log_write(log, &record);
}

static struct step_log open_run(int64_t run)
{
    struct step_log log;
    struct err err = ERR_INIT;
    step_log_init(&log);
    if (step_log_open(&log, root, "main", run, &err) < 0)
        fail_msg("%s", err.message);
    return log;
}

/* Reads all lines from the reader's position to the end of the last file. Returns true if there
 * were any. */
static bool read_on(const char *path, struct node_log_place *place, int *expected)
{
    static char data[PIECE];
    bool any = false;
    for (;;) {
        ssize_t got = node_log_files_read(place, data, sizeof(data));
        _cleanup_buf_ struct buf text;
        buf_init(&text, PIECE);
        size_t used = got > 0 ? node_log_render(data, (size_t)got, false, 0, &text) : 0;
        place->offset += (int64_t)used;
        for (char *line = text.data, *end; text.size && (end = strchr(line, '\n')); line = end + 1)
            assert_int_equal(strtol(line, NULL, 10), (*expected)++);
        any = any || used > 0;
        if (used == 0 && !node_log_files_go_on(path, place))
            return any;
    }
}

static void reader_follows_rotated_files(void **state)
{
    _cleanup_free_ char *path = pod_log_path(root, "main", 0);
    struct step_log log = open_run(0);
    struct err err = ERR_INIT;
    struct node_log_place place;
    int expected = 0, status;
    assert_int_equal(node_log_files_open(path, -1, &place, &err), 0);
    /* A reader that falls behind by more than the kept files loses lines, as intended. So the
     * writer is never that far ahead: it waits for one byte per BATCH. */
    int told[2], batches = 0;
    assert_int_equal(pipe(told), 0);
    pid_t writer = fork();
    if (writer == 0) {
        close(told[1]);
        for (int i = 0; i < LINES; i++) {
            char byte;
            if (i >= AHEAD && i % BATCH == 0 && read(told[0], &byte, 1) != 1)
                _exit(1);
            write_line(&log, i);
        }
        _exit(0);
    }
    while (waitpid(writer, &status, WNOHANG) == 0) {
        if (!read_on(path, &place, &expected))
            poll(NULL, 0, 1);
        for (; batches < expected / BATCH; batches++)
            assert_int_equal(write(told[1], "", 1), 1);
    }
    assert_int_equal(status, 0);
    close(told[0]);
    close(told[1]);
    read_on(path, &place, &expected);
    assert_int_equal(expected, LINES);
    close(place.fd);
    step_log_close(&log);

    /* Not all files are kept. The kept lines have no gap. */
    _cleanup_free_ char *gone = mem_printf("%s.1", path);
    assert_false(file_exists(gone));
    assert_int_equal(node_log_files_open(path, -1, &place, &err), 0);
    char first[LINE_SIZE + 1] = "";
    assert_int_equal(pread(place.fd, first, LINE_SIZE, 40), LINE_SIZE);
    expected = (int)strtol(first, NULL, 10);
    assert_true(expected > 0 && expected < LINES - 4 * (LOG_FILE_MAX / (LINE_SIZE + 41)));
    read_on(path, &place, &expected);
    assert_int_equal(expected, LINES);
    close(place.fd);

    /* The last lines, also if they begin in an older file. */
    static const int TAILS[] = {1, 7, 9000, 15000, 30000};
    for (size_t i = 0; i < ARRAY_SIZE(TAILS); i++) {
        assert_int_equal(node_log_files_open(path, TAILS[i], &place, &err), 0);
        expected = LINES - TAILS[i];
        read_on(path, &place, &expected);
        assert_int_equal(expected, LINES);
        close(place.fd);
    }
    struct step_log next = open_run(1);
    write_line(&next, 0);
    step_log_close(&next);
    step_log_remove(root, "main", 0);
    assert_false(file_exists(path));
    _cleanup_free_ char *part = mem_printf("%s.5", path), *other = pod_log_path(root, "main", 1);
    assert_false(file_exists(part));
    assert_true(file_exists(other));
}

/* The reader is at the end of the file. Then a line is added and the file is rotated, before the
 * reader opens the next file. The reader must still get the line. */
static void line_written_just_before_rotation_is_read(void **state)
{
    static char data[PIECE];
    struct step_log log = open_run(3);
    _cleanup_free_ char *path = pod_log_path(root, "main", 3), *part = mem_printf("%s.1", path);
    struct node_log_place place;
    int expected = 1, written = 1;
    assert_int_equal(node_log_files_open(path, -1, &place, NULL), 0);
    write_line(&log, 0);
    place.offset = node_log_files_read(&place, data, sizeof(data));
    assert_int_equal(node_log_files_read(&place, data, sizeof(data)), 0);
    while (!file_exists(part))
        write_line(&log, written++);
    assert_true(node_log_files_go_on(path, &place));
    read_on(path, &place, &expected);
    assert_int_equal(expected, written);

    /* An incomplete line in an old file is skipped. */
    const int unreadable = open(part, O_WRONLY | O_APPEND);
    assert_int_equal(write(unreadable, "half", 4), 4);
    close(unreadable);
    close(place.fd);
    assert_int_equal(node_log_files_open(path, -1, &place, NULL), 0);
    expected = 0;
    read_on(path, &place, &expected);
    assert_int_equal(expected, written);
    close(place.fd);
    step_log_close(&log);
}

/* A file that may not grow plays a full disk. A record that does not fit leaves no half line, and
 * the next record that fits reports how much is missing. */
static void full_disk_leaves_no_partial_record(void **state)
{
    struct step_log log = open_run(2);
    _cleanup_free_ char *path = pod_log_path(root, "main", 2);
    _cleanup_buf_ struct buf records, text;
    const struct rlimit none = {1100, RLIM_INFINITY}, any = {RLIM_INFINITY, RLIM_INFINITY};
    buf_init(&records, PIECE);
    buf_init(&text, PIECE);
    signal(SIGXFSZ, SIG_IGN);
    write_line(&log, 1);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &none), 0);
    write_line(&log, 2);
    write_line(&log, 3);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &any), 0);
    write_line(&log, 4);
    step_log_close(&log);
    assert_int_equal(file_read(path, &records, NULL), 0);
    assert_int_equal(node_log_render(records.data, records.size, false, 0, &text), records.size);
    assert_int_equal(strtol(text.data, NULL, 10), 1);
    char *second = strchr(text.data, '\n') + 1;
    assert_true(str_has_prefix(
        second, "trainyard: 2082 bytes of the log are missing here because the disk was full\n"));
    assert_int_equal(strtol(strchr(second, '\n') + 1, NULL, 10), 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(reader_follows_rotated_files),
                                       cmocka_unit_test(line_written_just_before_rotation_is_read),
                                       cmocka_unit_test(full_disk_leaves_no_partial_record)};
    _cleanup_free_ char *logs = NULL;
    if (!mkdtemp(root) || file_make_dirs(logs = mem_printf("%s/logs", root), 0700, NULL) < 0)
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(root, NULL);
    return failed;
}

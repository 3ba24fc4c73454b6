/* Tests files: limits, atomic replacement, walks of trees that follow no symbolic link, and the
 * lines of the log. */
#include "base/system/file.h"
#include "base/system/file_walk.h"

#include "base/arena.h"
#include "base/json/json_file.h"
#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static char root[64];

static char *path_of(const char *name)
{
    static char paths[4][128];
    static int next;
    char *path = paths[next++ % 4];
    snprintf(path, sizeof(paths[0]), "%s/%s", root, name);
    return path;
}

static int setup(void **state)
{
    strcpy(root, "/tmp/file.XXXXXX");
    return mkdtemp(root) ? 0 : -1;
}

static int teardown(void **state)
{
    return file_remove_tree(root, NULL);
}

static void test_read(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 10);
    assert_int_equal(file_read(path_of("none"), &buf, &err), -ERR_NOT_FOUND);
    assert_true(str_has_prefix(err.message, "cannot read '/tmp/file."));
    assert_int_equal(file_write_atomic(path_of("f"), "0123456789", 10, 0600, &err), 0);
    assert_int_equal(file_read(path_of("f"), &buf, &err), 0);
    assert_string_equal(buf.data, "0123456789");
    buf_clear(&buf);
    assert_int_equal(file_write_atomic(path_of("f"), "0123456789x", 11, 0600, &err), 0);
    assert_int_equal(file_read(path_of("f"), &buf, &err), -ERR_TOO_LARGE);
    assert_int_equal(file_read(root, &buf, &err), -ERR_IO); /* a directory */
    _cleanup_buf_ struct buf large;
    buf_init(&large, 1 << 20);
    _cleanup_free_ char *data = mem_zalloc(300000);
    assert_int_equal(file_write_atomic(path_of("g"), data, 300000, 0600, &err), 0);
    assert_int_equal(file_read(path_of("g"), &large, &err), 0);
    assert_int_equal(large.size, 300000);
}

static void test_write_atomic(void **state)
{
    struct err err = ERR_INIT;
    struct stat info;
    assert_int_equal(file_write_atomic(path_of("f"), "one", 3, 0640, &err), 0);
    assert_int_equal(stat(path_of("f"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0640);
    assert_int_equal(file_write_atomic(path_of("f"), "", 0, 0600, &err), 0);
    assert_int_equal(stat(path_of("f"), &info), 0);
    assert_int_equal(info.st_size, 0);
    assert_int_equal(file_write_atomic(path_of("no/f"), "x", 1, 0600, &err), -ERR_NOT_FOUND);
    /* A failed replacement leaves no temporary file. */
    assert_int_equal(file_make_dirs(path_of("d/in"), 0755, &err), 0);
    assert_true(file_write_atomic(path_of("d"), "x", 1, 0600, &err) < 0);
    assert_int_equal(file_remove_tree(path_of("d"), &err), 0);
    assert_int_equal(unlink(path_of("f")), 0);
    assert_int_equal(rmdir(root), 0);
    assert_int_equal(mkdir(root, 0700), 0);
}

static void test_write_all(void **state)
{
    struct err err = ERR_INIT;
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    assert_int_equal(file_write_all(ends[1], "abc", 3, &err), 0);
    char text[4] = "";
    assert_int_equal(read(ends[0], text, 3), 3);
    assert_string_equal(text, "abc");
    close(ends[0]);
    close(ends[1]);
    assert_int_equal(file_write_all(ends[1], "abc", 3, &err), -ERR_IO);
    assert_int_equal(err.sys, EBADF);
    assert_int_equal(file_write_all(ends[1], "", 0, &err), 0);
}

static void test_write_into(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, 100);
    assert_int_equal(file_write_into(path_of("no such switch"), "1", &err), -ERR_NOT_FOUND);
    assert_false(file_exists(path_of("no such switch")));
    assert_int_equal(file_write_atomic(path_of("switch"), "0123", 4, 0600, &err), 0);
    assert_int_equal(file_write_into(path_of("switch"), "ab", &err), 0);
    assert_int_equal(file_read(path_of("switch"), &buf, &err), 0);
    assert_string_equal(buf.data, "ab23");
    assert_int_equal(file_write_into("/dev/full", "1", &err), -ERR_IO);
    assert_true(str_has_prefix(err.message, "'/dev/full': cannot write"));
}

static void test_json_file(void **state)
{
    struct err err = ERR_INIT;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *read = NULL, *object = json_object(arena);
    const char *path = path_of("settings.json");
    assert_int_equal(json_file_read(arena, path, &read, &err), -ERR_NOT_FOUND);
    json_set_string(arena, object, "nodes", "3");
    assert_int_equal(json_file_write(path, object, &err), 0);
    assert_int_equal(json_file_read(arena, path, &read, &err), 0);
    assert_string_equal(json_get_string(read, "nodes", ""), "3");
    struct stat info;
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);

    static const struct {
        const char *text;
        int result;
        const char *complaint;
    } ROWS[] = {
        {"[1]", -ERR_INVALID, "contains an array where an object is expected"},
        {"{\"nodes\":", -ERR_BAD_REQUEST, "settings.json': 1:10: "},
        {"", -ERR_BAD_REQUEST, "settings.json': 1:1: "},
    };
    for (size_t i = 0; i < ARRAY_SIZE(ROWS); i++) {
        file_write_atomic(path, ROWS[i].text, strlen(ROWS[i].text), 0600, NULL);
        read = NULL;
        assert_int_equal(json_file_read(arena, path, &read, &err), ROWS[i].result);
        assert_non_null(strstr(err.message, ROWS[i].complaint));
        assert_null(read);
    }
}

static void test_make_dirs(void **state)
{
    struct err err = ERR_INIT;
    assert_int_equal(file_make_dirs(path_of("a//b/c/"), 0755, &err), 0);
    assert_int_equal(file_make_dirs(path_of("a/b/c"), 0755, &err), 0);
    assert_true(file_exists(path_of("a/b/c")));
    assert_int_equal(file_make_dirs("/", 0755, &err), 0);
    assert_int_equal(file_make_dirs("", 0755, &err), -ERR_INVALID);
    assert_int_equal(file_write_atomic(path_of("f"), "x", 1, 0600, &err), 0);
    assert_int_equal(file_make_dirs(path_of("f"), 0755, &err), -ERR_EXISTS);
    assert_true(file_make_dirs(path_of("f/under"), 0755, &err) < 0);
}

static void test_remove_tree(void **state)
{
    struct err err = ERR_INIT;
    assert_int_equal(file_remove_tree(path_of("none"), &err), 0);
    assert_int_equal(file_make_dirs(path_of("kept"), 0755, &err), 0);
    assert_int_equal(file_write_atomic(path_of("kept/f"), "x", 1, 0600, &err), 0);
    assert_int_equal(file_make_dirs(path_of("t/a/b"), 0755, &err), 0);
    assert_int_equal(file_write_atomic(path_of("t/a/f"), "x", 1, 0400, &err), 0);
    assert_int_equal(symlink("../../kept", path_of("t/a/link")), 0);
    assert_int_equal(chmod(path_of("t/a"), 0500), 0);
    assert_int_equal(file_remove_tree(path_of("t"), &err), 0);
    assert_false(file_exists(path_of("t")));
    assert_true(file_exists(path_of("kept/f"))); /* the link was not followed */
    assert_int_equal(symlink("kept", path_of("link")), 0);
    assert_int_equal(file_remove_tree(path_of("link"), &err), 0); /* only the link is removed */
    assert_true(file_exists(path_of("kept/f")));
}

/* The path is longer than PATH_MAX. */
static void test_remove_deep(void **state)
{
    enum { DEPTH = 5000 };
    struct err err = ERR_INIT;
    assert_int_equal(mkdir(path_of("deep"), 0700), 0);
    int fd = open(path_of("deep"), O_RDONLY | O_DIRECTORY);
    for (int i = 0; i < DEPTH; i++) {
        assert_int_equal(mkdirat(fd, "a-directory", 0700), 0);
        int next = openat(fd, "a-directory", O_RDONLY | O_DIRECTORY);
        assert_true(next >= 0);
        close(fd);
        fd = next;
    }
    close(openat(fd, "file", O_WRONLY | O_CREAT, 0600));
    close(fd);
    assert_int_equal(file_remove_tree(path_of("deep"), &err), 0);
    assert_false(file_exists(path_of("deep")));
}

/* Plays another process that moves a directory, or replaces it by a link, during a walk. */
struct swap {
    const char *at; /* the swap happens when this entry is visited */
    const char *from, *to, *link;
    int visits;
};

static int swap_once(void *context, int directory, const char *name, const struct stat *info)
{
    struct swap *swap = context;
    swap->visits++;
    assert_string_not_equal(name, "precious");
    if (strcmp(name, swap->at) == 0) {
        assert_int_equal(rename(path_of(swap->from), path_of(swap->to)), 0);
        if (swap->link)
            assert_int_equal(symlink(path_of(swap->link), path_of(swap->from)), 0);
    }
    return 0;
}

static void test_walk_of_a_changing_tree(void **state)
{
    struct err err = ERR_INIT;
    assert_int_equal(file_make_dirs(path_of("kept"), 0755, &err), 0);
    assert_int_equal(file_write_atomic(path_of("kept/precious"), "x", 1, 0600, &err), 0);
    assert_int_equal(file_make_dirs(path_of("t/a/b"), 0755, &err), 0);
    assert_int_equal(file_write_atomic(path_of("t/first"), "x", 1, 0600, &err), 0);
    /* "a" becomes a link before or after the walk has checked it. In both cases the walk must not
     * enter it. */
    struct swap swap = {.at = "first", .from = "t/a", .to = "aside", .link = "kept"};
    struct file_walk walk = {.visit = swap_once, .context = &swap, .verb = "walk"};
    assert_int_equal(file_walk(&walk, path_of("t"), &err), 0);
    assert_int_equal(swap.visits, 3); /* the file, the link, the top */
    assert_int_equal(file_remove_tree(path_of("t"), &err), 0);
    assert_true(file_exists(path_of("kept/precious")));

    /* After a directory was moved, ".." would lead out of the tree. */
    assert_int_equal(file_make_dirs(path_of("t/a/b"), 0755, &err), 0);
    assert_int_equal(file_write_atomic(path_of("t/a/b/inner"), "x", 1, 0600, &err), 0);
    swap = (struct swap){.at = "inner", .from = "t/a/b", .to = "kept/b"};
    assert_int_equal(file_walk(&walk, path_of("t"), &err), -ERR_IO);
    assert_int_equal(err.sys, ESTALE);
    assert_int_equal(swap.visits, 1);
}

static int accept_entry(void *context, int directory, const char *name, const struct stat *info)
{
    return 0;
}

/* Entries that were only read count, too, so a tree of only directories is limited as well. */
static void test_walk_has_limits(void **state)
{
    struct err err = ERR_INIT;
    assert_int_equal(file_make_dirs(path_of("t/a/b"), 0755, &err), 0);
    assert_int_equal(file_make_dirs(path_of("t/c"), 0755, &err), 0);
    static const struct {
        size_t entries, depth, names;
        int sys;
    } CASES[] = {
        {4, 3, 16, 0},    {3, 0, 0, E2BIG}, {0, 0, 0, E2BIG},
        {4, 2, 0, E2BIG}, {4, 0, 3, E2BIG}, /* the sizes of two names with their NUL bytes */
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        size_t left = CASES[i].entries;
        const struct file_walk walk = {.visit = accept_entry,
                                       .verb = "walk",
                                       .entries_left = &left,
                                       .depth_max = CASES[i].depth,
                                       .names_max = CASES[i].names};
        err = (struct err)ERR_INIT;
        assert_int_equal(file_walk(&walk, path_of("t"), &err) < 0, CASES[i].sys != 0);
        assert_int_equal(err.sys, CASES[i].sys);
    }
}

static int fail_at_name(void *context, int directory, const char *name, const struct stat *info)
{
    return strcmp(name, context) == 0 ? EPERM : 0;
}

static void test_walk_error_names_the_path(void **state)
{
    struct err err = ERR_INIT;
    char expected[256];
    assert_int_equal(file_make_dirs(path_of("t/a/b"), 0755, &err), 0);
    assert_int_equal(file_write_atomic(path_of("t/a/f"), "x", 1, 0600, &err), 0);
    static const char *const AT[][2] = {{"f", "t/a/f"}, {"b", "t/a/b"}, {"a", "t/a"}, {"t", "t"}};
    for (size_t i = 0; i < ARRAY_SIZE(AT); i++) {
        const struct file_walk walk = {
            .visit = fail_at_name, .context = (void *)AT[i][0], .verb = "walk"};
        assert_true(file_walk(&walk, path_of("t"), &err) < 0);
        snprintf(expected, sizeof(expected), "cannot walk '%s': %s", path_of(AT[i][1]),
                 strerror(EPERM));
        assert_string_equal(err.message, expected);
    }
    assert_int_equal(file_remove_tree("/", &err), -ERR_INVALID);
    assert_int_equal(file_remove_tree(path_of(".."), &err), -ERR_INVALID);
}

/* Captures the output of log_write() on stderr. */
static void capture_log(char *text, size_t size, enum log_format format, enum log_level level,
                        const char *message)
{
    int kept = dup(STDERR_FILENO);
    int fd = open(path_of("log"), O_RDWR | O_CREAT | O_TRUNC, 0600);
    dup2(fd, STDERR_FILENO);
    log_setup(LOG_INFO, format);
    log_write(level, "job default/mnist", "%s", message);
    dup2(kept, STDERR_FILENO);
    close(kept);
    ssize_t got = pread(fd, text, size - 1, 0);
    text[got > 0 ? got : 0] = '\0';
    close(fd);
}

static void test_log(void **state)
{
    static char text[65536], message[20000];
    capture_log(text, sizeof(text), LOG_TEXT, LOG_INFO, "created pod");
    assert_string_equal(text + strcspn(text, " "), " job default/mnist: created pod\n");
    capture_log(text, sizeof(text), LOG_TEXT, LOG_ERROR, "no");
    assert_string_equal(text + strcspn(text, " "), " error: job default/mnist: no\n");
    capture_log(text, sizeof(text), LOG_TEXT, LOG_DEBUG, "hidden");
    assert_string_equal(text, "");

    /* One valid JSON object per line, for any content and length of the message. */
    struct arena *arena = arena_new();
    struct json *line;
    memset(message, '\x01', sizeof(message) - 1);
    const char *const messages[] = {"say \"hi\"\n\tand \\ go", "bad \xff byte", message};
    for (size_t i = 0; i < ARRAY_SIZE(messages); i++) {
        /* The output is JSON, because stderr is no terminal. */
        capture_log(text, sizeof(text), LOG_AUTO, LOG_WARNING, messages[i]);
        assert_ptr_equal(strchr(text, '\n'), text + strlen(text) - 1);
        assert_int_equal(json_parse(arena, text, strlen(text), NULL, &line, NULL), 0);
        assert_string_equal(json_get_string(line, "level", ""), "warning");
        assert_string_equal(json_get_string(line, "subject", ""), "job default/mnist");
        assert_non_null(json_get_string(line, "time", NULL));
        if (i == 0)
            assert_string_equal(json_get_string(line, "message", ""), messages[0]);
    }
    arena_free(arena);
}

#define TEST(function) cmocka_unit_test_setup_teardown(function, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_read),
        TEST(test_write_atomic),
        TEST(test_write_all),
        TEST(test_write_into),
        TEST(test_json_file),
        TEST(test_make_dirs),
        TEST(test_remove_tree),
        TEST(test_remove_deep),
        TEST(test_walk_of_a_changing_tree),
        TEST(test_walk_has_limits),
        TEST(test_walk_error_names_the_path),
        TEST(test_log),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests versions of a model: numbered in ascending order, complete or absent, and the newest
 * complete one is found. */
#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/model_versions.h"

#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <utime.h>

#include <cmocka.h>

static char directory[64], exports[128];

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_versions.XXXXXX");
    bool made = mkdtemp(directory);
    snprintf(exports, sizeof(exports), "%s/a/b", directory);
    return made ? 0 : -1;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

static int write_text(void *context, const char *path, struct err *err)
{
    const char *text = context;
    return file_write_atomic(path, text, strlen(text), 0644, err);
}

static int write_fails(void *context, const char *path, struct err *err)
{
    (void)write_text(context, path, NULL);
    return err_set(err, ERR_IO, "no room");
}

static int64_t publish(int64_t now, const char *text)
{
    int64_t version = -1;
    struct err err = ERR_INIT;
    if (model_versions_publish(exports, "m", now, write_text, (void *)text, &version, &err) < 0)
        fail_msg("%s", err.message);
    return version;
}

static size_t count_entries(void)
{
    size_t count = 0;
    DIR *stream = opendir(exports);
    while (stream && readdir(stream))
        count++;
    closedir(stream);
    return count - 2;
}

static void versions_increase_for_any_clock(void **state)
{
    assert_int_equal(publish(100, "one"), 100);
    assert_int_equal(publish(100, "two"), 101);
    assert_int_equal(publish(50, "three"), 102);
    assert_int_equal(publish(1000, "four"), 1000);
    assert_int_equal(count_entries(), 4);
    int64_t version;
    char path[MODEL_VERSIONS_PATH_MAX];
    assert_int_equal(model_versions_newest(exports, "m", INT64_MAX, &version, path, NULL), 0);
    assert_int_equal(version, 1000);
    _cleanup_buf_ struct buf file;
    buf_init(&file, 100);
    assert_int_equal(file_read(path, &file, NULL), 0);
    assert_string_equal(file.data, "four");
}

static void other_entries_are_skipped(void **state)
{
    int64_t version;
    char path[MODEL_VERSIONS_PATH_MAX];
    assert_int_equal(model_versions_newest(exports, "m", INT64_MAX, &version, path, NULL),
                     -ERR_NOT_FOUND);
    publish(5, "five");
    static const char *const OTHERS[] = {"9/other", "x7/m", "-8/m", ".publishing-abc/m"};
    for (size_t i = 0; i < ARRAY_SIZE(OTHERS); i++) {
        _cleanup_free_ char *file = mem_printf("%s/%s", exports, OTHERS[i]);
        *strrchr(file, '/') = '\0';
        assert_int_equal(file_make_dirs(file, 0755, NULL), 0);
        file[strlen(file)] = '/';
        assert_int_equal(file_write_atomic(file, "", 0, 0644, NULL), 0);
    }
    assert_int_equal(model_versions_newest(exports, "m", INT64_MAX, &version, path, NULL), 0);
    assert_int_equal(version, 5);
    assert_int_equal(publish(5, "ten"), 10); /* 9 is taken by another file */
}

static void failed_publish_leaves_no_files(void **state)
{
    int64_t version = -1;
    struct err err = ERR_INIT;
    publish(1, "one");
    assert_int_equal(
        model_versions_publish(exports, "m", 2, write_fails, (void *)"half", &version, &err),
        -ERR_IO);
    assert_string_equal(err.message, "no room");
    assert_int_equal(version, -1);
    assert_int_equal(count_entries(), 1);
}

static void files_of_a_killed_publish_are_removed_later(void **state)
{
    publish(1, "one");
    _cleanup_free_ char *left = mem_printf("%s/.publishing-dead", exports);
    assert_int_equal(file_make_dirs(left, 0755, NULL), 0);
    struct utimbuf old = {.actime = 1000, .modtime = 1000};
    assert_int_equal(utime(left, &old), 0);
    publish(1100, "two");
    assert_true(file_exists(left)); /* its writer may still be working */
    publish(10000, "three");
    assert_false(file_exists(left));
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        CASE(versions_increase_for_any_clock),
        CASE(other_entries_are_skipped),
        CASE(failed_publish_leaves_no_files),
        CASE(files_of_a_killed_publish_are_removed_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

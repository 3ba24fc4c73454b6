/* Tests event files against bytes that another program made from the published format. */
#include "base/mem.h"
#include "base/system/file.h"
#include "train/run/event_file.h"

#include <dirent.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cmocka.h>

/* The records of 2023-11-14 22:13:20.250. "resumed" is after step 120; the scalars are of step
 * 300. */
static const char VERSION[] =
    "1800000000000000a37f4b220900001040fc54d9411a0d627261696e2e4576656e743a32338d2fe9";
static const char RESUMED[] = "0f000000000000006d532b090900001040fc54d94110793a02080158a6cc1e";
static const char SCALARS[] = "31000000000000009d8383e90900006040fc54d94110ac022a230a0b0a046c6f7373"
                              "150000003f0a140a0d6c6561726e696e672d72617465150000803ea5320a17";
static const int64_t START_MS = 1700000000250, LATER_MS = 1700000001500;

static char directory[] = "/tmp/trainyard-events.XXXXXX";

static int make_directory(void **state)
{
    strcpy(directory + strlen(directory) - 6, "XXXXXX");
    return mkdtemp(directory) ? 0 : -1;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

/* Returns the only file of the directory, as hexadecimal digits. The caller frees it. */
static char *read_file(void)
{
    char *hex = NULL;
    DIR *listing = opendir(directory);
    assert_non_null(listing);
    for (struct dirent *entry; (entry = readdir(listing));) {
        if (entry->d_name[0] == '.')
            continue;
        assert_null(hex);
        assert_ptr_equal(strstr(entry->d_name, "events.out.tfevents.1700000000."), entry->d_name);
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, entry->d_name);
        _cleanup_buf_ struct buf data;
        buf_init(&data, 1 << 20);
        assert_int_equal(file_read(path, &data, NULL), 0);
        hex = mem_zalloc(2 * data.size + 1);
        for (size_t i = 0; i < data.size; i++)
            snprintf(hex + 2 * i, 3, "%02x", (unsigned char)data.data[i]);
    }
    closedir(listing);
    assert_non_null(hex);
    return hex;
}

static struct event_file *open_file(uint64_t first_step)
{
    struct event_file *file = NULL;
    assert_int_equal(event_file_open(directory, START_MS, first_step, &file, NULL), 0);
    return file;
}

static int add_scalars(struct event_file *file, struct err *err)
{
    const struct event_scalar scalars[] = {{"loss", 0.5}, {"learning-rate", 0.25}};
    return event_file_add(file, LATER_MS, 300, scalars, ARRAY_SIZE(scalars), err);
}

static void event_file_has_the_tensorboard_format(void **state)
{
    _cleanup_(cleanup_event_file) struct event_file *file = open_file(0);
    assert_int_equal(add_scalars(file, NULL), 0);
    _cleanup_free_ char *hex = read_file();
    _cleanup_free_ char *expected = mem_printf("%s%s", VERSION, SCALARS);
    assert_string_equal(hex, expected);
}

static void resumed_run_records_its_first_step(void **state)
{
    _cleanup_(cleanup_event_file) struct event_file *file = open_file(120);
    assert_non_null(file);
    _cleanup_free_ char *hex = read_file();
    _cleanup_free_ char *expected = mem_printf("%s%s", VERSION, RESUMED);
    assert_string_equal(hex, expected);
}

/* A record that does not fit on the disk is removed completely, and the next one is readable once
 * there is room. */
static void partial_record_is_removed(void **state)
{
    _cleanup_(cleanup_event_file) struct event_file *file = open_file(0);
    struct rlimit old;
    struct err err = ERR_INIT;
    assert_int_equal(getrlimit(RLIMIT_FSIZE, &old), 0);
    struct rlimit small = (struct rlimit){strlen(VERSION) / 2 + 10, old.rlim_max};
    signal(SIGXFSZ, SIG_IGN);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &small), 0);
    assert_true(add_scalars(file, &err) < 0);
    assert_int_equal(setrlimit(RLIMIT_FSIZE, &old), 0);
    assert_non_null(strstr(err.message, "cannot write"));
    assert_int_equal(add_scalars(file, NULL), 0);
    _cleanup_free_ char *hex = read_file();
    _cleanup_free_ char *expected = mem_printf("%s%s", VERSION, SCALARS);
    assert_string_equal(hex, expected);
}

static void unusable_directory_is_reported(void **state)
{
    struct event_file *file = NULL;
    struct err err = ERR_INIT;
    assert_true(event_file_open("/proc/nowhere", START_MS, 0, &file, &err) < 0);
    assert_non_null(strstr(err.message, "/proc/nowhere"));
    assert_null(file);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, make_directory, remove_directory)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(event_file_has_the_tensorboard_format),
        TEST(resumed_run_records_its_first_step),
        TEST(partial_record_is_removed),
        TEST(unusable_directory_is_reported),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests termination messages: the content of the message file, and the end of the log. */
#include "node_test.h"
#include "scratch_directory.h"

#include "base/system/file.h"
#include "node/step/message.h"

static void write_file(const char *name, const char *data, size_t size)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", directory, name);
    struct err err = ERR_INIT;
    if (file_write_atomic(path, data, size, 0600, &err) < 0)
        fail_msg("%s", err.message);
}

static int make_pod_directory(void **state)
{
    static const char *const NAMES[] = {"logs", "messages"};
    int result = make_directory(state);
    for (size_t i = 0; result == 0 && i < ARRAY_SIZE(NAMES); i++) {
        _cleanup_free_ char *path = mem_printf("%s/%s", directory, NAMES[i]);
        result = file_make_dirs(path, 0700, NULL);
    }
    return result;
}

/* Puts the text of `data`, which may contain NUL bytes, into the message file or the log. */
#define MESSAGE_FILE(data) write_file("messages/main", data, sizeof(data) - 1)
#define LOG_FILE(data)     write_file("logs/main.0.log", data, sizeof(data) - 1)

static void expect_message(int exit_code, const char *expected)
{
    static const struct pod_container MAIN = {.name = "main", .message_from_log = true};
    char message[POD_TERMINATION_MESSAGE_MAX + 1];
    step_message_read(directory, &MAIN, 0, exit_code, message);
    assert_string_equal(message, expected);
}

static void failure_without_a_message_shows_the_log(void **state)
{
    MESSAGE_FILE("");
    LOG_FILE("2026-11-15T02:00:00.123456789Z stdout P one \n"
             "2026-11-15T02:00:00.123456789Z stdout F line\n"
             "2026-11-15T02:00:00.123456789Z stderr F problem\n");
    expect_message(0, "");
    expect_message(1, "one line\nproblem\n");
    MESSAGE_FILE("own words");
    expect_message(1, "own words");
}

/* NUL bytes are dropped, as a terminal drops them. */
static void text_after_a_nul_byte_is_kept(void **state)
{
    MESSAGE_FILE("");
    LOG_FILE("2026-11-15T02:00:00.123456789Z stdout F w\0o\0r\0d\0\n"
             "2026-11-15T02:00:00.123456789Z stderr F problem\n");
    expect_message(1, "word\nproblem\n");
    MESSAGE_FILE("\0own\0 words");
    expect_message(1, "own words");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(failure_without_a_message_shows_the_log),
        cmocka_unit_test(text_after_a_nul_byte_is_kept),
    };
    return cmocka_run_group_tests(tests, make_pod_directory, remove_directory);
}

/* Tests that requests and answers with descriptors survive being written and read, and that
 * malformed or too long ones are rejected. */
#include "node_test.h"

#include "node/pod/record/request.h"
#include "node/process/fd_message.h"

#include <fcntl.h>
#include <sys/socket.h>
#include <unistd.h>

static int parse(struct arena *arena, const char *text, struct pod_request *ret, struct err *err)
{
    return pod_request_parse(arena, arena_strdup(arena, text), strlen(text), ret, err);
}

static void request_round_trip(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_REQUEST_MAX);
    struct pod_request request = {
        .kind = POD_EXEC, .container = "main", .in = true, .err = true, .terminal = true};
    pod_strings_add(arena, &request.arguments, "sh");
    pod_strings_add(arena, &request.arguments, "");
    pod_strings_add(arena, &request.arguments, "two\nlines \\ ");
    assert_int_equal(pod_request_write(&request, &text, NULL), 0);

    struct pod_request read;
    assert_int_equal(pod_request_parse(arena, text.data, text.size, &read, NULL), 0);
    assert_int_equal(read.kind, POD_EXEC);
    assert_string_equal(read.container, "main");
    assert_true(read.in && !read.out && read.err && read.terminal);
    assert_int_equal(read.arguments.count, 3);
    assert_string_equal(read.arguments.items[1], "");
    assert_string_equal(read.arguments.items[2], "two\nlines \\ ");
    assert_null(read.arguments.items[3]);
}

static void request_length_is_limited(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_REQUEST_MAX);
    struct pod_request request = {.kind = POD_EXEC, .container = "main"};
    char *word = arena_zalloc(arena, POD_REQUEST_MAX);
    memset(word, 'x', POD_REQUEST_MAX - 1);
    pod_strings_add(arena, &request.arguments, word);
    struct err err = ERR_INIT;
    assert_int_equal(pod_request_write(&request, &text, &err), -ERR_TOO_LARGE);
    assert_string_equal(err.message, "the command is too long: its words have more than 64 KiB");
}

static void malformed_requests_are_rejected(void **state)
{
    static const struct {
        const char *text, *message;
    } cases[] = {
        {"", "no container is named"},
        {"kind exec\ncontainer main\n", "no command is given"},
        {"kind dance\n", "line 1: unknown kind 'dance'"},
        {"kind attach\ncontainer main\nstdin 2\n", "line 3: stdin: '2' is not between 0 and 1"},
        {"volume 1\n", "line 1: unknown key 'volume'"},
        {"kind attach", "line 1: line 1 is cut short"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct pod_request request;
        struct err err = ERR_INIT;
        assert_true(parse(arena, cases[i].text, &request, &err) < 0);
        assert_string_equal(err.message, cases[i].message);
    }
}

static void answers_round_trip(void **state)
{
    struct pod_answer answers[] = {
        {.kind = POD_STARTED}, {.kind = POD_REFUSED}, {.kind = POD_ENDED, .exit_code = 127}};
    err_set(&answers[1].why, ERR_NOT_FOUND, "container 'x' is not\none of the pod's");
    str_copy(answers[2].message, sizeof(answers[2].message), "cannot run 'x'");
    for (size_t i = 0; i < ARRAY_SIZE(answers); i++) {
        _cleanup_buf_ struct buf text;
        buf_init(&text, POD_ANSWER_MAX);
        pod_answer_write(&answers[i], &text);
        struct pod_answer read;
        assert_int_equal(pod_answer_parse(text.data, text.size, &read, NULL), 0);
        assert_int_equal(read.kind, answers[i].kind);
        assert_int_equal(read.exit_code, answers[i].exit_code);
        if (read.kind == POD_REFUSED) {
            assert_int_equal(read.why.code, ERR_NOT_FOUND);
            assert_string_equal(read.why.message, answers[i].why.message);
        }
        if (read.kind == POD_ENDED)
            assert_string_equal(read.message, "cannot run 'x'");
    }
}

static void malformed_answers_are_rejected(void **state)
{
    static const char *const cases[] = {"",
                                        "kind\n",
                                        "kind sung\n",
                                        "kind ended\nexit-code 256\n",
                                        "kind refused\ncode 0\n",
                                        "kind refused\ncode 1000\n",
                                        "x y\n"};
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        char text[64];
        struct pod_answer answer;
        str_copy(text, sizeof(text), cases[i]);
        assert_true(pod_answer_parse(text, strlen(text), &answer, NULL) < 0);
    }
}

static void descriptors_are_sent_with_a_message(void **state)
{
    int line[2], pipe_fds[2], fds[FD_MESSAGE_FDS_MAX];
    char text[16];
    assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET, 0, line), 0);
    assert_int_equal(pipe(pipe_fds), 0);
    assert_int_equal(fd_message_receive(line[1], text, sizeof(text), fds), FD_MESSAGE_NONE);
    assert_int_equal(fd_message_send(line[0], "hello", 5, pipe_fds, 2, NULL), 0);
    assert_int_equal(fd_message_receive(line[1], text, sizeof(text), fds), 5);
    assert_true(fds[0] >= 0 && fds[1] >= 0 && fds[2] == -1 && fds[3] == -1);
    assert_int_equal(fcntl(fds[0], F_GETFD), FD_CLOEXEC);
    assert_int_equal(write(fds[1], "x", 1), 1);
    assert_int_equal(read(pipe_fds[0], text, 1), 1);
    close(fds[0]);
    close(fds[1]);
    /* A message that does not fit leaves no descriptor open. */
    assert_int_equal(fd_message_send(line[0], "hello, this is too long", 23, pipe_fds, 2, NULL), 0);
    int before = dup(0);
    close(before);
    assert_int_equal(fd_message_receive(line[1], text, sizeof(text), fds), FD_MESSAGE_TOO_LARGE);
    assert_int_equal(fds[0], -1);
    int after = dup(0);
    assert_int_equal(before, after);
    close(after);
    close(line[0]);
    assert_int_equal(fd_message_receive(line[1], text, sizeof(text), fds), FD_MESSAGE_ENDED);
    assert_true(fd_message_send(line[1], "x", 1, NULL, 0, NULL) < 0);
    close(line[1]);
    close(pipe_fds[0]);
    close(pipe_fds[1]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(request_round_trip),
        cmocka_unit_test(request_length_is_limited),
        cmocka_unit_test(malformed_requests_are_rejected),
        cmocka_unit_test(answers_round_trip),
        cmocka_unit_test(malformed_answers_are_rejected),
        cmocka_unit_test(descriptors_are_sent_with_a_message),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

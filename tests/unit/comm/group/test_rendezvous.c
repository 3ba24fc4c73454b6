/* Tests rendezvous with late, missing, unknown and wrong members, each with its message. */
#include "base/mem.h"
#include "base/str.h"
#include "comm/transport/secret.h"
#include "comm/transport/socket.h"
#include "comm/transport/wire.h"
#include "members.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

/* All lines of a run, so that a test can search for one. */
struct lines {
    char text[16384];
    char waiting[1024]; /* the members that were missing last */
    void (*on_line)(const char *line);
};

static void note(void *context, const char *line)
{
    struct lines *lines = context;
    size_t used = strlen(lines->text);
    snprintf(lines->text + used, sizeof(lines->text) - used, "%s\n", line);
    if (lines->on_line)
        lines->on_line(line);
}

static void note_waiting(void *context, const char *task)
{
    struct lines *lines = context;
    snprintf(lines->waiting, sizeof(lines->waiting), "%s", task ? task : "nobody");
}

static int open_group(const struct members *members, int rank, struct comm_options *options,
                      struct lines *lines, struct err *err)
{
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options defaults = members_options(config);
    options->config = config;
    if (!options->secret)
        options->secret = defaults.secret;
    if (!options->shape)
        options->shape = defaults.shape;
    options->encrypt = defaults.encrypt;
    if (!options->join_timeout_ms)
        options->join_timeout_ms = defaults.join_timeout_ms;
    options->report_ms = defaults.report_ms;
    options->report = lines ? note : NULL;
    options->waiting = lines ? note_waiting : NULL;
    options->context = lines;
    struct comm_group *group = NULL;
    int result = comm_group_open(options, &group, err);
    if (result == 0)
        result = comm_barrier(group, err);
    comm_group_free(group);
    ty_tf_config_free(config);
    return result;
}

static volatile sig_atomic_t told_to_stop;

/* The wait ends when all of these lines have been reported. An entry with NULL is unused. */
static struct {
    const char *begin, *end;
} awaited[2];

static void stop_when_all_lines_are_reported(const char *line)
{
    bool all = true;
    for (size_t i = 0; i < ARRAY_SIZE(awaited); i++) {
        if (awaited[i].begin && str_has_prefix(line, awaited[i].begin) &&
            str_has_suffix(line, awaited[i].end))
            awaited[i].begin = NULL;
        all &= !awaited[i].begin;
    }
    told_to_stop = all;
}

static void a_missing_member_is_named_in_reports(void **state)
{
    struct members members;
    members_init(&members, 3);
    char refused[256], absent[256];
    snprintf(refused, sizeof(refused), "waiting for worker 0 (127.0.0.1:%d) for ",
             members.ports[1]);
    snprintf(absent, sizeof(absent), "waiting for worker 1 (127.0.0.1:%d) for ", members.ports[2]);
    awaited[0].begin = refused;
    awaited[0].end = " s: connection refused: it does not listen yet";
    awaited[1].begin = absent;
    awaited[1].end = " s: has not connected yet";
    told_to_stop = 0;
    struct lines lines = {.on_line = stop_when_all_lines_are_reported};
    struct comm_options options = {.stop = &told_to_stop};
    struct err err = ERR_INIT;
    assert_int_equal(open_group(&members, 0, &options, &lines, &err), -ERR_CANCELED);
}

static void a_missing_member_is_named_in_the_error(void **state)
{
    struct members members;
    members_init(&members, 3);
    struct lines lines = {0};
    /* A part of the timeout is used up before the wait. */
    struct comm_options options = {.join_timeout_ms = 1000};
    struct err err = ERR_INIT;
    assert_int_equal(open_group(&members, 0, &options, &lines, &err), -ERR_TIMEOUT);
    char wanted[256];
    assert_non_null(strstr(err.message, "2 of 3 tasks did not connect within "));
    snprintf(wanted, sizeof(wanted), " s: worker 0 (127.0.0.1:%d): ", members.ports[1]);
    assert_non_null(strstr(err.message, wanted));
    snprintf(wanted, sizeof(wanted), "worker 0 (127.0.0.1:%d), worker 1 (127.0.0.1:%d)",
             members.ports[1], members.ports[2]);
    assert_string_equal(lines.waiting, wanted);
}

static void a_name_that_does_not_resolve_is_reported(void **state)
{
    struct members members;
    members_init(&members, 1);
    char text[256];
    /* An address of an interface that does not exist fails without a name server. */
    snprintf(text, sizeof(text), "127.0.0.1:%d,[fe80::1%%nowhere]:2222", members.ports[0]);
    struct ty_error error;
    struct ty_tf_config *config;
    assert_int_equal(ty_tf_config_from_flags(NULL, text, "worker", 0, &config, &error), 0);
    struct comm_options options = members_options(config);
    awaited[0].begin = "waiting for worker 1 ([fe80::1%nowhere]:2222) for ";
    awaited[0].end = " s: name does not resolve yet";
    awaited[1].begin = NULL;
    told_to_stop = 0;
    struct lines lines = {.on_line = stop_when_all_lines_are_reported};
    options.stop = &told_to_stop;
    options.report = note;
    options.context = &lines;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(comm_group_open(&options, &group, &err), -ERR_CANCELED);
    ty_tf_config_free(config);
}

/* Two of six tasks run, one is refused, and the names of three do not exist (yet). */
static int open_with_two(const struct members *members, int rank, struct lines *lines,
                         struct err *err)
{
    char text[512];
    snprintf(text, sizeof(text),
             "127.0.0.1:%d,127.0.0.1:%d,127.0.0.1:%d,[fe80::1%%nowhere]:2222,"
             "[fe80::2%%nowhere]:2222,[fe80::3%%nowhere]:2222",
             members->ports[0], members->ports[1], members->ports[2]);
    struct ty_error error;
    struct ty_tf_config *config;
    CHECK_OK(ty_tf_config_from_flags(NULL, text, "worker", rank, &config, &error), &error);
    struct comm_options options = members_options(config);
    options.min_members = options.start_members = 2;
    options.stop = &told_to_stop;
    options.report = note;
    options.context = lines;
    struct comm_group *group = NULL;
    int result = comm_group_open(&options, &group, err);
    if (result == 0 && comm_group_size(group) != 2)
        result = err_set(err, ERR_INVALID, "%d began", comm_group_size(group));
    comm_group_free(group);
    ty_tf_config_free(config);
    return result;
}

static void be_one_of_two(const struct members *members, int rank)
{
    struct lines lines = {0};
    struct err err = ERR_INIT;
    CHECK_OK(open_with_two(members, rank, &lines, &err), &err);
}

static void a_minimum_of_tasks_starts_without_the_others(void **state)
{
    struct members members;
    told_to_stop = 0;
    members_init(&members, 3);
    members_start(&members, 0, be_one_of_two);
    members_start(&members, 1, be_one_of_two);
    assert_int_equal(members_wait(&members), 0);
}

static void too_few_tasks_are_reported(void **state)
{
    struct members members;
    members_init(&members, 3);
    awaited[0].begin = "waiting: too few tasks are connected to start,";
    awaited[0].end = " and none of them has a training state";
    awaited[1].begin = NULL;
    told_to_stop = 0;
    struct lines lines = {.on_line = stop_when_all_lines_are_reported};
    struct err err = ERR_INIT;
    assert_int_equal(open_with_two(&members, 0, &lines, &err), -ERR_CANCELED);
}

static void stop_waiting(const char *line)
{
    if (strstr(line, "waiting for worker 0"))
        told_to_stop = 1;
}

static void a_stop_request_ends_the_wait(void **state)
{
    for (int min = 0; min < 2; min++) { /* for a group of all tasks, and for an elastic one */
        struct members members;
        members_init(&members, 2);
        told_to_stop = 0;
        struct lines lines = {.on_line = stop_waiting};
        struct comm_options options = {.min_members = min, .stop = &told_to_stop};
        struct err err = ERR_INIT;
        assert_int_equal(open_group(&members, 0, &options, &lines, &err), -ERR_CANCELED);
        assert_string_equal(err.message, "told to stop while waiting for other tasks");
    }
}

static void join_and_leave(const struct members *members, int rank)
{
    struct comm_options options = {.min_members = 2};
    struct err err = ERR_INIT;
    (void)open_group(members, rank, &options, NULL, &err);
}

static void a_group_that_cannot_form_again_reports_why(void **state)
{
    struct members members;
    members_init(&members, 2);
    members_start(&members, 1, join_and_leave);
    struct ty_tf_config *config = members_config(&members, true, 0);
    struct comm_options options = members_options(config);
    told_to_stop = 0;
    options.min_members = 2;
    options.stop = &told_to_stop;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(comm_group_open(&options, &group, &err), 0);
    assert_true(comm_group_is_elastic(group));
    told_to_stop = 1;
    assert_int_equal(comm_group_reform(group, &err), -ERR_CANCELED);
    float sum = 1;
    assert_int_equal(comm_allreduce_sum_f32(group, &sum, 1, &err), -ERR_CANCELED);
    assert_int_equal(comm_barrier(group, &err), -ERR_CANCELED);
    assert_string_equal(err.message, "told to stop while waiting for other tasks");
    assert_int_equal(comm_group_rank(group), 0);
    assert_int_equal(comm_group_size(group), 2);
    comm_group_free(group);
    ty_tf_config_free(config);
    assert_int_equal(members_wait(&members), 0);
}

/* The chief starts the worker only after it has reported that it waits for it. */
static pid_t late_child;
static struct members *late_members;

static void join_late(const struct members *members, int rank)
{
    struct comm_options options = {0};
    struct err err = ERR_INIT;
    CHECK_OK(open_group(members, rank, &options, NULL, &err), &err);
}

static void start_late(const char *line)
{
    if (!late_child && strstr(line, "waiting for worker 0")) {
        members_start(late_members, 1, join_late);
        late_child = late_members->children[1];
    }
}

static void a_late_member_is_waited_for(void **state)
{
    struct members members;
    members_init(&members, 2);
    late_members = &members;
    struct lines lines = {.on_line = start_late};
    struct comm_options options = {0};
    struct err err = ERR_INIT;
    if (open_group(&members, 0, &options, &lines, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(members_wait(&members), 0);
}

/* Worker 0 dies while all still wait for worker 1, and restarts. */
static void restart_member(const char *line)
{
    struct members *members = late_members;
    if (late_child || !strstr(line, "waiting for worker 1") || strstr(line, "worker 0"))
        return;
    kill(members->children[1], SIGKILL);
    waitpid(members->children[1], NULL, 0);
    members_start(members, 1, join_late);
    members_start(members, 2, join_late);
    late_child = members->children[1];
}

static void a_member_may_restart_before_all_are_connected(void **state)
{
    struct members members;
    members_init(&members, 3);
    late_members = &members;
    late_child = 0;
    members_start(&members, 1, join_late);
    struct lines lines = {.on_line = restart_member};
    struct comm_options options = {0};
    struct err err = ERR_INIT;
    if (open_group(&members, 0, &options, &lines, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(members_wait(&members), 0);
}

/* Each wrong member gets the reason and ends; the right ones end too if waiting cannot help. */
static void wrong_shape(const struct members *members, int rank)
{
    struct comm_options options = {.shape = rank == 1 ? 2 : 1};
    struct err err = ERR_INIT;
    CHECK(open_group(members, rank, &options, NULL, &err) == -ERR_FORBIDDEN);
    CHECK_TEXT(err.message, "its model has another shape: start all tasks with the same model");
}

/* The member that connects first decides which member rejects the other. The rejected member gives
 * up; the other reports the rejection and continues to wait. Here it waits until both have reported
 * their reason, one bit per member. */
static atomic_uint *said; /* shared by both processes */
static unsigned own_bit;
static const char *own_reason;

static void stop_when_both_have_reported(const char *line)
{
    if (strstr(line, own_reason))
        atomic_fetch_or(said, own_bit);
    told_to_stop = atomic_load(said) == 3;
}

static int expect_rejection(const struct members *members, int rank, struct comm_options *options,
                            const char *reason)
{
    struct lines lines = {.on_line = stop_when_both_have_reported};
    struct err err = ERR_INIT;
    own_bit = 1u << rank;
    own_reason = reason;
    options->stop = &told_to_stop;
    int result = open_group(members, rank, options, &lines, &err);
    if (result == -ERR_FORBIDDEN) {
        CHECK_TEXT(err.message, reason);
        atomic_fetch_or(said, own_bit);
    }
    return result;
}

static void wrong_secret(const struct members *members, int rank)
{
    struct comm_options options = {.secret = rank == 1 ? "of another test" : NULL};
    int result =
        expect_rejection(members, rank, &options, "it does not know this task's job secret");
    CHECK(result == -ERR_FORBIDDEN || result == -ERR_CANCELED);
}

static void wrong_channels(const struct members *members, int rank)
{
    struct comm_options options = {.channels = rank == 1 ? 2 : 1};
    int result = expect_rejection(members, rank, &options, "it uses another number of channels");
    CHECK(result == -ERR_FORBIDDEN || result == -ERR_CANCELED);
}

/* Rank 1 has another cluster. Rank 1 and the chief wait until the timeout and report why. */
static void wrong_job(const struct members *members, int rank)
{
    static const char *const REASONS[] = {
        "it belongs to another job: its cluster differs",
        "it refused this task, for this reason: it belongs to another job"};
    struct members other = *members;
    if (rank == 1)
        other.size = 3;
    other.ports[2] = members->ports[1] + 1;
    struct comm_options options = {0};
    CHECK(expect_rejection(&other, rank, &options, REASONS[rank]) == -ERR_CANCELED);
}

static void wrong_members_are_rejected_with_the_reason(void **state)
{
    static void (*const MEMBERS[])(const struct members *, int) = {wrong_shape, wrong_secret,
                                                                   wrong_channels, wrong_job};
    said = mmap(NULL, sizeof(*said), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    assert_ptr_not_equal(said, MAP_FAILED);
    for (size_t i = 0; i < ARRAY_SIZE(MEMBERS); i++) {
        struct members members;
        members_init(&members, 2);
        atomic_store(said, 0);
        told_to_stop = 0;
        members_start_all(&members, MEMBERS[i]);
        assert_int_equal(members_wait(&members), 0);
    }
    munmap(said, sizeof(*said));
}

/* Connects a blocking client, which can send bytes that no member would send. */
static int connect_to(int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    CHECK(connect(fd, (struct sockaddr *)&address, sizeof(address)) == 0);
    return fd;
}

static void send_unknown_bytes(const struct members *members, int rank)
{
    uint8_t hello[WIRE_HELLO_SIZE], answer[WIRE_WELCOME_SIZE];
    wire_hello_encode(&(struct wire_hello){.rank = 1, .size = 2, .channels = 1}, hello);
    hello[4] = 9; /* the version */
    int fd = connect_to(members->ports[0]);
    CHECK(write(fd, hello, sizeof(hello)) == sizeof(hello));
    CHECK(recv(fd, answer, sizeof(answer), MSG_WAITALL) == sizeof(answer));
    struct wire_welcome welcome;
    struct err err = ERR_INIT;
    CHECK_OK(wire_welcome_decode(answer, sizeof(answer), &welcome, &err), &err);
    CHECK(welcome.verdict == WIRE_OTHER_VERSION);
    CHECK(recv(fd, answer, 1, 0) == 0);
    close(fd);
    static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    fd = connect_to(members->ports[0]);
    CHECK(write(fd, request, sizeof(request) - 1) == sizeof(request) - 1);
    CHECK(recv(fd, answer, 1, 0) <= 0);
    close(fd);
    connect_to(members->ports[0]); /* sends nothing, and stays connected */
    struct comm_options options = {0};
    CHECK_OK(open_group(members, rank, &options, NULL, &err), &err);
}

static void start_unknown_peers(const char *line)
{
    if (!late_child && strstr(line, "waiting for worker 0")) {
        members_start(late_members, 1, send_unknown_bytes);
        late_child = late_members->children[1];
    }
}

static void unknown_peers_do_not_disturb_a_rendezvous(void **state)
{
    struct members members;
    members_init(&members, 2);
    late_members = &members;
    late_child = 0;
    struct lines lines = {.on_line = start_unknown_peers};
    struct comm_options options = {0};
    struct err err = ERR_INIT;
    if (open_group(&members, 0, &options, &lines, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(members_wait(&members), 0);
    assert_non_null(strstr(lines.text, "it speaks another version of the protocol"));
    assert_non_null(strstr(lines.text, "it does not speak trainyard's protocol"));
}

static char gone_from[64];

/* Sends bytes and resets the connection before the member reads them. */
static void send_and_reset(const char *line)
{
    static const char request[] = "GET / HTTP/1.1\r\nHost: x\r\n\r\n";
    if (strstr(line, "refused a connection"))
        told_to_stop = 1;
    if (gone_from[0] || !strstr(line, "waiting for worker 0"))
        return;
    int fd = connect_to(late_members->ports[0]);
    snprintf(gone_from, sizeof(gone_from),
             "refused a connection from 127.0.0.1:%d: ", socket_local_port(fd));
    CHECK(write(fd, request, sizeof(request) - 1) == sizeof(request) - 1);
    struct linger reset = {.l_onoff = 1};
    CHECK(setsockopt(fd, SOL_SOCKET, SO_LINGER, &reset, sizeof(reset)) == 0);
    close(fd);
}

static void a_refused_peer_that_disconnected_is_reported_by_address(void **state)
{
    struct members members;
    members_init(&members, 2);
    late_members = &members;
    told_to_stop = 0;
    struct lines lines = {.on_line = send_and_reset};
    struct comm_options options = {.stop = &told_to_stop};
    struct err err = ERR_INIT;
    assert_int_equal(open_group(&members, 0, &options, &lines, &err), -ERR_CANCELED);
    if (!strstr(lines.text, gone_from))
        fail_msg("no '%s' in: %s", gone_from, lines.text);
}

/* More connections than a listener accepts at once, all of them silent. test_peer_listener.c tests
 * which connections are dropped. */
static void open_silent_connections(const struct members *members, int rank)
{
    enum { CROWD = 300 };
    for (int i = 0; i < CROWD; i++)
        connect_to(members->ports[0]);
    struct comm_options options = {0};
    struct err err = ERR_INIT;
    CHECK_OK(open_group(members, rank, &options, NULL, &err), &err);
}

static void start_silent_connections(const char *line)
{
    if (!late_child && strstr(line, "waiting for worker 0")) {
        members_start(late_members, 1, open_silent_connections);
        late_child = late_members->children[1];
    }
}

static void silent_connections_do_not_keep_members_out(void **state)
{
    struct members members;
    members_init(&members, 2);
    late_members = &members;
    late_child = 0;
    struct lines lines = {.on_line = start_silent_connections};
    struct comm_options options = {0};
    struct err err = ERR_INIT;
    if (open_group(&members, 0, &options, &lines, &err) < 0)
        fail_msg("%s", err.message);
    assert_int_equal(members_wait(&members), 0);
}

/* Only the master has an address; it sends the others the addresses of all. */
static void join_master(const struct members *members, int rank)
{
    char port[16], rank_text[16];
    snprintf(port, sizeof(port), "%d", members->ports[0]);
    snprintf(rank_text, sizeof(rank_text), "%d", rank);
    CHECK(unsetenv("TF_CONFIG") == 0);
    CHECK(setenv("MASTER_ADDR", "127.0.0.1", 1) == 0);
    CHECK(setenv("MASTER_PORT", port, 1) == 0);
    CHECK(setenv("WORLD_SIZE", "4", 1) == 0);
    CHECK(setenv("RANK", rank_text, 1) == 0);
    struct ty_error error;
    struct ty_tf_config *config;
    CHECK_OK(ty_tf_config_from_environment(&config, &error), &error);
    struct comm_options options = members_options(config);
    struct lines lines = {0};
    options.channels = 2;
    options.min_members = options.start_members = 2;
    options.report = note;
    options.context = &lines;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    CHECK(comm_group_rank(group) == rank);
    CHECK(!comm_group_is_elastic(group));
    CHECK_TEXT(lines.text, "--min-workers has no effect where only rank 0 has an address");
    int all[4], own = rank * 10;
    CHECK_OK(comm_allgather(group, &own, sizeof(own), all, &err), &err);
    for (int i = 0; i < 4; i++)
        CHECK(all[i] == i * 10);
    comm_group_free(group);
    ty_tf_config_free(config);
}

static void the_master_form_needs_only_the_master_address(void **state)
{
    struct members members;
    members_init(&members, 4);
    members_start_all(&members, join_master);
    assert_int_equal(members_wait(&members), 0);
}

static void a_port_in_use_is_reported(void **state)
{
    struct members members;
    members_init(&members, 2);
    int taken;
    struct err err = ERR_INIT;
    assert_int_equal(socket_listen(members.ports[0], false, 1, &taken, &err), 0);
    struct comm_options options = {0};
    assert_int_equal(open_group(&members, 0, &options, NULL, &err), -ERR_UNAVAILABLE);
    assert_non_null(strstr(err.message, "another process on this machine uses it"));
    close(taken);
}

static void roles_without_training_are_rejected(void **state)
{
    static const struct {
        const char *text, *says;
    } CASES[] = {
        {"{\"cluster\":{\"worker\":[\"a:1\"],\"ps\":[\"b:1\"]},\"task\":{\"type\":\"ps\"}}",
         "ps 0 does not take part in synchronous training"},
        {"{\"cluster\":{\"worker\":{\"1\":\"a:1\"}},\"task\":{\"type\":\"worker\",\"index\":1}}",
         "the sparse form of dynamic workers"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct ty_error error;
        struct ty_tf_config *config;
        assert_int_equal(ty_tf_config_parse(CASES[i].text, &config, &error), 0);
        struct comm_options options = members_options(config);
        struct comm_group *group = NULL;
        struct err err = ERR_INIT;
        assert_int_equal(comm_group_open(&options, &group, &err), -ERR_UNSUPPORTED);
        assert_non_null(strstr(err.message, CASES[i].says));
        ty_tf_config_free(config);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_missing_member_is_named_in_reports),
        cmocka_unit_test(a_missing_member_is_named_in_the_error),
        cmocka_unit_test(a_name_that_does_not_resolve_is_reported),
        cmocka_unit_test(a_minimum_of_tasks_starts_without_the_others),
        cmocka_unit_test(too_few_tasks_are_reported),
        cmocka_unit_test(a_stop_request_ends_the_wait),
        cmocka_unit_test(a_group_that_cannot_form_again_reports_why),
        cmocka_unit_test(a_late_member_is_waited_for),
        cmocka_unit_test(a_member_may_restart_before_all_are_connected),
        cmocka_unit_test(wrong_members_are_rejected_with_the_reason),
        cmocka_unit_test(unknown_peers_do_not_disturb_a_rendezvous),
        cmocka_unit_test(a_refused_peer_that_disconnected_is_reported_by_address),
        cmocka_unit_test(silent_connections_do_not_keep_members_out),
        cmocka_unit_test(the_master_form_needs_only_the_master_address),
        cmocka_unit_test(a_port_in_use_is_reported),
        cmocka_unit_test(roles_without_training_are_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

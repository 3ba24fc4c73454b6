/* Tests that an elastic group continues without lost members and lets others join: real processes
 * that count steps together, die, stop, restart and come late. */
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "members.h"

#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

/* A pipe over which members report to the test, one line per write. */
static int told[2];

static void report_event(const char *format, ...) __attribute__((format(printf, 1, 2)));
static void report_event(const char *format, ...)
{
    char line[512];
    va_list args;
    va_start(args, format);
    int size = vsnprintf(line, sizeof(line) - 1, format, args);
    va_end(args);
    line[size++] = '\n';
    CHECK(write(told[1], line, (size_t)size) == size);
}

/* Hours that passed for this process alone, as after a stop: its clock is far ahead when it
 * continues. So the test need not wait for hours. */
static volatile sig_atomic_t hours_passed;

static void let_an_hour_pass(int number)
{
    (void)number;
    hours_passed++;
}

int clock_gettime(clockid_t clock, struct timespec *ret)
{
    long result = syscall(SYS_clock_gettime, clock, ret);
    if (clock == CLOCK_MONOTONIC)
        ret->tv_sec += hours_passed * 3600L;
    return (int)result;
}

/* The member gets a stop signal when it reports the next time. */
static volatile sig_atomic_t stop_at_report;

static void stop_at_next_report(int number)
{
    (void)number;
    stop_at_report = 1;
}

/* A pipe to which members write when they report a wait within a call; may be unused. */
static int waiting_pipe[2];

static void note_line(void *context, const char *line)
{
    report_event("%d says %s", *(const int *)context, line);
    if (waiting_pipe[1] && strstr(line, "behind the others"))
        CHECK(write(waiting_pipe[1], "", 1) == 1);
    if (stop_at_report) {
        stop_at_report = 0;
        raise(SIGSTOP);
    }
}

/* Called when a member has connected to all others for the `times`-th time; may be NULL. */
static void (*on_connected)(int rank, int times);

static void note_waiting(void *context, const char *task)
{
    static int met;
    report_event("%d waits for %s", *(const int *)context, task ? task : "nobody");
    if (!task && on_connected)
        on_connected(*(const int *)context, ++met);
}

/* Notes long waits only, which a lost member causes; short ones are normal. */
static void note_waited(void *context, const char *task, int64_t ns)
{
    if (ns >= 300 * (int64_t)1000000)
        report_event("%d waited long for %s", *(const int *)context, task);
}

/* Each step all members add 1, so that the sum is their number. The number of steps is the state;
 * the member that is farthest ahead has it. */
static int one_step(struct comm_group *group, float *steps, struct err *err)
{
    float sums[2] = {1, comm_group_is_wanted(group) ? 1 : 0};
    int result = comm_allreduce_sum_f32(group, sums, 2, err);
    if (result < 0)
        return result;
    *steps += 1;
    return sums[1] > 0 ? 1 : 0;
}

static int take_over(struct comm_group *group, float *steps, struct err *err)
{
    float all[MEMBERS_MAX];
    int result = comm_allgather(group, steps, sizeof(*steps), all, err);
    for (int i = 0; result == 0 && i < comm_group_size(group); i++)
        *steps = all[i] > *steps ? all[i] : *steps;
    return result;
}

static int min_members;
static int64_t peer_timeout_ms, join_timeout_ms;
static int reading_ms; /* how long rank 0 is busy before all begin */
static volatile sig_atomic_t told_to_stop;

static void on_sigterm(int number)
{
    (void)number;
    told_to_stop = 1;
}

/* A signal asks a member whether it trains; it answers after its next step. */
static volatile sig_atomic_t asked;

static void on_sigusr1(int number)
{
    (void)number;
    asked = 1;
}

static void count_steps(const struct members *members, int rank)
{
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    options.min_members = min_members;
    options.join_timeout_ms = join_timeout_ms;
    options.peer_timeout_ms = peer_timeout_ms;
    options.report = note_line;
    options.waiting = note_waiting;
    options.waited = note_waited;
    options.context = &rank;
    options.stop = &told_to_stop;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    float steps = 0;
    signal(SIGUSR1, on_sigusr1);
    signal(SIGUSR2, let_an_hour_pass);
    signal(SIGHUP, stop_at_next_report);
    signal(SIGTERM, on_sigterm);
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    ty_tf_config_free(config);
    if (rank == 0)
        poll(NULL, 0, reading_ms);
    for (int result = 1;;) {
        char who[256];
        while (result != 0) {
            if (result < 0)
                report_event("%d lost %s", rank, err.message);
            if (result < 0 && told_to_stop)
                exit(0);
            if (result < 0 || steps > 0)
                result = comm_group_reform(group, &err);
            else
                result = 0;
            if (err.code != ERR_UNAVAILABLE)
                CHECK_OK(result, &err);
            if (result == 0)
                result = take_over(group, &steps, &err);
            if (result == 0) {
                comm_group_settle(group);
                comm_group_describe(group, who, sizeof(who));
                report_event("%d is %d of %d after %g: %s", rank, comm_group_rank(group),
                             comm_group_size(group), (double)steps, who);
            }
        }
        result = one_step(group, &steps, &err);
        if (result >= 0 && asked) {
            asked = 0;
            report_event("%d works", rank);
        }
    }
}

static char text[65536]; /* reported and not read yet */
static size_t used;
/* ignore reports of a loss, if another report of the same member is expected */
static bool no_loss;

static void fail_missing(int count, const char *const texts[], const bool seen[])
{
    for (int i = 0; i < count; i++)
        if (!seen[i])
            fail_msg("no member says '%s'", texts[i]);
}

/* Reads lines until one of each member contains its text. On a busy machine there is always a
 * member that reports a wait, so silence does not end it. */
static void expect(int count, const char *const texts[])
{
    enum { PATIENCE_MS = 120000 };
    const int64_t deadline = moment_monotonic_ms() + PATIENCE_MS;
    bool seen[MEMBERS_MAX] = {false};
    for (int left = count; left > 0;) {
        char *end = memchr(text, '\n', used);
        if (!end) {
            struct pollfd ready = {.fd = told[0], .events = POLLIN};
            int64_t rest = deadline - moment_monotonic_ms();
            if (rest <= 0 || poll(&ready, 1, (int)rest) != 1)
                fail_missing(count, texts, seen);
            ssize_t got = read(told[0], text + used, sizeof(text) - used);
            assert_true(got > 0);
            used += (size_t)got;
            continue;
        }
        *end = '\0';
        for (int i = 0; i < count; i++)
            if (no_loss && !seen[i] && texts[i][0] == text[0] && str_has_prefix(text + 1, " lost "))
                fail_msg("before '%s' comes '%s'", texts[i], text);
        for (int i = 0; i < count; i++)
            if (!seen[i] && strstr(text, texts[i])) {
                seen[i] = true;
                left--;
                break;
            }
        used -= (size_t)(end + 1 - text);
        memmove(text, end + 1, used);
    }
}

#define EXPECT(...)                                                                                \
    expect((int)(sizeof((const char *[]){__VA_ARGS__}) / sizeof(const char *)),                    \
           (const char *[]){__VA_ARGS__})

/* Starts `size` members that report what they do. */
static void begin(struct members *members, int size,
                  void (*live)(const struct members *members, int rank))
{
    members_init(members, size);
    assert_int_equal(pipe(told), 0);
    members_start_all(members, live);
}

static void end(struct members *members)
{
    for (int rank = 0; rank < members->size; rank++)
        if (members->children[rank] > 0) {
            kill(members->children[rank], SIGKILL);
            waitpid(members->children[rank], NULL, 0);
        }
    close(told[0]);
    close(told[1]);
}

static void lose(struct members *members, int rank)
{
    kill(members->children[rank], SIGKILL);
    waitpid(members->children[rank], NULL, 0);
    members->children[rank] = 0;
}

/* Resets what a test changes, also if it failed. Deaths are detected at once. In tests of
 * silence, a member that a busy machine does not schedule for half of the timeout would count as
 * stopped, so the timeout is long. */
static int set_up(void **state)
{
    min_members = 1;
    peer_timeout_ms = 60000;
    join_timeout_ms = 0;
    reading_ms = 0;
    on_connected = NULL;
    waiting_pipe[1] = 0;
    no_loss = false;
    used = 0;
    return 0;
}

static void remaining_members_continue_and_a_lost_one_rejoins(void **state)
{
    struct members members;
    begin(&members, 3, count_steps);
    EXPECT("0 is 0 of 3 after 0: all 3", "1 is 1 of 3 after 0", "2 is 2 of 3 after 0");
    for (int victim = 2; victim >= 0; victim--) {
        lose(&members, victim);
        if (victim == 2)
            EXPECT("0 is 0 of 2 after", "1 is 1 of 2 after");
        if (victim == 1)
            EXPECT("0 is 0 of 2 after", "2 is 1 of 2 after");
        if (victim == 0)
            EXPECT("1 is 0 of 2 after", "2 is 1 of 2 after");
        members_start(&members, victim, count_steps);
        EXPECT("0 is 0 of 3 after", "1 is 1 of 3 after", "2 is 2 of 3 after");
    }
    /* Down to one member, and up to all again. */
    lose(&members, 0);
    lose(&members, 1);
    EXPECT("2 is 0 of 1 after");
    members_start(&members, 1, count_steps);
    EXPECT("1 is 0 of 2 after", "2 is 1 of 2 after");
    members_start(&members, 0, count_steps);
    EXPECT("0 is 0 of 3 after", "1 is 1 of 3 after", "2 is 2 of 3 after");
    end(&members);
}

/* Either of the two remaining members may report it: a busy machine may keep the other from
 * running. */
static void a_stopped_member_is_named_and_excluded_and_rejoins(void **state)
{
    struct members members;
    peer_timeout_ms = 6000;
    begin(&members, 3, count_steps);
    EXPECT("0 is 0 of 3", "1 is 1 of 3", "2 is 2 of 3");
    for (int victim = 0; victim < 2; victim++) {
        char named[64], lost[64], out[64], waits[64], waited[64];
        const char *task = victim == 0 ? "chief" : "worker 0";
        kill(members.children[victim], SIGSTOP);
        snprintf(named, sizeof(named), "says waiting for %s (127.0.0.1:%d): ", task,
                 members.ports[victim]);
        snprintf(waits, sizeof(waits), " waits for %s (127.0.0.1:%d)", task, members.ports[victim]);
        EXPECT(named, waits); /* some seconds behind the others */
        snprintf(lost, sizeof(lost), "lost %s (127.0.0.1:", task);
        snprintf(waited, sizeof(waited), " waited long for %s", task);
        EXPECT(lost, waited, " waits for nobody");
        EXPECT(victim == 0 ? "1 is 0 of 2" : "0 is 0 of 2", "2 is 1 of 2");
        kill(members.children[victim], SIGCONT);
        snprintf(out, sizeof(out), "%d lost the other tasks continued without this task", victim);
        EXPECT("0 is 0 of 3", "1 is 1 of 3", "2 is 2 of 3", out);
    }
    end(&members);
}

static void signal_to(const struct members *members, int rank, int number)
{
    assert_int_equal(kill(members->children[rank], number), 0);
}

static void wait_until_stopped(const struct members *members, int rank)
{
    int status;
    pid_t child = members->children[rank];
    assert_int_equal(waitpid(child, &status, WUNTRACED), child);
    assert_true(WIFSTOPPED(status));
}

/* Discards the earlier reports of the stopped members. */
static void discard_reports(void)
{
    struct pollfd ready = {.fd = told[0], .events = POLLIN};
    for (used = 0; poll(&ready, 1, 0) == 1;)
        assert_true(read(told[0], text, sizeof(text)) > 0);
}

/* All three members are stopped; the first continues when the others have continued and report
 * that they wait for it. */
static void wake_after_an_hour(const struct members *members)
{
    for (int rank = 0; rank < members->size; rank++)
        signal_to(members, rank, SIGUSR2);
    discard_reports();
    signal_to(members, 1, SIGCONT);
    signal_to(members, 2, SIGCONT);
    EXPECT("1 says waiting for chief", "2 says waiting for chief");
    signal_to(members, 0, SIGCONT);
    for (int rank = 0; rank < members->size; rank++)
        signal_to(members, rank, SIGUSR1);
    EXPECT("0 works", "1 works", "2 works");
}

/* Virtual machines are moved and containers frozen: all members stop for longer than any timeout,
 * and none is to blame. */
static void a_stop_of_all_members_counts_against_no_member(void **state)
{
    struct members members;
    begin(&members, 3, count_steps);
    EXPECT("0 is 0 of 3", "1 is 1 of 3", "2 is 2 of 3");
    no_loss = true;
    signal_to(&members, 0, SIGSTOP);
    EXPECT("1 says waiting for chief", "2 says waiting for chief");
    signal_to(&members, 1, SIGSTOP);
    signal_to(&members, 2, SIGSTOP);
    for (int rank = 0; rank < 3; rank++)
        wait_until_stopped(&members, rank);
    wake_after_an_hour(&members);
    end(&members);
}

/* All members are stopped between two calls of poll(), not within one. */
static void a_stop_between_two_polls_is_detected(void **state)
{
    struct members members;
    begin(&members, 3, count_steps);
    EXPECT("0 is 0 of 3", "1 is 1 of 3", "2 is 2 of 3");
    no_loss = true;
    signal_to(&members, 0, SIGSTOP);
    signal_to(&members, 1, SIGHUP);
    signal_to(&members, 2, SIGHUP);
    for (int rank = 0; rank < 3; rank++)
        wait_until_stopped(&members, rank);
    wake_after_an_hour(&members);
    end(&members);
}

/* One member has connected to the other, and then finds that an hour has passed. The other member
 * makes its first call only after the first has reported that it waits. */
static void stop_when_connected(int rank, int times)
{
    enum { LINKED = 2 }; /* the first time is in discovery */
    char byte;
    if (rank == 1)
        hours_passed++;
    else if (times == LINKED)
        CHECK(read(waiting_pipe[0], &byte, 1) == 1);
}

static void a_member_stopped_while_connecting_waits_for_others(void **state)
{
    struct members members;
    join_timeout_ms = 24 * 3600 * 1000;
    on_connected = stop_when_connected;
    assert_int_equal(pipe(waiting_pipe), 0);
    begin(&members, 2, count_steps);
    EXPECT("0 is 0 of 2", "1 is 1 of 2");
    end(&members);
    close(waiting_pipe[0]);
    close(waiting_pipe[1]);
}

/* The worker of rank 0 reads the checkpoint and does not answer. After the start this would be
 * too long; how the others continue then is tested above. */
static void a_member_that_restores_at_the_start_is_waited_for(void **state)
{
    struct members members;
    peer_timeout_ms = 4000;
    reading_ms = 6000;
    begin(&members, 3, count_steps);
    no_loss = true;
    EXPECT("0 is 0 of 3", "1 is 1 of 3", "2 is 2 of 3");
    no_loss = false;
    signal_to(&members, 1, SIGSTOP);
    EXPECT("it has not answered for 4 s");
    end(&members);
}

static void a_member_with_a_stop_request_stops_waiting(void **state)
{
    struct members members;
    peer_timeout_ms = 3600 * 1000;
    begin(&members, 3, count_steps);
    EXPECT("0 is 0 of 3", "1 is 1 of 3", "2 is 2 of 3");
    signal_to(&members, 1, SIGSTOP);
    EXPECT("0 says waiting for worker 0", "2 says waiting for worker 0");
    char own[128], told_by[128];
    snprintf(own, sizeof(own), "0 lost chief (127.0.0.1:%d) was told to stop while it waited for",
             members.ports[0]);
    snprintf(told_by, sizeof(told_by), "2 lost %s", strchr(own, 'c'));
    signal_to(&members, 0, SIGTERM);
    EXPECT(own, told_by);
    end(&members);
}

/* A member that announces its end may take long to end, and its machine may be gone by then. */
static void dismiss_a_member(const struct members *members, int rank)
{
    struct ty_tf_config *config = members_config(members, false, rank);
    struct comm_options options = members_options(config);
    options.min_members = 1;
    options.peer_timeout_ms = 3600 * 1000;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    char name[256];
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    comm_group_settle(group);
    comm_group_name(group, 2, name, sizeof(name));
    CHECK_TEXT(name, "worker 2 (127.0.0.1:");
    CHECK_OK(comm_barrier(group, &err), &err);
    while (rank == 2)
        pause();
    comm_group_dismiss(group, 2);
    CHECK_OK(comm_group_reform(group, &err), &err);
    CHECK_OK(comm_barrier(group, &err), &err);
    report_event("%d is %d of %d", rank, comm_group_rank(group), comm_group_size(group));
    pause();
}

static void a_dismissed_member_is_not_waited_for(void **state)
{
    struct members members;
    begin(&members, 3, dismiss_a_member);
    EXPECT("0 is 0 of 2", "1 is 1 of 2");
    end(&members);
}

/* Sums are rounded on the wire, but a state that is passed on is not, down to the sign of its
 * zeros. */
static void broadcast_state(const struct members *members, int rank)
{
    enum { FLOATS = 40000 }; /* enough floats that sums are rounded */
    static float state[FLOATS], sums[FLOATS];
    struct ty_tf_config *config = members_config(members, false, rank);
    struct comm_options options = members_options(config);
    options.transport = COMM_TRANSPORT_TCP;
    options.wire = COMM_WIRE_BF16;
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(comm_group_open(&options, &group, &err), &err);
    for (int i = 0; i < FLOATS; i++) {
        state[i] = rank == 1 ? (i % 3 ? 1 + (float)i / (1 << 20) : -0.0f) : 7;
        sums[i] = 1 + (float)i / (1 << 20);
    }
    CHECK_OK(comm_broadcast(group, 1, state, sizeof(state), &err), &err);
    CHECK_OK(comm_allreduce_sum_f32(group, sums, FLOATS, &err), &err);
    int rounded = 0;
    for (int i = 0; i < FLOATS; i++) {
        const float own = i % 3 ? 1 + (float)i / (1 << 20) : -0.0f;
        CHECK(memcmp(&state[i], &own, sizeof(own)) == 0);
        rounded += sums[i] != 3 * (1 + (float)i / (1 << 20));
    }
    CHECK(rounded > FLOATS / 2);
    comm_group_free(group);
    ty_tf_config_free(config);
}

static void a_broadcast_is_exact_if_sums_are_rounded(void **state)
{
    struct members members;
    members_init(&members, 3);
    members_start_all(&members, broadcast_state);
    assert_int_equal(members_wait(&members), 0);
}

static void too_few_members_wait(void **state)
{
    struct members members;
    min_members = 2;
    begin(&members, 2, count_steps);
    EXPECT("0 is 0 of 2", "1 is 1 of 2");
    lose(&members, 1);
    EXPECT("0 says waiting to continue training: fewer tasks are connected than");
    members_start(&members, 1, count_steps);
    EXPECT("0 is 0 of 2", "1 is 1 of 2");
    end(&members);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(remaining_members_continue_and_a_lost_one_rejoins, set_up),
        cmocka_unit_test_setup(a_stopped_member_is_named_and_excluded_and_rejoins, set_up),
        cmocka_unit_test_setup(a_stop_of_all_members_counts_against_no_member, set_up),
        cmocka_unit_test_setup(a_stop_between_two_polls_is_detected, set_up),
        cmocka_unit_test_setup(a_member_stopped_while_connecting_waits_for_others, set_up),
        cmocka_unit_test_setup(a_member_that_restores_at_the_start_is_waited_for, set_up),
        cmocka_unit_test_setup(a_member_with_a_stop_request_stops_waiting, set_up),
        cmocka_unit_test_setup(a_dismissed_member_is_not_waited_for, set_up),
        cmocka_unit_test_setup(a_broadcast_is_exact_if_sums_are_rounded, set_up),
        cmocka_unit_test_setup(too_few_members_wait, set_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests that a member dies, leaves, does not arrive or makes another call: every other member gets
 * an error in finite time that names this member. */
#include "base/mem.h"
#include "comm/transport/shared_memory.h"
#include "members.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

enum { BIG = 4 << 20 }; /* floats: more than any socket buffer holds */

/* How long a member that does not arrive is waited for. A member that is only slow must arrive in
 * that time, also on a machine that does not schedule it for seconds. */
enum { PATIENCE_MS = 12000 };
#define TIMED_OUT "timed out after 12 s while it waited for "

static enum comm_transport transport; /* the transport of all groups */

static void note_line(void *context, const char *line)
{
    snprintf(context, 512, "%s", line);
}

static int try_to_join(const struct members *members, int rank, int64_t timeout_ms, char *last_line,
                       struct comm_group **ret, struct err *err)
{
    struct ty_tf_config *config = members_config(members, true, rank);
    struct comm_options options = members_options(config);
    options.timeout_ms = timeout_ms;
    options.transport = transport;
    options.report = last_line ? note_line : NULL;
    options.context = last_line;
    int result = comm_group_open(&options, ret, err);
    ty_tf_config_free(config);
    return result;
}

static struct comm_group *join(const struct members *members, int rank, int64_t timeout_ms,
                               char *last_line)
{
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    CHECK_OK(try_to_join(members, rank, timeout_ms, last_line, &group, &err), &err);
    return group;
}

static void text_of(const struct members *members, int rank, const char *format, char *text)
{
    char name[64];
    snprintf(name, sizeof(name), "worker %d (127.0.0.1:%d)", rank - 1, members->ports[rank]);
    snprintf(text, 256, "%s%s", format, name);
}

/* Rank 2 of 4 sends a part and dies; both neighbours and the member opposite name it. */
static void die_in_the_middle(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank, 30000, NULL);
    struct err err = ERR_INIT;
    float *data = mem_calloc(BIG, sizeof(*data));
    /* A slow member may still be in the first call when the group breaks. */
    int result = comm_allreduce_sum_f32(group, data, 100, &err);
    if (rank == 2)
        raise(SIGKILL);
    if (result == 0)
        result = comm_allreduce_sum_f32(group, data, BIG, &err);
    CHECK(result < 0);
    char wanted[256];
    text_of(members, 2, "lost ", wanted);
    CHECK_TEXT(err.message, wanted);
    CHECK(err.code == ERR_UNAVAILABLE);
    CHECK(comm_group_broken(group) == COMM_BROKEN_PEER);
    /* A broken group stays broken, with the same message. */
    struct err again = ERR_INIT;
    CHECK(comm_barrier(group, &again) < 0);
    CHECK(strcmp(err.message, again.message) == 0);
    comm_group_free(group);
    free(data);
}

static void a_killed_member_is_named_by_all(void **state)
{
    struct members members;
    members_init(&members, 4);
    members_start_all(&members, die_in_the_middle);
    assert_int_equal(members_wait(&members), 1); /* the killed member itself */
}

/* Rank 1 dies while the others are in a transfer that needs it, or in a sum in shared memory. */
static void wait_to_be_killed(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank, 30000, NULL);
    struct err err = ERR_INIT;
    struct shared_memory *memory = NULL;
    CHECK_OK(shared_memory_new("test", BIG * sizeof(float), &memory, &err), &err);
    CHECK_OK(comm_group_share(group, memory, &err), &err);
    float *data = memory->at;
    if (rank == 1)
        alarm(1); /* SIGALRM ends the process wherever it is */
    int result = 0;
    while (result == 0)
        result = comm_allreduce_sum_f32(group, data, BIG, &err);
    char wanted[256];
    text_of(members, 1, "lost ", wanted);
    CHECK_TEXT(err.message, wanted);
    comm_group_free(group);
    shared_memory_free(memory);
}

static void a_death_during_a_transfer_is_detected(void **state)
{
    struct members members;
    members_init(&members, 3);
    members_start_all(&members, wait_to_be_killed);
    assert_int_equal(members_wait(&members), 1);
}

/* A member is alive but does not arrive. The waiting member that times out first names it in a
 * report and in its error, which it sends to the others. The late member arrives when the others
 * are gone. It learns that from a pipe that only they hold open. */
static int others_alive[2];

static void arrive_late(const struct members *members, int rank)
{
    char line[512] = "";
    struct comm_group *group = join(members, rank, rank == 2 ? 30000 : PATIENCE_MS, line);
    struct err err = ERR_INIT;
    float *data = mem_calloc(BIG, sizeof(*data));
    char wanted[256];
    CHECK_OK(comm_barrier(group, &err), &err);
    if (rank == 2) {
        char byte;
        close(others_alive[1]);
        CHECK(read(others_alive[0], &byte, 1) == 0);
        CHECK(comm_barrier(group, &err) < 0);
        CHECK_TEXT(err.message, TIMED_OUT);
    } else {
        CHECK(comm_allreduce_sum_f32(group, data, BIG, &err) < 0);
        text_of(members, 2, TIMED_OUT, wanted);
        CHECK_TEXT(err.message, wanted);
        CHECK(comm_group_broken(group) == COMM_BROKEN_PEER);
        if (!strstr(err.message, "(reported by")) {
            text_of(members, 2, " s for ", wanted);
            CHECK_TEXT(line, "all-reduce (call ");
            CHECK_TEXT(line, wanted);
        }
    }
    comm_group_free(group);
    free(data);
}

static void start_with_a_late_member(struct members *members, enum comm_transport over)
{
    transport = over;
    members_init(members, 4);
    assert_int_equal(pipe(others_alive), 0);
    members_start_all(members, arrive_late);
    close(others_alive[0]);
    close(others_alive[1]);
}

/* Both transports run at once, because the members only wait. */
static void a_member_that_does_not_arrive_is_named(void **state)
{
    struct members over_tcp, in_shared_memory;
    start_with_a_late_member(&over_tcp, COMM_TRANSPORT_TCP);
    start_with_a_late_member(&in_shared_memory, COMM_TRANSPORT_AUTO);
    assert_int_equal(members_wait(&over_tcp), 0);
    assert_int_equal(members_wait(&in_shared_memory), 0);
}

static void leave_group(const struct members *members, int rank)
{
    struct comm_group *group = join(members, rank, 30000, NULL);
    struct err err = ERR_INIT;
    int result = comm_barrier(group, &err);
    if (rank != 1) {
        if (result == 0)
            result = comm_barrier(group, &err);
        CHECK(result < 0);
        char wanted[256];
        text_of(members, 1, "", wanted);
        CHECK_TEXT(err.message, wanted);
        CHECK_TEXT(err.message, "has left the group");
    }
    comm_group_free(group);
}

static void a_member_that_left_is_named(void **state)
{
    struct members members;
    members_init(&members, 3);
    members_start_all(&members, leave_group);
    assert_int_equal(members_wait(&members), 0);
}

/* Rank 1 makes another call: a ring against a ring, small against large, small against small. */
static int call_differently(struct comm_group *group, int rank, int which, float *data,
                            struct err *err)
{
    bool other = rank == 1;
    switch (which) {
    case 0:
        return other ? comm_broadcast(group, 0, data, BIG, err)
                     : comm_allreduce_sum_f32(group, data, BIG, err);
    case 1:
        return comm_allreduce_sum_f32(group, data, other ? 8 : BIG, err);
    case 2:
        return comm_allreduce_sum_f32(group, data, other ? 8 : 9, err);
    default:
        return other ? comm_barrier(group, err) : comm_allreduce_sum_f32(group, data, 1, err);
    }
}

static int which_call;

static void make_different_calls(const struct members *members, int rank)
{
    struct comm_group *group = NULL;
    struct err err = ERR_INIT;
    float *data = mem_calloc(BIG, sizeof(*data));
    /* A slow member may get the error while it still joins. */
    int result = try_to_join(members, rank, 30000, NULL, &group, &err);
    /* The root of a broadcast may finish before any member notices. */
    for (int i = 0; i < 2 && result == 0; i++)
        result = call_differently(group, rank, which_call, data, &err);
    CHECK(result < 0);
    CHECK_TEXT(err.message, "all tasks must make the same calls in the same order");
    CHECK(!group || comm_group_broken(group) == COMM_BROKEN_GROUP);
    comm_group_free(group);
    free(data);
}

static void different_calls_are_detected(void **state)
{
    for (which_call = 0; which_call < 4; which_call++) {
        struct members members;
        members_init(&members, 3);
        members_start_all(&members, make_different_calls);
        assert_int_equal(members_wait(&members), 0);
    }
}

static int over_tcp(void **state)
{
    transport = COMM_TRANSPORT_TCP;
    return 0;
}

static int in_shared_memory(void **state)
{
    transport = COMM_TRANSPORT_AUTO;
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_member_is_named_by_all),
        cmocka_unit_test(a_death_during_a_transfer_is_detected),
        cmocka_unit_test(a_member_that_left_is_named),
        cmocka_unit_test(different_calls_are_detected),
    };
    const struct CMUnitTest waits[] = {cmocka_unit_test(a_member_that_does_not_arrive_is_named)};
    int failed = cmocka_run_group_tests_name("either way", waits, NULL, NULL);
    failed += cmocka_run_group_tests_name("over TCP", tests, over_tcp, NULL);
    return failed + cmocka_run_group_tests_name("in shared memory", tests, in_shared_memory, NULL);
}

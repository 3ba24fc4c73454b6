/* Tests the public interface as another program uses it: a single process, several processes, and
 * errors as values. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <unistd.h>

#include <cmocka.h>

#include "members.h"

#include <trainyard/comm.h>
#include <trainyard/ps.h>

static struct ty_comm *open_alone(void)
{
    struct ty_tf_config *config = NULL;
    struct ty_comm *comm = NULL;
    struct ty_error error;
    assert_int_equal(ty_tf_config_parse("", &config, &error), 0);
    assert_true(ty_tf_config_is_chief(config));
    assert_int_equal(ty_comm_open(config, NULL, &comm, &error), 0);
    ty_tf_config_free(config);
    return comm;
}

static void a_process_alone_needs_no_network(void **state)
{
    struct ty_comm *comm = open_alone();
    struct ty_error error;
    assert_int_equal(ty_comm_rank(comm), 0);
    assert_int_equal(ty_comm_size(comm), 1);
    float sum[2] = {1, 2}, all[2] = {0, 0};
    assert_int_equal(ty_comm_allreduce_sum_f32(comm, sum, 2, &error), 0);
    assert_true(sum[0] == 1 && sum[1] == 2);
    assert_int_equal(ty_comm_broadcast(comm, 0, sum, sizeof(sum), &error), 0);
    assert_int_equal(ty_comm_allgather(comm, sum, sizeof(sum), all, &error), 0);
    assert_memory_equal(all, sum, sizeof(sum));
    assert_int_equal(ty_comm_barrier(comm, &error), 0);
    void *memory = NULL;
    assert_int_equal(ty_comm_allocate(comm, 4 * sizeof(float), &memory, &error), 0);
    assert_int_equal(ty_comm_allreduce_sum_f32(comm, memory, 4, &error), 0);
    assert_true(*(float *)memory == 0);
    /* A call that cannot begin leaves the group intact. */
    assert_int_not_equal(ty_comm_allocate(comm, 0, &memory, &error), 0);
    assert_int_equal(ty_comm_broken(comm), TY_COMM_BROKEN_MESSAGE);
    assert_int_equal(ty_comm_barrier(comm, &error), 0);
    ty_comm_close(comm);
    ty_comm_close(NULL);
}

/* Two processes: sums in memory of the group and in their own, exact and rounded on the wire. */
static void sum_together(const struct members *members, int rank)
{
    enum { FLOATS = 100000 };
    static float own[FLOATS];
    for (int way = 0; way < 2; way++) {
        struct ty_tf_config *config = members_config(members, false, rank);
        const struct ty_comm_options options = {.secret = "of the test",
                                                .transport = way ? TY_COMM_TCP : TY_COMM_AUTO,
                                                .wire = way ? TY_COMM_BF16 : TY_COMM_F32};
        struct ty_comm *comm = NULL;
        void *shared = NULL;
        CHECK(ty_comm_open(config, &options, &comm, NULL) == 0);
        CHECK(ty_comm_allocate(comm, sizeof(own), &shared, NULL) == 0);
        for (int i = 0; i < FLOATS; i++)
            own[i] = ((float *)shared)[i] = 1.0f + (float)rank / 1024;
        CHECK(ty_comm_allreduce_sum_f32(comm, own, FLOATS, NULL) == 0);
        CHECK(ty_comm_allreduce_sum_f32(comm, shared, FLOATS, NULL) == 0);
        for (int i = 0; i < FLOATS; i++) /* 2 + 1/1024 takes more than 8 bits */
            CHECK(own[i] == (way ? 2 : 2 + 1.0f / 1024) && own[i] == ((float *)shared)[i]);
        ty_comm_close(comm);
        ty_tf_config_free(config);
    }
}

static void processes_sum_their_values(void **state)
{
    struct members members;
    members_init(&members, 2);
    members_start_all(&members, sum_together);
    assert_int_equal(members_wait(&members), 0);
}

/* One of three processes dies without a goodbye. The other two form a group again, sum in the same
 * memory, and the process that is ahead sends its state to the other. A death is detected at once.
 * A process that is merely not scheduled is waited for. */
static void continue_without_one(const struct members *members, int rank)
{
    const struct ty_comm_options options = {
        .secret = "of the test", .min_members = 2, .peer_timeout_ms = 60000};
    struct ty_tf_config *config = members_config(members, false, rank);
    struct ty_comm *comm = NULL;
    void *memory = NULL;
    CHECK(ty_comm_open(config, &options, &comm, NULL) == 0);
    CHECK(ty_comm_size(comm) == 3);
    CHECK(ty_comm_allocate(comm, sizeof(float), &memory, NULL) == 0);
    float *sum = memory;
    ty_comm_settle(comm);
    CHECK(ty_comm_barrier(comm, NULL) == 0);
    if (rank == 1)
        _exit(0);
    *sum = 1;
    while (ty_comm_allreduce_sum_f32(comm, sum, 1, NULL) < 0) {
        CHECK(ty_comm_broken(comm) == TY_COMM_BROKEN_PEER);
        while (ty_comm_reform(comm, NULL) < 0)
            CHECK(ty_comm_broken(comm) == TY_COMM_BROKEN_PEER);
        ty_comm_settle(comm);
        *sum = 1;
    }
    CHECK(ty_comm_size(comm) == 2);
    CHECK(*sum == 2);
    CHECK(!ty_comm_wanted(comm));
    int known = ty_comm_rank(comm) == 1 ? 42 : 0;
    CHECK(ty_comm_broadcast(comm, 1, &known, sizeof(known), NULL) == 0);
    CHECK(known == 42);
    struct ty_error error;
    CHECK(ty_comm_broadcast(comm, 2, &known, sizeof(known), &error) == -TY_ERROR_INVALID);
    CHECK_TEXT(error.message, "cannot broadcast from rank 2: the ranks of this group are 0 to 1");
    ty_comm_close(comm);
    ty_tf_config_free(config);
}

static void the_remaining_processes_continue(void **state)
{
    struct members members;
    members_init(&members, 3);
    members_start_all(&members, continue_without_one);
    assert_int_equal(members_wait(&members), 0);
}

static void errors_have_a_code_and_a_message(void **state)
{
    struct ty_tf_config *config = NULL;
    struct ty_error error = {0};
    assert_int_equal(ty_tf_config_parse("{\"cluster\":{\"worker\":[\"a\"]}}", &config, &error),
                     -TY_ERROR_INVALID);
    assert_int_equal(error.code, TY_ERROR_INVALID);
    assert_string_equal(error.message, "TF_CONFIG: worker 0: 'a' has no port: write host:port");
    assert_null(config);
    assert_int_equal(ty_tf_config_parse("[", &config, NULL), -TY_ERROR_INVALID);
}

static void a_group_rejects_unsupported_calls(void **state)
{
    struct ty_tf_config *config = NULL;
    struct ty_comm *comm = NULL;
    struct ty_error error = {0};
    assert_int_equal(ty_tf_config_parse("", &config, &error), 0);
    const struct ty_comm_options many = {.channels = 9};
    assert_int_equal(ty_comm_open(config, &many, &comm, &error), -TY_ERROR_INVALID);
    assert_string_equal(error.message,
                        "the number of channels is 9, but it must be between 1 and 8");
    ty_tf_config_free(config);
    assert_int_equal(ty_tf_config_from_flags("p:1", "w:1", "ps", 0, &config, &error), 0);
    assert_int_equal(ty_comm_open(config, NULL, &comm, &error), -TY_ERROR_UNSUPPORTED);
    assert_null(comm);
    ty_tf_config_free(config);
}

static void parameters_of_one_process_need_no_server(void **state)
{
    struct ty_tf_config *config = NULL;
    struct ty_ps *ps = NULL;
    struct ty_error error;
    assert_int_equal(ty_tf_config_parse("", &config, &error), 0);
    assert_int_equal(ty_ps_open(config, NULL, &ps, &error), 0);
    const struct ty_ps_update sgd = {.rule = TY_PS_SGD};
    const struct ty_ps_table table = {.dimensions = 1, .update = sgd};
    const int64_t ids[2] = {7, 7};
    float dense[1] = {3}, rows[2] = {1, 1};
    int number = -1;
    assert_int_equal(ty_ps_dense_open(ps, 1, dense, &sgd, &error), 0);
    assert_int_equal(ty_ps_dense_push(ps, dense, 1, &error), 0);
    assert_int_equal(ty_ps_dense_pull(ps, dense, &error), 0);
    assert_true(dense[0] == 0);
    assert_int_equal(ty_ps_table_open(ps, &table, &number, &error), 0);
    assert_int_equal(ty_ps_rows_push(ps, number, ids, 2, rows, 0.5f, &error), 0);
    assert_int_equal(ty_ps_flush(ps, &error), 0);
    assert_int_equal(ty_ps_rows_pull(ps, number, ids, 2, rows, &error), 0);
    assert_true(rows[0] == -1 && rows[1] == -1);
    uint64_t count = 0;
    assert_int_equal(ty_ps_count(ps, TY_PS_COUNTER_STEP, 3, &count, &error), 0);
    assert_int_equal(count, 3);
    assert_int_equal(ty_ps_rows_pull(ps, 9, ids, 2, rows, &error), -TY_ERROR_INVALID);
    assert_string_equal(error.message, "table 9 has not been opened");
    assert_int_equal(ty_ps_serve(config, NULL, &error), -TY_ERROR_INVALID);
    assert_string_equal(error.message, "chief 0 is not a parameter server");
    assert_int_equal(ty_ps_finish(ps, &error), 0);
    ty_ps_close(ps);
    ty_tf_config_free(config);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_process_alone_needs_no_network),
        cmocka_unit_test(processes_sum_their_values),
        cmocka_unit_test(the_remaining_processes_continue),
        cmocka_unit_test(errors_have_a_code_and_a_message),
        cmocka_unit_test(a_group_rejects_unsupported_calls),
        cmocka_unit_test(parameters_of_one_process_need_no_server),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

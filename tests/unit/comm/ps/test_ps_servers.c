/* Tests parameter servers as real processes on the loopback: the pushes of several workers add up,
 * and a process that does not belong to the job is rejected with the reason. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "comm/cluster/tf_config.h"
#include "ps_members.h"

#include <unistd.h>

/* ---- Pushes of several workers add up */

static struct {
    size_t count;
    double sum;
} seen;

static void visit(void *context, int64_t id, const float *row)
{
    seen.count++;
    seen.sum += (double)row[DIMENSIONS - 1];
}

static void add_up(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = ps_members_join_well(members, rank);
    ps_members_open_all(client);
    for (int i = 0; i < STEPS; i++)
        ps_members_step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    ps_members_wait_for_all(client);
    ps_members_check_values(client, (float)(STEPS * ps_run.workers),
                            (float)(STEPS * ps_run.workers));
    CHECK_OK(ps_rows_scan(client, 0, visit, NULL, &err), &err);
    CHECK(seen.count == IDS);
    CHECK(seen.sum == (double)(STEPS * ps_run.workers) * (IDS * (IDS + 1) / 2));
    uint64_t steps = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_STEP, 0, &steps, &err), &err);
    CHECK(steps == (uint64_t)(STEPS * ps_run.workers));
    CHECK_OK(ps_save(client, &err), &err);
    ps_members_finish(client);
}

static void pushes_of_all_workers_add_up(void **state)
{
    ps_members_run_all(1, 1, add_up);
    ps_members_run_all(3, 2, add_up);
    ps_members_run_all(2, 5, add_up);
}

/* ---- More than fits into one message, and repeated ids */

static void push_much(const struct members *members, int rank)
{
    enum { COUNT = 300000, WIDE = 64 };
    struct err err = ERR_INIT;
    struct ps_client *client = ps_members_join_well(members, rank);
    const struct ps_table table = {.dimensions = WIDE, .update = {.rule = PS_SGD}};
    int number;
    CHECK_OK(ps_table_open(client, &table, &number, &err), &err);
    int64_t *ids = mem_calloc(COUNT, sizeof(*ids));
    float *rows = mem_calloc((size_t)COUNT * WIDE, sizeof(*rows));
    for (size_t i = 0; i < COUNT; i++) {
        ids[i] = (int64_t)(i / 2); /* each twice */
        for (size_t d = 0; d < WIDE; d++)
            rows[i * WIDE + d] = -(float)(i / 2 % 1000) - (float)d;
    }
    CHECK_OK(ps_rows_push(client, number, ids, COUNT, rows, 0.5f, &err), &err);
    CHECK_OK(ps_rows_pull(client, number, ids, COUNT, rows, &err), &err);
    for (size_t i = 0; i < COUNT; i++)
        for (size_t d = 0; d < WIDE; d++)
            CHECK(rows[i * WIDE + d] == (float)(i / 2 % 1000) + (float)d);
    seen.count = 0;
    CHECK_OK(ps_rows_scan(client, number, visit, NULL, &err), &err);
    CHECK(seen.count == COUNT / 2);
    free(ids);
    free(rows);
    ps_members_finish(client);
}

static void large_calls_are_sent_in_several_messages(void **state)
{
    ps_members_run_all(1, 2, push_much);
}

/* ---- Processes that do not belong to the job */

static void try_to_join(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    CHECK(!ps_members_join(members, rank, 2, "of the test", &err));
    CHECK(err.code == ERR_FORBIDDEN);
    CHECK_TEXT(err.message, "ps 0 (127.0.0.1:");
    CHECK_TEXT(err.message, "its model has another shape");
    buf_release(&ps_run.lines);
    err_clear(&err);
    CHECK(!ps_members_join(members, rank, 1, "another", &err));
    CHECK(err.code == ERR_FORBIDDEN);
    CHECK_TEXT(err.message, "job secret");
    buf_release(&ps_run.lines);
    err_clear(&err);
    struct ps_client *client = ps_members_join_well(members, rank);
    const struct ps_table narrow = {.dimensions = 2, .update = {.rule = PS_SGD}};
    int number;
    CHECK_OK(ps_table_open(client, &narrow, &number, &err), &err);
    ps_client_free(client);
    buf_release(&ps_run.lines);
    client = ps_members_join_well(members, rank);
    const struct ps_table wide = {.dimensions = 3, .update = {.rule = PS_SGD}};
    CHECK(ps_table_open(client, &wide, &number, &err) == -ERR_CONFLICT);
    CHECK_TEXT(err.message, "ps 0 (127.0.0.1:");
    CHECK_TEXT(err.message, "table 0 was opened with rows of 2 values");
    CHECK_OK(ps_table_open(client, &narrow, &number, &err), &err);
    ps_members_finish(client);
}

static void a_process_of_another_job_is_rejected(void **state)
{
    ps_members_run_all(1, 1, try_to_join);
}

/* Sets `stop` once the missing servers are reported. */
static void note_and_stop(void *context, const char *line)
{
    ps_members_note(context, line);
    if (strstr(line, "waiting for ps 0 (127.0.0.1:") && strstr(line, "it does not listen yet"))
        ps_run.stop = 1;
}

static int open_without_server(const struct members *members, int rank, int64_t join_timeout_ms,
                               struct err *err)
{
    buf_init(&ps_run.lines, 1 << 20);
    struct ty_tf_config *config = ps_members_config_of(members, rank);
    const struct ps_options options = {.config = config,
                                       .secret = "",
                                       .join_timeout_ms = join_timeout_ms,
                                       .report_ms = 50,
                                       .stop = join_timeout_ms ? NULL : &ps_run.stop,
                                       .report = note_and_stop};
    struct ps_client *client = NULL;
    int result = ps_client_open(&options, &client, err);
    ty_tf_config_free(config);
    buf_release(&ps_run.lines);
    return result;
}

static void expect_missing_server(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    CHECK(open_without_server(members, rank, 0, &err) == -ERR_CANCELED);
    err_clear(&err);
    CHECK(open_without_server(members, rank, 1000, &err) == -ERR_TIMEOUT);
    CHECK_TEXT(err.message, "2 of 2 tasks did not connect");
    CHECK_TEXT(err.message, "ps 1 (127.0.0.1:");
}

static void a_missing_server_is_named(void **state)
{
    struct members members;
    ps_run.workers = 1;
    ps_run.servers = 2;
    members_init(&members, 3);
    members_start(&members, 0, expect_missing_server);
    assert_int_equal(members_wait(&members), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_of_all_workers_add_up),
        cmocka_unit_test(large_calls_are_sent_in_several_messages),
        cmocka_unit_test(a_process_of_another_job_is_rejected),
        cmocka_unit_test(a_missing_server_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests parameter servers as real processes on the loopback: a killed or stopped process restarts,
 * and training continues. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ps_members.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- A server is killed */

static void outlive_server(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = ps_members_join_well(members, rank);
    ps_members_open_all(client);
    ps_members_step(client);
    if (ps_run.directory[0])
        CHECK_OK(ps_save(client, &err), &err);
    else
        ps_members_check_values(client, 1, 1); /* the last values that this worker sees */
    ps_members_tell();
    char byte;
    CHECK(read(ps_run.go_on[0], &byte, 1) == 1);
    for (int i = 1; i < STEPS; i++)
        ps_members_step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    CHECK_TEXT(ps_run.lines.data, "lost ps 1 (127.0.0.1:");
    CHECK_TEXT(ps_run.lines.data, "waiting for it to come back");
    CHECK_TEXT(ps_run.lines.data, "ps 1 (127.0.0.1:");
    CHECK_TEXT(ps_run.lines.data, "is back");
    CHECK((strstr(ps_run.lines.data, "set to what this worker saw last") != NULL) ==
          !ps_run.directory[0]);
    /* All values that were saved or seen exist; pushes in flight may have been applied twice.
     * Rows that were not saved start from their initial values. */
    ps_members_check_dense(client, STEPS, STEPS + 8);
    ps_members_check_rows(client, ps_run.directory[0] ? STEPS : STEPS - 1, STEPS + 8);
    uint64_t steps = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_STEP, 0, &steps, &err), &err);
    CHECK(steps == STEPS);
    ps_members_finish(client);
}

static void kill_a_server(void)
{
    struct members members;
    int status;
    ps_run.workers = 1;
    ps_run.servers = 2;
    assert_int_equal(pipe(ps_run.told), 0);
    assert_int_equal(pipe(ps_run.go_on), 0);
    members_init(&members, 3);
    members_start(&members, 1, ps_members_serve);
    members_start(&members, 2, ps_members_serve);
    members_start(&members, 0, outlive_server);
    ps_members_listen_to_worker();
    kill(members.children[2], SIGKILL);
    assert_int_equal(waitpid(members.children[2], &status, 0), members.children[2]);
    assert_int_equal(write(ps_run.go_on[1], "", 1), 1);
    members_start(&members, 2, ps_members_serve);
    assert_int_equal(members_wait(&members), 0);
    close(ps_run.told[0]);
    close(ps_run.told[1]);
    close(ps_run.go_on[0]);
    close(ps_run.go_on[1]);
}

static void a_killed_server_restores_its_snapshot(void **state)
{
    ps_members_make_directory();
    kill_a_server();
    ps_members_remove_directory();
}

static void a_killed_server_without_snapshot_gets_last_seen_values(void **state)
{
    kill_a_server();
}

/* A worker that is told to stop does not wait for a server; otherwise the processes of a job
 * could not be stopped all at once. */
static void stop_without_server(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = ps_members_join_well(members, rank);
    ps_members_open_all(client);
    ps_members_tell();
    char byte;
    CHECK(read(ps_run.go_on[0], &byte, 1) == 1);
    ps_run.stop = 1;
    uint64_t steps;
    CHECK(ps_count(client, PS_COUNTER_STEP, 1, &steps, &err) == -ERR_CANCELED);
    CHECK_TEXT(err.message, "told to stop");
    ps_client_free(client);
    buf_release(&ps_run.lines);
}

static void a_stopped_worker_waits_for_no_server(void **state)
{
    struct members members;
    int status;
    ps_run.workers = ps_run.servers = 1;
    assert_int_equal(pipe(ps_run.told), 0);
    assert_int_equal(pipe(ps_run.go_on), 0);
    members_init(&members, 2);
    members_start(&members, 1, ps_members_serve);
    members_start(&members, 0, stop_without_server);
    ps_members_listen_to_worker();
    kill(members.children[1], SIGKILL);
    assert_int_equal(waitpid(members.children[1], &status, 0), members.children[1]);
    members.children[1] = 0;
    assert_int_equal(write(ps_run.go_on[1], "", 1), 1);
    assert_int_equal(members_wait(&members), 0);
    close(ps_run.told[0]);
    close(ps_run.told[1]);
    close(ps_run.go_on[0]);
    close(ps_run.go_on[1]);
}

/* ---- A worker is killed */

static void train_on(const struct members *members, int rank)
{
    struct ps_client *client = ps_members_join_well(members, rank);
    ps_members_open_all(client);
    for (int i = 0; i < STEPS; i++)
        ps_members_step(client);
    ps_members_wait_for_all(client);
    ps_members_check_values(client, STEPS * 2, 1e6f);
    ps_members_finish(client);
}

static void train_forever(const struct members *members, int rank)
{
    struct ps_client *client = ps_members_join_well(members, rank);
    ps_members_open_all(client);
    for (int i = 0;; i++) {
        ps_members_step(client);
        if (i == 3)
            ps_members_tell();
    }
}

static void a_killed_worker_joins_again(void **state)
{
    struct members members;
    int status;
    ps_run.workers = ps_run.servers = 2;
    assert_int_equal(pipe(ps_run.told), 0);
    members_init(&members, 4);
    members_start(&members, 2, ps_members_serve);
    members_start(&members, 3, ps_members_serve);
    members_start(&members, 0, train_on);
    members_start(&members, 1, train_forever);
    ps_members_listen_to_worker();
    kill(members.children[1], SIGKILL);
    assert_int_equal(waitpid(members.children[1], &status, 0), members.children[1]);
    members_start(&members, 1, train_on);
    assert_int_equal(members_wait(&members), 0);
    close(ps_run.told[0]);
    close(ps_run.told[1]);
}

/* ---- A stopped run continues where it was */

static void first_half(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = ps_members_join_well(members, rank);
    ps_members_open_all(client);
    for (int i = 0; i < STEPS; i++)
        ps_members_step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    ps_client_free(client);
    buf_release(&ps_run.lines);
}

static void second_half(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = ps_members_join_well(members, rank);
    ps_members_open_all(client);
    uint64_t steps = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_STEP, 0, &steps, &err), &err);
    CHECK(steps == STEPS);
    ps_members_check_values(client, STEPS, STEPS);
    for (int i = 0; i < STEPS; i++)
        ps_members_step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    ps_members_check_values(client, 2 * STEPS, 2 * STEPS);
    ps_members_finish(client);
}

static void a_stopped_run_continues(void **state)
{
    struct members members;
    ps_run.workers = 1;
    ps_run.servers = 2;
    ps_members_make_directory();
    members_init(&members, 3);
    members_start(&members, 1, ps_members_serve);
    members_start(&members, 2, ps_members_serve);
    members_start(&members, 0, first_half);
    int status = 0;
    assert_int_equal(waitpid(members.children[0], &status, 0), members.children[0]);
    assert_int_equal(status, 0);
    members.children[0] = 0;
    kill(members.children[1], SIGTERM);
    kill(members.children[2], SIGTERM);
    assert_int_equal(members_wait(&members), 0);
    for (int rank = 2; rank >= 0; rank--)
        members_start(&members, rank, rank ? ps_members_serve : second_half);
    assert_int_equal(members_wait(&members), 0);
    ps_members_remove_directory();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_killed_server_restores_its_snapshot),
        cmocka_unit_test(a_killed_server_without_snapshot_gets_last_seen_values),
        cmocka_unit_test(a_stopped_worker_waits_for_no_server),
        cmocka_unit_test(a_killed_worker_joins_again),
        cmocka_unit_test(a_stopped_run_continues),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests that a parameter server that waits for workers names them repeatedly, and ends if none
 * connects. The test sets the time. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/err.h"
#include "comm/ps/ps.h"
#include "comm/ps/wait.h"
#include "members.h"

#include <signal.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORKERS = 7, START = 1000000 };

static struct ty_task tasks[WORKERS];
static char line[4096];
static int lines;

static void note(void *context, const char *text)
{
    snprintf(line, sizeof(line), "%s", text);
    lines++;
}

static struct ps_member member_of(int workers)
{
    lines = 0;
    for (int i = 0; i < WORKERS; i++)
        tasks[i] =
            (struct ty_task){.role = TY_ROLE_WORKER, .index = i, .host = "host", .port = 10 + i};
    return (struct ps_member){.tasks = tasks, .workers = workers, .rendezvous = {.report = note}};
}

static void missing_workers_are_reported_repeatedly(void **state)
{
    struct ps_member member = member_of(2);
    struct ps_wait wait;
    struct err err = ERR_INIT;
    ps_wait_init(&wait, &member, 0, 0, START);
    assert_int_equal(ps_wait_due(&wait), START + 5000);
    assert_int_equal(ps_wait_check(&wait, START + 4999, &err), 0);
    assert_int_equal(lines, 0);
    assert_int_equal(ps_wait_check(&wait, START + 5000, &err), 0);
    assert_string_equal(line, "waiting for worker 0 (host:10), worker 1 (host:11): 5 s so far");
    assert_int_equal(ps_wait_due(&wait), START + 10000);
    ps_wait_set_connected(&wait, 0);
    assert_int_equal(ps_wait_check(&wait, START + 10000, &err), 0);
    assert_string_equal(line, "waiting for worker 1 (host:11): 10 s so far");
    assert_int_equal(ps_wait_due(&wait), START + 70000); /* less often now */
    ps_wait_set_connected(&wait, 1);
    assert_true(ps_wait_due(&wait) == INT64_MAX);
    assert_int_equal(ps_wait_check(&wait, START + 1000000, &err), 0);
    assert_int_equal(lines, 2);
    ps_wait_release(&wait);
}

static void the_wait_for_the_first_worker_has_a_deadline(void **state)
{
    struct ps_member member = member_of(WORKERS);
    struct ps_wait wait;
    struct err err = ERR_INIT;
    ps_wait_init(&wait, &member, 1000, 2500, START);
    ps_wait_set_finished(&wait, 1); /* finished before a restart: it will not connect */
    assert_int_equal(ps_wait_check(&wait, START + 2000, &err), 0);
    assert_int_equal(ps_wait_due(&wait), START + 2500);
    assert_int_equal(ps_wait_check(&wait, START + 2500, &err), -ERR_TIMEOUT);
    assert_string_equal(err.message,
                        "no worker connected within 2.5 s: worker 0 (host:10), worker 2 "
                        "(host:12), worker 3 (host:13), worker 4 (host:14) and 2 more");
    ps_wait_release(&wait);
}

static void the_first_worker_lifts_the_deadline(void **state)
{
    struct ps_member member = member_of(2);
    struct ps_wait wait;
    struct err err = ERR_INIT;
    ps_wait_init(&wait, &member, 0, 2500, START);
    ps_wait_set_connected(&wait, 1);
    assert_int_equal(ps_wait_check(&wait, START + 100000, &err), 0);
    assert_string_equal(line, "waiting for worker 0 (host:10): 100 s so far");
    ps_wait_release(&wait);
}

/* The server itself, without any worker. */
static void a_server_ends_when_no_worker_connects(void **state)
{
    struct members members;
    members_init(&members, 2);
    struct ty_task two[2] = {
        {.role = TY_ROLE_WORKER, .host = "127.0.0.1", .port = members.ports[0]},
        {.role = TY_ROLE_PS, .host = "127.0.0.1", .port = members.ports[1]}};
    struct ty_tf_config config = {.tasks = two, .count = 2, .self = 1};
    const struct ps_server_options options = {.config = &config,
                                              .secret = "secret",
                                              .report = note,
                                              .report_ms = 20,
                                              .join_timeout_ms = 100};
    struct err err = ERR_INIT;
    bool stopped = false;
    assert_int_equal(ps_server_run(&options, &stopped, &err), -ERR_TIMEOUT);
    assert_non_null(strstr(err.message, "no worker connected within 0.1 s: worker 0 (127.0.0.1:"));
}

static void send_line(void *context, const char *text)
{
    fprintf(context, "%s\n", text);
    fflush(context);
}

/* One of two workers connects. From then on only the other is waited for. */
static void a_server_waits_for_missing_workers(void **state)
{
    struct members members;
    members_init(&members, 3);
    struct ty_task three[3] = {
        {.role = TY_ROLE_WORKER, .host = "127.0.0.1", .port = members.ports[0]},
        {.role = TY_ROLE_WORKER, .index = 1, .host = "127.0.0.1", .port = members.ports[1]},
        {.role = TY_ROLE_PS, .host = "127.0.0.1", .port = members.ports[2]}};
    struct ty_tf_config config = {.tasks = three, .count = 3, .self = 2};
    const struct ps_server_options server = {
        .config = &config, .secret = "secret", .report = send_line, .report_ms = 10};
    const struct ps_options options = {.config = &config, .secret = "secret"};
    struct ps_client *client = NULL;
    struct err err = ERR_INIT;
    char text[4096];
    int told[2];
    assert_int_equal(pipe(told), 0);
    pid_t child = fork();
    assert_true(child >= 0);
    if (child == 0) {
        struct ps_server_options own = server;
        bool stopped;
        close(told[0]);
        own.context = fdopen(told[1], "w");
        _exit(ps_server_run(&own, &stopped, &err) < 0);
    }
    close(told[1]);
    FILE *from = fdopen(told[0], "r");
    config.self = 0;
    assert_int_equal(ps_client_open(&options, &client, &err), 0);
    do
        assert_non_null(fgets(text, sizeof(text), from));
    while (strncmp(text, "waiting for worker 1 (127.0.0.1:", 32) != 0);
    ps_client_free(client);
    kill(child, SIGKILL);
    waitpid(child, NULL, 0);
    fclose(from);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(missing_workers_are_reported_repeatedly),
        cmocka_unit_test(the_wait_for_the_first_worker_has_a_deadline),
        cmocka_unit_test(the_first_worker_lifts_the_deadline),
        cmocka_unit_test(a_server_ends_when_no_worker_connects),
        cmocka_unit_test(a_server_waits_for_missing_workers),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

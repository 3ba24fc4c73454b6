/* Parameter servers as real processes on the loopback: what several workers push adds up, whoever
 * is killed comes back and training goes on, and who does not belong is refused with the reason.
 * Ranks: workers first, then servers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "comm/ps.h"
#include "comm/tf_config.h"
#include "members.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

enum { DIMENSIONS = 4, DENSE = 1001, IDS = 500 };

static int workers, servers;
static char directory[256]; /* of snapshots; "": none */
static int told[2];         /* what a worker tells the test: one byte a time */
static int go_on[2];        /* what the test tells a worker */
static struct buf lines;    /* what this process was told in reports */
static volatile sig_atomic_t stop;

static struct ty_tf_config *config_of(const struct members *members, int rank)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    buf_append_str(&text, "{\"cluster\":{\"worker\":[");
    for (int i = 0; i < members->size; i++)
        buf_printf(&text, "%s\"127.0.0.1:%d\"",
                   i == workers ? "],\"ps\":["
                   : i          ? ","
                                : "",
                   members->ports[i]);
    buf_printf(&text, "]},\"task\":{\"type\":\"%s\",\"index\":%d}}",
               rank < workers ? "worker" : "ps", rank < workers ? rank : rank - workers);
    struct err err = ERR_INIT;
    struct ty_tf_config *config = NULL;
    CHECK_OK(tf_config_parse(text.data, text.size, &config, &err), &err);
    return config;
}

static void note(void *context, const char *line)
{
    buf_printf(&lines, "%s\n", line);
}

static void on_signal(int number)
{
    stop = 1;
}

static void serve(const struct members *members, int rank)
{
    signal(SIGTERM, on_signal);
    buf_init(&lines, 1 << 20);
    struct ty_tf_config *config = config_of(members, rank);
    const struct ps_server_options options = {.config = config,
                                              .shape = 1,
                                              .secret = "of the test",
                                              .directory = directory[0] ? directory : NULL,
                                              .snapshot_every_ms = 20,
                                              .stop = &stop,
                                              .report = note};
    struct err err = ERR_INIT;
    bool stopped = false;
    CHECK_OK(ps_server_run(&options, &stopped, &err), &err);
    CHECK(stopped == (stop != 0));
    ty_tf_config_free(config);
    buf_release(&lines);
}

static struct ps_client *join(const struct members *members, int rank, uint64_t shape,
                              const char *secret, struct err *err)
{
    buf_init(&lines, 1 << 20);
    struct ty_tf_config *config = config_of(members, rank);
    const struct ps_options options = {.config = config,
                                       .shape = shape,
                                       .secret = secret,
                                       .join_timeout_ms = 30000,
                                       .timeout_ms = 30000,
                                       .report_ms = 50,
                                       .stop = &stop,
                                       .report = note};
    struct ps_client *client = NULL;
    (void)ps_client_open(&options, &client, err);
    ty_tf_config_free(config);
    return client;
}

static void open_all(struct ps_client *client)
{
    struct err err = ERR_INIT;
    static float zeros[DENSE];
    const struct ps_update sgd = {.rule = PS_SGD};
    const struct ps_table table = {.dimensions = DIMENSIONS, .update = sgd};
    const struct ps_table other = {.dimensions = 1,
                                   .range = 0.5f,
                                   .seed = 3,
                                   .update = {.rule = PS_ADAGRAD, .accumulator = 1}};
    int number = -1;
    CHECK_OK(ps_dense_open(client, DENSE, zeros, &sgd, &err), &err);
    CHECK_OK(ps_table_open(client, &table, &number, &err), &err);
    CHECK(number == 0);
    CHECK_OK(ps_table_open(client, &other, &number, &err), &err);
    CHECK(number == 1);
}

/* Every value goes up by 1, row i's by i + 1: exact in floats, whatever the order. */
static void step(struct ps_client *client)
{
    struct err err = ERR_INIT;
    static int64_t ids[IDS];
    static float rows[IDS * DIMENSIONS], dense[DENSE];
    for (int i = 0; i < IDS; i++) {
        ids[i] = (int64_t)i * 4096 - 7;
        for (int d = 0; d < DIMENSIONS; d++)
            rows[i * DIMENSIONS + d] = -(float)(i + 1);
    }
    for (int i = 0; i < DENSE; i++)
        dense[i] = -1;
    CHECK_OK(ps_rows_push(client, 0, ids, IDS, rows, 1, &err), &err);
    CHECK_OK(ps_dense_push(client, dense, 1, &err), &err);
    uint64_t steps;
    CHECK_OK(ps_count(client, PS_COUNTER_STEP, 1, &steps, &err), &err);
}

/* How many steps the values stand for: in the rows, and in the dense vector. */
static void check_rows(struct ps_client *client, float least, float most)
{
    struct err err = ERR_INIT;
    static int64_t ids[IDS];
    static float rows[IDS * DIMENSIONS];
    for (int i = 0; i < IDS; i++)
        ids[i] = (int64_t)i * 4096 - 7;
    CHECK_OK(ps_rows_pull(client, 0, ids, IDS, rows, &err), &err);
    for (int i = 0; i < IDS * DIMENSIONS; i++) {
        float steps = rows[i] / (float)(i / DIMENSIONS + 1);
        CHECK(steps >= least && steps <= most);
    }
}

static void check_dense(struct ps_client *client, float least, float most)
{
    struct err err = ERR_INIT;
    static float dense[DENSE];
    CHECK_OK(ps_dense_pull(client, dense, &err), &err);
    for (int i = 0; i < DENSE; i++)
        CHECK(dense[i] >= least && dense[i] <= most);
}

static void check_values(struct ps_client *client, float least, float most)
{
    check_rows(client, least, most);
    check_dense(client, least, most);
}

static void finish(struct ps_client *client)
{
    struct err err = ERR_INIT;
    CHECK_OK(ps_client_finish(client, &err), &err);
    ps_client_free(client);
    buf_release(&lines);
}

static void wait_for_all(struct ps_client *client)
{
    struct err err = ERR_INIT;
    uint64_t done = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_DONE, 1, &done, &err), &err);
    while (done < (uint64_t)workers)
        CHECK_OK(ps_count(client, PS_COUNTER_DONE, 0, &done, &err), &err);
}

static struct ps_client *join_well(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = join(members, rank, 1, "of the test", &err);
    if (!client)
        fprintf(stderr, "%s\n", err.message);
    CHECK(client != NULL);
    CHECK(ps_client_servers(client) == (size_t)servers);
    return client;
}

static void tell(void)
{
    CHECK(write(told[1], "", 1) == 1);
}

static void listen_to_worker(void)
{
    char byte;
    assert_int_equal(read(told[0], &byte, 1), 1);
}

/* ---- What several workers push adds up */

enum { STEPS = 40 };

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
    struct ps_client *client = join_well(members, rank);
    open_all(client);
    for (int i = 0; i < STEPS; i++)
        step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    wait_for_all(client);
    check_values(client, (float)(STEPS * workers), (float)(STEPS * workers));
    CHECK_OK(ps_rows_scan(client, 0, visit, NULL, &err), &err);
    CHECK(seen.count == IDS);
    CHECK(seen.sum == (double)(STEPS * workers) * (IDS * (IDS + 1) / 2));
    uint64_t steps = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_STEP, 0, &steps, &err), &err);
    CHECK(steps == (uint64_t)(STEPS * workers));
    CHECK_OK(ps_save(client, &err), &err);
    finish(client);
}

static void run_all(int worker_count, int server_count, void (*worker)(const struct members *, int))
{
    struct members members;
    workers = worker_count;
    servers = server_count;
    members_init(&members, workers + servers);
    for (int rank = members.size - 1; rank >= 0; rank--)
        members_start(&members, rank, rank < workers ? worker : serve);
    assert_int_equal(members_wait(&members), 0);
}

static void pushes_of_all_workers_add_up(void **state)
{
    run_all(1, 1, add_up);
    run_all(3, 2, add_up);
    run_all(2, 5, add_up);
}

/* ---- More than fits one message, and ids that come often */

static void push_much(const struct members *members, int rank)
{
    enum { COUNT = 300000, WIDE = 64 };
    struct err err = ERR_INIT;
    struct ps_client *client = join_well(members, rank);
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
    finish(client);
}

static void large_calls_go_in_several_messages(void **state)
{
    run_all(1, 2, push_much);
}

/* ---- A server is killed */

static void outlive_server(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = join_well(members, rank);
    open_all(client);
    step(client);
    if (directory[0])
        CHECK_OK(ps_save(client, &err), &err);
    else
        check_values(client, 1, 1); /* which is what this worker sees last */
    tell();
    char byte;
    CHECK(read(go_on[0], &byte, 1) == 1);
    for (int i = 1; i < STEPS; i++)
        step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    CHECK_TEXT(lines.data, "lost ps 1 (127.0.0.1:");
    CHECK_TEXT(lines.data, "waiting for it to come back");
    CHECK_TEXT(lines.data, "ps 1 (127.0.0.1:");
    CHECK_TEXT(lines.data, "is back");
    CHECK((strstr(lines.data, "set to what this worker saw last") != NULL) == !directory[0]);
    /* All that was saved or seen is there; pushes under way may have been applied twice. Rows that
     * nobody saved began anew. */
    check_dense(client, STEPS, STEPS + 8);
    check_rows(client, directory[0] ? STEPS : STEPS - 1, STEPS + 8);
    uint64_t steps = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_STEP, 0, &steps, &err), &err);
    CHECK(steps == STEPS);
    finish(client);
}

static void kill_a_server(void)
{
    struct members members;
    int status;
    workers = 1;
    servers = 2;
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(go_on), 0);
    members_init(&members, 3);
    members_start(&members, 1, serve);
    members_start(&members, 2, serve);
    members_start(&members, 0, outlive_server);
    listen_to_worker();
    kill(members.children[2], SIGKILL);
    assert_int_equal(waitpid(members.children[2], &status, 0), members.children[2]);
    assert_int_equal(write(go_on[1], "", 1), 1);
    members_start(&members, 2, serve);
    assert_int_equal(members_wait(&members), 0);
    close(told[0]);
    close(told[1]);
    close(go_on[0]);
    close(go_on[1]);
}

static void make_directory(void)
{
    snprintf(directory, sizeof(directory), "/tmp/trainyard-test-ps.XXXXXX");
    assert_non_null(mkdtemp(directory));
}

static void remove_directory(void)
{
    file_remove_tree(directory, NULL);
    directory[0] = '\0';
}

static void a_killed_server_restores_its_snapshot(void **state)
{
    make_directory();
    kill_a_server();
    remove_directory();
}

static void a_killed_server_without_snapshot_gets_what_was_seen(void **state)
{
    kill_a_server();
}

/* A worker that is told to stop waits for no server, or all processes of a job could not be stopped
 * at once. */
static void stop_without_server(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = join_well(members, rank);
    open_all(client);
    tell();
    char byte;
    CHECK(read(go_on[0], &byte, 1) == 1);
    stop = 1;
    uint64_t steps;
    CHECK(ps_count(client, PS_COUNTER_STEP, 1, &steps, &err) == -ERR_CANCELED);
    CHECK_TEXT(err.message, "told to stop");
    ps_client_free(client);
    buf_release(&lines);
}

static void a_stopped_worker_waits_for_no_server(void **state)
{
    struct members members;
    int status;
    workers = servers = 1;
    assert_int_equal(pipe(told), 0);
    assert_int_equal(pipe(go_on), 0);
    members_init(&members, 2);
    members_start(&members, 1, serve);
    members_start(&members, 0, stop_without_server);
    listen_to_worker();
    kill(members.children[1], SIGKILL);
    assert_int_equal(waitpid(members.children[1], &status, 0), members.children[1]);
    members.children[1] = 0;
    assert_int_equal(write(go_on[1], "", 1), 1);
    assert_int_equal(members_wait(&members), 0);
    close(told[0]);
    close(told[1]);
    close(go_on[0]);
    close(go_on[1]);
}

/* ---- A worker is killed */

static void train_on(const struct members *members, int rank)
{
    struct ps_client *client = join_well(members, rank);
    open_all(client);
    for (int i = 0; i < STEPS; i++)
        step(client);
    wait_for_all(client);
    check_values(client, STEPS * 2, 1e6f);
    finish(client);
}

static void train_forever(const struct members *members, int rank)
{
    struct ps_client *client = join_well(members, rank);
    open_all(client);
    for (int i = 0;; i++) {
        step(client);
        if (i == 3)
            tell();
    }
}

static void a_killed_worker_joins_again(void **state)
{
    struct members members;
    int status;
    workers = servers = 2;
    assert_int_equal(pipe(told), 0);
    members_init(&members, 4);
    members_start(&members, 2, serve);
    members_start(&members, 3, serve);
    members_start(&members, 0, train_on);
    members_start(&members, 1, train_forever);
    listen_to_worker();
    kill(members.children[1], SIGKILL);
    assert_int_equal(waitpid(members.children[1], &status, 0), members.children[1]);
    members_start(&members, 1, train_on);
    assert_int_equal(members_wait(&members), 0);
    close(told[0]);
    close(told[1]);
}

/* ---- A run that is stopped goes on where it was */

static void first_half(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = join_well(members, rank);
    open_all(client);
    for (int i = 0; i < STEPS; i++)
        step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    ps_client_free(client);
    buf_release(&lines);
}

static void second_half(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = join_well(members, rank);
    open_all(client);
    uint64_t steps = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_STEP, 0, &steps, &err), &err);
    CHECK(steps == STEPS);
    check_values(client, STEPS, STEPS);
    for (int i = 0; i < STEPS; i++)
        step(client);
    CHECK_OK(ps_flush(client, &err), &err);
    check_values(client, 2 * STEPS, 2 * STEPS);
    finish(client);
}

static void a_stopped_run_goes_on(void **state)
{
    struct members members;
    workers = 1;
    servers = 2;
    make_directory();
    members_init(&members, 3);
    members_start(&members, 1, serve);
    members_start(&members, 2, serve);
    members_start(&members, 0, first_half);
    int status = 0;
    assert_int_equal(waitpid(members.children[0], &status, 0), members.children[0]);
    assert_int_equal(status, 0);
    members.children[0] = 0;
    kill(members.children[1], SIGTERM);
    kill(members.children[2], SIGTERM);
    assert_int_equal(members_wait(&members), 0);
    for (int rank = 2; rank >= 0; rank--)
        members_start(&members, rank, rank ? serve : second_half);
    assert_int_equal(members_wait(&members), 0);
    remove_directory();
}

/* ---- Who does not belong */

static void try_to_join(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    CHECK(!join(members, rank, 2, "of the test", &err));
    CHECK(err.code == ERR_FORBIDDEN);
    CHECK_TEXT(err.message, "ps 0 (127.0.0.1:");
    CHECK_TEXT(err.message, "its model has another shape");
    buf_release(&lines);
    err_clear(&err);
    CHECK(!join(members, rank, 1, "another", &err));
    CHECK(err.code == ERR_FORBIDDEN);
    CHECK_TEXT(err.message, "job secret");
    buf_release(&lines);
    err_clear(&err);
    struct ps_client *client = join_well(members, rank);
    const struct ps_table narrow = {.dimensions = 2, .update = {.rule = PS_SGD}};
    int number;
    CHECK_OK(ps_table_open(client, &narrow, &number, &err), &err);
    ps_client_free(client);
    buf_release(&lines);
    client = join_well(members, rank);
    const struct ps_table wide = {.dimensions = 3, .update = {.rule = PS_SGD}};
    CHECK(ps_table_open(client, &wide, &number, &err) == -ERR_CONFLICT);
    CHECK_TEXT(err.message, "ps 0 (127.0.0.1:");
    CHECK_TEXT(err.message, "table 0 was opened with rows of 2 values");
    CHECK_OK(ps_table_open(client, &narrow, &number, &err), &err);
    finish(client);
}

static void who_does_not_belong_is_refused(void **state)
{
    run_all(1, 1, try_to_join);
}

static void find_nobody(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    buf_init(&lines, 1 << 20);
    struct ty_tf_config *config = config_of(members, rank);
    const struct ps_options options = {
        .config = config, .secret = "", .join_timeout_ms = 300, .report_ms = 50, .report = note};
    struct ps_client *client = NULL;
    CHECK(ps_client_open(&options, &client, &err) == -ERR_TIMEOUT);
    CHECK_TEXT(err.message, "2 of 2 tasks did not come");
    CHECK_TEXT(err.message, "ps 1 (127.0.0.1:");
    CHECK_TEXT(lines.data, "waiting for ps 0 (127.0.0.1:");
    CHECK_TEXT(lines.data, "it does not listen yet");
    ty_tf_config_free(config);
    buf_release(&lines);
}

static void a_server_that_does_not_come_is_named(void **state)
{
    struct members members;
    workers = 1;
    servers = 2;
    members_init(&members, 3);
    members_start(&members, 0, find_nobody);
    assert_int_equal(members_wait(&members), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pushes_of_all_workers_add_up),
        cmocka_unit_test(large_calls_go_in_several_messages),
        cmocka_unit_test(a_killed_server_restores_its_snapshot),
        cmocka_unit_test(a_killed_server_without_snapshot_gets_what_was_seen),
        cmocka_unit_test(a_stopped_worker_waits_for_no_server),
        cmocka_unit_test(a_killed_worker_joins_again),
        cmocka_unit_test(a_stopped_run_goes_on),
        cmocka_unit_test(who_does_not_belong_is_refused),
        cmocka_unit_test(a_server_that_does_not_come_is_named),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

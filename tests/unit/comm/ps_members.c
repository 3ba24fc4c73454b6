/* A cluster of parameter servers for tests; see ps_members.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "ps_members.h"

#include "base/system/file.h"
#include "comm/cluster/tf_config.h"

#include <unistd.h>

struct ps_run ps_run;

struct ty_tf_config *ps_members_config_of(const struct members *members, int rank)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    buf_append_str(&text, "{\"cluster\":{\"worker\":[");
    for (int i = 0; i < members->size; i++)
        buf_printf(&text, "%s\"127.0.0.1:%d\"",
                   i == ps_run.workers ? "],\"ps\":["
                   : i                 ? ","
                                       : "",
                   members->ports[i]);
    buf_printf(&text, "]},\"task\":{\"type\":\"%s\",\"index\":%d}}",
               rank < ps_run.workers ? "worker" : "ps",
               rank < ps_run.workers ? rank : rank - ps_run.workers);
    struct err err = ERR_INIT;
    struct ty_tf_config *config = NULL;
    CHECK_OK(tf_config_parse(text.data, text.size, &config, &err), &err);
    return config;
}

void ps_members_note(void *context, const char *line)
{
    buf_printf(&ps_run.lines, "%s\n", line);
}

static void on_signal(int number)
{
    ps_run.stop = 1;
}

void ps_members_serve(const struct members *members, int rank)
{
    signal(SIGTERM, on_signal);
    buf_init(&ps_run.lines, 1 << 20);
    struct ty_tf_config *config = ps_members_config_of(members, rank);
    const struct ps_server_options options = {.config = config,
                                              .shape = 1,
                                              .secret = "of the test",
                                              .directory =
                                                  ps_run.directory[0] ? ps_run.directory : NULL,
                                              .snapshot_every_ms = 20,
                                              .stop = &ps_run.stop,
                                              .report = ps_members_note};
    struct err err = ERR_INIT;
    bool stopped = false;
    CHECK_OK(ps_server_run(&options, &stopped, &err), &err);
    CHECK(stopped == (ps_run.stop != 0));
    ty_tf_config_free(config);
    buf_release(&ps_run.lines);
}

struct ps_client *ps_members_join(const struct members *members, int rank, uint64_t shape,
                                  const char *secret, struct err *err)
{
    buf_init(&ps_run.lines, 1 << 20);
    struct ty_tf_config *config = ps_members_config_of(members, rank);
    const struct ps_options options = {.config = config,
                                       .shape = shape,
                                       .secret = secret,
                                       .join_timeout_ms = 30000,
                                       .timeout_ms = 30000,
                                       .report_ms = 50,
                                       .stop = &ps_run.stop,
                                       .report = ps_members_note};
    struct ps_client *client = NULL;
    (void)ps_client_open(&options, &client, err);
    ty_tf_config_free(config);
    return client;
}

struct ps_client *ps_members_join_well(const struct members *members, int rank)
{
    struct err err = ERR_INIT;
    struct ps_client *client = ps_members_join(members, rank, 1, "of the test", &err);
    if (!client)
        fprintf(stderr, "%s\n", err.message);
    CHECK(client != NULL);
    CHECK(ps_client_servers(client) == (size_t)ps_run.servers);
    return client;
}

void ps_members_open_all(struct ps_client *client)
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

void ps_members_step(struct ps_client *client)
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

void ps_members_check_rows(struct ps_client *client, float least, float most)
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

void ps_members_check_dense(struct ps_client *client, float least, float most)
{
    struct err err = ERR_INIT;
    static float dense[DENSE];
    CHECK_OK(ps_dense_pull(client, dense, &err), &err);
    for (int i = 0; i < DENSE; i++)
        CHECK(dense[i] >= least && dense[i] <= most);
}

void ps_members_check_values(struct ps_client *client, float least, float most)
{
    ps_members_check_rows(client, least, most);
    ps_members_check_dense(client, least, most);
}

void ps_members_finish(struct ps_client *client)
{
    struct err err = ERR_INIT;
    CHECK_OK(ps_client_finish(client, &err), &err);
    ps_client_free(client);
    buf_release(&ps_run.lines);
}

void ps_members_wait_for_all(struct ps_client *client)
{
    struct err err = ERR_INIT;
    uint64_t done = 0;
    CHECK_OK(ps_count(client, PS_COUNTER_DONE, 1, &done, &err), &err);
    while (done < (uint64_t)ps_run.workers)
        CHECK_OK(ps_count(client, PS_COUNTER_DONE, 0, &done, &err), &err);
}

void ps_members_tell(void)
{
    CHECK(write(ps_run.told[1], "", 1) == 1);
}

void ps_members_listen_to_worker(void)
{
    char byte;
    assert_int_equal(read(ps_run.told[0], &byte, 1), 1);
}

void ps_members_make_directory(void)
{
    snprintf(ps_run.directory, sizeof(ps_run.directory), "/tmp/trainyard-test-ps.XXXXXX");
    assert_non_null(mkdtemp(ps_run.directory));
}

void ps_members_remove_directory(void)
{
    file_remove_tree(ps_run.directory, NULL);
    ps_run.directory[0] = '\0';
}

void ps_members_run_all(int worker_count, int server_count,
                        void (*worker)(const struct members *, int))
{
    struct members members;
    ps_run.workers = worker_count;
    ps_run.servers = server_count;
    members_init(&members, ps_run.workers + ps_run.servers);
    for (int rank = members.size - 1; rank >= 0; rank--)
        members_start(&members, rank, rank < ps_run.workers ? worker : ps_members_serve);
    assert_int_equal(members_wait(&members), 0);
}

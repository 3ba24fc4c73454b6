/* Tests parameter servers inside the process: the client as models use it, without a network. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "comm/cluster/tf_config.h"
#include "comm/ps/batch.h"
#include "comm/ps/embedding_init.h"
#include "comm/ps/ps.h"
#include "comm/ps/store.h"

static struct ty_tf_config *parse(const char *text)
{
    struct ty_tf_config *config = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(tf_config_parse(text, strlen(text), &config, &err), 0);
    return config;
}

static struct ps_client *open_local(void)
{
    struct ty_tf_config *config = parse("");
    const struct ps_options options = {.config = config};
    struct ps_client *client = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(ps_client_open(&options, &client, &err), 0);
    ty_tf_config_free(config);
    assert_int_equal(ps_client_servers(client), 0);
    return client;
}

static void the_dense_vector_is_pulled_and_pushed(void **state)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = open_local();
    struct err err = ERR_INIT;
    const struct ps_update sgd = {.rule = PS_SGD};
    float values[3] = {1, 2, 3}, gradient[3] = {1, 0, -1};
    assert_int_equal(ps_dense_pull(client, values, &err), -ERR_INVALID);
    assert_int_equal(ps_dense_open(client, 3, values, &sgd, &err), 0);
    assert_int_equal(ps_dense_push(client, gradient, 0.5f, &err), 0);
    assert_int_equal(ps_dense_pull(client, values, &err), 0);
    assert_true(values[0] == 0.5f && values[1] == 2 && values[2] == 3.5f);
    assert_int_equal(ps_dense_open(client, 3, values, &sgd, &err), -ERR_EXISTS);
    assert_int_equal(ps_dense_push(client, gradient, 1 / 0.0f, &err), -ERR_INVALID);
}

struct found {
    size_t count;
    int64_t id;
    float first;
};

static void note(void *context, int64_t id, const float *row)
{
    struct found *found = context;
    *found = (struct found){.count = found->count + 1, .id = id, .first = row[0]};
}

static void gradients_of_a_row_are_summed_and_applied_once(void **state)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = open_local();
    struct err err = ERR_INIT;
    const struct ps_table table = {.dimensions = 2,
                                   .range = 0.1f,
                                   .seed = 1,
                                   .update = {.rule = PS_ADAGRAD, .accumulator = 0.5f}};
    int number = -1;
    assert_int_equal(ps_table_open(client, &table, &number, &err), 0);
    assert_int_equal(number, 0);
    const int64_t ids[3] = {-1, 4, -1};
    float first[2], rows[6], gradients[6] = {1, 2, 0, 0, 1, -2};
    embedding_init_uniform(1, -1, 0.1f, first, 2);
    assert_int_equal(ps_rows_pull(client, 0, ids, 3, rows, &err), 0);
    assert_memory_equal(rows, first, sizeof(first));
    assert_memory_equal(rows + 4, first, sizeof(first));
    assert_int_equal(ps_rows_push(client, 0, ids, 3, gradients, 0.3f, &err), 0);
    assert_int_equal(ps_flush(client, &err), 0);
    assert_int_equal(ps_rows_pull(client, 0, ids, 3, rows, &err), 0);
    /* n = 0.5 + (1 + 1)²; the gradients of the second value cancel out. */
    assert_float_equal(rows[0], first[0] - 0.3f * 2 / 2.1213203f, 1e-6);
    assert_float_equal(rows[1], first[1], 0);
    struct found found = {0};
    assert_int_equal(ps_rows_scan(client, 0, note, &found, &err), 0);
    assert_int_equal(found.count, 2);
    assert_int_equal(found.id, 4);
    assert_int_equal(ps_rows_pull(client, 1, ids, 3, rows, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "table 1 has not been opened"));
}

/* A client that takes over the variables of another client continues in the same way. */
static void variables_are_saved_and_restored_with_their_state(void **state)
{
    _cleanup_(cleanup_ps_client) struct ps_client *one = open_local(), *two = open_local();
    const struct ps_update update = {.rule = PS_ADAGRAD, .accumulator = 0.5f};
    const struct ps_table table = {.dimensions = 2, .range = 0.1f, .seed = 1, .update = update};
    const int64_t ids[2] = {-1, 4};
    const float gradient[4] = {1, 2, 3, 4}, zeros[4] = {0};
    struct err err = ERR_INIT;
    int number = -1;
    float values[3], sums[3], rows[4], row_sums[4], a[4], b[4];
    assert_int_equal(ps_dense_get(one, values, sums, &err), -ERR_INVALID);
    assert_int_equal(ps_rows_get(one, 0, ids, 2, rows, row_sums, &err), -ERR_INVALID);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ps_dense_open(i ? two : one, 3, zeros, &update, &err), 0);
        assert_int_equal(ps_table_open(i ? two : one, &table, &number, &err), 0);
    }
    assert_int_equal(ps_dense_push(one, gradient, 0.1f, &err), 0);
    assert_int_equal(ps_rows_push(one, 0, ids, 1, gradient, 0.1f, &err), 0);
    assert_int_equal(ps_dense_get(one, values, sums, &err), 0);
    assert_int_equal(ps_rows_get(one, 0, ids, 2, rows, row_sums, &err), 0);
    assert_true(sums[0] == 1.5f && sums[2] == 9.5f);
    assert_true(row_sums[0] == 1.5f && row_sums[1] == 4.5f && row_sums[2] == 0.5f);
    assert_int_equal(ps_dense_put(two, values, sums, &err), 0);
    assert_int_equal(ps_rows_put(two, 0, ids, 2, rows, row_sums, &err), 0);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(ps_dense_push(i ? two : one, gradient, 0.1f, &err), 0);
        assert_int_equal(ps_rows_push(i ? two : one, 0, ids, 2, gradient, 0.1f, &err), 0);
    }
    assert_int_equal(ps_dense_pull(one, a, &err), 0);
    assert_int_equal(ps_dense_pull(two, b, &err), 0);
    assert_memory_equal(a, b, 3 * sizeof(float));
    assert_int_equal(ps_rows_pull(one, 0, ids, 2, a, &err), 0);
    assert_int_equal(ps_rows_pull(two, 0, ids, 2, b, &err), 0);
    assert_memory_equal(a, b, sizeof(a));
}

static void counts_are_summed(void **state)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = open_local();
    struct err err = ERR_INIT;
    uint64_t count = 0;
    assert_int_equal(ps_count(client, PS_COUNTER_STEP, 2, &count, &err), 0);
    assert_int_equal(ps_count(client, PS_COUNTER_STEP, 3, &count, &err), 0);
    assert_int_equal(count, 5);
    assert_int_equal(ps_count(client, PS_COUNTER_DONE, 0, &count, &err), 0);
    assert_int_equal(count, 0);
    assert_int_equal(ps_save(client, &err), 0);
    assert_int_equal(ps_client_finish(client, &err), 0);
}

static void expect_cluster_error(const char *text, const char *reason)
{
    struct ty_tf_config *config = parse(text);
    const struct ps_options options = {.config = config};
    struct ps_client *client = NULL;
    struct err err = ERR_INIT;
    assert_true(ps_client_open(&options, &client, &err) < 0);
    assert_non_null(strstr(err.message, reason));
    ty_tf_config_free(config);
}

static void clusters_that_cannot_train_are_rejected(void **state)
{
    expect_cluster_error("{\"cluster\":{\"worker\":[\"a:1\",\"b:1\"]},"
                         "\"task\":{\"type\":\"worker\",\"index\":0}}",
                         "2 workers and no ps");
    expect_cluster_error("{\"cluster\":{\"worker\":[\"a:1\"],\"ps\":[\"b:1\"]},"
                         "\"task\":{\"type\":\"ps\",\"index\":0}}",
                         "ps 0 does not train");
}

static void expect_table_error(struct ps_client *client, struct ps_table table, const char *reason)
{
    struct err err = ERR_INIT;
    int number = 77;
    assert_int_equal(ps_table_open(client, &table, &number, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, reason));
    assert_int_equal(number, 77);
}

static void invalid_tables_are_rejected(void **state)
{
    _cleanup_(cleanup_ps_client) struct ps_client *client = open_local();
    expect_table_error(client, (struct ps_table){.dimensions = 0}, "between 1 and 1024");
    expect_table_error(client, (struct ps_table){.dimensions = 1025}, "between 1 and 1024");
    expect_table_error(client, (struct ps_table){.dimensions = 1, .range = -1},
                       "initial values is -1");
    expect_table_error(client, (struct ps_table){.dimensions = 1, .update = {.rule = PS_ADAGRAD}},
                       "greater than 0");
    expect_table_error(client, (struct ps_table){.dimensions = 1, .update = {.rule = 7}}, "SGD");
}

/* Each id appears once, grouped by server, and its place in the batch leads to it. */
static void a_batch_groups_by_server(void **state)
{
    enum { COUNT = 5000 };
    static int64_t ids[COUNT];
    static float rows[COUNT], back[COUNT];
    for (size_t servers = 1; servers <= 7; servers += 2) {
        struct ps_batch batch;
        ps_batch_init(&batch, servers);
        for (size_t size = 1; size <= COUNT; size = size * 3 + 1) {
            for (size_t i = 0; i < size; i++)
                ids[i] = (int64_t)(i * i % 1000) * 64; /* duplicates, in strides */
            ps_batch_fill(&batch, ids, size);
            assert_int_equal(batch.starts[0], 0);
            assert_int_equal(batch.starts[servers], batch.count);
            for (size_t server = 0; server < servers; server++)
                for (size_t i = batch.starts[server]; i < batch.starts[server + 1]; i++)
                    assert_int_equal(ps_batch_server(batch.ids[i], servers), server);
            for (size_t i = 0; i < size; i++) {
                assert_int_equal(batch.ids[batch.places[i]], ids[i]);
                rows[i] = 1;
            }
            ps_batch_sum(&batch, rows, size, 1, back);
            double sum = 0;
            for (size_t i = 0; i < batch.count; i++)
                sum += (double)back[i];
            assert_true(sum == (double)size);
        }
        ps_batch_release(&batch);
    }
}

static void strided_ids_spread_over_the_servers(void **state)
{
    enum { SERVERS = 4, IDS = 40000 };
    size_t counts[SERVERS] = {0};
    for (int64_t i = 0; i < IDS; i++)
        counts[ps_batch_server(i * 4096, SERVERS)]++;
    for (int i = 0; i < SERVERS; i++)
        assert_in_range(counts[i], IDS / SERVERS * 9 / 10, IDS / SERVERS * 11 / 10);
}

/* The counts of a worker's earlier process stay. A total counts once, even if it is sent twice, or
 * again to a server that lost it. */
static void counts_survive_restarts_of_a_worker(void **state)
{
    _cleanup_(cleanup_ps_store) struct ps_store *store = ps_store_new(0);
    struct err err = ERR_INIT;
    uint64_t count = 0;
    assert_int_equal(ps_store_count(store, 0, 10, PS_COUNTER_STEP, 5, &count, &err), 0);
    assert_int_equal(ps_store_count(store, 1, 20, PS_COUNTER_STEP, 7, &count, &err), 0);
    assert_int_equal(count, 12);
    assert_int_equal(ps_store_count(store, 1, 20, PS_COUNTER_STEP, 7, &count, &err), 0);
    assert_int_equal(count, 12);
    assert_int_equal(ps_store_count(store, 1, 21, PS_COUNTER_STEP, 1, &count, &err), 0);
    assert_int_equal(count, 13);
    struct ps_store_view view = ps_store_view(store);
    _cleanup_(cleanup_ps_store) struct ps_store *old = ps_store_new(0);
    ps_store_restore_counts(old, view.past_totals);
    for (size_t i = 0; i < view.tally_count; i++)
        ps_store_restore_tally(old, &view.tallies[i]);
    assert_int_equal(ps_store_count(old, 1, 21, PS_COUNTER_STEP, 4, &count, &err), 0);
    assert_int_equal(count, 16);
    assert_int_equal(ps_store_count(old, 1, 21, PS_COUNTERS, 4, &count, &err), -ERR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_dense_vector_is_pulled_and_pushed),
        cmocka_unit_test(gradients_of_a_row_are_summed_and_applied_once),
        cmocka_unit_test(variables_are_saved_and_restored_with_their_state),
        cmocka_unit_test(counts_are_summed),
        cmocka_unit_test(clusters_that_cannot_train_are_rejected),
        cmocka_unit_test(invalid_tables_are_rejected),
        cmocka_unit_test(a_batch_groups_by_server),
        cmocka_unit_test(strided_ids_spread_over_the_servers),
        cmocka_unit_test(counts_survive_restarts_of_a_worker),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

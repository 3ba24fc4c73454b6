/* Tests the embedding table against a plain map in double precision: a million random operations,
 * ids at the edges of int64, growth through several splits, memory limits, and the same initial
 * values for every caller. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "base/mem.h"
#include "base/rand.h"
#include "comm/ps/embedding_init.h"
#include "comm/ps/embedding_pages.h"
#include "comm/ps/embedding_table.h"

#include <math.h>

enum { DIMENSIONS = 5, BATCH_MAX = 64 };

/* One row of the reference. */
struct model_row {
    int64_t id;
    bool made;
    double values[DIMENSIONS], sums[DIMENSIONS];
};

struct model {
    struct ps_table shape;
    struct model_row *rows;
    size_t count, made;
};

static void model_init(struct model *model, const struct ps_table *shape, size_t count,
                       struct rand *rand)
{
    static const int64_t EDGES[] = {0, -1, 1, INT64_MIN, INT64_MAX, INT64_C(1) << 32};
    *model = (struct model){.shape = *shape, .count = count};
    model->rows = mem_calloc(count, sizeof(*model->rows));
    for (size_t i = 0; i < count; i++) {
        struct model_row *row = &model->rows[i];
        /* Consecutive ids, strides and random ids. */
        row->id = i < ARRAY_SIZE(EDGES) ? EDGES[i]
                  : i % 3 == 0          ? (int64_t)i
                  : i % 3 == 1          ? (int64_t)(i << 40)
                                        : (int64_t)(rand_next(rand) | 1u << 20);
        float first[DIMENSIONS];
        embedding_init_uniform(shape->seed, row->id, shape->range, first, DIMENSIONS);
        for (int d = 0; d < DIMENSIONS; d++) {
            row->values[d] = (double)first[d];
            row->sums[d] = (double)shape->update.accumulator;
        }
    }
}

static void model_push(struct model *model, struct model_row *row, const float *gradient,
                       float rate)
{
    model->made += !row->made;
    row->made = true;
    for (int d = 0; d < DIMENSIONS; d++) {
        double g = (double)gradient[d];
        row->sums[d] += g * g;
        double scale = model->shape.update.rule == PS_ADAGRAD ? sqrt(row->sums[d]) : 1;
        row->values[d] -= (double)rate * g / scale;
    }
}

static void assert_near(double expected, float value)
{
    if (fabs(expected - (double)value) > 1e-4 * (1 + fabs(expected)))
        fail_msg("expected %.9g, got %.9g", expected, (double)value);
}

static void compare_all(const struct model *model, const struct embedding_table *table)
{
    assert_int_equal(embedding_table_rows(table), model->made);
    for (size_t i = 0; i < model->count; i++) {
        float row[DIMENSIONS];
        embedding_table_pull(table, &model->rows[i].id, 1, row);
        for (int d = 0; d < DIMENSIONS; d++)
            assert_near(model->rows[i].values[d], row[d]);
    }
}

/* Checks that every row of a span was created, and that each row appears once. */
static size_t scan(const struct model *model, const struct embedding_table *table,
                   struct embedding_table *copy)
{
    const int64_t *ids;
    const float *rows;
    size_t seen = 0, count;
    for (; (count = embedding_table_span(table, seen, &ids, &rows)) > 0; seen += count)
        for (size_t i = 0; copy && i < count; i++) {
            struct err err = ERR_INIT;
            size_t before = embedding_table_rows(copy);
            assert_int_equal(
                embedding_table_put(copy, ids[i], rows + i * embedding_table_stride(table), &err),
                0);
            assert_int_equal(embedding_table_rows(copy), before + 1);
        }
    assert_int_equal(seen, model->made);
    return seen;
}

static void a_million_operations(enum ps_rule rule)
{
    const struct ps_table shape = {.dimensions = DIMENSIONS,
                                   .range = 0.1f,
                                   .seed = 7,
                                   .update = {.rule = rule, .accumulator = 0.1f}};
    struct rand rand;
    rand_init(&rand, 42 + rule);
    struct model model;
    model_init(&model, &shape, 60000, &rand);
    _cleanup_(cleanup_embedding_table) struct embedding_table *table =
        embedding_table_new(&shape, 0);
    int64_t ids[BATCH_MAX];
    size_t which[BATCH_MAX];
    float rows[BATCH_MAX * DIMENSIONS];
    for (size_t done = 0; done < 1000000;) {
        size_t count = 1 + rand_below(&rand, BATCH_MAX);
        for (size_t i = 0; i < count; i++) { /* duplicates are likely in the lower part */
            which[i] = rand_below(&rand, rand_below(&rand, 2) ? model.count : 100);
            ids[i] = model.rows[which[i]].id;
        }
        if (rand_below(&rand, 2)) {
            struct err err = ERR_INIT;
            float rate = (float)rand_unit(&rand) * 0.1f;
            for (size_t i = 0; i < count * DIMENSIONS; i++)
                rows[i] = (float)rand_normal(&rand);
            assert_int_equal(embedding_table_push(table, ids, count, rows, rate, &err), 0);
            for (size_t i = 0; i < count; i++)
                model_push(&model, &model.rows[which[i]], rows + i * DIMENSIONS, rate);
        } else {
            embedding_table_pull(table, ids, count, rows);
            for (size_t i = 0; i < count; i++)
                for (int d = 0; d < DIMENSIONS; d++)
                    assert_near(model.rows[which[i]].values[d], rows[i * DIMENSIONS + (size_t)d]);
        }
        if (rand_below(&rand, 5000) == 0)
            scan(&model, table, NULL);
        done += count;
    }
    compare_all(&model, table);
    _cleanup_(cleanup_embedding_table) struct embedding_table *copy =
        embedding_table_new(&shape, 0);
    scan(&model, table, copy);
    compare_all(&model, copy);
    free(model.rows);
}

static void sgd_matches_the_plain_map(void **state)
{
    a_million_operations(PS_SGD);
}

static void adagrad_matches_the_plain_map(void **state)
{
    a_million_operations(PS_ADAGRAD);
}

/* Enough rows that segments split and the directory doubles several times. */
static void the_table_grows_by_splits(void **state)
{
    enum { ROWS = 700000, STEP = 1000 };
    const struct ps_table shape = {.dimensions = 1, .update = {.rule = PS_SGD}};
    _cleanup_(cleanup_embedding_table) struct embedding_table *table =
        embedding_table_new(&shape, 0);
    struct err err = ERR_INIT;
    int64_t ids[STEP];
    float rows[STEP];
    for (int64_t first = 0; first < ROWS; first += STEP) {
        for (int64_t i = 0; i < STEP; i++) {
            ids[i] = (first + i) * 1024; /* a stride that would fill every 1024th slot */
            rows[i] = -(float)(first + i);
        }
        assert_int_equal(embedding_table_push(table, ids, STEP, rows, 1, &err), 0);
    }
    assert_int_equal(embedding_table_rows(table), ROWS);
    for (int64_t first = 0; first < ROWS; first += STEP) {
        for (int64_t i = 0; i < STEP; i++)
            ids[i] = (first + i) * 1024;
        embedding_table_pull(table, ids, STEP, rows);
        for (int64_t i = 0; i < STEP; i++)
            assert_true(rows[i] == (float)(first + i));
    }
    int64_t absent = 1023;
    embedding_table_pull(table, &absent, 1, rows);
    assert_true(rows[0] == 0);
}

static void a_row_that_is_only_pulled_takes_no_memory(void **state)
{
    const struct ps_table shape = {.dimensions = 8, .range = 0.5f, .seed = 3};
    _cleanup_(cleanup_embedding_table) struct embedding_table *table =
        embedding_table_new(&shape, 0);
    size_t before = embedding_table_bytes(table);
    float row[8], again[8], other[8];
    for (int64_t id = -50000; id < 50000; id++) {
        embedding_table_pull(table, &id, 1, row);
        for (int d = 0; d < 8; d++)
            assert_true(row[d] >= -0.5f && row[d] < 0.5f);
    }
    assert_int_equal(embedding_table_rows(table), 0);
    assert_int_equal(embedding_table_bytes(table), before);
    embedding_init_uniform(3, 12, 0.5f, row, 8);
    int64_t id = 12;
    embedding_table_pull(table, &id, 1, again);
    assert_memory_equal(row, again, sizeof(row));
    embedding_init_uniform(4, 12, 0.5f, other, 8);
    assert_memory_not_equal(row, other, sizeof(row));
}

/* Compares bits, because snapshots and workers on other machines rely on them. */
static void initial_values_are_the_same_everywhere(void **state)
{
    float values[3];
    embedding_init_uniform(1, -1, 1, values, 3);
    double sum = 0;
    enum { DRAWS = 100000 };
    for (int64_t id = 0; id < DRAWS; id++) {
        float value;
        embedding_init_uniform(9, id, 1, &value, 1);
        sum += (double)value;
    }
    assert_true(fabs(sum / DRAWS) < 0.01);
    static const float EXPECTED[3] = {-0x1.985ffp-2f, -0x1.74cfcp-3f, 0x1.32b24p-1f};
    for (int i = 0; i < 3; i++)
        if (values[i] != EXPECTED[i])
            fail_msg("value %d is %a", i, (double)values[i]);
}

static void a_full_table_rejects_only_new_rows(void **state)
{
    enum { ROWS = 100000 };
    const struct ps_table shape = {.dimensions = 32, .update = {.rule = PS_SGD}};
    _cleanup_(cleanup_embedding_table) struct embedding_table *table =
        embedding_table_new(&shape, (size_t)3 * EMBEDDING_HUGE_PAGE);
    struct err err = ERR_INIT;
    float gradient[32] = {1};
    int64_t id = 0;
    while (id < ROWS && embedding_table_push(table, &id, 1, gradient, 1, &err) == 0)
        id++;
    assert_true(id > 1000 && id < ROWS);
    assert_int_equal(err.code, ERR_TOO_LARGE);
    assert_non_null(strstr(err.message, "the table is full"));
    assert_int_equal(embedding_table_rows(table), id);
    float row[32];
    int64_t both[2] = {id, 5};
    float gradients[64] = {[32] = 1};
    assert_true(embedding_table_push(table, both, 2, gradients, 1, &err) < 0);
    embedding_table_pull(table, &both[1], 1, row);
    assert_true(row[0] == -2);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sgd_matches_the_plain_map),
        cmocka_unit_test(adagrad_matches_the_plain_map),
        cmocka_unit_test(the_table_grows_by_splits),
        cmocka_unit_test(a_row_that_is_only_pulled_takes_no_memory),
        cmocka_unit_test(initial_values_are_the_same_everywhere),
        cmocka_unit_test(a_full_table_rejects_only_new_rows),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

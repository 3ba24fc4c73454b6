/* Implements the variables of one server; see store.h. */
#include "comm/ps/store.h"

#include "base/mem.h"
#include "base/vec.h"
#include "comm/ps/update.h"

#include <math.h>
#include <string.h>

struct ps_store {
    size_t memory_max;
    uint64_t changes;
    struct ps_dense_shape dense;
    bool seeded;
    float *values, *state;
    struct embedding_table *tables[PS_TABLES_MAX];
    size_t table_count;
    uint64_t past_totals[PS_COUNTERS]; /* see struct ps_store_view */
    VEC(struct ps_tally) tallies;      /* one per worker that has ever connected */
};

struct ps_store *ps_store_new(size_t memory_max)
{
    struct ps_store *store = mem_zalloc(sizeof(*store));
    store->memory_max = memory_max;
    return store;
}

void ps_store_clear(struct ps_store *store)
{
    for (size_t i = 0; i < store->table_count; i++)
        embedding_table_free(store->tables[i]);
    free(store->values);
    free(store->state);
    vec_release(&store->tallies);
    *store = (struct ps_store){.memory_max = store->memory_max};
}

struct ps_store *ps_store_free(struct ps_store *store)
{
    if (!store)
        return NULL;
    ps_store_clear(store);
    free(store);
    return NULL;
}

uint64_t ps_store_changes(const struct ps_store *store)
{
    return store->changes;
}

static bool store_same_dense(const struct ps_dense_shape *a, const struct ps_dense_shape *b)
{
    return a->total == b->total && a->first == b->first && a->count == b->count &&
           ps_update_equal(&a->update, &b->update);
}

int ps_store_dense_open(struct ps_store *store, const struct ps_dense_shape *shape,
                        bool *ret_seeded, struct err *err)
{
    if (shape->total == 0 || shape->total > PS_DENSE_MAX)
        return err_set(err, ERR_INVALID,
                       "the dense vector has %llu values, but it must have between 1 and %d",
                       (unsigned long long)shape->total, PS_DENSE_MAX);
    if (shape->first > shape->total || shape->count > shape->total - shape->first)
        return err_set(err, ERR_INVALID, "the dense range is not within its vector");
    int result = ps_update_check(&shape->update, err);
    if (result < 0)
        return result;
    if (store->dense.total && !store_same_dense(&store->dense, shape))
        return err_set(err, ERR_CONFLICT,
                       "the dense vector was opened with %llu values, and the options of this "
                       "request differ: start all tasks with the same model and flags, or with "
                       "another directory",
                       (unsigned long long)store->dense.total);
    if (!store->dense.total) {
        store->dense = *shape;
        store->seeded = shape->count == 0; /* an empty range needs no values */
        store->values = mem_calloc(shape->count, sizeof(float));
        store->state =
            mem_calloc(ps_update_state_count(&shape->update, shape->count), sizeof(float));
        ps_update_init(&shape->update, store->state, shape->count);
    }
    *ret_seeded = store->seeded;
    return 0;
}

int ps_store_dense_seed(struct ps_store *store, const float *values, size_t count, struct err *err)
{
    if (!store->dense.total)
        return err_set(err, ERR_INVALID, "the dense vector has not been opened");
    if (count != store->dense.count)
        return err_set(err, ERR_INVALID,
                       "%zu initial values do not match a dense range of %llu values", count,
                       (unsigned long long)store->dense.count);
    if (store->seeded)
        return 0;
    memcpy(store->values, values, count * sizeof(float));
    store->seeded = true;
    store->changes++;
    return 0;
}

static int store_check_range(const struct ps_store *store, uint64_t first, size_t count,
                             struct err *err)
{
    if (!store->dense.total)
        return err_set(err, ERR_INVALID, "the dense vector has not been opened");
    if (!store->seeded)
        return err_set(err, ERR_INVALID,
                       "the dense vector has no values yet: its initial values have not arrived");
    if (first > store->dense.count || count > store->dense.count - first)
        return err_set(err, ERR_INVALID,
                       "%zu values from position %llu on are not within the dense range of %llu "
                       "values",
                       count, (unsigned long long)first, (unsigned long long)store->dense.count);
    return 0;
}

int ps_store_dense_pull(const struct ps_store *store, uint64_t first, size_t count,
                        const float **ret_values, struct err *err)
{
    int result = store_check_range(store, first, count, err);
    if (result == 0)
        *ret_values = store->values + first;
    return result;
}

int ps_store_dense_push(struct ps_store *store, uint64_t first, size_t count, const float *gradient,
                        float rate, struct err *err)
{
    int result = store_check_range(store, first, count, err);
    if (result < 0)
        return result;
    size_t state = ps_update_state_count(&store->dense.update, first);
    ps_update_apply(&store->dense.update, store->values + first, store->state + state, gradient,
                    count, rate);
    store->changes++;
    return 0;
}

static bool store_same_table(const struct ps_table *a, const struct ps_table *b)
{
    return a->dimensions == b->dimensions && a->range == b->range && a->seed == b->seed &&
           ps_update_equal(&a->update, &b->update);
}

int ps_store_table_open(struct ps_store *store, size_t number, const struct ps_table *table,
                        struct err *err)
{
    if (number >= PS_TABLES_MAX)
        return err_set(err, ERR_TOO_MANY,
                       "table number %zu is out of range: it must be between 0 and %d", number,
                       PS_TABLES_MAX - 1);
    if (table->dimensions < 1 || table->dimensions > PS_DIMENSIONS_MAX)
        return err_set(err, ERR_INVALID,
                       "table %zu has rows of %d values, but the number must be between 1 and %d",
                       number, table->dimensions, PS_DIMENSIONS_MAX);
    if (!isfinite(table->range) || table->range < 0)
        return err_set(err, ERR_INVALID,
                       "table %zu: the range of initial values is %g, but it must be a finite "
                       "number, 0 or greater",
                       number, (double)table->range);
    int result = ps_update_check(&table->update, err);
    if (result < 0)
        return result;
    if (number > store->table_count)
        return err_set(
            err, ERR_INVALID,
            "table %zu is opened before table %zu: open tables in the order of their numbers",
            number, store->table_count);
    if (number == store->table_count) {
        store->tables[store->table_count++] = embedding_table_new(table, store->memory_max);
        return 0;
    }
    if (!store_same_table(embedding_table_shape(store->tables[number]), table))
        return err_set(
            err, ERR_CONFLICT,
            "table %zu was opened with rows of %d values, and the options of this request differ: "
            "start all tasks with the same model and flags, or with another directory",
            number, embedding_table_shape(store->tables[number])->dimensions);
    return 0;
}

size_t ps_store_table_count(const struct ps_store *store)
{
    return store->table_count;
}

struct embedding_table *ps_store_table(const struct ps_store *store, size_t number)
{
    return number < store->table_count ? store->tables[number] : NULL;
}

static int store_no_table_error(size_t number, struct err *err)
{
    return err_set(err, ERR_INVALID, "table %zu has not been opened", number);
}

int ps_store_rows_pull(const struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       float *ret_rows, struct err *err)
{
    if (table >= store->table_count)
        return store_no_table_error(table, err);
    embedding_table_pull(store->tables[table], ids, count, ret_rows);
    return 0;
}

int ps_store_rows_push(struct ps_store *store, size_t table, const int64_t *ids, size_t count,
                       const float *gradients, float rate, struct err *err)
{
    if (table >= store->table_count)
        return store_no_table_error(table, err);
    store->changes++;
    return embedding_table_push(store->tables[table], ids, count, gradients, rate, err);
}

static struct ps_tally *store_find_or_add_tally(struct ps_store *store, uint32_t worker)
{
    for (size_t i = 0; i < store->tallies.count; i++)
        if (store->tallies.items[i].worker == worker)
            return &store->tallies.items[i];
    vec_push(&store->tallies, ((struct ps_tally){.worker = worker}));
    return &store->tallies.items[store->tallies.count - 1];
}

int ps_store_count(struct ps_store *store, uint32_t worker, uint64_t incarnation, uint64_t counter,
                   uint64_t total, uint64_t *ret, struct err *err)
{
    if (counter >= PS_COUNTERS)
        return err_set(err, ERR_INVALID, "unknown counter %llu: expected 0 to %d",
                       (unsigned long long)counter, PS_COUNTERS - 1);
    struct ps_tally *tally = store_find_or_add_tally(store, worker);
    if (tally->incarnation != incarnation) {
        for (int i = 0; i < PS_COUNTERS; i++) {
            store->past_totals[i] += tally->totals[i];
            tally->totals[i] = 0;
        }
        tally->incarnation = incarnation;
    }
    if (total > tally->totals[counter]) {
        tally->totals[counter] = total;
        store->changes++;
    }
    uint64_t sum = store->past_totals[counter];
    for (size_t i = 0; i < store->tallies.count; i++)
        sum += store->tallies.items[i].totals[counter];
    *ret = sum;
    return 0;
}

void ps_store_set_finished(struct ps_store *store, uint32_t worker, bool finished)
{
    struct ps_tally *tally = store_find_or_add_tally(store, worker);
    store->changes += tally->finished != finished;
    tally->finished = finished;
}

bool ps_store_is_finished(const struct ps_store *store, uint32_t worker)
{
    for (size_t i = 0; i < store->tallies.count; i++)
        if (store->tallies.items[i].worker == worker)
            return store->tallies.items[i].finished;
    return false;
}

size_t ps_store_finished_count(const struct ps_store *store)
{
    size_t count = 0;
    for (size_t i = 0; i < store->tallies.count; i++)
        count += store->tallies.items[i].finished != 0;
    return count;
}

struct ps_store_view ps_store_view(const struct ps_store *store)
{
    struct ps_store_view view = {.dense = store->dense,
                                 .seeded = store->seeded,
                                 .values = store->values,
                                 .state = store->state,
                                 .tallies = store->tallies.items,
                                 .tally_count = store->tallies.count};
    memcpy(view.past_totals, store->past_totals, sizeof(view.past_totals));
    return view;
}

void ps_store_restore_counts(struct ps_store *store, const uint64_t past_totals[PS_COUNTERS])
{
    memcpy(store->past_totals, past_totals, sizeof(store->past_totals));
}

void ps_store_restore_tally(struct ps_store *store, const struct ps_tally *tally)
{
    *store_find_or_add_tally(store, tally->worker) = *tally;
}

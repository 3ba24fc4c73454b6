/* Implements a table of rows; see embedding_table.h. Rows are stored in blocks of more than 1 MiB
 * and at most 2 MiB. The number of a row, counted from 0, gives the block and the place in the
 * block. */
#include "comm/ps/embedding_table.h"

#include "base/mem.h"
#include "base/vec.h"
#include "comm/ps/embedding_index.h"
#include "comm/ps/embedding_init.h"
#include "comm/ps/embedding_pages.h"
#include "comm/ps/update.h"

#include <string.h>

enum {
    SLOTS_AHEAD = 24,   /* ids between the prefetch of a slot and its use */
    ROWS_AHEAD = 16,    /* ids between the prefetch of a row and its use */
    RING = 64,          /* entries of a ring: a power of 2 > SLOTS_AHEAD + ROWS_AHEAD */
    LINE = 64,          /* bytes per cache line */
    PREFETCH_LINES = 8, /* per row; after these the hardware prefetcher takes over */
};

/* Row numbers have 32 bits, and the index counts them from 1. */
#define ROWS_MAX (UINT32_MAX - 1)

struct block {
    float *rows;
    int64_t *ids; /* the id of each row */
};

struct embedding_table {
    struct ps_table shape;
    size_t stride;    /* floats of a row with state */
    int shift;        /* a block has 2^shift rows */
    size_t count;     /* number of rows */
    size_t bytes_max; /* SIZE_MAX: no limit */
    struct embedding_index index;
    VEC(struct block) blocks;
};

static size_t table_block_rows(const struct embedding_table *table)
{
    return (size_t)1 << table->shift;
}

static size_t table_block_bytes(const struct embedding_table *table)
{
    return table_block_rows(table) * table->stride * sizeof(float);
}

struct embedding_table *embedding_table_new(const struct ps_table *shape, size_t bytes_max)
{
    struct embedding_table *table = mem_zalloc(sizeof(*table));
    size_t dimensions = (size_t)shape->dimensions;
    table->shape = *shape;
    table->stride = dimensions + ps_update_state_count(&shape->update, dimensions);
    table->bytes_max = bytes_max ? bytes_max : SIZE_MAX;
    while (2 * table_block_bytes(table) <= EMBEDDING_HUGE_PAGE)
        table->shift++;
    embedding_index_init(&table->index);
    return table;
}

struct embedding_table *embedding_table_free(struct embedding_table *table)
{
    if (!table)
        return NULL;
    for (size_t i = 0; i < table->blocks.count; i++) {
        embedding_pages_unmap(table->blocks.items[i].rows, table_block_bytes(table));
        free(table->blocks.items[i].ids);
    }
    vec_release(&table->blocks);
    embedding_index_release(&table->index);
    free(table);
    return NULL;
}

const struct ps_table *embedding_table_shape(const struct embedding_table *table)
{
    return &table->shape;
}

size_t embedding_table_rows(const struct embedding_table *table)
{
    return table->count;
}

size_t embedding_table_stride(const struct embedding_table *table)
{
    return table->stride;
}

size_t embedding_table_bytes(const struct embedding_table *table)
{
    size_t block = table_block_bytes(table) + table_block_rows(table) * sizeof(int64_t);
    return table->index.bytes + table->blocks.count * block;
}

static float *table_row_at(const struct embedding_table *table, size_t number)
{
    const struct block *block = &table->blocks.items[number >> table->shift];
    return block->rows + (number & (table_block_rows(table) - 1)) * table->stride;
}

static float *table_find_row(const struct embedding_table *table, int64_t id, uint64_t hash)
{
    uint32_t row = embedding_index_find(&table->index, id, hash);
    return row ? table_row_at(table, row - 1) : NULL;
}

/* Adds a row. The caller sets its values. Returns NULL if the table would exceed its memory limit
 * or the largest row number. */
static float *table_add_row(struct embedding_table *table, int64_t id)
{
    size_t number = table->count;
    if (number >= ROWS_MAX)
        return NULL;
    if (number >> table->shift == table->blocks.count) {
        if (embedding_table_bytes(table) + table_block_bytes(table) > table->bytes_max)
            return NULL;
        struct block block = {.rows = embedding_pages_map(table_block_bytes(table)),
                              .ids = mem_calloc(table_block_rows(table), sizeof(int64_t))};
        vec_push(&table->blocks, block);
    }
    table->blocks.items[number >> table->shift].ids[number & (table_block_rows(table) - 1)] = id;
    embedding_index_add(&table->index, id, (uint32_t)number + 1);
    table->count++;
    return table_row_at(table, number);
}

/* Returns NULL if the row does not exist and cannot be added. */
static float *table_find_or_add_row(struct embedding_table *table, int64_t id, uint64_t hash)
{
    float *row = table_find_row(table, id, hash);
    if (row || !(row = table_add_row(table, id)))
        return row;
    size_t dimensions = (size_t)table->shape.dimensions;
    embedding_init_uniform(table->shape.seed, id, table->shape.range, row, dimensions);
    ps_update_init(&table->shape.update, row + dimensions, dimensions);
    return row;
}

/* The lookup of a batch is a pipeline of three steps: prefetch the slot; read the slot and prefetch
 * the row; use the row. Each step runs some ids behind the previous step, so a few dozen memory
 * accesses are always in flight. The prefetches go into the L2 cache, because the L1 cache supports
 * too few requests in flight. */

struct lookup { /* ring buffers, indexed by the position of the id modulo RING */
    uint64_t hashes[RING];
    float *rows[RING]; /* NULL: the row does not exist */
};

static void table_prefetch_row(const float *row, size_t floats)
{
    size_t lines = (floats * sizeof(float) + LINE - 1) / LINE;
    for (size_t i = 0; i < lines && i < PREFETCH_LINES; i++)
        __builtin_prefetch((const char *)row + i * LINE, 0, 2);
}

void embedding_table_pull(const struct embedding_table *table, const int64_t *ids, size_t count,
                          float *ret_rows)
{
    size_t dimensions = (size_t)table->shape.dimensions;
    struct lookup ahead = {0};
    for (size_t i = 0; i < count + SLOTS_AHEAD + ROWS_AHEAD; i++) {
        /* `found` is the index of the id whose slot is read now, and `used` of the id whose row is
         * used now. Before the first id they wrap around to huge values; after the last id they are
         * at least `count`. */
        size_t found = i - SLOTS_AHEAD, used = found - ROWS_AHEAD;
        if (i < count)
            ahead.hashes[i % RING] = embedding_index_prefetch(&table->index, ids[i]);
        if (found < count) {
            float *row = table_find_row(table, ids[found], ahead.hashes[found % RING]);
            ahead.rows[found % RING] = row;
            if (row)
                table_prefetch_row(row, dimensions);
        }
        if (used < count) {
            const float *row = ahead.rows[used % RING];
            float *target = ret_rows + used * dimensions;
            if (row)
                memcpy(target, row, dimensions * sizeof(float));
            else
                embedding_init_uniform(table->shape.seed, ids[used], table->shape.range, target,
                                       dimensions);
        }
    }
}

static int table_is_full_error(const struct embedding_table *table, struct err *err)
{
    if (table->count >= ROWS_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "the table is full: it has %zu rows, which is the limit: add parameter "
                       "servers",
                       table->count);
    return err_set(err, ERR_TOO_LARGE,
                   "the table is full: %zu rows use %zu MiB, and more rows would exceed the memory "
                   "limit: raise the limit or add parameter servers",
                   table->count, embedding_table_bytes(table) >> 20);
}

int embedding_table_push(struct embedding_table *table, const int64_t *ids, size_t count,
                         const float *gradients, float rate, struct err *err)
{
    size_t dimensions = (size_t)table->shape.dimensions;
    struct lookup ahead = {0};
    bool refused = false;
    for (size_t i = 0; i < count + SLOTS_AHEAD + ROWS_AHEAD; i++) {
        size_t found = i - SLOTS_AHEAD, used = found - ROWS_AHEAD;
        if (i < count)
            ahead.hashes[i % RING] = embedding_index_prefetch(&table->index, ids[i]);
        if (found < count) {
            float *row = table_find_or_add_row(table, ids[found], ahead.hashes[found % RING]);
            ahead.rows[found % RING] = row;
            if (row)
                table_prefetch_row(row, table->stride);
            refused |= !row;
        }
        float *row = used < count ? ahead.rows[used % RING] : NULL;
        if (row)
            ps_update_apply(&table->shape.update, row, row + dimensions,
                            gradients + used * dimensions, dimensions, rate);
    }
    return refused ? table_is_full_error(table, err) : 0;
}

size_t embedding_table_span(const struct embedding_table *table, size_t first,
                            const int64_t **ret_ids, const float **ret_rows)
{
    if (first >= table->count)
        return 0;
    size_t place = first & (table_block_rows(table) - 1), left = table->count - first;
    *ret_ids = table->blocks.items[first >> table->shift].ids + place;
    *ret_rows = table_row_at(table, first);
    return left < table_block_rows(table) - place ? left : table_block_rows(table) - place;
}

void embedding_table_get(const struct embedding_table *table, int64_t id, float *ret_row)
{
    const float *row = table_find_row(table, id, embedding_hash(table->index.salt, id));
    size_t dimensions = (size_t)table->shape.dimensions;
    if (row) {
        memcpy(ret_row, row, table->stride * sizeof(float));
        return;
    }
    embedding_init_uniform(table->shape.seed, id, table->shape.range, ret_row, dimensions);
    ps_update_init(&table->shape.update, ret_row + dimensions, dimensions);
}

int embedding_table_put(struct embedding_table *table, int64_t id, const float *row,
                        struct err *err)
{
    float *place = table_find_row(table, id, embedding_hash(table->index.salt, id));
    if (!place && !(place = table_add_row(table, id)))
        return table_is_full_error(table, err);
    memcpy(place, row, table->stride * sizeof(float));
    return 0;
}

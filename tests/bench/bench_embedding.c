/* Lookups and updates in an embedding table that is larger than any cache: rows of 32 values with
 * Adagrad's state, random ids, in batches as a worker sends them. Compared with the usual hash map
 * with chained nodes, and with memcpy of the same bytes in order. Prints one line of JSON per
 * figure: the best of a few rounds. The candidates take turns, because other load on the machine
 * slows down whichever runs at that moment.
 *
 *   bench_embedding [MILLIONS-OF-ROWS]
 */
#include "base/mem.h"
#include "base/rand.h"
#include "comm/ps/embedding_table.h"
#include "comm/ps/update.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

enum { DIMENSIONS = 32, BATCH = 4096, ROUNDS = 5, BATCHES = 500 };

static const struct ps_table SHAPE = {.dimensions = DIMENSIONS,
                                      .range = 0.1f,
                                      .seed = 1,
                                      .update = {.rule = PS_ADAGRAD, .accumulator = 0.1f}};

/* The peer: the simplest implementation, a hash map with chained nodes. */
struct node {
    struct node *next;
    int64_t id;
    float values[DIMENSIONS], sums[DIMENSIONS];
};

struct map {
    struct node **buckets;
    size_t mask;
};

static uint64_t mix(int64_t id)
{
    uint64_t z = (uint64_t)id * 0x9e3779b97f4a7c15u;
    return z ^ (z >> 32);
}

static struct node *map_find(const struct map *map, int64_t id)
{
    struct node *node = map->buckets[mix(id) & map->mask];
    while (node && node->id != id)
        node = node->next;
    return node;
}

static void map_add(struct map *map, int64_t id)
{
    struct node *node = mem_zalloc(sizeof(*node));
    struct node **bucket = &map->buckets[mix(id) & map->mask];
    *node = (struct node){.next = *bucket, .id = id};
    ps_update_init(&SHAPE.update, node->sums, DIMENSIONS);
    *bucket = node;
}

static void map_pull(const struct map *map, const int64_t *ids, float *ret_rows)
{
    for (size_t i = 0; i < BATCH; i++)
        memcpy(ret_rows + i * DIMENSIONS, map_find(map, ids[i])->values,
               sizeof(float) * DIMENSIONS);
}

static void map_push(struct map *map, const int64_t *ids, const float *gradients)
{
    for (size_t i = 0; i < BATCH; i++) {
        struct node *node = map_find(map, ids[i]);
        ps_update_apply(&SHAPE.update, node->values, node->sums, gradients + i * DIMENSIONS,
                        DIMENSIONS, 0.01f);
    }
}

/* CPU time of this thread, so that other processes on the machine do not count. */
static int64_t now_ns(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (int64_t)time.tv_sec * 1000000000 + time.tv_nsec;
}

struct bench {
    struct embedding_table *table;
    struct map map;
    int64_t *ids; /* the ids of all rows, in random order */
    size_t rows;
    float *block; /* the source of the memcpy peer */
    float batch[BATCH * DIMENSIONS];
};

static const int64_t *draw(const struct bench *bench, size_t batch)
{
    size_t batches = bench->rows / BATCH;
    return bench->ids + batch * 7919 % batches * BATCH;
}

static void table_pull(struct bench *bench, size_t batch)
{
    embedding_table_pull(bench->table, draw(bench, batch), BATCH, bench->batch);
}

static void table_push(struct bench *bench, size_t batch)
{
    struct err err = ERR_INIT;
    if (embedding_table_push(bench->table, draw(bench, batch), BATCH, bench->batch, 0.01f, &err) <
        0)
        mem_panic("%s", err.message);
}

static void plain_pull(struct bench *bench, size_t batch)
{
    map_pull(&bench->map, draw(bench, batch), bench->batch);
}

static void plain_push(struct bench *bench, size_t batch)
{
    map_push(&bench->map, draw(bench, batch), bench->batch);
}

static void copy(struct bench *bench, size_t batch)
{
    size_t batches = bench->rows / BATCH;
    memcpy(bench->batch, bench->block + batch * 7919 % batches * BATCH * DIMENSIONS,
           sizeof(bench->batch));
    __asm__ volatile("" ::"r"(bench->batch) : "memory");
}

static double rate(struct bench *bench, void (*run)(struct bench *, size_t))
{
    int64_t start = now_ns();
    for (size_t i = 0; i < BATCHES; i++)
        run(bench, i);
    return (double)BATCHES * BATCH * 1e9 / (double)(now_ns() - start);
}

static void fill(struct bench *bench, size_t rows)
{
    struct rand rand;
    struct err err = ERR_INIT;
    rand_init(&rand, 1);
    bench->rows = rows / BATCH * BATCH;
    bench->ids = mem_calloc(bench->rows, sizeof(*bench->ids));
    bench->block = mem_calloc(bench->rows * DIMENSIONS, sizeof(float));
    memset(bench->block, 1, bench->rows * DIMENSIONS * sizeof(float));
    bench->table = embedding_table_new(&SHAPE, 0);
    bench->map.mask = 1;
    while (bench->map.mask < bench->rows)
        bench->map.mask *= 2;
    bench->map.buckets = mem_calloc(bench->map.mask--, sizeof(*bench->map.buckets));
    for (size_t i = 0; i < bench->rows; i++) {
        bench->ids[i] = (int64_t)rand_next(&rand);
        map_add(&bench->map, bench->ids[i]);
    }
    int64_t start = now_ns(), longest = 0;
    for (size_t i = 0; i < bench->rows; i += BATCH) {
        int64_t before = now_ns();
        if (embedding_table_push(bench->table, bench->ids + i, BATCH, bench->batch, 0, &err) < 0)
            mem_panic("%s", err.message);
        int64_t took = now_ns() - before;
        longest = took > longest ? took : longest;
    }
    printf("{\"name\":\"embedding rows made\",\"value\":%.3g,\"unit\":\"rows/s\"}\n"
           "{\"name\":\"embedding, longest batch of new rows\",\"value\":%.3g,\"unit\":\"ms\"}\n"
           "{\"name\":\"embedding, bytes a row of 256\",\"value\":%.4g,\"unit\":\"bytes\"}\n",
           (double)bench->rows * 1e9 / (double)(now_ns() - start), (double)longest / 1e6,
           (double)embedding_table_bytes(bench->table) / (double)bench->rows);
    /* Lookups use another order than the creation of the rows. */
    for (size_t i = bench->rows - 1; i > 0; i--) {
        size_t other = rand_below(&rand, i + 1);
        int64_t id = bench->ids[i];
        bench->ids[i] = bench->ids[other];
        bench->ids[other] = id;
    }
}

int main(int argc, char **argv)
{
    static struct bench bench;
    double millions = argc > 1 ? atof(argv[1]) : 4;
    fill(&bench, (size_t)(millions * 1e6));
    static void (*const RUNS[])(struct bench *, size_t) = {table_pull, table_push, plain_pull,
                                                           plain_push, copy};
    double best[ARRAY_SIZE(RUNS)] = {0};
    for (int round = 0; round < ROUNDS; round++)
        for (size_t i = 0; i < ARRAY_SIZE(RUNS); i++)
            best[i] = fmax(best[i], rate(&bench, RUNS[i]));
    static const char *const WHAT[] = {"lookups", "updates"};
    for (int i = 0; i < 2; i++) {
        printf("{\"name\":\"embedding %s, %g M rows\",\"value\":%.4g,\"unit\":\"rows/s\","
               "\"peer\":\"a hash map with chains\",\"peer_value\":%.4g}\n",
               WHAT[i], millions, best[i], best[2 + i]);
        printf("{\"name\":\"embedding %s, of memory's speed\",\"value\":%.4g,\"unit\":\"rows/s\","
               "\"peer\":\"memcpy of the rows in order\",\"peer_value\":%.4g}\n",
               WHAT[i], best[i], best[4]);
    }
    return 0;
}

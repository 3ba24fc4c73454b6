/* Prepares the ids of one pull or push for sending; see batch.h. */
#include "comm/ps/batch.h"

#include "base/mem.h"
#include "base/rand.h"
#include "comm/ps/embedding_index.h"
#include "comm/transport/reduce.h"

#include <stdlib.h>
#include <string.h>

void ps_batch_init(struct ps_batch *batch, size_t servers)
{
    *batch = (struct ps_batch){.servers = servers ? servers : 1};
    batch->starts = mem_calloc(batch->servers + 1, sizeof(*batch->starts));
    rand_secure(&batch->salt, sizeof(batch->salt));
}

void ps_batch_release(struct ps_batch *batch)
{
    if (batch->servers > 1)
        free(batch->ids); /* otherwise `ids` is `unique` */
    free(batch->starts);
    free(batch->places);
    free(batch->unique);
    free(batch->server_of);
    free(batch->target);
    free(batch->slots);
    *batch = (struct ps_batch){0};
}

size_t ps_batch_server(int64_t id, size_t servers)
{
    /* SALT must never change, because it decides which server has a row. */
    static const uint64_t SALT = 0x5851f42d4c957f2du;
    return (size_t)((embedding_hash(SALT, id) >> 32) * servers >> 32);
}

static void batch_reserve(struct ps_batch *batch, size_t count)
{
    if (count <= batch->capacity)
        return;
    size_t capacity = 1024;
    while (capacity < count)
        capacity *= 2;
    batch->capacity = capacity;
    batch->unique = mem_realloc(batch->unique, capacity * sizeof(*batch->unique));
    batch->places = mem_realloc(batch->places, capacity * sizeof(*batch->places));
    if (batch->servers > 1) {
        batch->ids = mem_realloc(batch->ids, capacity * sizeof(*batch->ids));
        batch->server_of = mem_realloc(batch->server_of, capacity * sizeof(*batch->server_of));
        batch->target = mem_realloc(batch->target, capacity * sizeof(*batch->target));
    } else {
        batch->ids = batch->unique;
    }
    free(batch->slots);
    batch->slots = mem_calloc(4 * capacity, sizeof(*batch->slots));
    batch->slots_mask = 4 * capacity - 1;
    batch->stamp = 0;
}

/* Removes repeated ids: fills `unique`, and fills `places` with indexes into `unique`. */
static void batch_unify_ids(struct ps_batch *batch, const int64_t *ids, size_t count)
{
    if (++batch->stamp == 0) {
        memset(batch->slots, 0, (batch->slots_mask + 1) * sizeof(*batch->slots));
        batch->stamp = 1;
    }
    uint32_t different = 0;
    for (size_t i = 0; i < count; i++) {
        struct ps_batch_slot *slot;
        size_t at = embedding_hash(batch->salt, ids[i]);
        while (slot = &batch->slots[at & batch->slots_mask],
               slot->stamp == batch->stamp && batch->unique[slot->number] != ids[i])
            at++;
        if (slot->stamp != batch->stamp) {
            *slot = (struct ps_batch_slot){.stamp = batch->stamp, .number = different};
            batch->unique[different++] = ids[i];
        }
        batch->places[i] = slot->number;
    }
    batch->count = different;
}

/* Copies the ids from `unique` to `ids`, sorted by server; within a server the order stays the
 * same. Changes `places` to indexes into `ids`. */
static void batch_group_by_server(struct ps_batch *batch, size_t count)
{
    size_t *starts = batch->starts;
    memset(starts, 0, (batch->servers + 1) * sizeof(*starts));
    for (size_t i = 0; i < batch->count; i++) {
        size_t server = ps_batch_server(batch->unique[i], batch->servers);
        batch->server_of[i] = (uint16_t)server;
        starts[server + 1]++;
    }
    for (size_t server = 0; server < batch->servers; server++)
        starts[server + 1] += starts[server];
    /* Each id that is placed increments the start of its server. After the loop starts[s] has the
     * value that starts[s + 1] had before it, so memmove() shifts the starts by one entry. */
    for (size_t i = 0; i < batch->count; i++) {
        size_t place = starts[batch->server_of[i]]++;
        batch->target[i] = (uint32_t)place;
        batch->ids[place] = batch->unique[i];
    }
    memmove(starts + 1, starts, batch->servers * sizeof(*starts));
    starts[0] = 0;
    for (size_t i = 0; i < count; i++)
        batch->places[i] = batch->target[batch->places[i]];
}

void ps_batch_fill(struct ps_batch *batch, const int64_t *ids, size_t count)
{
    batch_reserve(batch, count);
    batch_unify_ids(batch, ids, count);
    if (batch->servers > 1)
        batch_group_by_server(batch, count);
    batch->starts[batch->servers] = batch->count;
    batch->unchanged = batch->servers == 1 && batch->count == count;
}

void ps_batch_sum(const struct ps_batch *batch, const float *gradients, size_t count,
                  size_t dimensions, float *ret)
{
    memset(ret, 0, batch->count * dimensions * sizeof(float));
    for (size_t i = 0; i < count; i++)
        reduce_add_f32(ret + batch->places[i] * dimensions, gradients + i * dimensions, dimensions);
}

void ps_batch_spread(const struct ps_batch *batch, const float *rows, size_t count,
                     size_t dimensions, float *ret_rows)
{
    for (size_t i = 0; i < count; i++)
        memcpy(ret_rows + i * dimensions, rows + batch->places[i] * dimensions,
               dimensions * sizeof(float));
}

/* A batch: the ids of one pull or push, prepared for sending. Repeated ids are removed, the ids are
 * grouped by server, and `places` maps each given id to its row. Called by ps_client. The buffers
 * keep the size of the largest batch so far. */
#ifndef TRAINYARD_COMM_PS_BATCH_H
#define TRAINYARD_COMM_PS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_batch {
    size_t count;     /* number of different ids */
    int64_t *ids;     /* grouped by server; server s has ids[starts[s]] to ids[starts[s + 1] - 1] */
    size_t *starts;   /* servers + 1 entries */
    uint32_t *places; /* one per given id: its index in `ids` */
    bool plain;       /* `ids` has the given ids in the given order */

    /* Private to batch.c. */
    size_t servers, capacity, slots_mask;
    uint64_t salt;
    int64_t *seen; /* each id once, in the given order */
    uint16_t *server_of;
    uint32_t *target;
    struct ps_batch_slot {
        uint32_t stamp, number;
    } * slots;
    uint32_t stamp; /* number of the current fill; a slot with another stamp is free */
};

void ps_batch_init(struct ps_batch *batch, size_t servers);
void ps_batch_release(struct ps_batch *batch);

/* Fills the batch with at most PS_IDS_MAX ids, in any order and with repetitions. */
void ps_batch_fill(struct ps_batch *batch, const int64_t *ids, size_t count);

/* Returns the server that has the row of an id. Uses a hash, because the remainder of the id would
 * put ids with a common stride on one server. The function is part of the protocol and of the
 * snapshot format, and must never change. */
size_t ps_batch_server(int64_t id, size_t servers);

/* Convert between rows in the given order (`count` rows of `dimensions` floats) and rows of the
 * batch: ps_batch_sum() adds the gradients of equal ids, ps_batch_spread() copies the row of an id
 * to every place where the id was given. */
void ps_batch_sum(const struct ps_batch *batch, const float *gradients, size_t count,
                  size_t dimensions, float *ret);
void ps_batch_spread(const struct ps_batch *batch, const float *rows, size_t count,
                     size_t dimensions, float *ret_rows);

#endif

/* A batch: the ids of one pull or push, prepared for sending. It has each id once, grouped by
 * server, and for each given id the place of its row. Called by ps_client. It grows to the largest
 * batch so far and allocates nothing after that. */
#ifndef TRAINYARD_COMM_PS_BATCH_H
#define TRAINYARD_COMM_PS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_batch {
    size_t count;     /* number of different ids */
    int64_t *ids;     /* grouped by server: those of server s are starts[s] to starts[s + 1] - 1 */
    size_t *starts;   /* servers + 1 entries */
    uint32_t *places; /* by given id: its place in `ids` */
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

/* The server that has the row of an id. It is chosen by a hash, because ids in strides would all be
 * on one server if it were the remainder of the id. Part of the protocol and of the snapshot
 * format: it must never change. */
size_t ps_batch_server(int64_t id, size_t servers);

/* Convert between rows in the given order (`count` rows of `dimensions` floats) and rows of the
 * batch: ps_batch_sum() adds the gradients of equal ids, ps_batch_spread() copies rows to all their
 * places. */
void ps_batch_sum(const struct ps_batch *batch, const float *gradients, size_t count,
                  size_t dimensions, float *ret);
void ps_batch_spread(const struct ps_batch *batch, const float *rows, size_t count,
                     size_t dimensions, float *ret_rows);

#endif

/* The ids of one pull or push made ready to send: each id once, the ids of one server side by side,
 * and for each id that was given the place where its row is found. Called by ps_client; grows to
 * the largest batch it saw and then allocates no more. */
#ifndef TRAINYARD_COMM_PS_BATCH_H
#define TRAINYARD_COMM_PS_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct ps_batch {
    size_t count;     /* of different ids */
    int64_t *ids;     /* those of server s from starts[s] to starts[s + 1] */
    size_t *starts;   /* servers + 1 */
    uint32_t *places; /* of each id that was given, its place in `ids` */
    bool plain;       /* `ids` is what was given, in its order */

    /* The rest is the batch's own. */
    size_t servers, capacity, slots_mask;
    uint64_t salt;
    int64_t *seen; /* each id once, in the order they came */
    uint16_t *server_of;
    uint32_t *target;
    struct ps_batch_slot {
        uint32_t stamp, number;
    } * slots;
    uint32_t stamp; /* of this fill: a slot with another is free */
};

void ps_batch_init(struct ps_batch *batch, size_t servers);
void ps_batch_release(struct ps_batch *batch);

/* At most PS_IDS_MAX ids. */
void ps_batch_fill(struct ps_batch *batch, const int64_t *ids, size_t count);

/* Which server has an id's row. By a hash: ids that come in strides would all meet on one server if
 * it were the remainder of the id itself. Part of the protocol and of what snapshots mean. */
size_t ps_batch_server(int64_t id, size_t servers);

/* Between rows in the order given (`count` of `dimensions`) and rows of the batch. */
void ps_batch_sum(const struct ps_batch *batch, const float *gradients, size_t count,
                  size_t dimensions, float *ret);
void ps_batch_spread(const struct ps_batch *batch, const float *rows, size_t count,
                     size_t dimensions, float *ret_rows);

#endif

/* A batch: the ids of one pull or push, prepared for sending. Repeated ids are removed, the ids are
 * grouped by server, and `places` maps each given id to its row. Used by client*.c, by one thread
 * at a time. The buffers keep the size of the largest batch so far. */
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
    bool unchanged;   /* one server and no repeated id, so `ids` are the given ids in their order */

    /* Private to batch.c. */
    size_t servers;      /* at least 1 */
    size_t capacity;     /* number of ids for which the buffers have room */
    uint64_t salt;       /* random, so that a choice of ids cannot make the hash table slow */
    int64_t *unique;     /* each id once, in the given order */
    uint16_t *server_of; /* server of each id in `unique`; only with several servers */
    uint32_t *target;    /* index in `ids` of each id in `unique`; only with several servers */
    struct ps_batch_slot {
        uint32_t stamp;  /* the fill that used the slot */
        uint32_t number; /* index in `unique` */
    } * slots;           /* hash table of the ids in `unique`, with open addressing */
    size_t slots_mask;   /* number of slots - 1 */
    uint32_t stamp;      /* number of the current fill; a slot with another stamp is free */
};

/* `servers` is the number of servers; 0, for a client without servers, counts as 1. */
void ps_batch_init(struct ps_batch *batch, size_t servers);
void ps_batch_release(struct ps_batch *batch);

/* Fills the batch with the ids. `count` must not exceed PS_IDS_MAX. The ids may have any order and
 * may repeat. */
void ps_batch_fill(struct ps_batch *batch, const int64_t *ids, size_t count);

/* Returns the number of the server that has the row of an id. `servers` must be at least 1. Uses a
 * hash, because the remainder of the id would put ids with a common stride on one server. The
 * function is part of the protocol and of the snapshot format, and must never change. */
size_t ps_batch_server(int64_t id, size_t servers);

/* These two functions convert between rows in the given order (`count` rows of `dimensions` floats)
 * and rows of the batch, which are in the order of `ids`. ps_batch_sum() adds up the gradients of
 * equal ids: `ret` has room for one row per id of the batch. ps_batch_spread() copies the row of an
 * id to every position at which the id was given: `ret_rows` has room for `count` rows. */
void ps_batch_sum(const struct ps_batch *batch, const float *gradients, size_t count,
                  size_t dimensions, float *ret);
void ps_batch_spread(const struct ps_batch *batch, const float *rows, size_t count,
                     size_t dimensions, float *ret_rows);

#endif

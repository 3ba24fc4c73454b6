/* All-reduce for several machines with several members each: the members of a machine sum in shared
 * memory into what their leader has, the leaders sum over TCP, and each member copies the result
 * from its leader. So every byte crosses the wire once for a machine and not once for a member. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"
#include "comm/transport/reduce.h"
#include "comm/transport/shm/host_links.h"

#include <string.h>

enum {
    CHUNK_ALIGN = 16,                                /* floats: no two write one cache line */
    PIECE = TRANSPORT_SHM_SLOT / (int)sizeof(float), /* floats */
};

static bool can(const struct comm_links *links, size_t count)
{
    return links->shm && !comm_links_all_shared(links) && transport_tcp_has_pairs(links->tcp);
}

/* The leaders; index -1: this member is none. */
static struct collective_ranks leaders_of(const struct comm_links *links)
{
    int size = transport_tcp_size(links->tcp), rank = transport_tcp_rank(links->tcp);
    struct collective_ranks leaders = {.ranks = mem_calloc((size_t)size, sizeof(int)), .index = -1};
    for (int i = 0; i < size; i++)
        if (transport_shm_leader(links->shm, i) == i) {
            leaders.index = i == rank ? leaders.count : leaders.index;
            leaders.ranks[leaders.count++] = i;
        }
    return leaders;
}

/* This member's chunk of the sum over its machine, into what the leader has: rows[0]. */
static void sum_chunk(const struct transport_shm *shm, float *const *rows, size_t count)
{
    size_t members = (size_t)transport_shm_count(shm), index = (size_t)transport_shm_index(shm);
    size_t each = (count / members + CHUNK_ALIGN) / CHUNK_ALIGN * CHUNK_ALIGN;
    size_t first = index * each < count ? index * each : count;
    size_t here = count - first < each ? count - first : each;
    float *chunk[HOST_MEMBERS_MAX] = {NULL};
    for (size_t i = 0; i < members; i++)
        chunk[i] = rows[i] + first;
    reduce_rows_f32(chunk[0], chunk, members, here);
}

static int sum_between(const struct comm_links *links, const struct collective_ranks *leaders,
                       float *data, size_t count, struct err *err)
{
    return collective_allreduce_choose_among(count)->run(links, leaders, data, count, err);
}

static int sum_in_place(const struct comm_links *links, const struct collective_ranks *leaders,
                        float *const *rows, float *data, size_t count, struct err *err)
{
    struct transport_shm *shm = links->shm;
    sum_chunk(shm, rows, count);
    int result = transport_shm_meet(shm, err);
    if (result == 0 && leaders->index >= 0)
        result = sum_between(links, leaders, data, count, err);
    if (result == 0)
        result = transport_shm_meet(shm, err);
    if (result == 0 && leaders->index < 0)
        memcpy(data, rows[0], count * sizeof(float));
    return result == 0 ? transport_shm_meet(shm, err) : result;
}

/* Data that lies elsewhere: in through the members' slots, out through the leader's. Between the
 * machines it goes in one piece all the same: elsewhere it may be summed in place. */
static int sum_through_slots(const struct comm_links *links, const struct collective_ranks *leaders,
                             float *data, size_t count, struct err *err)
{
    struct transport_shm *shm = links->shm;
    float *rows[HOST_MEMBERS_MAX] = {NULL};
    int result = 0;
    for (size_t at = 0, here; result == 0 && at < count; at += here) {
        here = count - at < PIECE ? count - at : PIECE;
        memcpy(transport_shm_slot(shm, transport_shm_index(shm)), data + at, here * sizeof(float));
        if ((result = transport_shm_meet(shm, err)) < 0)
            return result;
        for (int i = 0; i < transport_shm_count(shm); i++)
            rows[i] = transport_shm_slot_last(shm, i);
        sum_chunk(shm, rows, here);
        result = transport_shm_meet(shm, err);
        if (result == 0 && leaders->index >= 0)
            memcpy(data + at, transport_shm_slot_second_last(shm, 0), here * sizeof(float));
    }
    if (result == 0 && leaders->index >= 0)
        result = sum_between(links, leaders, data, count, err);
    if (result == 0)
        result = collective_broadcast_shared(shm, 0, data, count * sizeof(float), err);
    return result;
}

static int run(const struct comm_links *links, const struct collective_ranks *among, float *data,
               size_t count, struct err *err)
{
    struct collective_ranks leaders = leaders_of(links);
    _cleanup_free_ int *owned = leaders.ranks;
    (void)owned;
    if (transport_shm_count(links->shm) == 1)
        return sum_between(links, &leaders, data, count, err);
    int result = transport_shm_begin(links->shm, data, err);
    if (result < 0)
        return result;
    float *const *rows = transport_shm_rows(links->shm);
    return rows ? sum_in_place(links, &leaders, rows, data, count, err)
                : sum_through_slots(links, &leaders, data, count, err);
}

const struct collective_allreduce collective_allreduce_hierarchical = {
    .name = "hierarchical",
    .can = can,
    .run = run,
};

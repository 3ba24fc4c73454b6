/* All-reduce for several hosts, some of them with several members. The leader of a host is its
 * lowest rank. The members of a host sum into the memory of their leader, the leaders sum between
 * the hosts, and each member copies the result from its leader. So the data crosses the network
 * once per host instead of once per member. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"
#include "comm/transport/reduce.h"

#include <string.h>

enum {
    CHUNK_ALIGN = 16, /* in floats: no two members write to the same cache line */
    PIECE = TRANSPORT_SLOT_SIZE / (int)sizeof(float), /* floats */
};

static bool hierarchical_can(const struct collective_transports *transports, size_t count)
{
    return transports->memory && !collective_all_shared(transports) &&
           transports->streams->has_pairs;
}

/* Returns the leaders of all hosts. `index` is -1 if this member is not a leader. */
static struct collective_ranks hierarchical_leaders(const struct collective_transports *transports)
{
    int size = control_size(transports->control), rank = control_rank(transports->control);
    struct collective_ranks leaders = {.ranks = mem_calloc((size_t)size, sizeof(int)), .index = -1};
    for (int i = 0; i < size; i++)
        if (transports->memory->leaders[i] == i) {
            leaders.index = i == rank ? leaders.count : leaders.index;
            leaders.ranks[leaders.count++] = i;
        }
    return leaders;
}

/* Sums this member's chunk over the members of the host into the memory of the leader, rows[0]. */
static void hierarchical_sum_chunk(const struct transport *memory, float *const *rows, size_t count)
{
    size_t members = (size_t)memory->count, index = (size_t)memory->index;
    size_t each = (count / members + CHUNK_ALIGN) / CHUNK_ALIGN * CHUNK_ALIGN;
    size_t first = index * each < count ? index * each : count;
    size_t here = count - first < each ? count - first : each;
    float *chunk[TRANSPORT_HOST_MAX] = {NULL};
    for (size_t i = 0; i < members; i++)
        chunk[i] = rows[i] + first;
    reduce_rows_f32(chunk[0], chunk, members, here);
}

static int hierarchical_sum_between_hosts(const struct collective_transports *transports,
                                          const struct collective_ranks *leaders, float *data,
                                          size_t count, struct err *err)
{
    return collective_allreduce_choose_among(count)->run(transports, leaders, data, count, err);
}

static int hierarchical_sum_in_place(const struct collective_transports *transports,
                                     const struct collective_ranks *leaders, float *const *rows,
                                     float *data, size_t count, struct err *err)
{
    struct transport *memory = transports->memory;
    hierarchical_sum_chunk(memory, rows, count);
    int result = transport_barrier(memory, err);
    if (result == 0 && leaders->index >= 0)
        result = hierarchical_sum_between_hosts(transports, leaders, data, count, err);
    if (result == 0)
        result = transport_barrier(memory, err);
    if (result == 0 && leaders->index < 0)
        memcpy(data, rows[0], count * sizeof(float));
    /* The leader may change its data only after all members have copied it. */
    return result == 0 ? transport_barrier(memory, err) : result;
}

/* Sums data outside of shared memory. Members write the data into their slots in pieces, and the
 * leader copies the sum out of its slot. The leaders sum all data between the hosts in one step,
 * not in pieces, because another host may sum in place. */
static int hierarchical_sum_through_slots(const struct collective_transports *transports,
                                          const struct collective_ranks *leaders, float *data,
                                          size_t count, struct err *err)
{
    struct transport *memory = transports->memory;
    float *rows[TRANSPORT_HOST_MAX] = {NULL};
    int result = 0;
    for (size_t at = 0, here; result == 0 && at < count; at += here) {
        here = count - at < PIECE ? count - at : PIECE;
        memcpy(transport_slot(memory, memory->index, 0), data + at, here * sizeof(float));
        if ((result = transport_barrier(memory, err)) < 0)
            return result;
        for (int i = 0; i < memory->count; i++)
            rows[i] = transport_slot(memory, i, 1);
        hierarchical_sum_chunk(memory, rows, here);
        result = transport_barrier(memory, err);
        if (result == 0 && leaders->index >= 0)
            memcpy(data + at, transport_slot(memory, 0, 2), here * sizeof(float));
    }
    if (result == 0 && leaders->index >= 0)
        result = hierarchical_sum_between_hosts(transports, leaders, data, count, err);
    if (result == 0)
        result = collective_broadcast_shared(memory, 0, data, count * sizeof(float), err);
    return result;
}

static int hierarchical_run(const struct collective_transports *transports,
                            const struct collective_ranks *among, float *data, size_t count,
                            struct err *err)
{
    struct collective_ranks leaders = hierarchical_leaders(transports);
    _cleanup_free_ int *owned = leaders.ranks;
    (void)owned;
    if (transports->memory->count == 1)
        return hierarchical_sum_between_hosts(transports, &leaders, data, count, err);
    int result = transport_begin(transports->memory, data, err);
    if (result < 0)
        return result;
    float *const *rows = transport_rows(transports->memory);
    return rows ? hierarchical_sum_in_place(transports, &leaders, rows, data, count, err)
                : hierarchical_sum_through_slots(transports, &leaders, data, count, err);
}

const struct collective_allreduce collective_allreduce_hierarchical = {
    .name = "hierarchical",
    .needs = "3 to 64 workers on several machines, and two of them on one machine",
    .can = hierarchical_can,
    .run = hierarchical_run,
};

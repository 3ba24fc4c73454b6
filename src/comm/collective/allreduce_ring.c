/* All-reduce around the ring. The data is cut into one chunk per member. Each chunk travels once
 * around the ring to collect the sum, and once more to be copied. Every member sends and receives
 * 2 (n-1)/n times the size of the data, the least possible over point-to-point connections. The sum
 * of chunk c starts at rank c, and each next rank in the ring adds its data. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"

static bool ring_can(const struct collective_transports *transports, size_t count)
{
    return true;
}

/* Returns a chunk of the data. The first `count % members` chunks are one float longer. */
static struct transfer_piece ring_chunk(float *data, size_t count, size_t members, size_t chunk)
{
    size_t base = count / members, more = count % members;
    size_t first = chunk * base + (chunk < more ? chunk : more);
    size_t floats = base + (chunk < more);
    return (struct transfer_piece){.at = (char *)(data + first), .size = floats * sizeof(float)};
}

static int ring_run(const struct collective_transports *transports,
                    const struct collective_ranks *among, float *data, size_t count,
                    struct err *err)
{
    size_t members = (size_t)(among ? among->count : control_size(transports->control));
    size_t index = (size_t)(among ? among->index : control_rank(transports->control));
    if (members == 1)
        return 0;
    size_t hops = 2 * (members - 1);
    _cleanup_free_ struct transfer_piece *pieces = mem_calloc(2 * hops, sizeof(*pieces));
    struct transfer_plan plan = {.send = pieces,
                                 .recv = pieces + hops,
                                 .send_count = hops,
                                 .recv_count = hops,
                                 .narrow = transports->narrow,
                                 .pairs = among != NULL};
    if (among) {
        plan.to = among->ranks[(index + 1) % members];
        plan.from = among->ranks[(index + members - 1) % members];
    }
    for (size_t hop = 0; hop < hops; hop++) {
        plan.send[hop] = ring_chunk(data, count, members, (index + 2 * members - hop) % members);
        plan.recv[hop] =
            ring_chunk(data, count, members, (index + 2 * members - hop - 1) % members);
        plan.recv[hop].add = hop < members - 1;
    }
    /* In this hop the member sends a chunk with the complete sum for the first time. */
    plan.send[members - 1].round_in_place = transports->narrow;
    plan.head = plan.send[0].size;
    return transport_run(transports->streams, &plan, err);
}

const struct collective_allreduce collective_allreduce_ring = {
    .name = "ring",
    .needs = "no condition",
    .can = ring_can,
    .run = ring_run,
};

/* All-reduce by recursive doubling, for small data: in step k a member exchanges all its data with
 * the member whose index differs in bit k, and both add the received data to their own. After log n
 * steps all members have the sum. If the number of members is not a power of two, collective_core
 * pairs up the first members. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"
#include "comm/transport/reduce.h"

static bool doubling_can(const struct collective_transports *transports, size_t count)
{
    return transports->streams->has_pairs;
}

/* Both members add the same two numbers, and a + b equals b + a, so both have the same bits. */
static int doubling_swap_and_add(const struct collective_transports *transports, int rank,
                                 float *data, float *other, size_t count, struct err *err)
{
    const struct transfer_piece send = {.at = (char *)data, .size = count * sizeof(float)};
    const struct transfer_piece recv = {.at = (char *)other, .size = count * sizeof(float)};
    int result = collective_swap(transports, rank, &send, &recv, false, err);
    if (result == 0)
        reduce_add_f32(data, other, count);
    return result;
}

static int doubling_run(const struct collective_transports *transports,
                        const struct collective_ranks *among, float *data, size_t count,
                        struct err *err)
{
    struct collective_ranks all = among ? *among : collective_all_ranks(transports);
    struct collective_core core = collective_core_of(&all);
    _cleanup_free_ float *other = mem_calloc(count ? count : 1, sizeof(*other));
    int result = collective_core_enter(transports, &core, data, count, false, err);
    for (int bit = 1; result == 0 && core.index >= 0 && bit < core.count; bit <<= 1)
        result = doubling_swap_and_add(transports, collective_core_rank(&core, core.index ^ bit),
                                       data, other, count, err);
    if (result == 0)
        result = collective_core_leave(transports, &core, data, count, false, err);
    if (!among)
        free(all.ranks);
    return result;
}

const struct collective_allreduce collective_allreduce_doubling = {
    .name = "doubling",
    .needs = "3 to 64 workers",
    .can = doubling_can,
    .run = doubling_run,
};

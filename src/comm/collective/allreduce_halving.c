/* All-reduce by recursive halving and doubling, for data of medium size. In each step a member
 * sends one half of its range to its partner, and adds the half that it receives to the half that
 * it keeps. After log n steps each member has the sum of one part. The same steps in reverse order
 * copy all parts to all members. If the number of members n is a power of two, the algorithm sends
 * as few bytes as the ring, in 2 log n hops instead of 2 (n-1). But partners are not neighbours in
 * the ring, so data crosses shared network links more often. */
#include "base/cleanup.h"
#include "comm/collective/collective.h"

enum { STEPS_MAX = 32 };

struct range {
    size_t first, end; /* floats */
};

static struct transfer_piece halving_piece(float *data, struct range range)
{
    return (struct transfer_piece){.at = (char *)(data + range.first),
                                   .size = (range.end - range.first) * sizeof(float)};
}

static bool halving_can(const struct collective_transports *transports, size_t count)
{
    return transports->streams->has_pairs;
}

/* Sums one part per member of the core. ranges[0] must be the range of all data. Sets ranges[k] to
 * the range that this member has after k steps; ranges[*ret_steps] is its part. */
static int halving_scatter(const struct collective_transports *transports,
                           const struct collective_core *core, float *data, struct range *ranges,
                           int *ret_steps, struct err *err)
{
    int result = 0, step = 0;
    for (int bit = core->count / 2; result == 0 && bit; bit /= 2, step++) {
        struct range whole = ranges[step], low = whole, high = whole;
        low.end = high.first = whole.first + (whole.end - whole.first) / 2;
        bool takes_high = core->index & bit;
        ranges[step + 1] = takes_high ? high : low;
        struct transfer_piece send = halving_piece(data, takes_high ? low : high);
        struct transfer_piece recv = halving_piece(data, ranges[step + 1]);
        recv.add = true;
        result = collective_swap(transports, collective_core_rank(core, core->index ^ bit), &send,
                                 &recv, transports->narrow, err);
    }
    *ret_steps = step;
    return result;
}

/* Copies the sums of all parts to all members of the core, in the reverse steps of
 * halving_scatter(). */
static int halving_gather(const struct collective_transports *transports,
                          const struct collective_core *core, float *data,
                          const struct range *ranges, int steps, struct err *err)
{
    int result = 0;
    for (int step = steps - 1, bit = 1; result == 0 && step >= 0; step--, bit *= 2) {
        struct range own = ranges[step + 1], others = ranges[step];
        if (core->index & bit)
            others.end = own.first;
        else
            others.first = own.end;
        struct transfer_piece send = halving_piece(data, own), recv = halving_piece(data, others);
        send.round_in_place = transports->narrow;
        result = collective_swap(transports, collective_core_rank(core, core->index ^ bit), &send,
                                 &recv, transports->narrow, err);
    }
    return result;
}

static int halving_run(const struct collective_transports *transports,
                       const struct collective_ranks *among, float *data, size_t count,
                       struct err *err)
{
    struct collective_ranks all = among ? *among : collective_all_ranks(transports);
    struct collective_core core = collective_core_of(&all);
    struct range ranges[STEPS_MAX + 1] = {{0, count}};
    int steps = 0;
    int result = collective_core_enter(transports, &core, data, count, transports->narrow, err);
    if (result == 0 && core.index >= 0)
        result = halving_scatter(transports, &core, data, ranges, &steps, err);
    if (result == 0 && core.index >= 0)
        result = halving_gather(transports, &core, data, ranges, steps, err);
    if (result == 0)
        result = collective_core_leave(transports, &core, data, count, transports->narrow, err);
    if (!among)
        free(all.ranks);
    return result;
}

const struct collective_allreduce collective_allreduce_halving = {
    .name = "halving",
    .needs = "3 to 64 workers",
    .can = halving_can,
    .run = halving_run,
};

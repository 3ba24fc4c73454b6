/* Implements the choice of the all-reduce algorithm by the size of the data, the number of members
 * and their hosts; see collective.h. */
#include "comm/collective/collective.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdint.h>

static const struct collective_allreduce *const ALL[] = {
    &collective_allreduce_shared,  &collective_allreduce_hierarchical,
    &collective_allreduce_direct,  &collective_allreduce_doubling,
    &collective_allreduce_halving, &collective_allreduce_ring,
};

/* Unless all members share memory, the direct algorithm is used if it makes a member send at most
 * this many bytes in total. In measurements with 4 and 8 members, its single hop is faster than
 * doubling below this limit (4 KiB with 4 members: 64 against 74 µs; 1 KiB with 8 members: 212
 * against 341 µs). Above this limit doubling is faster (4 KiB with 8 members: 318 against 382
 * µs). */
enum { DIRECT_SENT_MAX = 16 * 1024 };

/* The algorithms over connections between pairs, each for up to `bytes_max` bytes of data; the
 * first that fits is chosen. */
static const struct {
    size_t bytes_max;
    const struct collective_allreduce *algorithm;
} OVER_PAIRS[] = {
    /* Sends all data in log n hops: 16 KiB with 4 members take 92 µs, against 153 µs with an
     * algorithm that sends the least data. At 64 KiB halving, which sends the least data, is
     * equally fast (8 members: 867 against 835 µs), and much faster on a slow network. */
    {32 * 1024, &collective_allreduce_doubling},
    /* Sends the least data in 2 log n hops. If hops are cheap, the ring is equally fast from 64 KiB
     * on, otherwise from a few MiB on. On one machine halving is slower than the ring from 1 MiB on
     * (8 members: 6.1 against 3.1 ms). */
    {256 * 1024, &collective_allreduce_halving},
    /* Sends the least data, and adds the data of one hop while it sends the data of the next
     * hop. */
    {SIZE_MAX, &collective_allreduce_ring},
};

const struct collective_allreduce *collective_allreduce_choose_among(size_t count)
{
    size_t i = 0;
    while (count > OVER_PAIRS[i].bytes_max / sizeof(float))
        i++;
    return OVER_PAIRS[i].algorithm;
}

const struct collective_allreduce *
collective_allreduce_choose(const struct collective_transports *transports, size_t count)
{
    size_t others = (size_t)control_size(transports->control) - 1;
    if (collective_allreduce_shared.can(transports, count))
        return &collective_allreduce_shared;
    if (collective_allreduce_direct.can(transports, count) &&
        count * others <= DIRECT_SENT_MAX / sizeof(float))
        return &collective_allreduce_direct;
    if (collective_allreduce_hierarchical.can(transports, count))
        return &collective_allreduce_hierarchical;
    const struct collective_allreduce *over_pairs = collective_allreduce_choose_among(count);
    return over_pairs->can(transports, count) ? over_pairs : &collective_allreduce_ring;
}

const struct collective_allreduce *collective_allreduce_at(size_t index)
{
    return index < ARRAY_SIZE(ALL) ? ALL[index] : NULL;
}

const struct collective_allreduce *collective_allreduce_by_name(const char *name)
{
    for (size_t i = 0; i < ARRAY_SIZE(ALL); i++)
        if (str_eq(ALL[i]->name, name))
            return ALL[i];
    return NULL;
}

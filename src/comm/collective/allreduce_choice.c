/* Which all-reduce for which size and number of members; see collective.h. */
#include "comm/collective/collective.h"

#include "base/mem.h"
#include "base/str.h"

#include <stdint.h>

static const struct collective_allreduce *const ALL[] = {
    &collective_allreduce_shared,  &collective_allreduce_hierarchical,
    &collective_allreduce_direct,  &collective_allreduce_doubling,
    &collective_allreduce_halving, &collective_allreduce_ring,
};

/* Everything to everybody, in one hop, as long as a member sends no more than this in all: measured
 * with 4 and 8 members, one hop wins up to there (4 KiB of 4 members: 64 against 74 µs, 1 KiB of 8:
 * 212 against 341), then the log n hops of doubling do (4 KiB of 8: 382 against 318). */
enum { DIRECT_SENT_MAX = 16 * 1024 };

/* Up to so many bytes over TCP between any two; the last takes the rest. */
static const struct {
    size_t bytes_max;
    const struct collective_allreduce *algorithm;
} OVER_PAIRS[] = {
    /* All data in log n hops; with 4 members 92 µs against 153 for 16 KiB. At 64 KiB the least data
     * is as good (8 members: 867 against 835 µs), and on a slow network much better. */
    {32 * 1024, &collective_allreduce_doubling},
    /* The least data in 2 log n hops; where hops are cheap the ring is as good from 64 KiB on,
     * where they are not, from some MiB on. On one machine it falls behind from 1 MiB on (8
     * members: 6.1 against 3.1 ms). */
    {256 * 1024, &collective_allreduce_halving},
    /* The least data, and each hop's adding hides behind the next one's sending. */
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

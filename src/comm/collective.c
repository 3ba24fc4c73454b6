/* The choice among algorithms; see collective.h. */
#include "comm/collective.h"

#include "base/mem.h"

static const struct collective_allreduce *const ALLREDUCES[] = {
    &collective_allreduce_direct,
    &collective_allreduce_ring,
};

const struct collective_allreduce *collective_allreduce_choose(int members, size_t count)
{
    for (size_t i = 0; i < ARRAY_SIZE(ALLREDUCES); i++)
        if (ALLREDUCES[i]->fits(members, count))
            return ALLREDUCES[i];
    mem_panic("no all-reduce fits %zu floats", count);
}

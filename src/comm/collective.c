/* The choice among algorithms; see collective.h. */
#include "comm/collective.h"

#include "base/mem.h"

static const struct collective_allreduce *const ALLREDUCES[] = {
    &collective_allreduce_shared,
    &collective_allreduce_direct,
    &collective_allreduce_ring,
};

bool comm_links_all_shared(const struct comm_links *links)
{
    return links->shm && transport_shm_count(links->shm) == transport_tcp_size(links->tcp);
}

const struct collective_allreduce *collective_allreduce_choose(const struct comm_links *links,
                                                               size_t count)
{
    for (size_t i = 0; i < ARRAY_SIZE(ALLREDUCES); i++)
        if (ALLREDUCES[i]->fits(links, count))
            return ALLREDUCES[i];
    mem_panic("no all-reduce fits %zu floats", count);
}

/* Implements the core, for algorithms that need a power of two of members; see collective.h. */
#include "comm/collective/collective.h"

struct collective_core collective_core_of(const struct collective_ranks *all)
{
    struct collective_core core = {.all = all, .count = 1};
    while (core.count * 2 <= all->count)
        core.count *= 2;
    core.pairs = all->count - core.count;
    core.index = all->index >= 2 * core.pairs ? all->index - core.pairs
                 : all->index % 2 == 0        ? all->index / 2
                                              : -1;
    return core;
}

int collective_core_rank(const struct collective_core *core, int index)
{
    return core->all->ranks[index < core->pairs ? 2 * index : index + core->pairs];
}

/* Returns the rank of the member with which this member forms a pair, or -1 if it is in no pair. */
static int core_partner(const struct collective_core *core)
{
    int index = core->all->index;
    return index < 2 * core->pairs ? core->all->ranks[index ^ 1] : -1;
}

int collective_core_enter(const struct collective_transports *transports,
                          const struct collective_core *core, float *data, size_t count,
                          bool narrow, struct err *err)
{
    int partner = core_partner(core);
    struct transfer_piece piece = {.at = (char *)data, .size = count * sizeof(float), .add = true};
    if (partner < 0)
        return 0;
    return core->index < 0 ? collective_swap(transports, partner, &piece, NULL, narrow, err)
                           : collective_swap(transports, partner, NULL, &piece, narrow, err);
}

int collective_core_leave(const struct collective_transports *transports,
                          const struct collective_core *core, float *data, size_t count,
                          bool narrow, struct err *err)
{
    int partner = core_partner(core);
    const struct transfer_piece piece = {.at = (char *)data, .size = count * sizeof(float)};
    if (partner < 0)
        return 0;
    return core->index < 0 ? collective_swap(transports, partner, NULL, &piece, narrow, err)
                           : collective_swap(transports, partner, &piece, NULL, narrow, err);
}

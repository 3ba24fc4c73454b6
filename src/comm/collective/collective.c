/* Implements the barrier and the functions that several algorithms use; see collective.h. */
#include "comm/collective/collective.h"

#include "base/mem.h"

bool collective_all_shared(const struct collective_transports *transports)
{
    return transports->memory && transports->memory->count == control_size(transports->control);
}

int collective_swap(const struct collective_transports *transports, int rank,
                    const struct transfer_piece *send, const struct transfer_piece *recv,
                    bool narrow, struct err *err)
{
    struct transfer_piece pieces[2] = {send ? *send : (struct transfer_piece){0},
                                       recv ? *recv : (struct transfer_piece){0}};
    const struct transfer_plan plan = {.send = &pieces[0],
                                       .recv = &pieces[1],
                                       .send_count = send != NULL,
                                       .recv_count = recv != NULL,
                                       .head = pieces[0].size,
                                       .narrow = narrow,
                                       .pairs = true,
                                       .to = rank,
                                       .from = rank};
    return transport_run(transports->streams, &plan, err);
}

struct collective_ranks collective_all_ranks(const struct collective_transports *transports)
{
    int size = control_size(transports->control);
    struct collective_ranks all = {.ranks = mem_calloc((size_t)size, sizeof(int)),
                                   .count = size,
                                   .index = control_rank(transports->control)};
    for (int i = 0; i < size; i++)
        all.ranks[i] = i;
    return all;
}

int collective_barrier(const struct collective_transports *transports, struct err *err)
{
    return collective_all_shared(transports) ? transport_begin(transports->memory, NULL, err)
                                             : control_barrier(transports->control, err);
}

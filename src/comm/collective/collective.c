/* What the algorithms have in common; see collective.h. */
#include "comm/collective/collective.h"

#include "base/mem.h"

bool comm_links_all_shared(const struct comm_links *links)
{
    return links->shm && transport_shm_count(links->shm) == transport_tcp_size(links->tcp);
}

int collective_swap(const struct comm_links *links, int rank, const struct ring_piece *send,
                    const struct ring_piece *recv, bool narrow, struct err *err)
{
    struct ring_piece pieces[2] = {send ? *send : (struct ring_piece){0},
                                   recv ? *recv : (struct ring_piece){0}};
    const struct ring_plan plan = {.send = &pieces[0],
                                   .recv = &pieces[1],
                                   .send_count = send != NULL,
                                   .recv_count = recv != NULL,
                                   .head = pieces[0].size,
                                   .narrow = narrow,
                                   .pairs = true,
                                   .to = rank,
                                   .from = rank};
    return transport_tcp_run_ring(links->tcp, &plan, err);
}

struct collective_ranks collective_all_ranks(const struct comm_links *links)
{
    int size = transport_tcp_size(links->tcp);
    struct collective_ranks all = {.ranks = mem_calloc((size_t)size, sizeof(int)),
                                   .count = size,
                                   .index = transport_tcp_rank(links->tcp)};
    for (int i = 0; i < size; i++)
        all.ranks[i] = i;
    return all;
}

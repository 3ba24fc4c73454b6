/* Broadcast and all-gather around the ring: bytes are passed on as they come, so that all links
 * work at once and the time hardly grows with the number of members. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"

int collective_broadcast_ring(struct transport_tcp *tcp, int root, void *data, size_t size,
                              struct err *err)
{
    int members = transport_tcp_size(tcp);
    int rank = (transport_tcp_rank(tcp) + members - root) % members; /* from the root on */
    struct ring_piece piece = {.at = data, .size = size};
    struct ring_plan plan = {.send = &piece,
                             .recv = &piece,
                             .send_count = rank<members - 1, .recv_count = rank> 0,
                             .head = rank == 0 ? size : 0};
    return transport_tcp_run_ring(tcp, &plan, err);
}

int collective_allgather_ring(struct transport_tcp *tcp, size_t size, void *all, struct err *err)
{
    size_t members = (size_t)transport_tcp_size(tcp), rank = (size_t)transport_tcp_rank(tcp);
    size_t hops = members - 1;
    _cleanup_free_ struct ring_piece *pieces = mem_calloc(2 * hops, sizeof(*pieces));
    struct ring_plan plan = {.send = pieces,
                             .recv = pieces + hops,
                             .send_count = hops,
                             .recv_count = hops,
                             .head = size};
    for (size_t hop = 0; hop < hops; hop++) {
        size_t sent = (rank + members - hop) % members;
        size_t received = (rank + members - hop - 1) % members;
        plan.send[hop] = (struct ring_piece){.at = (char *)all + sent * size, .size = size};
        plan.recv[hop] = (struct ring_piece){.at = (char *)all + received * size, .size = size};
    }
    return transport_tcp_run_ring(tcp, &plan, err);
}

/* Implements broadcast and all-gather: in shared memory if all members share memory
 * (broadcast_shared.c), otherwise around the ring; see collective.h. Around the ring, members
 * forward bytes as they arrive, so that all connections are busy at once and the time hardly grows
 * with the number of members. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"

static int broadcast_ring(const struct collective_transports *transports, int root, void *data,
                          size_t size, struct err *err)
{
    int members = control_size(transports->control);
    /* The distance of this member from the root in the ring. */
    int distance = (control_rank(transports->control) + members - root) % members;
    struct transfer_piece piece = {.at = data, .size = size};
    struct transfer_plan plan = {.send = &piece,
                                 .recv = &piece,
                                 .send_count = (distance < members - 1),
                                 .recv_count = (distance > 0),
                                 .head = distance == 0 ? size : 0};
    return transport_run(transports->streams, &plan, err);
}

static int allgather_ring(const struct collective_transports *transports, size_t size, void *all,
                          struct err *err)
{
    size_t members = (size_t)control_size(transports->control),
           rank = (size_t)control_rank(transports->control);
    size_t hops = members - 1;
    _cleanup_free_ struct transfer_piece *pieces = mem_calloc(2 * hops, sizeof(*pieces));
    struct transfer_plan plan = {.send = pieces,
                                 .recv = pieces + hops,
                                 .send_count = hops,
                                 .recv_count = hops,
                                 .head = size};
    for (size_t hop = 0; hop < hops; hop++) {
        size_t sent = (rank + members - hop) % members;
        size_t received = (rank + members - hop - 1) % members;
        plan.send[hop] = (struct transfer_piece){.at = (char *)all + sent * size, .size = size};
        plan.recv[hop] = (struct transfer_piece){.at = (char *)all + received * size, .size = size};
    }
    return transport_run(transports->streams, &plan, err);
}

int collective_broadcast(const struct collective_transports *transports, int root, void *data,
                         size_t size, struct err *err)
{
    return collective_all_shared(transports)
               ? collective_broadcast_shared(transports->memory, root, data, size, err)
               : broadcast_ring(transports, root, data, size, err);
}

int collective_allgather(const struct collective_transports *transports, size_t size, void *all,
                         struct err *err)
{
    return collective_all_shared(transports)
               ? collective_allgather_shared(transports->memory, size, all, err)
               : allgather_ring(transports, size, all, err);
}

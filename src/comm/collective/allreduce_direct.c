/* All-reduce for small data: everybody gives everything to everybody, and each adds it up in the
 * order of ranks. More bytes than any other, but one hop. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"

#include <string.h>

static bool can(const struct comm_links *links, size_t count)
{
    return count <= WIRE_FRAME_MAX / sizeof(float);
}

static int run(const struct comm_links *links, const struct collective_ranks *among, float *data,
               size_t count, struct err *err)
{
    struct transport_tcp *tcp = links->tcp;
    size_t members = (size_t)transport_tcp_size(tcp);
    _cleanup_free_ float *all = mem_calloc(members * count, sizeof(*all));
    int result = transport_tcp_exchange(tcp, data, count * sizeof(float), all, err);
    if (result < 0)
        return result;
    memcpy(data, all, count * sizeof(float));
    for (size_t rank = 1; rank < members; rank++)
        for (size_t i = 0; i < count; i++)
            data[i] += all[rank * count + i];
    return 0;
}

const struct collective_allreduce collective_allreduce_direct = {
    .name = "direct",
    .can = can,
    .run = run,
};

int collective_barrier_direct(struct transport_tcp *tcp, struct err *err)
{
    char nothing;
    return transport_tcp_exchange(tcp, NULL, 0, &nothing, err);
}

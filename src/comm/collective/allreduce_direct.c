/* All-reduce for small data, over the control connections: every member sends all its data to every
 * other member, and each member adds the data of all in the order of ranks. The algorithm sends
 * more bytes than any other, but in one hop. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "comm/collective/collective.h"

#include <string.h>

static bool direct_can(const struct collective_transports *transports, size_t count)
{
    return count <= WIRE_FRAME_MAX / sizeof(float);
}

static int direct_run(const struct collective_transports *transports,
                      const struct collective_ranks *among, float *data, size_t count,
                      struct err *err)
{
    size_t members = (size_t)control_size(transports->control);
    _cleanup_free_ float *all = mem_calloc(members * count, sizeof(*all));
    int result = control_exchange(transports->control, data, count * sizeof(float), all, err);
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
    .needs = "at most 16 KiB of data",
    .can = direct_can,
    .run = direct_run,
};

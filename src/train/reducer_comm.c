/* The reducer of several workers; see reducer_comm.h. */
#include "train/reducer_comm.h"

#include "base/mem.h"

static struct comm_group *group_of(struct reducer *reducer)
{
    return CONTAINER_OF(reducer, struct reducer_comm, reducer)->group;
}

static int allreduce(struct reducer *reducer, float *data, size_t count, struct err *err)
{
    return comm_allreduce_sum_f32(group_of(reducer), data, count, err);
}

static int allgather(struct reducer *reducer, const float *own, size_t count, float *all,
                     struct err *err)
{
    return comm_allgather(group_of(reducer), own, count * sizeof(*own), all, err);
}

static int broadcast(struct reducer *reducer, void *data, size_t size, struct err *err)
{
    return comm_broadcast(group_of(reducer), data, size, err);
}

void reducer_comm_init(struct reducer_comm *reducer, struct comm_group *group)
{
    *reducer = (struct reducer_comm){
        .reducer = {.rank = comm_group_rank(group),
                    .size = comm_group_size(group),
                    .allreduce = allreduce,
                    .allgather = allgather,
                    .broadcast = broadcast},
        .group = group,
    };
}

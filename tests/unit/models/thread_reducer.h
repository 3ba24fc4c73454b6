/* Workers as threads of one process: a reducer that sums in shared memory, rank by rank. */
#ifndef TRAINYARD_TESTS_UNIT_MODELS_THREAD_REDUCER_H
#define TRAINYARD_TESTS_UNIT_MODELS_THREAD_REDUCER_H

#include "base/mem.h"
#include "train/team/reducer.h"
#include "train/team/reducer_queue.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

enum { THREAD_WORKERS_MAX = 8 };

struct thread_group {
    pthread_barrier_t barrier;
    int size;
    const void *data[THREAD_WORKERS_MAX];
};

struct thread_reducer {
    struct reducer reducer;
    struct thread_group *group;
    struct reducer_queue *queue; /* NULL before send_in_background() */
};

static inline struct thread_group *thread_enter(struct reducer *reducer, const void *data)
{
    struct thread_group *group = CONTAINER_OF(reducer, struct thread_reducer, reducer)->group;
    group->data[reducer->rank] = data;
    pthread_barrier_wait(&group->barrier);
    return group;
}

static inline int thread_allreduce(struct reducer *reducer, float *data, size_t count,
                                   struct err *err)
{
    struct thread_group *group = thread_enter(reducer, data);
    float *sum = mem_calloc(count, sizeof(*sum));
    for (int rank = 0; rank < group->size; rank++)
        for (size_t i = 0; i < count; i++)
            sum[i] += ((const float *)group->data[rank])[i];
    pthread_barrier_wait(&group->barrier);
    memcpy(data, sum, count * sizeof(*sum));
    free(sum);
    return 0;
}

static inline int thread_allgather(struct reducer *reducer, const float *own, size_t count,
                                   float *all, struct err *err)
{
    struct thread_group *group = thread_enter(reducer, own);
    for (int rank = 0; rank < group->size; rank++)
        memcpy(all + (size_t)rank * count, group->data[rank], count * sizeof(*all));
    pthread_barrier_wait(&group->barrier);
    return 0;
}

static inline int thread_broadcast(struct reducer *reducer, int root, float *data, size_t count,
                                   struct err *err)
{
    struct thread_group *group = thread_enter(reducer, data);
    if (reducer->rank != root)
        memcpy(data, group->data[root], count * sizeof(*data));
    pthread_barrier_wait(&group->barrier);
    return 0;
}

static inline int thread_sum(void *context, float *data, size_t count, struct err *err)
{
    return thread_allreduce(context, data, count, err);
}

static inline int thread_begin(struct reducer *reducer, float *data, size_t count, struct err *err)
{
    struct thread_reducer *self = CONTAINER_OF(reducer, struct thread_reducer, reducer);
    int result = self->queue ? 0 : reducer_queue_new(thread_sum, reducer, &self->queue, err);
    if (result == 0)
        reducer_queue_put(self->queue, data, count);
    return result;
}

static inline int thread_finish(struct reducer *reducer, struct err *err)
{
    return reducer_queue_wait(CONTAINER_OF(reducer, struct thread_reducer, reducer)->queue, err);
}

/* Lets the reducer sum in the background, like workers on several machines. The caller frees the
 * queue. */
static inline void send_in_background(struct thread_reducer *reducer)
{
    reducer->reducer.far = true;
    reducer->reducer.begin = thread_begin;
    reducer->reducer.finish = thread_finish;
}

static inline struct thread_reducer thread_reducer(struct thread_group *group, int rank)
{
    return (struct thread_reducer){
        .reducer = {.rank = rank,
                    .size = group->size,
                    .allreduce = thread_allreduce,
                    .allgather = thread_allgather,
                    .broadcast = thread_broadcast},
        .group = group,
    };
}

#endif

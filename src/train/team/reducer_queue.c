/* Implements the queue of background sums with one thread; see reducer_queue.h. */
#include "train/team/reducer_queue.h"

#include "base/mem.h"
#include "base/system/thread.h"

#include <pthread.h>
#include <stdbool.h>
#include <stdlib.h>

struct sum_request {
    float *data;
    size_t count;
};

struct reducer_queue {
    int (*sum)(void *context, float *data, size_t count, struct err *err);
    void *context;
    pthread_t thread;
    pthread_mutex_t mutex;  /* protects the members below */
    pthread_cond_t changed; /* `put`, `done` or `end` has changed */
    struct sum_request requests[REDUCER_QUEUE_MAX];
    int put;          /* number of requests since the previous reducer_queue_wait() */
    int done;         /* number of these requests that are complete or were skipped */
    bool end;         /* the thread must end */
    int result;       /* code of the sum that failed since the previous wait; 0: none failed */
    struct err error; /* error of that sum */
};

static void *run_queue(void *argument)
{
    struct reducer_queue *queue = argument;
    pthread_mutex_lock(&queue->mutex);
    for (;;) {
        while (queue->done == queue->put && !queue->end)
            pthread_cond_wait(&queue->changed, &queue->mutex);
        if (queue->done == queue->put)
            break;
        struct sum_request request = queue->requests[queue->done];
        if (queue->result == 0) {
            struct err err = ERR_INIT;
            pthread_mutex_unlock(&queue->mutex);
            int result = queue->sum(queue->context, request.data, request.count, &err);
            pthread_mutex_lock(&queue->mutex);
            queue->result = result;
            queue->error = err;
        }
        queue->done++;
        pthread_cond_broadcast(&queue->changed);
    }
    pthread_mutex_unlock(&queue->mutex);
    return NULL;
}

int reducer_queue_new(int (*sum)(void *context, float *data, size_t count, struct err *err),
                      void *context, struct reducer_queue **ret, struct err *err)
{
    struct reducer_queue *queue = mem_zalloc(sizeof(*queue));
    queue->sum = sum;
    queue->context = context;
    pthread_mutex_init(&queue->mutex, NULL);
    pthread_cond_init(&queue->changed, NULL);
    int result = thread_start(&queue->thread, "reducer", "the thread that sums gradients",
                              run_queue, queue, err);
    if (result < 0) {
        pthread_mutex_destroy(&queue->mutex);
        pthread_cond_destroy(&queue->changed);
        free(queue);
        return result;
    }
    *ret = queue;
    return 0;
}

struct reducer_queue *reducer_queue_free(struct reducer_queue *queue)
{
    if (!queue)
        return NULL;
    pthread_mutex_lock(&queue->mutex);
    queue->end = true;
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
    pthread_join(queue->thread, NULL);
    pthread_mutex_destroy(&queue->mutex);
    pthread_cond_destroy(&queue->changed);
    free(queue);
    return NULL;
}

void reducer_queue_put(struct reducer_queue *queue, float *data, size_t count)
{
    pthread_mutex_lock(&queue->mutex);
    if (queue->put == REDUCER_QUEUE_MAX)
        mem_panic("more than %d sums are queued: the caller must wait for them first",
                  REDUCER_QUEUE_MAX);
    queue->requests[queue->put++] = (struct sum_request){data, count};
    pthread_cond_broadcast(&queue->changed);
    pthread_mutex_unlock(&queue->mutex);
}

int reducer_queue_wait(struct reducer_queue *queue, struct err *err)
{
    pthread_mutex_lock(&queue->mutex);
    while (queue->done < queue->put)
        pthread_cond_wait(&queue->changed, &queue->mutex);
    int result = queue->result;
    if (result < 0)
        err_set(err, queue->error.code, "%s", queue->error.message);
    queue->put = queue->done = 0;
    queue->result = 0;
    pthread_mutex_unlock(&queue->mutex);
    return result;
}

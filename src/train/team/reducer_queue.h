/* Sums over the workers in the background: a thread runs the sums in the order of the requests
 * while the caller computes. All workers request the same sums in the same order. Between the first
 * request and the end of reducer_queue_wait() no other code may use the connections that the sums
 * use. Only reducer_comm.c uses the queue. */
#ifndef TRAINYARD_TRAIN_TEAM_REDUCER_QUEUE_H
#define TRAINYARD_TRAIN_TEAM_REDUCER_QUEUE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

/* largest number of requests between two calls of reducer_queue_wait() */
enum { REDUCER_QUEUE_MAX = 64 };

struct reducer_queue;

/* Starts the thread, which calls `sum` for each request. Returns 0, or an error if the thread
 * cannot be started. The caller frees the queue. */
int reducer_queue_new(int (*sum)(void *context, float *data, size_t count, struct err *err),
                      void *context, struct reducer_queue **ret, struct err *err);
/* Ends the thread. Every request must have been waited for. NULL-safe; returns NULL. */
struct reducer_queue *reducer_queue_free(struct reducer_queue *queue);
DEFINE_CLEANUP(reducer_queue)

/* Requests a sum. The caller must not access the data until reducer_queue_wait() returns. More than
 * REDUCER_QUEUE_MAX requests are a bug and abort the process. */
void reducer_queue_put(struct reducer_queue *queue, float *data, size_t count);

/* Waits until all requested sums are complete. If a sum fails, the thread skips the sums after it,
 * and this function returns the error of the failed sum. */
int reducer_queue_wait(struct reducer_queue *queue, struct err *err);

#endif

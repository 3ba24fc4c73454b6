/* Sums over the workers in the background: one thread makes them in the order of the requests while
 * the caller computes. All workers request the same sums in the same order. Between the first
 * request and the end of reducer_queue_wait() no other code may use the links that the sums are
 * made with. A reducer owns the queue. */
#ifndef TRAINYARD_TRAIN_TEAM_REDUCER_QUEUE_H
#define TRAINYARD_TRAIN_TEAM_REDUCER_QUEUE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

enum { REDUCER_QUEUE_MAX = 64 }; /* sums between two waits */

struct reducer_queue;

/* Starts the thread, on which `sum` is called. */
int reducer_queue_new(int (*sum)(void *context, float *data, size_t count, struct err *err),
                      void *context, struct reducer_queue **ret, struct err *err);
struct reducer_queue *reducer_queue_free(struct reducer_queue *queue); /* after a wait; NULL-safe */
DEFINE_CLEANUP(reducer_queue)

/* Requests a sum. The data must not be touched until reducer_queue_wait() returns. More than
 * REDUCER_QUEUE_MAX requests are a defect and end the process. */
void reducer_queue_put(struct reducer_queue *queue, float *data, size_t count);

/* Waits until all sums are made. If one fails, returns its error and skips the rest. */
int reducer_queue_wait(struct reducer_queue *queue, struct err *err);

#endif

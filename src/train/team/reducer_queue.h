/* Sums over the workers in the background: one thread that makes them in the order in which they
 * were asked for, while the caller computes on. All workers ask for the same ones in the same
 * order. Between the first that is put in and the end of reducer_queue_wait() nobody else may use
 * what the sums are made with. Owned by a reducer. */
#ifndef TRAINYARD_TRAIN_REDUCER_QUEUE_H
#define TRAINYARD_TRAIN_REDUCER_QUEUE_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>

enum { REDUCER_QUEUE_MAX = 64 }; /* sums between two waits */

struct reducer_queue;

/* `sum` is called on the thread of the queue. */
int reducer_queue_new(int (*sum)(void *context, float *data, size_t count, struct err *err),
                      void *context, struct reducer_queue **ret, struct err *err);
struct reducer_queue *reducer_queue_free(struct reducer_queue *queue); /* after a wait; NULL-safe */
DEFINE_CLEANUP(reducer_queue)

/* Nobody touches the data until the wait is over. One too many is a defect and ends the process. */
void reducer_queue_put(struct reducer_queue *queue, float *data, size_t count);

/* Until all are made, or one failed: then those behind it are left out, and its error is told. */
int reducer_queue_wait(struct reducer_queue *queue, struct err *err);

#endif

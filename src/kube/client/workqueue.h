/* A queue of keys for a controller. A key that is added several times waits once; one key is never
 * worked on twice at the same time; at most `parallel` keys are worked on at once; a failed key is
 * added again after a backoff that doubles. */
#ifndef TRAINYARD_KUBE_CLIENT_WORKQUEUE_H
#define TRAINYARD_KUBE_CLIENT_WORKQUEUE_H

#include "loop/loop.h"

#include <stddef.h>

struct workqueue;

/* Starts work on the key. It must call workqueue_done() when the work has ended, at once or later.
 */
typedef void workqueue_worker(void *context, const char *key);

struct workqueue *workqueue_new(struct loop *loop, size_t parallel, workqueue_worker *worker,
                                void *context);
/* Frees at once, also from within a worker. No worker runs afterwards, and work in progress must
 * not report its end. */
struct workqueue *workqueue_free(struct workqueue *queue);

void workqueue_add(struct workqueue *queue, const char *key);
void workqueue_add_after(struct workqueue *queue, const char *key,
                         int64_t delay_ms); /* of several delays of a key the shortest counts */

/* The work on the key has ended. failed: the key is added again after its backoff (5 ms to 30 s);
 * else the backoff is reset. */
void workqueue_done(struct workqueue *queue, const char *key, bool failed);

/* The work on the key could not begin: the key is added again after the delay, without counting as
 * a failure. */
void workqueue_defer(struct workqueue *queue, const char *key, int64_t delay_ms);

size_t
workqueue_length(const struct workqueue *queue); /* keys that wait now, without delayed ones */

#endif

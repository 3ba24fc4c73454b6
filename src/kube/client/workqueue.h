/* A queue of keys for a controller. A key that is added several times waits only once. Work on the
 * same key never runs twice at the same time, and work on at most `parallel` keys runs at once. A
 * failed key is added again after a backoff that doubles. */
#ifndef TRAINYARD_KUBE_CLIENT_WORKQUEUE_H
#define TRAINYARD_KUBE_CLIENT_WORKQUEUE_H

#include "loop/loop.h"

#include <stddef.h>

struct workqueue;

/* Starts the work on a key. When the work has ended, within this call or later, workqueue_done() or
 * workqueue_defer() must be called. `key` is valid until the worker has returned and the work has
 * ended. */
typedef void workqueue_worker(void *context, const char *key);

/* Runs `worker` on the loop thread, for at most `parallel` keys at once (0 counts as 1). */
struct workqueue *workqueue_new(struct loop *loop, size_t parallel, workqueue_worker *worker,
                                void *context);
/* Frees the queue. May be called from within a worker. No worker starts afterwards, and work in
 * progress must not call workqueue_done(). Returns NULL. NULL-safe. */
struct workqueue *workqueue_free(struct workqueue *queue);

/* Queues the key. If work on the key is in progress, the key is queued when the work has ended. */
void workqueue_add(struct workqueue *queue, const char *key);
/* Adds the key after the delay. If a key has several delays, only the delay that ends first
 * counts. */
void workqueue_add_after(struct workqueue *queue, const char *key, int64_t delay_ms);

/* Ends the work on the key. If `failed` is set, the key is added again after its backoff (5 ms to
 * 30 s). Otherwise the backoff is reset. */
void workqueue_done(struct workqueue *queue, const char *key, bool failed);

/* Like workqueue_done(), for work that could not begin. Adds the key again after the delay. Does
 * not count as a failure, and resets the backoff. */
void workqueue_defer(struct workqueue *queue, const char *key, int64_t delay_ms);

/* Returns the number of keys that wait for a worker. Delayed and running keys do not count. */
size_t workqueue_length(const struct workqueue *queue);

#endif

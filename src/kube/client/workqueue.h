/* Keys waiting to be worked on: each once however often it is added, never two workers on one key,
 * at most `parallel` at a time, a failed key again after a back-off that doubles. */
#ifndef TRAINYARD_KUBE_WORKQUEUE_H
#define TRAINYARD_KUBE_WORKQUEUE_H

#include "loop/loop.h"

#include <stddef.h>

struct workqueue;

/* Start work on the key and call workqueue_done() when it has ended, now or later. */
typedef void workqueue_worker(void *context, const char *key);

struct workqueue *workqueue_new(struct loop *loop, size_t parallel, workqueue_worker *worker,
                                void *context);
/* At once, also from within a worker; nothing is told of what is under way any more. */
struct workqueue *workqueue_free(struct workqueue *queue);

void workqueue_add(struct workqueue *queue, const char *key);
void workqueue_add_after(struct workqueue *queue, const char *key,
                         int64_t delay_ms); /* the earliest wins */

/* The key's work ended. failed: it is added again after its back-off (5 ms … 30 s); else the
 * back-off is forgotten. */
void workqueue_done(struct workqueue *queue, const char *key, bool failed);

/* The key's work could not begin: it is added again after so long, and is no failure. */
void workqueue_defer(struct workqueue *queue, const char *key, int64_t delay_ms);

size_t workqueue_length(const struct workqueue *queue); /* waiting now, not counting delayed ones */

#endif

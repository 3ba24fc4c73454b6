/* Prepares batches in advance: loader threads fill the batches of the next steps while the current
 * step runs. The contents of a batch depend only on its step and on the share of this worker, never
 * on the thread or the time. Any number of loaders therefore gives the same bits, and a checkpoint
 * needs only the step and no state of the feed. Only one thread may take batches, but `fill` is
 * called on several threads. The trainers of faces and classifiers use a feed. */
#ifndef TRAINYARD_TRAIN_DATA_BATCH_FEED_H
#define TRAINYARD_TRAIN_DATA_BATCH_FEED_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { BATCH_FEED_LOADERS_MAX = 64 };

struct batch {
    float *inputs; /* the samples of this worker's share */
    int *labels;   /* room for one label per sample of the whole batch, in batch order */
};

struct batch_feed_options {
    size_t batch;  /* samples per step, of all workers */
    size_t sample; /* floats per sample */
    int loaders;   /* number of loader threads; 0: batch_feed_take() fills the batch itself */
    void *context;
    /* Fills the samples from `first` to first + count - 1 of the batch of a step, and their labels.
     * May also set other labels of the batch. Returns 0 or a negative code. All loaders call it, at
     * the same time. */
    int (*fill)(void *context, uint64_t step, size_t first, size_t count, struct batch *batch,
                struct err *err);
};

struct batch_feed;

/* Creates a feed and starts its loaders. The caller must call batch_feed_share() before it takes
 * the first batch, and frees the feed. Returns -ERR_INVALID if the number of loaders is out of
 * bounds, or an error if a thread cannot be started. */
int batch_feed_new(const struct batch_feed_options *options, struct batch_feed **ret,
                   struct err *err);
struct batch_feed *batch_feed_free(struct batch_feed *feed); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(batch_feed)

/* Sets which samples of a batch belong to this worker. The caller calls it again when the share
 * changes, for example after a worker has left the group. Waits for busy loaders and discards the
 * prepared batches. The feed restarts at the step that is taken next. */
void batch_feed_share(struct batch_feed *feed, size_t first, size_t count);

/* Waits for the batch of a step and sets *ret to it. The batch stays valid until the next call of
 * batch_feed_take() or batch_feed_share(). Steps normally come in order. The same step may be taken
 * again. Any other step, for example after a resume, restarts the feed at that step. Returns the
 * error of `fill` if the batch of this step could not be prepared. */
int batch_feed_take(struct batch_feed *feed, uint64_t step, const struct batch **ret,
                    struct err *err);

#endif

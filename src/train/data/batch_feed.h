/* Prepares batches in advance: loader threads fill the batches of the next steps while the current
 * step runs. The contents of a batch depend only on its step and on the worker's share, never on
 * the thread or the time, so any number of loaders gives the same bits. A checkpoint needs no state
 * of the feed, only the step. One thread takes batches, and several threads call `fill`. All
 * synchronous training uses a feed. */
#ifndef TRAINYARD_TRAIN_DATA_BATCH_FEED_H
#define TRAINYARD_TRAIN_DATA_BATCH_FEED_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { BATCH_FEED_LOADERS_MAX = 64 };

struct batch {
    float *inputs; /* the samples of this worker's share */
    int *labels;   /* one per sample of the whole batch, in batch order */
};

struct batch_feed_options {
    size_t batch;  /* samples per step, of all workers */
    size_t sample; /* floats per sample */
    int loaders;   /* number of loader threads; 0: batch_feed_take() fills the batch itself */
    void *context;
    /* Fills the samples from `first` to first + count - 1 of the batch of a step. Called on several
     * threads at the same time. */
    int (*fill)(void *context, uint64_t step, size_t first, size_t count, struct batch *batch,
                struct err *err);
};

struct batch_feed;

/* batch_feed_share() must be called before the first batch is taken. */
int batch_feed_new(const struct batch_feed_options *options, struct batch_feed **ret,
                   struct err *err);
struct batch_feed *batch_feed_free(struct batch_feed *feed); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(batch_feed)

/* Sets which samples of a batch belong to this worker. Called again when the share changes, for
 * example after the group of workers has changed. Waits for the loaders and discards the prepared
 * batches. The feed restarts at the next step that is taken. */
void batch_feed_share(struct batch_feed *feed, size_t first, size_t count);

/* Returns the batch of a step, which stays valid until the next call of batch_feed_take() or
 * batch_feed_share(). Steps normally come in order. The same step may be taken again. Any other
 * step, for example after a resume, restarts the feed at that step. A failure to prepare a batch is
 * reported when that batch is taken, not before. */
int batch_feed_take(struct batch_feed *feed, uint64_t step, const struct batch **ret,
                    struct err *err);

#endif

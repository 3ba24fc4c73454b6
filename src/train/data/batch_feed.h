/* Batches made ahead: loader threads fill the batches of the next steps while the present one is
 * trained on. What a batch holds depends on its step and the worker's share alone, never on which
 * thread made it or when, so any number of loaders gives the same bits. The feed has no place of
 * its own to save: its place is the step. One thread takes; the model's function that fills is
 * called from several. Used by the training of each model that works in step. */
#ifndef TRAINYARD_TRAIN_BATCH_FEED_H
#define TRAINYARD_TRAIN_BATCH_FEED_H

#include "base/cleanup.h"
#include "base/err.h"

#include <stddef.h>
#include <stdint.h>

enum { BATCH_FEED_LOADERS_MAX = 64 };

struct batch {
    float *inputs; /* of the share: `count` samples */
    int *labels;   /* one a sample of the whole batch, at its position in it */
};

struct batch_feed_options {
    size_t batch;  /* samples of a step, of all workers */
    size_t sample; /* floats of one */
    int loaders;   /* threads; 0: a batch is filled when it is taken, by who takes it */
    void *context;
    /* Fill the share [first, first + count) of the batch of a step. */
    int (*fill)(void *context, uint64_t step, size_t first, size_t count, struct batch *batch,
                struct err *err);
};

struct batch_feed;

/* A share must be set before a batch is taken. */
int batch_feed_new(const struct batch_feed_options *options, struct batch_feed **ret,
                   struct err *err);
struct batch_feed *batch_feed_free(struct batch_feed *feed); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(batch_feed)

/* Which samples of the batches are this worker's; again whenever that has become another, as when a
 * group forms anew. What was made before is thrown away, batches under way are waited for, and the
 * next step taken, whichever it is, starts the feed there. */
void batch_feed_share(struct batch_feed *feed, size_t first, size_t count);

/* The batch of a step; it stays until the next one is taken. Steps come in order, but a step may be
 * taken again, and any other one (after a resumption, say) starts the feed anew there. A failure is
 * that of the step asked for: what loaders could not make ahead is told when it is needed, not
 * before. */
int batch_feed_take(struct batch_feed *feed, uint64_t step, const struct batch **ret,
                    struct err *err);

#endif

/* Implements the feed with a ring of slots; see batch_feed.h. The batch of step s is in slot s
 * modulo the number of slots. There is one slot per loader, and one for the batch that the caller
 * uses. Every loader can therefore be busy, and the loaders are ahead of the caller by at most as
 * many steps as there are loaders. */
#include "train/data/batch_feed.h"

#include "base/mem.h"
#include "base/system/thread.h"

#include <pthread.h>
#include <stdbool.h>

struct slot {
    struct batch batch;
    uint64_t step;
    bool filled; /* `fill` has returned: `result` is set, and `err` if `result` is negative */
    int result;
    struct err err;
};

struct batch_feed {
    struct batch_feed_options options;
    struct slot *slots;
    size_t slot_count;
    pthread_t threads[BATCH_FEED_LOADERS_MAX];
    int started; /* number of loader threads that run */

    /* Protects all members below and the slots, except the contents, `result` and `err` of a slot.
     * They belong to the loader until `filled` is set, and then to the thread that takes
     * batches. */
    pthread_mutex_t lock;
    pthread_cond_t changed;
    bool stopping;       /* loaders must exit */
    bool loading;        /* `taken` and `next` are set, so loaders may prepare batches */
    uint64_t taken;      /* the step that was passed to the latest call of batch_feed_take() */
    uint64_t next;       /* the step that the next free loader prepares */
    int busy;            /* number of loaders that are filling a batch */
    size_t first, count; /* the samples of each batch that belong to this worker */
};

static void *load_batches(void *argument)
{
    struct batch_feed *feed = argument;
    pthread_mutex_lock(&feed->lock);
    for (;;) {
        while (!feed->stopping && !(feed->loading && feed->next < feed->taken + feed->slot_count))
            pthread_cond_wait(&feed->changed, &feed->lock);
        if (feed->stopping)
            break;
        uint64_t step = feed->next++;
        size_t first = feed->first, count = feed->count;
        struct slot *slot = &feed->slots[step % feed->slot_count];
        slot->step = step;
        slot->filled = false;
        feed->busy++;
        pthread_mutex_unlock(&feed->lock);
        slot->err = ERR_INIT;
        slot->result =
            feed->options.fill(feed->options.context, step, first, count, &slot->batch, &slot->err);
        pthread_mutex_lock(&feed->lock);
        slot->filled = true;
        feed->busy--;
        pthread_cond_broadcast(&feed->changed);
    }
    pthread_mutex_unlock(&feed->lock);
    return NULL;
}

int batch_feed_new(const struct batch_feed_options *options, struct batch_feed **ret,
                   struct err *err)
{
    if (options->loaders < 0 || options->loaders > BATCH_FEED_LOADERS_MAX)
        return err_set(err, ERR_INVALID, "the number of loaders is %d, but must be from 0 to %d",
                       options->loaders, BATCH_FEED_LOADERS_MAX);
    _cleanup_(cleanup_batch_feed) struct batch_feed *feed = mem_zalloc(sizeof(*feed));
    feed->options = *options;
    feed->slot_count = (size_t)options->loaders + 1;
    feed->slots = mem_calloc(feed->slot_count, sizeof(*feed->slots));
    for (size_t i = 0; i < feed->slot_count; i++)
        feed->slots[i].batch.labels = mem_calloc(options->batch + 1, sizeof(int));
    pthread_mutex_init(&feed->lock, NULL);
    pthread_cond_init(&feed->changed, NULL);
    for (; feed->started < options->loaders; feed->started++) {
        int result = thread_start(&feed->threads[feed->started], "pictures",
                                  "a thread that loads pictures", load_batches, feed, err);
        if (result < 0)
            return result;
    }
    *ret = TAKE(feed);
    return 0;
}

struct batch_feed *batch_feed_free(struct batch_feed *feed)
{
    if (!feed)
        return NULL;
    pthread_mutex_lock(&feed->lock);
    feed->stopping = true;
    pthread_cond_broadcast(&feed->changed);
    pthread_mutex_unlock(&feed->lock);
    for (int i = 0; i < feed->started; i++)
        pthread_join(feed->threads[i], NULL);
    for (size_t i = 0; i < feed->slot_count; i++) {
        free(feed->slots[i].batch.inputs);
        free(feed->slots[i].batch.labels);
    }
    free(feed->slots);
    pthread_cond_destroy(&feed->changed);
    pthread_mutex_destroy(&feed->lock);
    free(feed);
    return NULL;
}

/* Stops the loading until batch_feed_take() restarts it, waits for busy loaders and discards all
 * batches. The caller holds the lock. */
static void clear_batches(struct batch_feed *feed)
{
    feed->loading = false;
    while (feed->busy)
        pthread_cond_wait(&feed->changed, &feed->lock);
    for (size_t i = 0; i < feed->slot_count; i++)
        feed->slots[i].filled = false;
}

void batch_feed_share(struct batch_feed *feed, size_t first, size_t count)
{
    pthread_mutex_lock(&feed->lock);
    clear_batches(feed);
    for (size_t i = 0; i < feed->slot_count; i++) {
        free(feed->slots[i].batch.inputs);
        feed->slots[i].batch.inputs = mem_calloc(count * feed->options.sample + 1, sizeof(float));
    }
    feed->first = first;
    feed->count = count;
    pthread_mutex_unlock(&feed->lock);
}

/* Fills the batch on the calling thread, unless the slot already has it. Called only if the feed
 * has no loaders. */
static void fill_now(struct batch_feed *feed, struct slot *slot, uint64_t step)
{
    if (slot->filled && slot->step == step && slot->result == 0)
        return;
    slot->err = ERR_INIT;
    slot->step = step;
    slot->result = feed->options.fill(feed->options.context, step, feed->first, feed->count,
                                      &slot->batch, &slot->err);
    slot->filled = true;
}

int batch_feed_take(struct batch_feed *feed, uint64_t step, const struct batch **ret,
                    struct err *err)
{
    struct slot *slot = &feed->slots[step % feed->slot_count];
    if (feed->started == 0) {
        fill_now(feed, slot, step);
    } else {
        pthread_mutex_lock(&feed->lock);
        bool again = step == feed->taken && slot->filled && slot->step == step && !slot->result;
        if (!feed->loading || (!again && step != feed->taken + 1)) {
            clear_batches(feed);
            feed->next = step;
            feed->loading = true;
        }
        feed->taken = step;
        pthread_cond_broadcast(&feed->changed);
        while (!slot->filled || slot->step != step)
            pthread_cond_wait(&feed->changed, &feed->lock);
        pthread_mutex_unlock(&feed->lock);
    }
    if (slot->result < 0) {
        if (err)
            *err = slot->err;
        return slot->result;
    }
    *ret = &slot->batch;
    return 0;
}

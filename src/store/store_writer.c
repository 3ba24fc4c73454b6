/* The writer thread of the store; see store_writer.h. The thread uses the disk without the lock,
 * and the lists only while it holds the lock. It reads only those members of an object that never
 * change. */
#include "store/store_writer.h"

#include "base/mem.h"
#include "base/system/thread.h"

enum {
    BATCH_MAX = 4096, /* maximum number of changes per transaction, so that a write does not wait
                         too long */
    REPORT_MAX = 32,  /* maximum number of committed changes per call of on_writer_task() */
    /* A commit removes at most this many rows, or twice as many rows as it has changes if that is
     * more. Each change inserts one row, so on average at most one row per change must be removed.
     * A backlog of removals therefore becomes smaller. */
    DROPS_MIN = 64,
};

/* Moves up to `max` changes from the start of `from` to the empty list `to`. Returns the number of
 * moved changes. */
static size_t changes_take(struct list_head *to, struct list_head *from, size_t max)
{
    size_t count = 0;
    for (; count < max && !list_is_empty(from); count++) {
        struct list_link *first = from->head.next;
        list_remove(first);
        list_append(to, first);
    }
    return count;
}

static int writer_insert(struct store_disk *disk, const struct store_change *change,
                         struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct store_object *object = change->object;
    return store_disk_insert(disk,
                             &(struct store_row){.revision = object->revision,
                                                 .created = object->create_revision,
                                                 .deleted = change->deleted,
                                                 .key = object->key,
                                                 .data = store_object_data(object, arena),
                                                 .size = object->size},
                             err);
}

static int writer_commit(struct store_disk *disk, const struct list_head *batch,
                         const int64_t *drops, size_t drops_count, struct err *err)
{
    int result = store_disk_begin(disk, err);
    LIST_EACH (const struct store_change, change, batch, link)
        if (result == 0)
            result = writer_insert(disk, change, err);
    for (size_t i = 0; result == 0 && i < drops_count; i++)
        result = store_disk_drop(disk, drops[i], err);
    if (result == 0)
        result = store_disk_commit(disk, err);
    if (result < 0)
        store_disk_rollback(disk);
    return result;
}

/* The caller must hold the lock. Posts writer->task, which reports the finished changes on the loop
 * thread, unless the task is posted already. */
static void writer_notify(struct store_writer *writer)
{
    if (writer->posted)
        return;
    writer->posted = true;
    loop_post(writer->loop, &writer->task);
}

/* The caller must hold the lock. Removes the oldest revisions from writer->drops and returns them.
 * Their maximum number depends on `changes`, the number of changes in the batch. The caller frees
 * the array. */
static int64_t *take_drops(struct store_writer *writer, size_t changes, size_t *ret_count)
{
    size_t max = changes * 2 > DROPS_MIN ? changes * 2 : DROPS_MIN;
    size_t count = writer->drops.count < max ? writer->drops.count : max;
    int64_t *taken = mem_calloc(count, sizeof(*taken));
    if (count) {
        writer->drops.count -= count;
        memcpy(taken, writer->drops.items, count * sizeof(*taken));
        memmove(writer->drops.items, writer->drops.items + count,
                writer->drops.count * sizeof(*taken));
    }
    *ret_count = count;
    return taken;
}

/* The caller must hold the lock. Puts the revisions of a failed commit back at the start of
 * writer->drops, in the same order. */
static void put_back_drops(struct store_writer *writer, const int64_t *drops, size_t count)
{
    if (count == 0)
        return;
    for (size_t i = 0; i < count; i++)
        vec_push(&writer->drops, 0);
    memmove(writer->drops.items + count, writer->drops.items,
            (writer->drops.count - count) * sizeof(*drops));
    memcpy(writer->drops.items, drops, count * sizeof(*drops));
}

/* Commits one batch of the queued changes and refills the reserve. If the writer has failed, moves
 * the batch to the lost changes without a commit. The caller must hold the lock, which is released
 * during the disk access. */
static void write_batch(struct store_writer *writer)
{
    struct list_head batch = {0};
    size_t changes = changes_take(&batch, &writer->queued, BATCH_MAX), drops_count;
    _cleanup_free_ int64_t *drops = take_drops(writer, changes, &drops_count);
    struct err err = writer->failure;
    pthread_mutex_unlock(&writer->lock);

    if (err.code == ERR_NONE)
        writer_commit(writer->disk, &batch, drops, drops_count, &err);
    bool full = !store_reserve_refill(&writer->disk->reserve);

    pthread_mutex_lock(&writer->lock);
    writer->full = full;
    writer->failure = err;
    if (err.code != ERR_NONE)
        put_back_drops(writer, drops, drops_count);
    list_append_all(err.code == ERR_NONE ? &writer->committed : &writer->lost, &batch);
    writer_notify(writer);
}

/* Refills the reserve. The caller must hold the lock, which is released during the disk access. */
static void writer_refill(struct store_writer *writer)
{
    pthread_mutex_unlock(&writer->lock);
    bool full = !store_reserve_refill(&writer->disk->reserve);
    pthread_mutex_lock(&writer->lock);
    writer->full = full;
    writer->refill = false;
    writer_notify(writer);
}

static void *writer_run(void *context)
{
    struct store_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        if (!list_is_empty(&writer->queued))
            write_batch(writer);
        else if (writer->refill)
            writer_refill(writer);
        else if (writer->stopping)
            break;
        else
            pthread_cond_wait(&writer->wake, &writer->lock);
    }
    writer->ended = true;
    writer_notify(writer);
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

void store_writer_release(struct store_writer *writer)
{
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->wake);
    vec_release(&writer->drops);
}

/* Reports finished changes. Each change is reported to its caller and to every watch, so a large
 * batch is reported over several calls of this function. */
static void on_writer_task(struct loop_task *task)
{
    struct store_writer *writer = CONTAINER_OF(task, struct store_writer, task);
    struct list_head committed = {0}, lost = {0};
    pthread_mutex_lock(&writer->lock);
    if (!writer->disk) {
        list_append_all(&writer->committed, &writer->queued);
        writer->ended = writer->stopping;
    }
    changes_take(&committed, &writer->committed, REPORT_MAX);
    bool has_more = !list_is_empty(&writer->committed);
    if (!has_more)
        list_append_all(&lost, &writer->lost);
    struct err failure = writer->failure;
    bool ended = writer->ended && !has_more;
    writer->posted = has_more;
    pthread_mutex_unlock(&writer->lock);
    if (has_more)
        loop_defer(writer->loop, &writer->task);

    writer->finished(writer, &committed, &lost, list_is_empty(&lost) ? NULL : &failure);
    if (!ended)
        return;
    if (writer->disk)
        pthread_join(writer->thread, NULL);
    store_writer_release(writer);
    writer->stopped(writer);
}

void store_writer_init(struct store_writer *writer)
{
    list_init(&writer->queued);
    list_init(&writer->committed);
    list_init(&writer->lost);
    writer->task.callback = on_writer_task;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->wake, NULL);
}

int store_writer_start(struct store_writer *writer, struct err *err)
{
    if (!writer->disk)
        return 0;
    writer->full = !store_reserve_refill(&writer->disk->reserve);
    return thread_start(&writer->thread, "store", "the store's thread", writer_run, writer, err);
}

/* The caller must hold the lock. Wakes the thread, or defers the task if there is no thread. */
static void writer_wake(struct store_writer *writer)
{
    if (writer->disk)
        pthread_cond_signal(&writer->wake);
    else
        loop_defer(writer->loop, &writer->task);
}

void store_writer_push(struct store_writer *writer, struct store_change *change)
{
    pthread_mutex_lock(&writer->lock);
    list_append(&writer->queued, &change->link);
    writer_wake(writer);
    pthread_mutex_unlock(&writer->lock);
}

void store_writer_drop(struct store_writer *writer, int64_t revision)
{
    if (!writer->disk)
        return;
    pthread_mutex_lock(&writer->lock);
    vec_push(&writer->drops, revision);
    pthread_mutex_unlock(&writer->lock);
}

void store_writer_recover(struct store_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    err_clear(&writer->failure);
    pthread_mutex_unlock(&writer->lock);
}

bool store_writer_is_full(struct store_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    bool full = writer->full;
    pthread_mutex_unlock(&writer->lock);
    return full;
}

void store_writer_refill(struct store_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->refill = true;
    writer_wake(writer);
    pthread_mutex_unlock(&writer->lock);
}

void store_writer_stop(struct store_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    writer_wake(writer);
    pthread_mutex_unlock(&writer->lock);
}

/* The store's thread; see store_writer.h. It touches the disk and, under the lock, its lists; of an
 * object it only reads what never changes. */
#include "store/store_writer.h"

#include "base/mem.h"
#include "base/system/thread.h"

enum {
    BATCH_MAX = 4096, /* changes in one transaction, so that an answer does not wait too long */
    TOLD_MAX = 32,    /* changes told in one turn of the loop */
    DROPS_MIN = 64, /* rows removed along with each commit, and twice the batch if that is more: */
                    /* more than a batch can supersede, so a backlog always shrinks */
};

static void list_init(struct store_change_list *list)
{
    list->first = NULL;
    list->end = &list->first;
}

static void list_append(struct store_change_list *list, struct store_change *change)
{
    change->next = NULL;
    *list->end = change;
    list->end = &change->next;
}

static void list_append_all(struct store_change_list *list, struct store_change_list *from)
{
    if (!from->first)
        return;
    *list->end = from->first;
    list->end = from->end;
    list_init(from);
}

/* Move up to `max` changes; returns how many. */
static size_t list_take(struct store_change_list *list, struct store_change_list *from, size_t max)
{
    size_t count = 0;
    list_init(list);
    for (struct store_change *change; count < max && (change = from->first); count++) {
        from->first = change->next;
        list_append(list, change);
    }
    if (!from->first)
        from->end = &from->first;
    return count;
}

static int insert(struct store_disk *disk, const struct store_change *change, struct err *err)
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

static int commit(struct store_disk *disk, const struct store_change_list *batch,
                  const int64_t *drops, size_t drops_count, struct err *err)
{
    int result = store_disk_begin(disk, err);
    for (const struct store_change *change = batch->first; result == 0 && change;
         change = change->next)
        result = insert(disk, change, err);
    for (size_t i = 0; result == 0 && i < drops_count; i++)
        result = store_disk_drop(disk, drops[i], err);
    if (result == 0)
        result = store_disk_commit(disk, err);
    if (result < 0)
        store_disk_rollback(disk);
    return result;
}

/* Under the lock: bring the lists to the loop, once however many batches finish before it looks. */
static void notify(struct store_writer *writer)
{
    if (writer->posted)
        return;
    writer->posted = true;
    loop_post(writer->loop, &writer->task);
}

/* Under the lock: the oldest drops, as many as may go along with `changes` changes. */
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

/* Under the lock: what was not removed is removed later, in the same order. */
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

/* Under the lock, which is released while the disk works. */
static void write_batch(struct store_writer *writer)
{
    struct store_change_list batch;
    size_t changes = list_take(&batch, &writer->queued, BATCH_MAX), drops_count;
    _cleanup_free_ int64_t *drops = take_drops(writer, changes, &drops_count);
    struct err err = writer->failure;
    pthread_mutex_unlock(&writer->lock);

    if (err.code == ERR_NONE)
        commit(writer->disk, &batch, drops, drops_count, &err);
    bool full = !store_reserve_keep(&writer->disk->reserve);

    pthread_mutex_lock(&writer->lock);
    writer->full = full;
    writer->failure = err;
    if (err.code != ERR_NONE)
        put_back_drops(writer, drops, drops_count);
    list_append_all(err.code == ERR_NONE ? &writer->committed : &writer->lost, &batch);
    notify(writer);
}

/* Under the lock, which is released while the disk works. */
static void refill(struct store_writer *writer)
{
    pthread_mutex_unlock(&writer->lock);
    bool full = !store_reserve_keep(&writer->disk->reserve);
    pthread_mutex_lock(&writer->lock);
    writer->full = full;
    writer->refill = false;
    notify(writer);
}

static void *run(void *context)
{
    struct store_writer *writer = context;
    pthread_mutex_lock(&writer->lock);
    for (;;) {
        if (writer->queued.first)
            write_batch(writer);
        else if (writer->refill)
            refill(writer);
        else if (writer->stopping)
            break;
        else
            pthread_cond_wait(&writer->wake, &writer->lock);
    }
    writer->ended = true;
    notify(writer);
    pthread_mutex_unlock(&writer->lock);
    return NULL;
}

void store_writer_release(struct store_writer *writer)
{
    pthread_mutex_destroy(&writer->lock);
    pthread_cond_destroy(&writer->wake);
    vec_release(&writer->drops);
}

/* Each change is told to its writer and to every watch, so a large batch is told over several turns
 * of the loop. */
static void on_task(struct loop_task *task)
{
    struct store_writer *writer = CONTAINER_OF(task, struct store_writer, task);
    struct store_change_list committed, lost;
    list_init(&lost);
    pthread_mutex_lock(&writer->lock);
    if (!writer->disk) {
        list_append_all(&writer->committed, &writer->queued);
        writer->ended = writer->stopping;
    }
    list_take(&committed, &writer->committed, TOLD_MAX);
    bool has_more = writer->committed.first != NULL;
    if (!has_more)
        list_append_all(&lost, &writer->lost);
    struct err failure = writer->failure;
    bool ended = writer->ended && !has_more;
    writer->posted = has_more;
    pthread_mutex_unlock(&writer->lock);
    if (has_more)
        loop_defer(writer->loop, &writer->task);

    writer->finished(writer, &committed, &lost, lost.first ? &failure : NULL);
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
    writer->task.callback = on_task;
    pthread_mutex_init(&writer->lock, NULL);
    pthread_cond_init(&writer->wake, NULL);
}

int store_writer_start(struct store_writer *writer, struct err *err)
{
    if (!writer->disk)
        return 0;
    writer->full = !store_reserve_keep(&writer->disk->reserve);
    return thread_start(&writer->thread, "store", "the store's thread", run, writer, err);
}

/* Under the lock: there is something to do. */
static void wake(struct store_writer *writer)
{
    if (writer->disk)
        pthread_cond_signal(&writer->wake);
    else
        loop_defer(writer->loop, &writer->task);
}

void store_writer_push(struct store_writer *writer, struct store_change *change)
{
    pthread_mutex_lock(&writer->lock);
    list_append(&writer->queued, change);
    wake(writer);
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
    wake(writer);
    pthread_mutex_unlock(&writer->lock);
}

void store_writer_stop(struct store_writer *writer)
{
    pthread_mutex_lock(&writer->lock);
    writer->stopping = true;
    wake(writer);
    pthread_mutex_unlock(&writer->lock);
}

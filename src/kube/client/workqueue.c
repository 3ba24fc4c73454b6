/* Implements the queue of keys; see workqueue.h. A key has an entry from its first addition until
 * it has no work, no delay and no failures. Work is started from a loop task, never from within
 * workqueue_add() or workqueue_done(). */
#include "kube/client/workqueue.h"

#include "base/map.h"
#include "base/mem.h"

#include <stdlib.h>

enum { BACKOFF_FIRST_MS = 5, BACKOFF_MAX_MS = 30 * 1000, FAILURES_MAX = 32 };

struct entry {
    struct workqueue *queue;
    char *key;
    struct entry *next;      /* next waiting entry */
    bool waiting;            /* the entry is in the queue */
    bool running;            /* the work on the key is in progress */
    bool again;              /* the key was added while its work runs */
    bool called;             /* the worker function is running, so `key` must not be freed */
    int failures;            /* failures in a row */
    struct loop_timer delay; /* expires when the key is to be added again */
};

struct workqueue {
    struct loop *loop;
    size_t parallel;
    workqueue_worker *worker;
    void *context;
    struct map entries;
    struct entry *first, **last; /* waiting entries, in the order of their addition */
    size_t waiting;              /* number of waiting entries */
    size_t running;              /* number of keys whose work is in progress */
    struct loop_task task;       /* starts the work on waiting keys */
    bool dispatching;            /* the task is running */
    bool freed; /* a worker freed the queue; the memory is freed when the worker returns */
};

static void workqueue_dispatch(struct loop_task *task);

struct workqueue *workqueue_new(struct loop *loop, size_t parallel, workqueue_worker *worker,
                                void *context)
{
    struct workqueue *queue = mem_zalloc(sizeof(*queue));
    queue->loop = loop;
    queue->parallel = parallel ? parallel : 1;
    queue->worker = worker;
    queue->context = context;
    queue->last = &queue->first;
    queue->task.callback = workqueue_dispatch;
    map_init(&queue->entries);
    return queue;
}

static void workqueue_entry_free(struct entry *entry)
{
    loop_timer_stop(&entry->delay);
    free(entry->key);
    free(entry);
}

static void queue_release(struct workqueue *queue)
{
    const char *key;
    void *value;
    for (size_t i = 0; map_next(&queue->entries, &i, &key, &value);)
        workqueue_entry_free(value);
    map_release(&queue->entries);
    free(queue);
}

struct workqueue *workqueue_free(struct workqueue *queue)
{
    if (!queue)
        return NULL;
    loop_defer_cancel(queue->loop, &queue->task);
    queue->freed = true;
    if (!queue->dispatching)
        queue_release(queue);
    return NULL;
}

static void forget_if_idle(struct entry *entry)
{
    if (entry->waiting || entry->running || entry->called || entry->failures ||
        entry->delay.running)
        return;
    map_remove(&entry->queue->entries, entry->key);
    workqueue_entry_free(entry);
}

static void entry_enqueue(struct entry *entry)
{
    struct workqueue *queue = entry->queue;
    if (entry->running) {
        entry->again = true;
        return;
    }
    if (entry->waiting)
        return;
    entry->waiting = true;
    entry->next = NULL;
    *queue->last = entry;
    queue->last = &entry->next;
    queue->waiting++;
    loop_defer(queue->loop, &queue->task);
}

static void on_delay(struct loop_timer *timer)
{
    entry_enqueue(CONTAINER_OF(timer, struct entry, delay));
}

static struct entry *workqueue_entry(struct workqueue *queue, const char *key)
{
    struct entry *entry = map_get(&queue->entries, key);
    if (entry)
        return entry;
    entry = mem_zalloc(sizeof(*entry));
    entry->queue = queue;
    entry->key = mem_strdup(key);
    loop_timer_init(queue->loop, &entry->delay, on_delay);
    map_put(&queue->entries, key, entry);
    return entry;
}

void workqueue_add(struct workqueue *queue, const char *key)
{
    entry_enqueue(workqueue_entry(queue, key));
}

static void entry_delay(struct entry *entry, int64_t delay_ms)
{
    int64_t due_ms = loop_now_ms(entry->queue->loop) + delay_ms;
    if (!entry->delay.running || due_ms < entry->delay.due_ms)
        loop_timer_start(&entry->delay, delay_ms);
}

void workqueue_add_after(struct workqueue *queue, const char *key, int64_t delay_ms)
{
    if (delay_ms <= 0)
        workqueue_add(queue, key);
    else
        entry_delay(workqueue_entry(queue, key), delay_ms);
}

static int64_t backoff_ms(int failures)
{
    int64_t wait_ms = BACKOFF_FIRST_MS;
    while (--failures > 0 && wait_ms < BACKOFF_MAX_MS)
        wait_ms *= 2;
    return wait_ms < BACKOFF_MAX_MS ? wait_ms : BACKOFF_MAX_MS;
}

void workqueue_done(struct workqueue *queue, const char *key, bool failed)
{
    struct entry *entry = map_get(&queue->entries, key);
    if (!entry || !entry->running)
        mem_panic("workqueue: '%s' ended but was not being worked on", key);
    entry->running = false;
    queue->running--;
    if (!failed) {
        entry->failures = 0;
    } else {
        if (entry->failures < FAILURES_MAX)
            entry->failures++;
        entry_delay(entry, backoff_ms(entry->failures));
    }
    if (entry->again) {
        entry->again = false;
        entry_enqueue(entry);
    }
    forget_if_idle(entry);
    if (queue->waiting)
        loop_defer(queue->loop, &queue->task);
}

void workqueue_defer(struct workqueue *queue, const char *key, int64_t delay_ms)
{
    workqueue_add_after(queue, key, delay_ms);
    workqueue_done(queue, key, false);
}

static void workqueue_dispatch(struct loop_task *task)
{
    struct workqueue *queue = CONTAINER_OF(task, struct workqueue, task);
    queue->dispatching = true;
    while (!queue->freed && queue->first && queue->running < queue->parallel) {
        struct entry *entry = queue->first;
        queue->first = entry->next;
        if (!queue->first)
            queue->last = &queue->first;
        queue->waiting--;
        queue->running++;
        entry->waiting = false;
        entry->running = true;
        entry->called = true;
        queue->worker(queue->context, entry->key);
        entry->called = false;
        if (!queue->freed)
            forget_if_idle(entry);
    }
    queue->dispatching = false;
    if (queue->freed)
        queue_release(queue);
}

size_t workqueue_length(const struct workqueue *queue)
{
    return queue->waiting;
}

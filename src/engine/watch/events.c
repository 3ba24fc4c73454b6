/* Implements the shared events and the backlogs of watches; see events.h. */
#include "engine/watch/events.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/str.h"

#include <stdlib.h>
#include <string.h>

enum {
    BUCKETS = 256,
    HELD_MAX = 16, /* the most events of one change that are kept for other watches */
    QUEUE_MIN = 8,
};

struct watch_events {
    struct loop *loop;
    struct budget bytes; /* the bytes of all kept events */
    /* The bytes per user; an event counts in every backlog that contains it. */
    struct budget_group backlogs;
    struct list_head buckets[BUCKETS]; /* struct watch_event */
    /* References to the events of the change that is being delivered, so that the next watches find
     * these events. */
    struct watch_event *held[HELD_MAX];
    size_t held_count;
    struct loop_task forget; /* drops the references in `held` after the change is delivered */
    uint64_t ended;
};

/* ---- Events ---------------------------------------------------------------------------------- */

struct watch_event *watch_event_unref(struct watch_event *event)
{
    if (!event || --event->references > 0)
        return NULL;
    budget_give_back(&event->events->bytes, event->size);
    if (event->shared)
        list_remove(&event->link);
    free(event);
    return NULL;
}

static void forget_held(struct watch_events *events)
{
    for (size_t i = 0; i < events->held_count; i++)
        watch_event_unref(events->held[i]);
    events->held_count = 0;
}

static void on_forget(struct loop_task *task)
{
    forget_held(CONTAINER_OF(task, struct watch_events, forget));
}

static void watch_events_hold(struct watch_events *events, struct watch_event *event)
{
    if (events->held_count && events->held[0]->key.revision != event->key.revision)
        forget_held(events);
    if (events->held_count == HELD_MAX)
        return;
    event->references++;
    events->held[events->held_count++] = event;
    loop_defer(events->loop, &events->forget);
}

static bool watch_event_key_is_same(const struct watch_event_key *a,
                                    const struct watch_event_key *b)
{
    return a->revision == b->revision && a->second == b->second && a->columns == b->columns &&
           str_eq(a->type, b->type) && str_eq(a->options, b->options);
}

static struct list_head *bucket_of(struct watch_events *events, const struct watch_event_key *key)
{
    return &events->buckets[(uint64_t)key->revision % BUCKETS];
}

struct watch_event *watch_events_find(struct watch_events *events,
                                      const struct watch_event_key *key)
{
    LIST_EACH (struct watch_event, each, bucket_of(events, key), link) {
        if (watch_event_key_is_same(&each->key, key)) {
            each->references++;
            return each;
        }
    }
    return NULL;
}

static void watch_backlog_note_end(struct watch_backlog *backlog)
{
    backlog->events->ended += !backlog->ended;
    backlog->ended = true;
}

/* Counts the bytes of a new event. Ends backlogs until the event fits into the limit. If no backlog
 * is left, the event may exceed the limit. */
static void watch_events_charge(struct watch_events *events, size_t size)
{
    while (budget_charge(&events->bytes, size)) {
        const struct budget *payer = budget_largest(&events->backlogs.total);
        struct budget *bytes = payer ? budget_largest(payer) : NULL;
        if (!bytes) {
            budget_force(&events->bytes, size);
            return;
        }
        struct watch_backlog *backlog = CONTAINER_OF(bytes, struct watch_backlog, bytes);
        watch_backlog_note_end(backlog);
        backlog->end(backlog);
    }
}

struct watch_event *watch_events_add(struct watch_events *events, const struct watch_event_key *key,
                                     const void *data, size_t size)
{
    size_t options_size = key ? strlen(key->options) + 1 : 0;
    struct watch_event *event = mem_alloc(sizeof(*event) + size + options_size);
    if (key)
        watch_events_charge(events, size);
    else
        budget_force(&events->bytes, size);
    *event = (struct watch_event){
        .events = events, .references = 1, .shared = key != NULL, .size = size};
    memcpy(event->data, data, size);
    if (key) {
        event->key = *key;
        event->key.options = memcpy(event->data + size, key->options, options_size);
        list_push(bucket_of(events, key), &event->link);
        watch_events_hold(events, event);
    }
    return event;
}

const struct budget *watch_events_budget(const struct watch_events *events)
{
    return &events->bytes;
}

uint64_t watch_events_ended(const struct watch_events *events)
{
    return events->ended;
}

struct watch_events *watch_events_new(struct loop *loop, size_t max)
{
    struct watch_events *events = mem_zalloc(sizeof(*events));
    events->loop = loop;
    events->forget.callback = on_forget;
    budget_init(&events->bytes, NULL, max);
    budget_group_init(&events->backlogs, SIZE_MAX, SIZE_MAX);
    return events;
}

struct watch_events *watch_events_free(struct watch_events *events)
{
    if (!events)
        return NULL;
    loop_defer_cancel(events->loop, &events->forget);
    forget_held(events);
    budget_group_release(&events->backlogs);
    free(events);
    return NULL;
}

/* ---- Backlogs -------------------------------------------------------------------------------- */

void watch_backlog_init(struct watch_backlog *backlog, struct watch_events *events,
                        const char *payer, void (*end)(struct watch_backlog *backlog))
{
    *backlog = (struct watch_backlog){.events = events, .end = end};
    backlog->payer = payer ? budget_payer_ref(&events->backlogs, payer) : NULL;
    budget_init(&backlog->bytes, payer ? &backlog->payer->budget : NULL,
                payer ? WATCH_BACKLOG_MAX : SIZE_MAX);
}

void watch_backlog_release(struct watch_backlog *backlog)
{
    watch_backlog_clear(backlog);
    free(backlog->queue);
    backlog->queue = NULL;
    backlog->capacity = 0;
    budget_release(&backlog->bytes);
    backlog->payer = budget_payer_unref(backlog->payer);
}

static struct watch_event *take_first(struct watch_backlog *backlog)
{
    struct watch_event *event = backlog->queue[backlog->first];
    backlog->first = (backlog->first + 1) % backlog->capacity;
    backlog->count--;
    return event;
}

void watch_backlog_drop(struct watch_backlog *backlog)
{
    while (backlog->count) {
        struct watch_event *event = take_first(backlog);
        budget_give_back(&backlog->bytes, event->size);
        watch_event_unref(event);
    }
}

void watch_backlog_clear(struct watch_backlog *backlog)
{
    watch_backlog_drop(backlog);
    if (backlog->current)
        budget_give_back(&backlog->bytes, backlog->current->size);
    backlog->current = watch_event_unref(backlog->current);
}

static void watch_backlog_grow(struct watch_backlog *backlog)
{
    size_t capacity = backlog->capacity ? 2 * backlog->capacity : QUEUE_MIN;
    struct watch_event **queue = mem_alloc(capacity * sizeof(struct watch_event *));
    for (size_t i = 0; i < backlog->count; i++)
        queue[i] = backlog->queue[(backlog->first + i) % backlog->capacity];
    free(backlog->queue);
    backlog->queue = queue;
    backlog->capacity = capacity;
    backlog->first = 0;
}

bool watch_backlog_push(struct watch_backlog *backlog, struct watch_event *event)
{
    /* An event that is larger than the limit is accepted if the backlog is empty. */
    bool alone = !backlog->current && !backlog->count;
    if (alone) {
        budget_force(&backlog->bytes, event->size);
    } else if (budget_charge(&backlog->bytes, event->size)) {
        watch_backlog_note_end(backlog);
        return false;
    }
    if (backlog->count == backlog->capacity)
        watch_backlog_grow(backlog);
    backlog->queue[(backlog->first + backlog->count++) % backlog->capacity] = event;
    return true;
}

void watch_backlog_begin(struct watch_backlog *backlog, struct watch_event *event)
{
    if (backlog->current)
        mem_panic("watch: an event was begun within another");
    budget_force(&backlog->bytes, event->size);
    backlog->current = event;
    backlog->sent = 0;
}

size_t watch_backlog_peek(struct watch_backlog *backlog, const char **ret_data)
{
    if (!backlog->current && backlog->count) {
        backlog->current = take_first(backlog);
        backlog->sent = 0;
    }
    if (!backlog->current)
        return 0;
    *ret_data = backlog->current->data + backlog->sent;
    return backlog->current->size - backlog->sent;
}

void watch_backlog_take(struct watch_backlog *backlog, size_t size)
{
    backlog->sent += size;
    if (backlog->sent < backlog->current->size)
        return;
    budget_give_back(&backlog->bytes, backlog->current->size);
    backlog->current = watch_event_unref(backlog->current);
}

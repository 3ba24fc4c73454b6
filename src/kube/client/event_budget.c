/* Keeps the budgets of events as token buckets; see event_budget.h. */
#include "kube/client/event_budget.h"

#include "base/cleanup.h"
#include "base/mem.h"

#include <stdlib.h>

/* The budget of an object, or of a reason of an object. */
struct kube_event_topic {
    struct list_link link; /* in kube_event_budget.by_use */
    char *key;             /* the key in kube_event_budget.topics */
    double tokens;         /* writes that are available */
    int64_t filled_ms;     /* when `tokens` was computed */
    int64_t newest_ms;     /* for a reason: time of the newest message */
    int separate_messages; /* for a reason: number of messages with an event of their own */
    bool was_written;      /* an event was written */
};

void kube_event_budget_init(struct kube_event_budget *budget)
{
    *budget = (struct kube_event_budget){0};
    map_init(&budget->topics);
}

static void topic_free(struct kube_event_budget *budget, struct kube_event_topic *topic)
{
    list_remove(&topic->link);
    map_remove(&budget->topics, topic->key);
    free(topic->key);
    free(topic);
}

void kube_event_budget_release(struct kube_event_budget *budget)
{
    LIST_EACH_SAFE (struct kube_event_topic, topic, &budget->by_use, link)
        topic_free(budget, topic);
    map_release(&budget->topics);
}

static struct kube_event_topic *topic_get(struct kube_event_budget *budget, const char *key,
                                          double burst, int64_t now_ms)
{
    struct kube_event_topic *topic = map_get(&budget->topics, key);
    if (topic) {
        list_remove(&topic->link);
    } else {
        topic = mem_zalloc(sizeof(*topic));
        topic->key = mem_strdup(key);
        topic->tokens = burst;
        topic->filled_ms = now_ms;
        map_put(&budget->topics, key, topic);
    }
    list_append(&budget->by_use, &topic->link);
    topic->tokens += (double)(now_ms - topic->filled_ms) / KUBE_EVENT_REFILL_MS;
    if (topic->tokens > burst)
        topic->tokens = burst;
    topic->filled_ms = now_ms;
    return topic;
}

static struct kube_event_topic *reason_get(struct kube_event_budget *budget, const char *object,
                                           const char *reason, int64_t now_ms)
{
    _cleanup_free_ char *key = mem_printf("%s\n%s", object, reason);
    return topic_get(budget, key, KUBE_EVENT_REASON_BURST, now_ms);
}

/* Makes room for an object and a reason. Must run before their budgets are looked up, so that it
 * drops neither of them. */
static void make_room(struct kube_event_budget *budget)
{
    LIST_EACH_SAFE (struct kube_event_topic, topic, &budget->by_use, link) {
        if (budget->topics.count + 2 <= KUBE_EVENT_TOPICS_MAX)
            break;
        topic_free(budget, topic);
    }
}

bool kube_event_budget_combines(struct kube_event_budget *budget, const char *object,
                                const char *reason, int64_t now_ms)
{
    make_room(budget);
    struct kube_event_topic *topic = reason_get(budget, object, reason, now_ms);
    if (now_ms - topic->newest_ms > KUBE_EVENT_FORGET_MS)
        topic->separate_messages = 0;
    topic->newest_ms = now_ms;
    if (topic->separate_messages == KUBE_EVENT_MESSAGES_MAX)
        return true;
    topic->separate_messages++;
    return false;
}

bool kube_event_budget_is_first(const struct kube_event_budget *budget, const char *object,
                                const char *reason)
{
    _cleanup_free_ char *key = mem_printf("%s\n%s", object, reason);
    const struct kube_event_topic *topic = map_get(&budget->topics, key);
    return !topic || !topic->was_written;
}

static int64_t topic_wait_ms(const struct kube_event_topic *topic)
{
    return topic->tokens >= 1 ? 0 : (int64_t)((1 - topic->tokens) * KUBE_EVENT_REFILL_MS) + 1;
}

int64_t kube_event_budget_take(struct kube_event_budget *budget, const char *object,
                               const char *reason, int64_t now_ms)
{
    make_room(budget);
    struct kube_event_topic *of_object = topic_get(budget, object, KUBE_EVENT_OBJECT_BURST, now_ms);
    struct kube_event_topic *of_reason = reason_get(budget, object, reason, now_ms);
    int64_t object_wait_ms = topic_wait_ms(of_object), reason_wait_ms = topic_wait_ms(of_reason);
    if (of_reason->was_written && (object_wait_ms || reason_wait_ms))
        return object_wait_ms > reason_wait_ms ? object_wait_ms : reason_wait_ms;
    of_reason->was_written = true;
    of_reason->tokens -= 1;
    if (!object_wait_ms)
        of_object->tokens -= 1;
    return 0;
}

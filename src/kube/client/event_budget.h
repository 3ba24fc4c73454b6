/* Limits how many events are written about an object. event.c asks before each write. People read
 * events, and a job of a thousand replicas must not cost two thousand writes, nor push other
 * objects out of the server's cache.
 *
 * As in client-go, each pair of an object and a reporting component has a budget of 25 writes,
 * refilled by one write per five minutes. Two rules differ from client-go, because a flood of
 * "created pod" events would otherwise leave no room for the event that the job failed:
 *   - each reason has a budget of 12 writes within the object's budget, refilled at the same rate;
 *   - the first event of a reason is written even if the object's budget is used up.
 * Up to 9 different messages of one reason get an event each. Further messages are combined into
 * one event, "(combined from similar events): …", with a count. If a reason has no new message for
 * ten minutes, its messages are counted from 0 again.
 *
 * Pure: no I/O and no clock. `now_ms` is the loop's time. */
#ifndef TRAINYARD_KUBE_CLIENT_EVENT_BUDGET_H
#define TRAINYARD_KUBE_CLIENT_EVENT_BUDGET_H

#include "base/list.h"
#include "base/map.h"

#include <stdint.h>

enum {
    KUBE_EVENT_OBJECT_BURST = 25,
    KUBE_EVENT_REASON_BURST = 12,
    KUBE_EVENT_REFILL_MS = 5 * 60 * 1000,
    KUBE_EVENT_MESSAGES_MAX = 9,
    KUBE_EVENT_FORGET_MS = 10 * 60 * 1000,
    /* Number of budgets of objects and of reasons that are kept. The least recently used are
     * dropped. */
    KUBE_EVENT_TOPICS_MAX = 4096,
};

/* All budgets. A topic is an object, or a reason of an object, and has one budget. */
struct kube_event_budget {
    struct map topics;       /* struct kube_event_topic by key */
    struct list_head by_use; /* struct kube_event_topic, the least recently used first */
};

void kube_event_budget_init(struct kube_event_budget *budget);
void kube_event_budget_release(struct kube_event_budget *budget);

/* Counts a new message of this reason. Returns whether the message must be combined with earlier
 * messages. `object` names the object and the reporting component. `reason` names the type and
 * reason of the event. */
bool kube_event_budget_combines(struct kube_event_budget *budget, const char *object,
                                const char *reason, int64_t now_ms);

/* Returns whether no event of this reason about the object has been written yet. */
bool kube_event_budget_is_first(const struct kube_event_budget *budget, const char *object,
                                const char *reason);

/* Takes one write from the budgets of the object and of the reason, and returns 0. If one of the
 * budgets is used up, takes nothing and returns the milliseconds until both have a write. For the
 * first event of the reason, always returns 0, and takes only a write that is available. */
int64_t kube_event_budget_take(struct kube_event_budget *budget, const char *object,
                               const char *reason, int64_t now_ms);

#endif

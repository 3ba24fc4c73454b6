/* How many events may be written about an object: asked by event.c before each write. Events are
 * read by people, and a job of a thousand replicas must not cost two thousand writes, nor push
 * everything else out of the server's memory.
 *
 * As in client-go an object has a budget for each component that tells about it: 25 writes, and one
 * more every five minutes. Ours differs in two places, for there the last word about a job, that it
 * failed, is what a flood of created pods leaves no room for:
 *   - a reason takes at most 12 writes of the object's budget, and is refilled at the same pace;
 *   - the first event of a reason is always written.
 * Of one reason, 9 messages are told apart; further ones go into one event, "(combined from similar
 * events): …" with a count. A reason that was silent for ten minutes starts anew.
 *
 * No I/O and no clock here: `now_ms` is the loop's. */
#ifndef TRAINYARD_KUBE_EVENT_BUDGET_H
#define TRAINYARD_KUBE_EVENT_BUDGET_H

#include "base/map.h"

#include <stdint.h>

enum {
    KUBE_EVENT_OBJECT_BURST = 25,
    KUBE_EVENT_REASON_BURST = 12,
    KUBE_EVENT_REFILL_MS = 5 * 60 * 1000,
    KUBE_EVENT_MESSAGES_MAX = 9,
    KUBE_EVENT_FORGET_MS = 10 * 60 * 1000,
    KUBE_EVENT_TOPICS_MAX = 4096, /* objects and reasons remembered; the oldest are forgotten */
};

struct kube_event_topic;

struct kube_event_budget {
    struct map topics;
    struct kube_event_topic *oldest, *newest;
};

void kube_event_budget_init(struct kube_event_budget *budget);
void kube_event_budget_release(struct kube_event_budget *budget);

/* A message of this reason that was not told before: is it to be combined with others? `object`
 * names the object and who tells; `reason` the kind of event. */
bool kube_event_budget_combines(struct kube_event_budget *budget, const char *object,
                                const char *reason, int64_t now_ms);

/* Nothing of this reason was written yet. */
bool kube_event_budget_is_first(const struct kube_event_budget *budget, const char *object,
                                const char *reason);

/* Take what one write costs; 0 on success, else the milliseconds until it may be had. */
int64_t kube_event_budget_take(struct kube_event_budget *budget, const char *object,
                               const char *reason, int64_t now_ms);

#endif

/* Deletes events that last happened more than an hour ago. Every five minutes it lists all events
 * through the API, because the hub has no informer of events. */
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "engine/controllers/controllers.h"
#include "kube/object.h"

#include <stdlib.h>

enum { KEPT_MS = 3600 * 1000, PERIOD_MS = 5 * 60 * 1000 };

struct events {
    struct hub *hub;
    struct loop_timer timer;
};

/* Returns the wall time at which the event last happened. */
static int64_t last_seen_ms(const struct json *event)
{
    static const char *const names[] = {"lastTimestamp", "eventTime"};
    int64_t seen = kube_meta_created_ms(event), at;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const char *text = json_get_string(event, names[i], "");
        if (text[0] && moment_parse(text, &at, NULL) == 0 && at > seen)
            seen = at;
    }
    return seen;
}

/* If the deletion fails, the next run of the timer repeats it. */
static void on_event_removed(void *context, struct json *object, const struct err *err)
{
}

static void on_events_listed(void *context, struct json *list, const struct err *err)
{
    struct events *events = context;
    int64_t limit = loop_wall_ms(hub_loop(events->hub)) - KEPT_MS;
    JSON_EACH (event, json_get(list, "items")) {
        struct kube_delete_options options = {.grace_period_seconds = -1,
                                              .uid = kube_meta_uid(event)};
        if (last_seen_ms(event) < limit)
            kube_delete(hub_client(events->hub), &KUBE_EVENTS, kube_meta_namespace(event),
                        kube_meta_name(event), &options, on_event_removed, NULL);
    }
    loop_timer_start(&events->timer, PERIOD_MS);
}

static void on_event_timer(struct loop_timer *timer)
{
    struct events *events = CONTAINER_OF(timer, struct events, timer);
    kube_list(hub_client(events->hub), &KUBE_EVENTS, NULL, NULL, NULL, on_events_listed, events);
}

static void *event_controller_start(struct hub *hub)
{
    struct events *events = mem_zalloc(sizeof(*events));
    events->hub = hub;
    loop_timer_init(hub_loop(hub), &events->timer, on_event_timer);
    loop_timer_start(&events->timer, PERIOD_MS);
    return events;
}

static void event_controller_stop(void *self)
{
    struct events *events = self;
    loop_timer_stop(&events->timer);
    free(events);
}

const struct controller EVENT_CONTROLLER = {
    .start = event_controller_start,
    .stop = event_controller_stop,
};

/* Answers requests for usage; see limits/usage.h. */
#include "node/limits/usage.h"

#include "base/mem.h"

#include <stdlib.h>

enum {
    WINDOW_MIN_MS = 1000, /* the kernel counts CPU time of processes in hundredths of a second */
    WINDOW_MAX_MS = 60 * 1000, /* with an older sample the rate would be out of date */
};

struct asked {
    struct usage_meter *meter;
    struct asked *next;
    engine_usage_done *done;
    void *context;
};

struct usage_meter {
    struct loop *loop;
    usage_collect *collect;
    void *context;
    struct usage_sample last;
    int64_t last_ms; /* on the loop's clock */
    bool has_last;
    struct asked *asked;
    struct loop_timer timer; /* runs while a request waits */
};

static void meter_take_sample(struct usage_meter *meter, struct usage_sample *ret)
{
    *ret = (struct usage_sample){0};
    meter->collect(meter->context, ret);
    usage_sample_finish(ret);
}

static void meter_keep_sample(struct usage_meter *meter, const struct usage_sample *sample)
{
    usage_sample_release(&meter->last);
    meter->last = *sample;
    meter->last_ms = loop_now_ms(meter->loop);
    meter->has_last = true;
}

static void on_due(struct loop_timer *timer)
{
    struct usage_meter *meter = CONTAINER_OF(timer, struct usage_meter, timer);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct usage_sample now;
    struct engine_usage_report report;
    meter_take_sample(meter, &now);
    usage_compare(arena, &meter->last, &now, &report);
    /* An answer may cancel another request, so one request at a time is taken from the list. */
    for (struct asked *asked; (asked = meter->asked);) {
        meter->asked = asked->next;
        asked->done(asked->context, &report);
        free(asked);
    }
    meter_keep_sample(meter, &now);
}

struct usage_meter *usage_meter_new(struct loop *loop, usage_collect *collect, void *context)
{
    struct usage_meter *meter = mem_zalloc(sizeof(*meter));
    meter->loop = loop;
    meter->collect = collect;
    meter->context = context;
    loop_timer_init(loop, &meter->timer, on_due);
    return meter;
}

struct usage_meter *usage_meter_free(struct usage_meter *meter)
{
    if (!meter)
        return NULL;
    loop_timer_stop(&meter->timer);
    for (struct asked *asked; (asked = meter->asked);) {
        meter->asked = asked->next;
        asked->done(asked->context, NULL);
        free(asked);
    }
    usage_sample_release(&meter->last);
    free(meter);
    return NULL;
}

void *usage_meter_ask(struct usage_meter *meter, engine_usage_done *done, void *done_context)
{
    struct asked *asked = mem_zalloc(sizeof(*asked));
    *asked = (struct asked){meter, meter->asked, done, done_context};
    meter->asked = asked;
    if (meter->timer.running)
        return asked;
    int64_t age = loop_now_ms(meter->loop) - meter->last_ms;
    if (!meter->has_last || age > WINDOW_MAX_MS) {
        struct usage_sample first;
        meter_take_sample(meter, &first);
        meter_keep_sample(meter, &first);
        age = 0;
    }
    loop_timer_start(&meter->timer, age < WINDOW_MIN_MS ? WINDOW_MIN_MS - age : 0);
    return asked;
}

void usage_meter_cancel(void *cancelled)
{
    struct asked *asked = cancelled, **at = &asked->meter->asked;
    while (*at && *at != asked)
        at = &(*at)->next;
    if (*at)
        *at = asked->next;
    free(asked);
}

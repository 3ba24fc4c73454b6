/* Answers requests for usage; see limits/usage.h. */
#include "node/limits/usage.h"

#include "base/mem.h"

#include <stdlib.h>

enum {
    WINDOW_MIN_MS = 1000, /* the kernel counts CPU time of processes in hundredths of a second */
    WINDOW_MAX_MS = 60 * 1000, /* a rate since an older sample would say little about now */
};

struct usage_request {
    struct usage_meter *meter;
    struct usage_request *next; /* in meter->requests */
    engine_usage_done *done;
    void *context;
};

struct usage_meter {
    struct loop *loop;
    usage_collect *collect;
    void *context;
    struct usage_sample previous;
    int64_t previous_ms; /* the time of `previous` on the loop's clock */
    bool has_previous;
    struct usage_request *requests; /* the waiting requests */
    struct loop_timer timer;        /* runs while a request waits */
};

static void meter_take_sample(struct usage_meter *meter, struct usage_sample *ret)
{
    *ret = (struct usage_sample){0};
    meter->collect(meter->context, ret);
    usage_sample_finish(ret);
}

static void meter_keep_sample(struct usage_meter *meter, const struct usage_sample *sample)
{
    usage_sample_release(&meter->previous);
    meter->previous = *sample;
    meter->previous_ms = loop_now_ms(meter->loop);
    meter->has_previous = true;
}

static void on_second_sample_due(struct loop_timer *timer)
{
    struct usage_meter *meter = CONTAINER_OF(timer, struct usage_meter, timer);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct usage_sample now;
    struct engine_usage_report report;
    meter_take_sample(meter, &now);
    usage_compare(arena, &meter->previous, &now, &report);
    /* The callback of one request may cancel another, so the requests are removed one by one. */
    for (struct usage_request *request; (request = meter->requests);) {
        meter->requests = request->next;
        request->done(request->context, &report);
        free(request);
    }
    meter_keep_sample(meter, &now);
}

struct usage_meter *usage_meter_new(struct loop *loop, usage_collect *collect, void *context)
{
    struct usage_meter *meter = mem_zalloc(sizeof(*meter));
    meter->loop = loop;
    meter->collect = collect;
    meter->context = context;
    loop_timer_init(loop, &meter->timer, on_second_sample_due);
    return meter;
}

struct usage_meter *usage_meter_free(struct usage_meter *meter)
{
    if (!meter)
        return NULL;
    loop_timer_stop(&meter->timer);
    for (struct usage_request *request; (request = meter->requests);) {
        meter->requests = request->next;
        request->done(request->context, NULL);
        free(request);
    }
    usage_sample_release(&meter->previous);
    free(meter);
    return NULL;
}

void *usage_meter_ask(struct usage_meter *meter, engine_usage_done *done, void *done_context)
{
    struct usage_request *request = mem_zalloc(sizeof(*request));
    *request = (struct usage_request){meter, meter->requests, done, done_context};
    meter->requests = request;
    if (meter->timer.running)
        return request;
    int64_t age = loop_now_ms(meter->loop) - meter->previous_ms;
    if (!meter->has_previous || age > WINDOW_MAX_MS) {
        struct usage_sample first;
        meter_take_sample(meter, &first);
        meter_keep_sample(meter, &first);
        age = 0;
    }
    loop_timer_start(&meter->timer, age < WINDOW_MIN_MS ? WINDOW_MIN_MS - age : 0);
    return request;
}

void usage_meter_cancel(void *handle)
{
    struct usage_request *request = handle, **at = &request->meter->requests;
    while (*at && *at != request)
        at = &(*at)->next;
    if (*at)
        *at = request->next;
    free(request);
}

/* The part of the event loop that both implementations share: timers, deferred tasks, and the calls
 * through the table of functions. See loop.h. */
#include "loop/loop.h"

#include "base/moment.h"
#include "loop/loop_internal.h"

#include <stddef.h>

void loop_init(struct loop *loop, const struct loop_ops *ops)
{
    loop->ops = ops;
    loop->timers = (struct timer_heap){0};
    list_init(&loop->deferred);
    list_init(&loop->running);
}

struct loop *loop_free(struct loop *loop)
{
    if (loop)
        loop->ops->free(loop);
    return NULL;
}

void loop_run(struct loop *loop)
{
    loop->ops->run(loop);
}

void loop_stop(struct loop *loop)
{
    loop->ops->stop(loop);
}

int64_t loop_now_ms(struct loop *loop)
{
    return loop->ops->now_ms(loop);
}

int64_t loop_wall_ms(struct loop *loop)
{
    return loop->ops->wall_ms(loop);
}

struct uv_loop_s *loop_uv(struct loop *loop)
{
    return loop->ops->uv(loop);
}

const struct loop_turns *loop_turns(struct loop *loop)
{
    return loop->ops->turns(loop);
}

void loop_work_start(struct loop *loop, struct loop_work *work)
{
    loop->ops->work_start(loop, work);
}

void loop_post(struct loop *loop, struct loop_task *task)
{
    loop->ops->post(loop, task);
}

/* Stores the callback if it is the slowest of this turn so far. Returns the current time. */
static int64_t note_duration(struct loop *loop, const void *callback, int64_t begun_ns)
{
    int64_t now_ns = moment_monotonic_ns();
    if (now_ns - begun_ns >= loop->slowest.ns)
        loop->slowest = (struct loop_slowest){callback, now_ns - begun_ns};
    return now_ns;
}

/* ---- timers ---------------------------------------------------------------------------------- */

void loop_timer_init(struct loop *loop, struct loop_timer *timer,
                     void (*callback)(struct loop_timer *timer))
{
    *timer = (struct loop_timer){.loop = loop, .callback = callback};
}

void loop_timer_start(struct loop_timer *timer, int64_t delay_ms)
{
    struct loop *loop = timer->loop;
    const struct loop_timer *first = timer_heap_first(&loop->timers);
    if (timer->running)
        timer_heap_remove(&loop->timers, timer);
    timer->due_ms = loop_now_ms(loop) + (delay_ms > 0 ? delay_ms : 0);
    timer->order = loop->ops->timer_order(loop);
    timer->running = true;
    timer_heap_insert(&loop->timers, timer);
    if (first == timer || timer_heap_first(&loop->timers) != first)
        loop->ops->timers_changed(loop);
}

void loop_timer_stop(struct loop_timer *timer)
{
    if (!timer->running)
        return;
    struct loop *loop = timer->loop;
    bool was_first = timer_heap_first(&loop->timers) == timer;
    timer_heap_remove(&loop->timers, timer);
    timer->running = false;
    if (was_first)
        loop->ops->timers_changed(loop);
}

void loop_fire_first_timer(struct loop *loop)
{
    struct loop_timer *timer = timer_heap_first(&loop->timers);
    timer_heap_remove(&loop->timers, timer);
    timer->running = false;
    const void *callback = (const void *)timer->callback; /* the callback may free the timer */
    int64_t begun_ns = moment_monotonic_ns();
    timer->callback(timer);
    note_duration(loop, callback, begun_ns);
}

/* ---- deferred tasks -------------------------------------------------------------------------- */

void loop_defer(struct loop *loop, struct loop_task *task)
{
    if (task->queued)
        return;
    bool first = list_is_empty(&loop->deferred);
    task->queued = true;
    list_append(&loop->deferred, &task->link);
    if (first)
        loop->ops->deferred(loop);
}

void loop_defer_cancel(struct loop *loop, struct loop_task *task)
{
    if (!task->queued)
        return;
    task->queued = false;
    list_remove(&task->link);
}

bool loop_has_deferred(const struct loop *loop)
{
    return !list_is_empty(&loop->running) || !list_is_empty(&loop->deferred);
}

bool loop_should_yield(const struct loop *loop)
{
    return loop->yield_ns < INT64_MAX && moment_monotonic_ns() >= loop->yield_ns;
}

void loop_run_deferred(struct loop *loop, int64_t budget_ns)
{
    int64_t now_ns = moment_monotonic_ns();
    loop->yield_ns = budget_ns == LOOP_NO_BUDGET ? INT64_MAX : now_ns + budget_ns;
    list_append_all(&loop->running, &loop->deferred);
    while (!list_is_empty(&loop->running) && now_ns < loop->yield_ns) {
        struct loop_task *task = LIST_FIRST(&loop->running, struct loop_task, link);
        const void *callback = (const void *)task->callback; /* the callback may free the task */
        task->queued = false;
        list_remove(&task->link);
        task->callback(task);
        now_ns = note_duration(loop, callback, now_ns);
    }
}

/* Implements the loop in virtual time; see sim_loop.h. Each turn runs either all deferred tasks or
 * one timer. A work item runs from an internal timer. If both tasks and a timer are due, a random
 * number decides which of them this turn runs. The loop uses no threads and no descriptors, and no
 * decision depends on a clock of the system. */
#include "loop/sim/sim_loop.h"

#include "base/list.h"
#include "base/mem.h"
#include "base/vec.h"
#include "loop/loop_internal.h"

#include <stdlib.h>

/* A work item takes a random virtual time of at most WORK_MS_MAX, so that the order of work items
 * varies. */
enum { WORK_MS_MAX = 5 };

struct sim_body {
    struct loop loop;
    struct rand rand;
    int64_t now_ms;
    int64_t wall_start_ms;
    bool stopped;
    struct list_head work; /* struct work_slot: all pending work */
};

struct work_slot {
    struct loop_timer timer;
    struct loop_work *work;
    struct list_link link; /* in sim_body.work */
};

static struct sim_body *body_of(struct loop *loop)
{
    return CONTAINER_OF(loop, struct sim_body, loop);
}

static int64_t now_ms(struct loop *loop)
{
    return body_of(loop)->now_ms;
}

static int64_t wall_ms(struct loop *loop)
{
    return body_of(loop)->wall_start_ms + body_of(loop)->now_ms;
}

static uint64_t timer_order(struct loop *loop)
{
    return rand_next(&body_of(loop)->rand);
}

/* Does nothing, because each turn checks for new tasks and timers. */
static void sim_ignore(struct loop *loop)
{
}

static void slot_free(struct work_slot *slot)
{
    list_remove(&slot->link);
    free(slot);
}

static void on_work(struct loop_timer *timer)
{
    struct work_slot *slot = CONTAINER_OF(timer, struct work_slot, timer);
    struct loop_work *work = slot->work;
    slot_free(slot);
    work->work(work);
    work->done(work);
}

static void work_start(struct loop *loop, struct loop_work *work)
{
    struct sim_body *body = body_of(loop);
    struct work_slot *slot = mem_zalloc(sizeof(*slot));
    slot->work = work;
    list_push(&body->work, &slot->link);
    loop_timer_init(loop, &slot->timer, on_work);
    loop_timer_start(&slot->timer, (int64_t)rand_below(&body->rand, WORK_MS_MAX + 1));
}

/* Puts the deferred tasks into a random order that depends on the seed. */
static void shuffle_deferred(struct sim_body *body)
{
    VEC(struct loop_task *) tasks = {0};
    LIST_EACH_SAFE (struct loop_task, task, &body->loop.deferred, link) {
        vec_push(&tasks, task);
        list_remove(&task->link);
    }
    for (size_t left = tasks.count; left > 0; left--) {
        size_t drawn = rand_below(&body->rand, left);
        list_append(&body->loop.deferred, &tasks.items[drawn]->link);
        tasks.items[drawn] = tasks.items[left - 1];
    }
    vec_release(&tasks);
}

/* Runs the deferred tasks, or one timer that is due at `limit_ms` at the latest. Returns false if
 * there is neither. */
static bool sim_turn(struct sim_body *body, int64_t limit_ms)
{
    const struct loop_timer *first = timer_heap_first(&body->loop.timers);
    bool has_tasks = !list_is_empty(&body->loop.deferred);
    bool is_due = first && first->due_ms <= body->now_ms;
    if (has_tasks && !(is_due && rand_below(&body->rand, 2))) {
        shuffle_deferred(body);
        loop_run_deferred(&body->loop, LOOP_NO_BUDGET);
        return true;
    }
    if (!first || first->due_ms > limit_ms)
        return false;
    if (first->due_ms > body->now_ms)
        body->now_ms = first->due_ms;
    loop_fire_first_timer(&body->loop);
    return true;
}

static void sim_run(struct loop *loop)
{
    struct sim_body *body = body_of(loop);
    while (!body->stopped && sim_turn(body, INT64_MAX))
        ;
    body->stopped = false;
}

bool sim_loop_run_for(struct loop *loop, int64_t virtual_ms)
{
    struct sim_body *body = body_of(loop);
    int64_t limit_ms = body->now_ms + virtual_ms;
    bool ran_out = false;
    while (!body->stopped && !ran_out)
        ran_out = !sim_turn(body, limit_ms);
    if (ran_out)
        body->now_ms = limit_ms;
    body->stopped = false;
    return timer_heap_first(&loop->timers) || !list_is_empty(&loop->deferred);
}

static void sim_stop(struct loop *loop)
{
    body_of(loop)->stopped = true;
}

static struct uv_loop_s *sim_uv(struct loop *loop)
{
    return NULL;
}

static void body_free(struct loop *loop)
{
    struct sim_body *body = body_of(loop);
    LIST_EACH_SAFE (struct work_slot, slot, &body->work, link)
        slot_free(slot);
    free(body);
}

struct rand *sim_loop_rand(struct loop *loop)
{
    return &body_of(loop)->rand;
}

static const struct loop_turns *sim_turns(struct loop *loop)
{
    return NULL;
}

static const struct loop_ops OPS = {
    .free = body_free,
    .run = sim_run,
    .stop = sim_stop,
    .now_ms = now_ms,
    .wall_ms = wall_ms,
    .timer_order = timer_order,
    .timers_changed = sim_ignore,
    .deferred = sim_ignore,
    .post = loop_defer,
    .work_start = work_start,
    .uv = sim_uv,
    .turns = sim_turns,
};

struct loop *sim_loop_new(uint64_t seed, int64_t wall_start_ms)
{
    struct sim_body *body = mem_zalloc(sizeof(*body));
    rand_init(&body->rand, seed);
    body->wall_start_ms = wall_start_ms;
    loop_init(&body->loop, &OPS);
    return &body->loop;
}

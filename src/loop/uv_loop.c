/* The event loop on libuv, for programs on a real machine. One libuv timer is set to the earliest
 * timer of the heap. An idle handle is active while there are deferred tasks. An async handle,
 * which does not keep the loop alive, receives posted tasks. A prepare handle measures each turn.
 */
#include "loop/loop.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/moment.h"
#include "loop/loop_internal.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdlib.h>
#include <time.h>
#include <uv.h>

enum {
    /* Time limit for the deferred tasks of one turn, and separately for the timers of one turn.
     * Tasks and timers beyond their limit run in the next turn, so that I/O is not delayed for
     * long. */
    BUDGET_NS = 3 * 1000 * 1000,
    /* A turn with more CPU time than this is logged at debug level. */
    LONG_TURN_NS = 20 * 1000 * 1000,
};

struct uv_body {
    struct loop loop;
    uv_loop_t uv;
    uv_timer_t timer;
    uv_idle_t idle;
    uv_async_t async;
    uv_prepare_t prepare;
    struct loop_turns turns;
    int64_t turn_cpu_ns, turn_wall_ns; /* clocks at the start of the current turn */
    uint64_t turn_idle_ns; /* libuv's total idle time at the start of the current turn */
    uint64_t timers_started;
    size_t work_count; /* number of work items whose `done` has not been called */
    bool in_run;       /* loop_run() is running */
    bool stopped;      /* loop_stop() was called, and loop_run() has not returned yet */
    pthread_mutex_t posted_lock;
    struct list_head posted; /* struct loop_task; protected by posted_lock */
};

/* One work item on the thread pool. It is a separate struct so that loop.h does not need
 * uv_work_t. */
struct work_slot {
    uv_work_t request;
    struct loop_task task; /* its callback calls work->done() */
    struct uv_body *body;
    struct loop_work *work;
};

static struct uv_body *body_of(struct loop *loop)
{
    return CONTAINER_OF(loop, struct uv_body, loop);
}

static int64_t now_ms(struct loop *loop)
{
    struct uv_body *body = body_of(loop);
    /* libuv updates its clock only during a run. Update it here, so that a timer that is started
     * between runs does not fire early. */
    if (!body->in_run)
        uv_update_time(&body->uv);
    return (int64_t)uv_now(&body->uv);
}

static int64_t wall_ms(struct loop *loop)
{
    return moment_wall_ms();
}

static uint64_t timer_order(struct loop *loop)
{
    return body_of(loop)->timers_started++;
}

static void on_uv_timer(uv_timer_t *handle);

static void timers_changed(struct loop *loop)
{
    struct uv_body *body = body_of(loop);
    const struct loop_timer *first = timer_heap_first(&loop->timers);
    if (!first) {
        uv_timer_stop(&body->timer);
        return;
    }
    int64_t delay_ms = first->due_ms - now_ms(loop);
    uv_timer_start(&body->timer, on_uv_timer, delay_ms > 0 ? (uint64_t)delay_ms : 0, 0);
}

static void on_uv_timer(uv_timer_t *handle)
{
    struct uv_body *body = CONTAINER_OF(handle, struct uv_body, timer);
    /* Timers that are started by the callbacks below run in the next turn. */
    uint64_t limit = body->timers_started;
    int64_t now = now_ms(&body->loop), end_ns = moment_monotonic_ns() + BUDGET_NS;
    const struct loop_timer *first;
    while ((first = timer_heap_first(&body->loop.timers)) && first->due_ms <= now &&
           first->order < limit) {
        if (moment_monotonic_ns() > end_ns) {
            uv_timer_start(handle, on_uv_timer, 1, 0); /* a timeout of 0 would fire in this turn */
            return;
        }
        loop_fire_first_timer(&body->loop);
    }
    timers_changed(&body->loop);
}

static void on_idle(uv_idle_t *handle)
{
    struct uv_body *body = CONTAINER_OF(handle, struct uv_body, idle);
    loop_run_deferred(&body->loop, BUDGET_NS);
    if (!loop_has_deferred(&body->loop))
        uv_idle_stop(handle);
}

static void uv_deferred(struct loop *loop)
{
    uv_idle_start(&body_of(loop)->idle, on_idle);
}

/* Moves the posted tasks to the deferred tasks. Returns false if no task was posted. */
static bool take_posted(struct uv_body *body)
{
    struct list_head posted = {0};
    pthread_mutex_lock(&body->posted_lock);
    list_append_all(&posted, &body->posted);
    pthread_mutex_unlock(&body->posted_lock);
    if (list_is_empty(&posted))
        return false;
    LIST_EACH (struct loop_task, task, &posted, link)
        task->queued = true;
    list_append_all(&body->loop.deferred, &posted);
    uv_deferred(&body->loop);
    return true;
}

static void on_async(uv_async_t *handle)
{
    take_posted(CONTAINER_OF(handle, struct uv_body, async));
}

static void uv_post(struct loop *loop, struct loop_task *task)
{
    struct uv_body *body = body_of(loop);
    pthread_mutex_lock(&body->posted_lock);
    list_append(&body->posted, &task->link);
    pthread_mutex_unlock(&body->posted_lock);
    uv_async_send(&body->async);
}

static void on_work(uv_work_t *request)
{
    struct work_slot *slot = CONTAINER_OF(request, struct work_slot, request);
    slot->work->work(slot->work);
}

static void on_work_deferred(struct loop_task *task)
{
    struct work_slot *slot = CONTAINER_OF(task, struct work_slot, task);
    struct loop_work *work = slot->work;
    slot->body->work_count--;
    free(slot);
    work->done(work);
}

/* libuv calls this for each finished work item, and for all of them in one turn. So `done` runs in
 * a deferred task, to which the time limit of a turn applies. */
static void on_work_done(uv_work_t *request, int status)
{
    struct work_slot *slot = CONTAINER_OF(request, struct work_slot, request);
    loop_defer(&slot->body->loop, &slot->task);
}

static void work_start(struct loop *loop, struct loop_work *work)
{
    struct work_slot *slot = mem_zalloc(sizeof(*slot));
    slot->body = body_of(loop);
    slot->task.callback = on_work_deferred;
    slot->work = work;
    slot->body->work_count++;
    int result = uv_queue_work(&slot->body->uv, &slot->request, on_work, on_work_done);
    if (result < 0)
        mem_panic("loop: cannot queue work: %s", uv_strerror(result));
}

/* ---- turns ----------------------------------------------------------------------------------- */

static int64_t thread_cpu_ns(void)
{
    struct timespec spent;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &spent);
    return (int64_t)spent.tv_sec * 1000000000 + spent.tv_nsec;
}

static void turn_begin(struct uv_body *body)
{
    body->turn_cpu_ns = thread_cpu_ns();
    body->turn_wall_ns = moment_monotonic_ns();
    body->turn_idle_ns = uv_metrics_idle_time(&body->uv);
    body->loop.slowest = (struct loop_slowest){0};
}

/* Logs the slowest callback of the turn, with an offset that addr2line can read. */
static void turn_log(const struct loop_slowest *slowest, int64_t cpu_ns, int64_t wall_ns)
{
    Dl_info place = {0};
    if (!slowest->callback || !dladdr(slowest->callback, &place))
        log_debug("loop", "a turn took %lld us of CPU time in %lld us, all in I/O callbacks",
                  (long long)cpu_ns / 1000, (long long)wall_ns / 1000);
    else
        log_debug("loop",
                  "a turn took %lld us of CPU time in %lld us; its longest task or timer took %lld "
                  "us: %s at offset 0x%llx",
                  (long long)cpu_ns / 1000, (long long)wall_ns / 1000,
                  (long long)slowest->ns / 1000, place.dli_fname,
                  (unsigned long long)((uintptr_t)slowest->callback - (uintptr_t)place.dli_fbase));
}

/* libuv calls this once per iteration, before it waits for I/O and runs I/O callbacks. A turn lasts
 * from one call to the next, minus the time in which the thread slept. */
static void on_prepare(uv_prepare_t *handle)
{
    struct uv_body *body = CONTAINER_OF(handle, struct uv_body, prepare);
    int64_t cpu_ns = body->turn_cpu_ns, wall_ns = body->turn_wall_ns;
    uint64_t idle_ns = body->turn_idle_ns;
    struct loop_slowest slowest = body->loop.slowest;
    turn_begin(body);
    cpu_ns = body->turn_cpu_ns - cpu_ns;
    wall_ns = body->turn_wall_ns - wall_ns - (int64_t)(body->turn_idle_ns - idle_ns);
    loop_turn_histogram_add(&body->turns.cpu, cpu_ns);
    loop_turn_histogram_add(&body->turns.wall, wall_ns);
    if (cpu_ns > LONG_TURN_NS)
        turn_log(&slowest, cpu_ns, wall_ns);
}

static const struct loop_turns *uv_turns(struct loop *loop)
{
    return &body_of(loop)->turns;
}

static void uv_body_run(struct loop *loop)
{
    struct uv_body *body = body_of(loop);
    uv_update_time(&body->uv);
    turn_begin(body);
    body->in_run = true;
    while (!body->stopped) {
        bool more = uv_run(&body->uv, UV_RUN_DEFAULT) != 0;
        /* Another thread may have posted a task just before uv_run() returned. Such a task must not
         * wait for the next loop_run(). */
        if (!more && !take_posted(body))
            break;
    }
    body->stopped = false;
    body->in_run = false;
}

static void uv_body_stop(struct loop *loop)
{
    struct uv_body *body = body_of(loop);
    body->stopped = true;
    uv_stop(&body->uv);
}

static struct uv_loop_s *uv_body_uv(struct loop *loop)
{
    return &body_of(loop)->uv;
}

static void count_open(uv_handle_t *handle, void *context)
{
    const char **name = context;
    if (!uv_is_closing(handle))
        *name = uv_handle_type_name(uv_handle_get_type(handle));
}

static void body_free(struct loop *loop)
{
    struct uv_body *body = body_of(loop);
    /* Work on the thread pool uses the memory of its owner, so wait until each `done` has been
     * called. */
    while (body->work_count)
        uv_run(&body->uv, UV_RUN_ONCE);
    uv_close((uv_handle_t *)&body->timer, NULL);
    uv_close((uv_handle_t *)&body->idle, NULL);
    uv_close((uv_handle_t *)&body->async, NULL);
    uv_close((uv_handle_t *)&body->prepare, NULL);
    const char *open = NULL;
    uv_walk(&body->uv, count_open, &open);
    if (open)
        mem_panic("loop: freed while a libuv %s handle is open", open);
    /* All handles that are left are closing. Run the loop until they are closed. */
    while (uv_loop_close(&body->uv) == UV_EBUSY)
        uv_run(&body->uv, UV_RUN_NOWAIT);
    pthread_mutex_destroy(&body->posted_lock);
    free(body);
}

static const struct loop_ops OPS = {
    .free = body_free,
    .run = uv_body_run,
    .stop = uv_body_stop,
    .now_ms = now_ms,
    .wall_ms = wall_ms,
    .timer_order = timer_order,
    .timers_changed = timers_changed,
    .deferred = uv_deferred,
    .post = uv_post,
    .work_start = work_start,
    .uv = uv_body_uv,
    .turns = uv_turns,
};

int loop_new(struct loop **ret, struct err *err)
{
    struct uv_body *body = mem_zalloc(sizeof(*body));
    int result = uv_loop_init(&body->uv);
    if (result < 0) {
        free(body);
        return err_set_errno(err, -result, "cannot make an event loop");
    }
    result = uv_async_init(&body->uv, &body->async, on_async);
    if (result < 0) {
        uv_loop_close(&body->uv);
        free(body);
        return err_set_errno(err, -result, "cannot make an event loop");
    }
    uv_timer_init(&body->uv, &body->timer);
    uv_idle_init(&body->uv, &body->idle);
    uv_loop_configure(&body->uv, UV_METRICS_IDLE_TIME);
    uv_prepare_init(&body->uv, &body->prepare);
    uv_prepare_start(&body->prepare, on_prepare);
    uv_unref((uv_handle_t *)&body->prepare);
    uv_unref((uv_handle_t *)&body->async);
    pthread_mutex_init(&body->posted_lock, NULL);
    loop_init(&body->loop, &OPS);
    *ret = &body->loop;
    return 0;
}

/* The event loop of the control processes and of the trainer's web servers: an interface with two
 * implementations, libuv on a machine (uv_loop.c) and virtual time with a seeded order in
 * simulation (sim/sim_loop.c). Code that uses a struct loop works with both implementations. Only
 * loop/, net/ and node/ use the libuv loop that loop_uv() returns. Other code may only compare it
 * with NULL.
 *
 * A turn is one iteration of the loop.
 *
 * One thread runs a loop, the loop thread. No function here blocks, except loop_run() and
 * loop_free(). Only loop_post() and loop_wall_ms() may be called from another thread. */
#ifndef TRAINYARD_LOOP_LOOP_H
#define TRAINYARD_LOOP_LOOP_H

#include "base/err.h"
#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct uv_loop_s;

int loop_new(struct loop **ret, struct err *err); /* a loop on libuv */
/* Waits until `done` of all work has been called; in simulation, drops the work instead. Aborts if
 * a libuv handle of the caller is neither closed nor closing. NULL-safe; returns NULL. */
struct loop *loop_free(struct loop *loop);

/* Runs until loop_stop() is called, or until no timer, task, work or active libuv handle is left.
 * Handles after uv_unref() do not count. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

int64_t loop_now_ms(struct loop *loop);  /* monotonic; constant during a callback */
int64_t loop_wall_ms(struct loop *loop); /* Unix wall time */

/* A one-shot timer in the memory of its owner. The callback may start the timer again. Starting a
 * running timer changes its time. Stopping a stopped timer does nothing. A stopped timer may be
 * freed at once. */
struct loop_timer {
    struct loop *loop;
    void (*callback)(struct loop_timer *timer);
    struct loop_timer *heap[3]; /* links of the loop's heap */
    int64_t due_ms;
    uint64_t order; /* timers with the same due_ms run in this order */
    bool running;
};
void loop_timer_init(struct loop *loop, struct loop_timer *timer,
                     void (*callback)(struct loop_timer *timer));
void loop_timer_start(struct loop_timer *timer, int64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);

/* A callback that the loop runs soon after the current callback has returned: in this turn or in a
 * later turn. A function defers a callback that must not run before the function has returned.
 * loop_defer() does nothing if the task is queued already. loop_defer_cancel() does nothing if the
 * task is not queued. */
struct loop_task {
    void (*callback)(struct loop_task *task);
    struct list_link link; /* owned by the loop */
    bool queued;
};
void loop_defer(struct loop *loop, struct loop_task *task);
void loop_defer_cancel(struct loop *loop, struct loop_task *task);
/* Returns whether the deferred tasks of this turn have used up their time limit. A deferred task
 * with much work calls this function. If it returns true, the task should defer the rest of its
 * work. Always returns false in simulation, where no time passes during a turn. */
bool loop_should_yield(const struct loop *loop);

/* Queues the task, which the loop thread runs soon. May be called from any thread. The task must
 * not be queued already, cannot be cancelled, and must stay valid until it has run. */
void loop_post(struct loop *loop, struct loop_task *task);

/* Blocking work. `work` runs on a thread of the thread pool, then `done` runs on the loop thread.
 * The struct must live until `done` is called. In simulation both run on the loop thread, after a
 * delay in virtual time. */
struct loop_work {
    void (*work)(struct loop_work *work);
    void (*done)(struct loop_work *work);
};
void loop_work_start(struct loop *loop, struct loop_work *work);

/* Returns the libuv loop, or NULL in simulation. */
struct uv_loop_s *loop_uv(struct loop *loop);

#endif

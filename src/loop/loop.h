/* The event loop of a control process, as an interface with two bodies: libuv on a machine
 * (uv_loop.c) and virtual time with seeded order in simulation (sim/sim_loop.c). Code that decides
 * takes a struct loop and cannot tell which it has; only net/ and node/ ask for the libuv loop
 * behind it.
 *
 * One thread runs a loop. Nothing here blocks it. Only loop_post() may be called from another
 * thread.
 */
#ifndef TRAINYARD_LOOP_LOOP_H
#define TRAINYARD_LOOP_LOOP_H

#include "base/err.h"
#include "base/list.h"

#include <stdbool.h>
#include <stdint.h>

struct loop;
struct uv_loop_s;

int loop_new(struct loop **ret, struct err *err); /* on libuv */
struct loop *loop_free(struct loop *loop);

/* Run until loop_stop(), or until nothing is left that could happen. */
void loop_run(struct loop *loop);
void loop_stop(struct loop *loop);

int64_t loop_now_ms(struct loop *loop);  /* monotonic, of this turn */
int64_t loop_wall_ms(struct loop *loop); /* Unix time */

/* A timer lives in its owner's memory. Starting a running timer moves it; stopping twice is fine; a
 * stopped timer may be forgotten at once. One shot: the callback may start it again. */
struct loop_timer {
    struct loop *loop;
    void (*callback)(struct loop_timer *timer);
    struct loop_timer *heap[3]; /* owned by the loop */
    int64_t due_ms;
    uint64_t order;
    bool running;
};
void loop_timer_init(struct loop *loop, struct loop_timer *timer,
                     void (*callback)(struct loop_timer *timer));
void loop_timer_start(struct loop_timer *timer, int64_t delay_ms);
void loop_timer_stop(struct loop_timer *timer);

/* Run a callback in the next turn, after the current one has unwound: the way to avoid calling back
 * into a caller. Queued once however often it is deferred; may be cancelled. */
struct loop_task {
    void (*callback)(struct loop_task *task);
    struct list_link link; /* owned by the loop */
    bool queued;
};
void loop_defer(struct loop *loop, struct loop_task *task);
void loop_defer_cancel(struct loop *loop, struct loop_task *task);
/* Whether the deferred tasks of this turn have used up their time, so that the task that asks
 * should leave the rest of its work to the next turn. Never in simulation, where no time passes. */
bool loop_should_yield(const struct loop *loop);

/* From any thread: run the task on the loop's thread. The task must not be queued already, and
 * cannot be cancelled: who posts it keeps it until it has run. */
void loop_post(struct loop *loop, struct loop_task *task);

/* Blocking work on a pool thread; `done` is called on the loop. The struct lives until then. In
 * simulation both run in virtual time on the loop's thread. */
struct loop_work {
    void (*work)(struct loop_work *work);
    void (*done)(struct loop_work *work);
};
void loop_work_start(struct loop *loop, struct loop_work *work);

/* The libuv loop behind it; NULL in simulation. */
struct uv_loop_s *loop_uv(struct loop *loop);

#endif

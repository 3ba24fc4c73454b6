/* Implements the current state of a run, protected by a lock; see run_state.h. */
#include "train/run/run_state.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

struct run_state {
    pthread_mutex_t lock;
    struct run_state_view view;
    double steps_per_epoch;
    int64_t last_ns;    /* end of the last step; 0: the rate must not be computed from it */
    int64_t waiting_ns; /* start of the current wait; 0: not waiting */
};

static const struct run_state_view NOTHING_KNOWN = {
    .loss = (double)NAN, .accuracy = (double)NAN, .rate = (double)NAN};

struct run_state *run_state_new(void)
{
    struct run_state *state = mem_zalloc(sizeof(*state));
    pthread_mutex_init(&state->lock, NULL);
    state->view = NOTHING_KNOWN;
    return state;
}

struct run_state *run_state_free(struct run_state *state)
{
    if (!state)
        return NULL;
    pthread_mutex_destroy(&state->lock);
    free(state);
    return NULL;
}

static void set_epoch(struct run_state *state)
{
    state->view.epoch =
        state->steps_per_epoch > 0 ? (double)state->view.step / state->steps_per_epoch : 0;
}

void run_state_begin(struct run_state *state, uint64_t done, uint64_t total, double steps_per_epoch)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    state->view.step = done;
    state->view.total = total;
    state->steps_per_epoch = steps_per_epoch;
    state->last_ns = 0;
    set_epoch(state);
    pthread_mutex_unlock(&state->lock);
}

/* Ends the current wait, if there is one. The lock must be held. */
static void end_wait(struct run_state *state, int64_t now_ns)
{
    if (state->waiting_ns)
        state->view.waited += (double)(now_ns - state->waiting_ns) / 1e9;
    state->waiting_ns = 0;
    state->view.waiting_for[0] = '\0';
}

/* Returns the exponentially smoothed rate after a step with rate `now`. */
static double smooth_rate(double before, double now)
{
    return isnan(before) ? now : 0.9 * before + 0.1 * now;
}

void run_state_step(struct run_state *state, uint64_t step, double loss, uint64_t examples,
                    int64_t now_ns)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    struct run_state_view *view = &state->view;
    view->step = step;
    view->loss = loss;
    view->examples += examples;
    if (state->last_ns && now_ns > state->last_ns)
        view->rate =
            smooth_rate(view->rate, (double)examples * 1e9 / (double)(now_ns - state->last_ns));
    state->last_ns = now_ns;
    end_wait(state, now_ns);
    set_epoch(state);
    pthread_mutex_unlock(&state->lock);
}

void run_state_accuracy(struct run_state *state, double accuracy)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    state->view.accuracy = accuracy;
    pthread_mutex_unlock(&state->lock);
}

void run_state_wait(struct run_state *state, const char *peers, int64_t now_ns)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    if (!peers) {
        end_wait(state, now_ns);
    } else {
        snprintf(state->view.waiting_for, sizeof(state->view.waiting_for), "%s", peers);
        if (!state->waiting_ns)
            state->waiting_ns = now_ns;
    }
    state->last_ns = 0; /* the time until the next step must not count as its duration */
    pthread_mutex_unlock(&state->lock);
}

/* Returns the entry of a worker, which is added if it is missing. If the table is full, returns the
 * entry "others". */
static struct run_state_straggler *late_of(struct run_state_view *view, const char *task)
{
    for (size_t i = 0; i < view->late_count; i++)
        if (str_eq(view->late[i].task, task))
            return &view->late[i];
    if (view->late_count == RUN_STATE_TASKS_MAX)
        return &view->late[RUN_STATE_TASKS_MAX - 1];
    struct run_state_straggler *late = &view->late[view->late_count++];
    str_copy(late->task, sizeof(late->task),
             view->late_count == RUN_STATE_TASKS_MAX ? "others" : task);
    return late;
}

void run_state_waited(struct run_state *state, const char *task, int64_t ns)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    late_of(&state->view, task)->seconds += (double)ns / 1e9;
    pthread_mutex_unlock(&state->lock);
}

void run_state_lost(struct run_state *state)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    state->view.losses++;
    state->last_ns = 0;
    pthread_mutex_unlock(&state->lock);
}

void run_state_saved(struct run_state *state, uint64_t step)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    state->view.saves++;
    state->view.saved = step;
    pthread_mutex_unlock(&state->lock);
}

void run_state_save_failed(struct run_state *state)
{
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    state->view.failed_saves++;
    pthread_mutex_unlock(&state->lock);
}

void run_state_read(struct run_state *state, int64_t now_ns, struct run_state_view *ret)
{
    *ret = NOTHING_KNOWN;
    if (!state)
        return;
    pthread_mutex_lock(&state->lock);
    *ret = state->view;
    if (state->waiting_ns)
        ret->waited += (double)(now_ns - state->waiting_ns) / 1e9;
    pthread_mutex_unlock(&state->lock);
}

static void set_known(struct arena *arena, struct json *document, const char *name, double value)
{
    if (isfinite(value))
        json_set(arena, document, name, json_real(arena, value));
}

struct json *run_state_document(struct arena *arena, const struct run_state_view *view)
{
    struct json *document = json_object(arena);
    json_set_int(arena, document, "step", (int64_t)view->step);
    json_set_int(arena, document, "total", (int64_t)view->total);
    if (view->epoch > 0)
        json_set(arena, document, "epoch", json_real(arena, view->epoch));
    set_known(arena, document, "loss", view->loss);
    set_known(arena, document, "accuracy", view->accuracy);
    set_known(arena, document, "rate", view->rate);
    if (view->waiting_for[0])
        json_set_string(arena, document, "waiting-for", view->waiting_for);
    return document;
}

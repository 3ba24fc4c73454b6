/* Keeps helpers alive; see process/helper_keeper.h. */
#include "node/process/helper_keeper.h"

#include "base/log.h"
#include "base/mem.h"

#include <stdlib.h>
#include <unistd.h>
#include <uv.h>

/* How long to wait before the helper is started again. Doubles with each attempt, until a helper
 * has run for more than RESPAWN_MAX_MS. */
enum { RESPAWN_MS = 200, RESPAWN_MAX_MS = 30 * 1000 };

struct helper_keeper {
    struct loop *loop;
    const struct helper_kind *kind;
    struct helper_options options;
    int pidfd;       /* of the helper; -1 if none is known to run */
    uv_poll_t watch; /* watches `pidfd` */
    bool watching;   /* `watch` is open */
    bool closing;    /* libuv has not closed `watch` yet */
    bool freed;      /* the keeper was freed; the memory is released when `watch` is closed */
    struct loop_timer respawn; /* runs until the next attempt to start the helper */
    int64_t delay_ms;          /* the wait before the next attempt */
    int64_t started_ms;        /* when the helper was found or started */
    void (*changed)(void *context, bool is_running); /* or NULL */
    void *context;
};

static void on_helper_keeper_closed(uv_handle_t *handle)
{
    struct helper_keeper *keeper = handle->data;
    keeper->closing = false;
    if (keeper->freed)
        free(keeper);
}

static void helper_keeper_unwatch(struct helper_keeper *keeper)
{
    if (keeper->pidfd >= 0)
        close(keeper->pidfd);
    keeper->pidfd = -1;
    keeper->watching = false;
    keeper->closing = true;
    uv_close((uv_handle_t *)&keeper->watch, on_helper_keeper_closed);
}

/* Doubles the delay, so that a helper that ends again and again is started less often. */
static void try_later(struct helper_keeper *keeper)
{
    loop_timer_start(&keeper->respawn, keeper->delay_ms);
    keeper->delay_ms *= 2;
    if (keeper->delay_ms > RESPAWN_MAX_MS)
        keeper->delay_ms = RESPAWN_MAX_MS;
}

static void tell_change(struct helper_keeper *keeper, bool is_running)
{
    if (keeper->changed)
        keeper->changed(keeper->context, is_running);
}

static void on_helper_ended(uv_poll_t *poll, int status, int events)
{
    struct helper_keeper *keeper = poll->data;
    (void)status;
    (void)events;
    log_warning("network", "%s has ended: starting another", keeper->kind->what);
    helper_keeper_unwatch(keeper);
    tell_change(keeper, false);
    if (loop_now_ms(keeper->loop) - keeper->started_ms > RESPAWN_MAX_MS)
        keeper->delay_ms = RESPAWN_MS;
    try_later(keeper); /* libuv closes the watch before the timer expires */
}

static void find_or_start(struct helper_keeper *keeper)
{
    const char *state_dir = keeper->options.state_dir;
    struct err err = ERR_INIT;
    int result = helper_process_find(keeper->kind, state_dir, &keeper->pidfd, NULL);
    if (result < 0)
        result = helper_process_start(keeper->kind, &keeper->options, &err);
    if (result == 0 && keeper->pidfd < 0)
        result = helper_process_find(keeper->kind, state_dir, &keeper->pidfd, &err);
    if (result == 0 &&
        (result = uv_poll_init(loop_uv(keeper->loop), &keeper->watch, keeper->pidfd)) < 0)
        err_set_errno(&err, -result, "cannot watch %s", keeper->kind->what);
    if (result < 0) {
        log_warning("network", "%s", err.message);
        if (keeper->pidfd >= 0)
            close(keeper->pidfd);
        keeper->pidfd = -1;
        try_later(keeper);
        return;
    }
    keeper->started_ms = loop_now_ms(keeper->loop);
    keeper->watch.data = keeper;
    keeper->watching = true;
    uv_poll_start(&keeper->watch, UV_READABLE, on_helper_ended);
    tell_change(keeper, true);
}

static void on_respawn(struct loop_timer *timer)
{
    find_or_start(CONTAINER_OF(timer, struct helper_keeper, respawn));
}

struct helper_keeper *helper_keeper_new(struct loop *loop, const struct helper_kind *kind,
                                        const struct helper_options *options)
{
    struct helper_keeper *keeper = mem_zalloc(sizeof(*keeper));
    keeper->loop = loop;
    keeper->kind = kind;
    keeper->options = *options;
    keeper->pidfd = -1;
    keeper->delay_ms = RESPAWN_MS;
    loop_timer_init(loop, &keeper->respawn, on_respawn);
    find_or_start(keeper);
    return keeper;
}

void helper_keeper_on_change(struct helper_keeper *keeper,
                             void (*changed)(void *context, bool is_running), void *context)
{
    keeper->changed = changed;
    keeper->context = context;
    if (!keeper->watching)
        tell_change(keeper, false);
}

struct helper_keeper *helper_keeper_free(struct helper_keeper *keeper)
{
    if (!keeper)
        return NULL;
    loop_timer_stop(&keeper->respawn);
    keeper->freed = true;
    if (keeper->watching)
        helper_keeper_unwatch(keeper);
    else if (!keeper->closing)
        free(keeper);
    return NULL;
}

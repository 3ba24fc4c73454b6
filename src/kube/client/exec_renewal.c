/* Runs a credential plugin again; see exec_renewal.h. */
#include "kube/client/exec_renewal.h"

#include "base/mem.h"

#include <stdlib.h>
#include <sys/eventfd.h>
#include <unistd.h>

enum {
    /* A credential is renewed at most this long before it expires. If less than five times as much
     * is left, it is renewed after four fifths of the time left. */
    AHEAD_MAX_MS = 60 * 1000,
    GAP_MIN_MS = 5 * 1000,      /* least time between two runs */
    GAP_MAX_MS = 5 * 60 * 1000, /* longest time to the next run after failures */
};

struct exec_renewal {
    struct loop *loop;
    const struct exec_plugin *plugin;
    exec_renewed *renewed;
    void *context;
    struct loop_timer timer;
    int64_t ran_ms; /* when the previous run ended, or when this struct was made; loop time */
    int64_t gap_ms; /* least time to the next run after a failure or a rejection */
    int cancel_fd;  /* an eventfd that ends the running plugin */
    bool running;   /* a pool thread runs the plugin */
    bool freed;     /* exec_renewal_free() was called while the plugin runs */

    struct loop_work work; /* the pool thread writes the members below while the plugin runs */
    struct arena *arena;
    struct exec_credential credential;
    struct err err;
    int result;
};

static void renewal_free(struct exec_renewal *renewal)
{
    arena_free(renewal->arena);
    close(renewal->cancel_fd);
    free(renewal);
}

/* Schedules the next run for a credential that expires at `expires_ms`; INT64_MAX: none. */
static void renewal_schedule(struct exec_renewal *renewal, int64_t expires_ms)
{
    int64_t now = loop_wall_ms(renewal->loop);
    if (expires_ms == INT64_MAX)
        return;
    int64_t left = expires_ms > now ? expires_ms - now : 0;
    int64_t ahead = left / 5 < AHEAD_MAX_MS ? left / 5 : AHEAD_MAX_MS;
    int64_t delay = left - ahead;
    loop_timer_start(&renewal->timer, delay > GAP_MIN_MS ? delay : GAP_MIN_MS);
}

static void renewal_run_plugin(struct loop_work *work)
{
    struct exec_renewal *renewal = CONTAINER_OF(work, struct exec_renewal, work);
    renewal->result = exec_plugin_run(renewal->arena, renewal->plugin, false, renewal->cancel_fd,
                                      &renewal->credential, &renewal->err);
}

static void on_renewal_done(struct loop_work *work)
{
    struct exec_renewal *renewal = CONTAINER_OF(work, struct exec_renewal, work);
    renewal->running = false;
    if (renewal->freed) {
        renewal_free(renewal);
        return;
    }
    renewal->ran_ms = loop_now_ms(renewal->loop);
    if (renewal->result < 0) {
        loop_timer_start(&renewal->timer, renewal->gap_ms);
        renewal->gap_ms = renewal->gap_ms < GAP_MAX_MS / 2 ? 2 * renewal->gap_ms : GAP_MAX_MS;
        renewal->renewed(renewal->context, NULL, &renewal->err);
        return;
    }
    renewal->gap_ms = GAP_MIN_MS;
    renewal_schedule(renewal, renewal->credential.expires_ms);
    renewal->renewed(renewal->context, &renewal->credential, NULL);
}

static void on_renewal_timer(struct loop_timer *timer)
{
    struct exec_renewal *renewal = CONTAINER_OF(timer, struct exec_renewal, timer);
    renewal->running = true;
    arena_reset(renewal->arena);
    loop_work_start(renewal->loop, &renewal->work);
}

void exec_renewal_rejected(struct exec_renewal *renewal)
{
    int64_t now = loop_now_ms(renewal->loop);
    int64_t due = renewal->ran_ms + renewal->gap_ms > now ? renewal->ran_ms + renewal->gap_ms : now;
    if (!renewal->running && !(renewal->timer.running && renewal->timer.due_ms <= due))
        loop_timer_start(&renewal->timer, due - now);
}

struct exec_renewal *exec_renewal_new(struct loop *loop, const struct exec_plugin *plugin,
                                      int64_t expires_ms, exec_renewed *renewed, void *context)
{
    struct exec_renewal *renewal = mem_zalloc(sizeof(*renewal));
    *renewal = (struct exec_renewal){
        .loop = loop,
        .plugin = plugin,
        .renewed = renewed,
        .context = context,
        .ran_ms = loop_now_ms(loop),
        .gap_ms = GAP_MIN_MS,
        .cancel_fd = eventfd(0, EFD_CLOEXEC),
        .work = {.work = renewal_run_plugin, .done = on_renewal_done},
        .arena = arena_new(),
    };
    if (renewal->cancel_fd < 0)
        mem_panic("credential plugin: cannot create an eventfd");
    loop_timer_init(loop, &renewal->timer, on_renewal_timer);
    renewal_schedule(renewal, expires_ms);
    return renewal;
}

struct exec_renewal *exec_renewal_free(struct exec_renewal *renewal)
{
    if (!renewal)
        return NULL;
    loop_timer_stop(&renewal->timer);
    renewal->freed = true;
    eventfd_write(renewal->cancel_fd, 1);
    if (!renewal->running)
        renewal_free(renewal);
    return NULL;
}

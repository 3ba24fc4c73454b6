/* Calls a callback for SIGINT and SIGTERM; see signals.h. */
#include "loop/signals.h"

#include "base/mem.h"

#include <signal.h>
#include <stdlib.h>
#include <uv.h>

static const int SIGNALS[] = {SIGINT, SIGTERM};

struct loop_signals {
    uv_signal_t handles[ARRAY_SIZE(SIGNALS)];
    size_t open; /* number of handles that libuv still uses */
    void (*callback)(void *context, int signal);
    void *context;
};

static void on_signal_caught(uv_signal_t *handle, int number)
{
    struct loop_signals *signals = handle->data;
    signals->callback(signals->context, number);
}

static void on_signal_closed(uv_handle_t *handle)
{
    struct loop_signals *signals = handle->data;
    if (--signals->open == 0)
        free(signals);
}

struct loop_signals *loop_signals_free(struct loop_signals *signals)
{
    /* The memory lives until libuv has closed the handles, in the next turn of the loop. */
    for (size_t i = 0; signals && i < ARRAY_SIZE(SIGNALS); i++)
        uv_close((uv_handle_t *)&signals->handles[i], on_signal_closed);
    return NULL;
}

int loop_signals_new(struct loop *loop, void (*callback)(void *context, int signal), void *context,
                     struct loop_signals **ret, struct err *err)
{
    if (!loop_uv(loop))
        return err_set(err, ERR_UNSUPPORTED, "signals do not exist in simulation");
    struct loop_signals *signals = mem_zalloc(sizeof(*signals));
    signals->callback = callback;
    signals->context = context;
    signals->open = ARRAY_SIZE(SIGNALS);
    for (size_t i = 0; i < ARRAY_SIZE(SIGNALS); i++) {
        uv_signal_init(loop_uv(loop), &signals->handles[i]);
        signals->handles[i].data = signals;
    }
    for (size_t i = 0; i < ARRAY_SIZE(SIGNALS); i++) {
        int result = uv_signal_start(&signals->handles[i], on_signal_caught, SIGNALS[i]);
        if (result < 0) {
            loop_signals_free(signals);
            return err_set_errno(err, -result, "cannot listen for signal %d", SIGNALS[i]);
        }
        uv_unref((uv_handle_t *)&signals->handles[i]);
    }
    *ret = signals;
    return 0;
}

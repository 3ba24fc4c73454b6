/* Calls a callback on the loop thread for SIGINT and SIGTERM, so that a program can shut down
 * cleanly. */
#ifndef TRAINYARD_LOOP_SIGNALS_H
#define TRAINYARD_LOOP_SIGNALS_H

#include "loop/loop.h"

struct loop_signals;

/* Calls `callback` on the loop thread for each SIGINT or SIGTERM. The signal handles do not keep
 * loop_run() from returning. Returns 0, -ERR_UNSUPPORTED in simulation, or another error if a
 * signal cannot be handled. */
int loop_signals_new(struct loop *loop, void (*callback)(void *context, int signal), void *context,
                     struct loop_signals **ret, struct err *err);
/* Restores the default actions of the signals. The callback is not called after this. Must be
 * called before loop_free(). NULL-safe; returns NULL. */
struct loop_signals *loop_signals_free(struct loop_signals *signals);

#endif

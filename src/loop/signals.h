/* SIGINT and SIGTERM as a callback on the loop, for programs that end in order. */
#ifndef TRAINYARD_LOOP_SIGNALS_H
#define TRAINYARD_LOOP_SIGNALS_H

#include "loop/loop.h"

struct loop_signals;

/* `callback` gets SIGINT or SIGTERM each time one comes. Does not keep the loop running by itself.
 * On libuv only: ERR_UNSUPPORTED in simulation. */
int loop_signals_new(struct loop *loop, void (*callback)(void *context, int signal), void *context,
                     struct loop_signals **ret, struct err *err);
/* The signals do again what they did before; no callback comes any more. */
struct loop_signals *loop_signals_free(struct loop_signals *signals);

#endif

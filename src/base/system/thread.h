/* Starts a thread with a name, which debuggers and `top -H` show, and with all signals blocked.
 * Signals are blocked because the kernel could otherwise deliver a signal to the new thread, and
 * the thread that waits for the signal would not wake up. */
#ifndef TRAINYARD_BASE_SYSTEM_THREAD_H
#define TRAINYARD_BASE_SYSTEM_THREAD_H

#include "base/err.h"

#include <pthread.h>

/* `what` completes the error message "cannot start <what>: …". A name longer than 15 bytes is
 * truncated. If `name` is NULL, the thread keeps the name of its creator. That saves three system
 * calls, which matters for short-lived threads. */
int thread_start(pthread_t *ret, const char *name, const char *what, void *(*run)(void *),
                 void *context, struct err *err);

#endif

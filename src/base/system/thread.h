/* Starts a thread with a name, which debuggers and `top -H` show, and with all signals blocked. A
 * signal must reach the thread that waits for it; a delivery to another thread would not wake that
 * one. */
#ifndef TRAINYARD_BASE_SYSTEM_THREAD_H
#define TRAINYARD_BASE_SYSTEM_THREAD_H

#include "base/err.h"

#include <pthread.h>

/* `what` completes the error message "cannot start <what>: …". A name longer than 15 bytes is cut.
 * With NULL the thread keeps the name of its creator: for short-lived threads, to which the three
 * system calls would matter. */
int thread_start(pthread_t *ret, const char *name, const char *what, void *(*run)(void *),
                 void *context, struct err *err);

#endif

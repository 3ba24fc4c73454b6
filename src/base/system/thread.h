/* Starting a thread, the same way everywhere: with a name that debuggers and `top -H` show, and
 * with all signals blocked. Signals are for the thread that waits for them: one that arrives
 * elsewhere would not wake it. */
#ifndef TRAINYARD_BASE_THREAD_H
#define TRAINYARD_BASE_THREAD_H

#include "base/err.h"

#include <pthread.h>

/* `what` is for the sentence: "cannot start <what>: …". A name has at most 15 bytes, or is cut;
 * NULL keeps that of the maker, for threads that live too shortly to be worth three system calls.
 */
int thread_start(pthread_t *ret, const char *name, const char *what, void *(*run)(void *),
                 void *context, struct err *err);

#endif

/* Starts a thread; see thread.h. */
#include "base/system/thread.h"

#include <signal.h>
#include <stdio.h>

enum { NAME_MAX_BYTES = 16 }; /* including the NUL: the limit of the kernel */

int thread_start(pthread_t *ret, const char *name, const char *what, void *(*run)(void *),
                 void *context, struct err *err)
{
    sigset_t all, before;
    pthread_t thread;
    char short_name[NAME_MAX_BYTES];
    sigfillset(&all);
    /* A thread inherits the signal mask of its creator. */
    pthread_sigmask(SIG_SETMASK, &all, &before);
    int problem = pthread_create(&thread, NULL, run, context);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (problem)
        return err_set_errno(err, problem, "cannot start %s", what);
    if (name) {
        snprintf(short_name, sizeof(short_name), "%.15s", name);
        /* Fails if the thread has ended already, which does not matter. */
        (void)pthread_setname_np(thread, short_name);
    }
    *ret = thread;
    return 0;
}

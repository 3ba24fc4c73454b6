/* Restores the default actions of all signals for a command that is about to run. */
#include "node/step/step.h"

#include <signal.h>

void step_signals_default(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number <= SIGRTMAX; number++)
        signal(number, SIG_DFL); /* fails for SIGKILL, SIGSTOP and the signals that libc reserves */
    sigprocmask(SIG_SETMASK, &none, NULL);
}

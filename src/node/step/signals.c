/* Signals of a command that is about to run: as if nobody had ever touched them. */
#include "node/step/step.h"

#include <signal.h>

void step_signals_default(void)
{
    sigset_t none;
    sigemptyset(&none);
    for (int number = 1; number <= SIGRTMAX; number++)
        signal(number, SIG_DFL); /* refused for those that cannot be changed, and libc's own */
    sigprocmask(SIG_SETMASK, &none, NULL);
}

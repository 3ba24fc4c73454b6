/*
 * The program of a pod's sandbox: it keeps the pod's namespaces open until it gets SIGTERM or
 * SIGINT. In a pod with a shared process namespace it is the first process and reaps orphans. It is
 * linked statically into the image trainyard/pause, and must never exit by itself.
 */
#include <signal.h>
#include <stddef.h>
#include <sys/wait.h>

int main(void)
{
    sigset_t set;
    int signal;

    sigemptyset(&set);
    sigaddset(&set, SIGTERM);
    sigaddset(&set, SIGINT);
    sigaddset(&set, SIGCHLD);
    sigprocmask(SIG_BLOCK, &set, NULL);
    for (;;) {
        if (sigwait(&set, &signal) != 0)
            continue;
        if (signal != SIGCHLD)
            return 0;
        while (waitpid(-1, NULL, WNOHANG) > 0)
            ;
    }
}

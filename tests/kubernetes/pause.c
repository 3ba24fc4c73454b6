/*
 * The program of a pod's sandbox: holds the pod's namespaces open until it is told to end, and
 * reaps what lands on it as the first process of a pod that shares its processes. Built static into
 * the image trainyard/pause; must never end by itself.
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

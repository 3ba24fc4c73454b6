/* Decides whether and when the server is restarted; see server_restart.h. */
#include "cli/trainyard/server_restart.h"

#include "base/system/crash.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <sys/wait.h>

/* Returns whether the server ended on request. SIGINT and SIGTERM kill a server that has not
 * installed its signal handlers yet. */
static bool was_asked_to_end(int status)
{
    return (WIFEXITED(status) && WEXITSTATUS(status) == 0) ||
           (WIFSIGNALED(status) && (WTERMSIG(status) == SIGTERM || WTERMSIG(status) == SIGINT));
}

enum server_outcome server_restart_decide(int status, int64_t ran_ms, int *crashes,
                                          int64_t *ret_delay_ms)
{
    if (was_asked_to_end(status))
        return SERVER_STOPPED;
    *crashes = ran_ms >= SERVER_RESTART_HEALTHY_MS ? 1 : *crashes + 1;
    if (*crashes >= SERVER_RESTART_TRIES)
        return SERVER_GIVEN_UP;
    int64_t delay_ms = SERVER_RESTART_FIRST_MS;
    for (int i = 1; i < *crashes; i++)
        delay_ms *= 2;
    *ret_delay_ms = delay_ms;
    return SERVER_RESTARTS;
}

void server_restart_cause(int status, char text[SERVER_CAUSE_MAX])
{
    if (WIFSIGNALED(status))
        snprintf(text, SERVER_CAUSE_MAX, "signal %d (%s)", WTERMSIG(status),
                 crash_signal_name(WTERMSIG(status)));
    else
        snprintf(text, SERVER_CAUSE_MAX, "exit code %d", WEXITSTATUS(status));
}

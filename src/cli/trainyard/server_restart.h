/* Decides whether and when a server that has ended is restarted. The functions are pure;
 * server_supervisor.c carries out the decision. */
#ifndef TRAINYARD_CLI_TRAINYARD_SERVER_RESTART_H
#define TRAINYARD_CLI_TRAINYARD_SERVER_RESTART_H

#include <stdint.h>

enum {
    SERVER_RESTART_FIRST_MS =
        100, /* delay after the first crash; doubles with each further crash */
    SERVER_RESTART_HEALTHY_MS =
        60 * 1000,            /* a crash after a run of this length counts as the first one again */
    SERVER_RESTART_TRIES = 8, /* after this many crashes in a row the server is not restarted */
};

enum server_outcome {
    SERVER_STOPPED,  /* the server stopped on request */
    SERVER_RESTARTS, /* the server crashed and is restarted after a delay */
    SERVER_GIVEN_UP, /* the server crashed too often and is not restarted */
};

/* `status` comes from waitpid(), and `ran_ms` is how long the server ran. *crashes counts the
 * crashes in a row: the caller sets it to 0 before the first call and does not change it
 * afterwards. *ret_delay_ms is set only for SERVER_RESTARTS. */
enum server_outcome server_restart_decide(int status, int64_t ran_ms, int *crashes,
                                          int64_t *ret_delay_ms);

/* Writes why a server ended: "signal 11 (SIGSEGV)", "exit code 1". */
enum { SERVER_CAUSE_MAX = 64 };
void server_restart_cause(int status, char text[SERVER_CAUSE_MAX]);

#endif

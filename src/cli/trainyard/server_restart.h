/* Whether a server that has ended is started again, and when. Pure: the keeper acts on it. */
#ifndef TRAINYARD_CLI_TRAINYARD_SERVER_RESTART_H
#define TRAINYARD_CLI_TRAINYARD_SERVER_RESTART_H

#include <stdint.h>

enum {
    SERVER_RESTART_FIRST_MS = 100,     /* the delay after the first crash; it doubles with each */
    SERVER_RESTART_MAX_MS = 30 * 1000, /* up to this */
    SERVER_RESTART_HEALTHY_MS = 60 * 1000, /* a server that ran this long has no crash behind it */
    SERVER_RESTART_TRIES = 8,              /* so many crashes in a row are the last */
};

enum server_outcome {
    SERVER_STOPPED, /* it ended because it was asked to */
    SERVER_RESTARTS,
    SERVER_GIVEN_UP,
};

/* `status` is what waitpid() returned, `ran_ms` how long the server ran. `crashes` counts the
 * crashes in a row; it starts with 0 and belongs to this function. `ret_delay_ms` is set for
 * SERVER_RESTARTS. */
enum server_outcome server_restart_decide(int status, int64_t ran_ms, int *crashes,
                                          int64_t *ret_delay_ms);

/* "signal 11 (SIGSEGV)", "exit code 1". */
enum { SERVER_CAUSE_MAX = 64 };
void server_restart_cause(int status, char text[SERVER_CAUSE_MAX]);

#endif

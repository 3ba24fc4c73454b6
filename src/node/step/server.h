/* The supervisor's ear: <pod directory>/socket, at which the control process asks for commands to
 * be run in containers and for their output (pod/request.h). It never blocks and never waits: the
 * supervisor polls its descriptors with its own and lets it serve what has come. Who asks is who
 * may open the socket, the pod's own user. */
#ifndef TRAINYARD_NODE_STEP_SERVER_H
#define TRAINYARD_NODE_STEP_SERVER_H

#include "node/step/sandbox/container.h"

#include <poll.h>

struct step_call;

struct step_server {
    int fd;
    struct container_run *runs; /* the supervisor's */
    size_t run_count;
    struct step_call *calls;
    size_t call_count;
    int64_t accept_after_ms; /* no descriptor was left for who called; 0: whoever calls is heard */
};

enum {
    STEP_CALLS_MAX = 64, /* at once; further ones wait to be accepted */
    STEP_SERVER_POLLS_MAX = 1 + STEP_CALLS_MAX * 4,
};

int step_server_open(struct step_server *server, const char *directory, struct container_run *runs,
                     size_t run_count, struct err *err);

/* What to poll for, STEP_SERVER_POLLS_MAX at most; how many. */
nfds_t step_server_poll(const struct step_server *server, struct pollfd *polls);
/* The wall time at which it is to serve at the latest; INT64_MAX: whenever something comes. */
int64_t step_server_wake(const struct step_server *server);
void step_server_serve(struct step_server *server, int64_t now_ms);

/* Where the command runs whose process this is; NULL: it is none of ours. */
struct container_run *step_server_run_of(const struct step_server *server, pid_t pid);
/* A child has ended: true if it was a command of ours. */
bool step_server_reaped(struct step_server *server, pid_t pid, int wait_status);
/* The processes of its commands that run in other containers than this one, STEP_CALLS_MAX at most;
 * how many. */
size_t step_server_children(const struct step_server *server, const struct container_run *except,
                            pid_t *ret);
/* A container has ended, and all it said was read. */
void step_server_run_ended(struct step_server *server, const struct container_run *run);

/* The pod has ended: give those who listen to its last words a moment to take them. */
void step_server_close(struct step_server *server);

#endif

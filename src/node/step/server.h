/* The supervisor's socket, <pod directory>/socket, over which the control process asks for
 * commands in containers and for their output (pod/request.h). The server never blocks: the
 * supervisor polls its descriptors and then lets it serve. File permissions decide who may
 * connect: only the pod's own user. */
#ifndef TRAINYARD_NODE_STEP_SERVER_H
#define TRAINYARD_NODE_STEP_SERVER_H

#include "node/step/sandbox/container.h"

#include <poll.h>

struct step_call;

struct step_server {
    int fd;
    struct container_run *runs; /* owned by the supervisor */
    size_t run_count;
    struct step_call *calls;
    size_t call_count;
    int64_t accept_after_ms; /* the wall time at which connections are accepted again after no
                                descriptor was free; 0 means now */
};

enum {
    STEP_CALLS_MAX = 64, /* served at the same time; further connections wait to be accepted */
    STEP_SERVER_POLLS_MAX = 1 + STEP_CALLS_MAX * 4,
};

int step_server_open(struct step_server *server, const char *directory, struct container_run *runs,
                     size_t run_count, struct err *err);

/* Writes the descriptors to poll, at most STEP_SERVER_POLLS_MAX. Returns their number. */
nfds_t step_server_poll(const struct step_server *server, struct pollfd *polls);
/* Returns the wall time at which step_server_serve() must be called at the latest; INT64_MAX means
 * when a descriptor is ready. */
int64_t step_server_wake(const struct step_server *server);
void step_server_serve(struct step_server *server, int64_t now_ms);

/* Returns the container in which the command with this process runs, or NULL if the process is not
 * a command of the server. */
struct container_run *step_server_run_of(const struct step_server *server, pid_t pid);
/* A child has exited. Returns true if it was a command of the server. */
bool step_server_reaped(struct step_server *server, pid_t pid, int wait_status);
/* Writes the processes of commands that run in containers other than `except`, at most
 * STEP_CALLS_MAX. Returns their number. */
size_t step_server_children(const struct step_server *server, const struct container_run *except,
                            pid_t *ret);
/* A container has ended, and all its output was read. */
void step_server_run_ended(struct step_server *server, const struct container_run *run);

/* The pod has ended: gives attached clients a few seconds to take the last output, then closes all
 * connections. */
void step_server_close(struct step_server *server);

#endif

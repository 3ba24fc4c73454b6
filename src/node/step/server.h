/* Serves the supervisor's socket, <pod directory>/socket, over which the control process requests
 * commands in containers and their output (pod/record/request.h). The server never blocks: the
 * supervisor polls its descriptors and then calls step_server_serve(). The socket's file mode
 * allows connections only from the user who runs the supervisor. */
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
    int64_t accept_after_ms; /* if no descriptor was free: the wall time at which connections are
                                accepted again; else 0 */
};

enum {
    STEP_CALLS_MAX = 64, /* connections at the same time; further ones wait to be accepted */
    STEP_SERVER_POLLS_MAX = 1 + STEP_CALLS_MAX * 4,
};

int step_server_open(struct step_server *server, const char *directory, struct container_run *runs,
                     size_t run_count, struct err *err);

/* Writes the descriptors to poll, at most STEP_SERVER_POLLS_MAX. Returns their number. */
nfds_t step_server_poll(const struct step_server *server, struct pollfd *polls);
/* Returns the wall time at which step_server_serve() must be called at the latest; INT64_MAX means
 * only when a descriptor is ready. */
int64_t step_server_wake(const struct step_server *server);
void step_server_serve(struct step_server *server, int64_t now_ms);

/* Returns the container in which the command with this pid runs, or NULL if no command of the
 * server has it. */
struct container_run *step_server_run_of(const struct step_server *server, pid_t pid);
/* Must be called when a child has exited. Returns true if it was a command of the server. */
bool step_server_reaped(struct step_server *server, pid_t pid, int wait_status);
/* Writes the processes of commands that run in containers other than `except`, at most
 * STEP_CALLS_MAX. Returns their number. */
size_t step_server_children(const struct step_server *server, const struct container_run *except,
                            pid_t *ret);
/* Must be called when a container has ended and all its output was read. */
void step_server_run_ended(struct step_server *server, const struct container_run *run);

/* Must be called when the pod has ended. Gives attached clients a few seconds to read the last
 * output, then closes all connections. */
void step_server_close(struct step_server *server);

#endif

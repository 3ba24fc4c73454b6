/* Serves the supervisor's socket, <pod directory>/socket. Over it the control process runs commands
 * in containers (exec) and attaches to their input and output (pod/record/request.h). Only the
 * pod's supervisor uses it. No function except step_server_close() waits for a client: the
 * supervisor polls the server's descriptors and then calls step_server_serve(). The socket's file
 * mode allows connections only from the user who runs the supervisor. */
#ifndef TRAINYARD_NODE_STEP_SERVER_H
#define TRAINYARD_NODE_STEP_SERVER_H

#include "node/step/sandbox/container.h"

#include <poll.h>

struct step_call;

struct step_server {
    int fd;                     /* the listening socket */
    struct container_run *runs; /* owned by the supervisor */
    size_t run_count;
    struct step_call *calls; /* one per connection, and one per command whose client has
                                disconnected; the newest first */
    size_t call_count;
    int64_t accept_after_ms; /* after a failure to accept a connection: the wall time at which
                                connections are accepted again; else 0 */
};

enum {
    STEP_CALLS_MAX = 64, /* calls at the same time; further connections wait to be accepted */
    STEP_SERVER_POLLS_MAX = 1 + STEP_CALLS_MAX * 4,
};

/* Creates the socket in the pod's directory and listens. `runs` must outlive the server. Returns 0
 * or a negative code. */
int step_server_open(struct step_server *server, const char *directory, struct container_run *runs,
                     size_t run_count, struct err *err);

/* Writes the descriptors to poll to `polls`, at most STEP_SERVER_POLLS_MAX. Returns their number.
 */
nfds_t step_server_poll(const struct step_server *server, struct pollfd *polls);
/* Returns the wall time at which step_server_serve() must be called at the latest; INT64_MAX means
 * only when a descriptor is ready. */
int64_t step_server_wake(const struct step_server *server);
/* Accepts connections, reads requests, starts and ends commands, and copies kept output to clients.
 * `now_ms` is a wall time. */
void step_server_serve(struct step_server *server, int64_t now_ms);

/* Returns the container in which the command with this pid runs, or NULL if no command of the
 * server has it. */
struct container_run *step_server_run_of(const struct step_server *server, pid_t pid);
/* Must be called when a child of the supervisor has been reaped. If it was a command of the server,
 * tells the client how the command ended, and returns true. */
bool step_server_reaped(struct step_server *server, pid_t pid, int wait_status);
/* Writes the pids of the commands that run in containers other than `except` to `ret`, at most
 * STEP_CALLS_MAX. Returns their number. */
size_t step_server_children(const struct step_server *server, const struct container_run *except,
                            pid_t *ret);
/* Must be called when a container has ended and all its output was read. Attached clients get the
 * rest of the output, then the exit code. */
void step_server_run_ended(struct step_server *server, const struct container_run *run);

/* Must be called when the pod has ended or is paused. Waits up to a few seconds until attached
 * clients have read the rest of the output. Then closes all connections, and kills the commands
 * that still run. */
void step_server_close(struct step_server *server);

#endif

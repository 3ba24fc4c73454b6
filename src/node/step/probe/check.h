/* Runs one check: one try of a probe, or a hook. Only step/life.c uses it, in the supervisor. A
 * check is a command in the sandbox, a child process that uses the network, or a wait
 * (HANDLER_SLEEP). The child process may block, unlike the supervisor; it sends its verdict through
 * a pipe. */
#ifndef TRAINYARD_NODE_STEP_PROBE_CHECK_H
#define TRAINYARD_NODE_STEP_PROBE_CHECK_H

#include "node/step/exec.h"

/* CHECK_WARNING counts as passed, and an event reports the message. */
enum step_outcome { CHECK_PASSED, CHECK_WARNING, CHECK_FAILED };

struct step_verdict {
    enum step_outcome outcome;
    bool answered; /* HTTP: the server answered, with any status; for a hook that is success */
    char message[POD_MESSAGE_MAX];
};

/* The parameters of a check. Everything that they point to must live as long as the check. */
struct step_check_options {
    const struct container_run *run;
    const struct pod_handler *handler;
    const char *agent;  /* the User-Agent header, for HTTP */
    int64_t timeout_ms; /* 0 means none */
};

struct step_check {
    bool runs; /* false before step_check_start() and after the verdict */
    struct step_check_options options;
    int64_t deadline_ms; /* the check fails at this time; a wait (HANDLER_SLEEP) passes. INT64_MAX
                            means no deadline */
    pid_t pid;           /* the child that uses the network, or 0 */
    int fd;              /* the pipe for the child's verdict, or -1 */
    struct step_exec exec;
    bool has_ended; /* the command of the check has ended; `end` says how */
    struct step_exec_end end;
    struct err failure; /* why neither the command nor the child could be started */
};

#define STEP_CHECK_INIT                                                                            \
    {                                                                                              \
        .fd = -1, .exec = STEP_EXEC_INIT                                                           \
    }

/* Starts the check. Times are monotonic. A failure to start becomes the verdict at the next
 * step_check_look(). */
void step_check_start(struct step_check *check, const struct step_check_options *options,
                      int64_t now_ms);
/* Returns true and ends the check if there is a verdict. Otherwise *wake becomes the deadline of
 * the check if that is earlier. Returns false if no check runs. */
bool step_check_look(struct step_check *check, int64_t now_ms, int64_t *wake,
                     struct step_verdict *ret);
/* Must be called when a child of the supervisor has been reaped. */
void step_check_reaped(struct step_check *check, pid_t pid, int wait_status);
/* Returns the descriptor to poll, or -1. When it is readable, call step_check_look(). */
int step_check_fd(const struct step_check *check);
/* Ends the check without a verdict, and kills its command or child. Does nothing if no check runs.
 */
void step_check_cancel(struct step_check *check);

/* ---- In the child of a check; these functions block until the deadline at the latest. ---- */

/* Runs a check over the network and writes the verdict. */
void step_check_net(const struct step_check_options *options, int64_t deadline_ms,
                    struct step_verdict *ret);
/* Runs a check by gRPC and writes the verdict. `timeout_ms` is only shown in messages. */
void step_check_grpc(const struct pod_handler *handler, int64_t deadline_ms, int64_t timeout_ms,
                     struct step_verdict *ret);

/* Connects to the host by TCP. Returns a non-blocking socket, which the caller closes, or -1 with
 * an error message in `message`, which has room for `size` bytes. A host name is looked up with
 * `resolv_conf`; see step/probe/lookup.h. */
int step_dial(const char *resolv_conf, const char *host, int port, int64_t deadline_ms,
              char *message, size_t size);
/* Waits until poll() reports one of `events`, an error or a hangup for the descriptor. Returns
 * false if the deadline has passed. */
bool step_wait(int fd, short events, int64_t deadline_ms);

#endif

/* One try of a probe, or one run of a hook, as the pod's supervisor has it done: a command in the
 * sandbox, or a child that uses the network, so that it may block and the supervisor never does.
 * The child's word comes through a pipe. */
#ifndef TRAINYARD_NODE_STEP_CHECK_H
#define TRAINYARD_NODE_STEP_CHECK_H

#include "node/step/exec.h"

enum step_outcome { CHECK_PASSED, CHECK_WARNING, CHECK_FAILED };

struct step_verdict {
    enum step_outcome outcome;
    bool answered; /* HTTP: whatever was said, somebody said it; that is enough for a hook */
    char message[POD_MESSAGE_MAX];
};

/* What is asked, and of whom. */
struct step_check_order {
    const struct container_run *run;
    const struct pod_handler *handler;
    const char *agent;  /* who asks, for HTTP */
    int64_t timeout_ms; /* 0: none */
};

struct step_check {
    bool runs;
    struct step_check_order order;
    int64_t deadline_ms;
    pid_t pid; /* of the child that uses the network, or 0 */
    int fd;    /* its word, or -1 */
    struct step_exec exec;
    bool has_ended; /* the command has, so: */
    struct step_exec_end end;
    struct err failure; /* why nothing could be started */
};

#define STEP_CHECK_INIT                                                                            \
    {                                                                                              \
        .fd = -1, .exec = STEP_EXEC_INIT                                                           \
    }

/* Times are monotonic. A start that fails is a verdict at the next look. */
void step_check_start(struct step_check *check, const struct step_check_order *order,
                      int64_t now_ms);
/* True, and no longer running, when there is a verdict; *wake becomes earlier when time decides. */
bool step_check_look(struct step_check *check, int64_t now_ms, int64_t *wake,
                     struct step_verdict *ret);
/* A child of the supervisor has been reaped. */
void step_check_reaped(struct step_check *check, pid_t pid, int wait_status);
/* What becomes readable when there is something to look at, or -1. */
int step_check_fd(const struct step_check *check);
/* Whatever it was, it is of no interest any more. */
void step_check_cancel(struct step_check *check);

/* ---- In the child. ---- */

void step_check_net(const struct step_check_order *order, int64_t deadline_ms,
                    struct step_verdict *ret);
void step_check_grpc(const struct pod_handler *handler, int64_t deadline_ms, int64_t timeout_ms,
                     struct step_verdict *ret);

/* A connection, or -1 with the words of a failed dial. Never waits past the deadline. A host that
 * is a name is looked up as `resolv_conf` says; see step/lookup.h. */
int step_dial(const char *resolv_conf, const char *host, int port, int64_t deadline_ms,
              char *message, size_t size);
/* Wait until the socket can be read or written; false: the time is over. */
bool step_wait(int fd, short events, int64_t deadline_ms);

#endif

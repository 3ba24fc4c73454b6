/* Runs the postStart hook and the probes of one container, and ends the container in steps: preStop
 * hook, waiting for other containers, SIGTERM, SIGKILL. Only the pod's supervisor uses it. No
 * function waits for the container: life_advance() does the next step when it is due. pod/probe.h
 * evaluates the results of the probes; step/supervisor_order.c decides about restarts. Times are
 * monotonic, so that a suspended machine causes no timeouts. */
#ifndef TRAINYARD_NODE_STEP_LIFE_H
#define TRAINYARD_NODE_STEP_LIFE_H

#include "base/state_machine.h"
#include "node/pod/probe.h"
#include "node/step/probe/check.h"
#include "node/step/sandbox/container.h"

#include <poll.h>

enum life_state {
    LIFE_NONE, /* there is no process, or the sandbox is still being built and the container was not
                  told to end */
    LIFE_POST_START, /* the program and its postStart hook run; the container counts as running
                        after the hook */
    LIFE_RUNNING,    /* the container counts as running; its probes are tried */
    LIFE_PRE_STOP,   /* the container was told to end; its preStop hook runs */
    LIFE_WAITING, /* SIGTERM is sent when the containers that must end before this one have ended */
    LIFE_TERMINATING, /* SIGTERM was sent, unless the grace period is 0; SIGKILL follows at
                         kill_at_ms */
};

/* Says why the container was told to end. */
enum life_end_cause {
    LIFE_END_NONE,  /* the container was not told to end */
    LIFE_END_ORDER, /* its pod ends or pauses, or its postStart hook failed */
    LIFE_END_PROBE, /* its startup or liveness probe failed */
};

/* Says how the supervisor must write the state because of changes of this container. */
enum life_unwritten {
    LIFE_WRITTEN,     /* nothing has changed since the state was written */
    LIFE_NEEDS_WRITE, /* results of probes or events have changed; the write need not wait for the
                         disk */
    LIFE_NEEDS_SYNC,  /* the container has started; the write must wait for the disk */
};

enum {
    LIFE_CHECKS = PROBE_KINDS + 1, /* one per probe, and one for a hook */
    LIFE_CHILDREN_MAX = 2 * LIFE_CHECKS,
};

struct container_life {
    struct container_run *run;
    struct pod_state *pod;        /* gets the events; owned by the supervisor */
    struct state_machine machine; /* an enum life_state */
    struct probe_set probes;
    struct step_check checks[LIFE_CHECKS]; /* one per enum probe_kind; the last one runs a hook */
    int64_t kill_at_ms;                    /* from LIFE_PRE_STOP on: the time of SIGKILL */
    enum life_end_cause cause;
    bool ran_pre_stop; /* the preStop hook was started in this run */
    enum life_unwritten unwritten;
};

void life_init(struct container_life *life, struct container_run *run, struct pod_state *pod);

/* Must be called when the container's program has started. */
void life_begin(struct container_life *life, int64_t now_ms);
/* Must be called when the first process of the container has been reaped. Ends the hook and the
 * probes. */
void life_over(struct container_life *life);

/* Begins to end the container and returns at once. life_advance() sends SIGKILL when the grace
 * period is over; for a sidecar or a container with a preStop hook, not before 2 s have passed
 * since SIGTERM. A second call can only make SIGKILL come earlier. With a grace period of 0 the
 * next life_advance() sends SIGKILL, no preStop hook is started and no SIGTERM is sent. Does
 * nothing if the container has no process. */
void life_end(struct container_life *life, int64_t grace_ms, int64_t now_ms);
/* Must be called when all containers that must end before this one have ended. Sends SIGTERM if the
 * container is in LIFE_WAITING. */
void life_terminate_waiting(struct container_life *life, int64_t now_ms);

/* Takes the results of the hook and the probes, starts the probes that are due, and sends SIGTERM
 * and SIGKILL when they are due. *wake becomes the time of the next step if that is earlier. The
 * container must have a process. */
void life_advance(struct container_life *life, int64_t now_ms, int64_t *wake);
/* Must be called when a child of the supervisor has been reaped; the child may be any process. */
void life_reaped(struct container_life *life, pid_t pid, int wait_status);
/* Writes the processes of the container's hook and probes to `ret`, at most LIFE_CHILDREN_MAX.
 * Returns their number. */
size_t life_children(const struct container_life *life, pid_t *ret);
/* Writes LIFE_CHECKS descriptors to poll to `ret`. */
void life_polls(const struct container_life *life, struct pollfd *ret);

/* Returns true from LIFE_PRE_STOP on: the container was told to end and has a process. */
bool life_is_ending(const struct container_life *life);
bool life_is_up(const struct container_life *life); /* LIFE_RUNNING or later */
/* Returns true if a container that has exited with 0 was ended because a probe failed, so that it
 * counts as failed. Returns false if it exited before SIGTERM arrived and no preStop hook was
 * started. */
bool life_was_killed_by_probe(const struct container_life *life);

#endif

/* Runs the postStart hook and the probes of one container, and ends it in steps: preStop hook,
 * waiting for other containers, SIGTERM, SIGKILL. pod/probe.h evaluates the results of the probes;
 * step/supervisor_order.c decides about restarts. Times are monotonic, so that a suspended machine
 * causes no timeouts. */
#ifndef TRAINYARD_NODE_STEP_LIFE_H
#define TRAINYARD_NODE_STEP_LIFE_H

#include "base/state_machine.h"
#include "node/pod/probe.h"
#include "node/step/probe/check.h"
#include "node/step/sandbox/container.h"

#include <poll.h>

enum life_state {
    LIFE_NONE,       /* no program runs, or its sandbox is still being made */
    LIFE_POST_START, /* the program and its postStart hook run; the container counts as running
                        after the hook */
    LIFE_RUNNING,    /* probes run */
    LIFE_PRE_STOP,   /* the container is to end; its preStop hook runs */
    LIFE_WAITING,    /* the container ends when the containers that must end before it have ended */
    LIFE_TERMINATING, /* SIGTERM was sent, unless the grace period is 0; SIGKILL follows at
                         kill_at_ms */
};

/* Why the container was told to end. */
enum life_end_cause {
    LIFE_END_NONE,
    LIFE_END_ORDER, /* its pod ends, or its postStart hook failed */
    LIFE_END_PROBE, /* its startup or liveness probe failed */
};

/* How much of the container's state the supervisor has not written yet. */
enum life_unwritten {
    LIFE_WRITTEN,
    LIFE_NEWS,   /* results of probes, and events; they are written without waiting for the disk */
    LIFE_CHANGE, /* a change that must be on the disk */
};

enum {
    LIFE_CHECKS = PROBE_KINDS + 1, /* one per probe, and one for a hook */
    LIFE_CHILDREN_MAX = 2 * LIFE_CHECKS,
};

struct container_life {
    struct container_run *run;
    struct pod_state *pod;
    struct state_machine machine; /* an enum life_state */
    struct probe_set probes;
    struct step_check checks[LIFE_CHECKS];
    int64_t kill_at_ms; /* from LIFE_PRE_STOP on: the time of SIGKILL */
    enum life_end_cause cause;
    bool ran_pre_stop; /* the preStop hook was started in this run */
    enum life_unwritten unwritten;
};

void life_init(struct container_life *life, struct container_run *run, struct pod_state *pod);

/* Must be called when the container's program has started. */
void life_begin(struct container_life *life, int64_t now_ms);
/* Must be called when the container has ended or will never run. */
void life_over(struct container_life *life);

/* Ends the container within the grace period. A second call can only shorten the time. A grace
 * period of 0 kills the container at once. */
void life_end(struct container_life *life, int64_t grace_ms, int64_t now_ms);
/* Must be called when all containers that must end before this one have ended. Sends SIGTERM if the
 * container is in LIFE_WAITING. */
void life_take_turn(struct container_life *life, int64_t now_ms);

/* Does everything that is due. If something is due later, *wake becomes that time if it is
 * earlier. */
void life_advance(struct container_life *life, int64_t now_ms, int64_t *wake);
/* Must be called when a child of the supervisor has been reaped. */
void life_reaped(struct container_life *life, pid_t pid, int wait_status);
/* Writes the processes of the container's hook and probes to `ret`, at most LIFE_CHILDREN_MAX.
 * Returns their number. */
size_t life_children(const struct container_life *life, pid_t *ret);
/* Fills in LIFE_CHECKS descriptors to poll. */
void life_polls(const struct container_life *life, struct pollfd *ret);

bool life_is_ending(const struct container_life *life);
bool life_is_up(const struct container_life *life); /* LIFE_RUNNING or later */
/* Returns true if the container was ended because a probe failed. It then counts as failed even if
 * it exited with 0. Returns false if it exited before SIGTERM was sent and no preStop hook was
 * started. */
bool life_was_killed_by_probe(const struct container_life *life);

#endif

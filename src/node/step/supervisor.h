/* The supervisor of one pod, in the process that step/pod.c starts. It starts the pod's containers
 * in order, decides their restarts, ends them, and writes each change into <pod directory>/state.
 * Its files: step/supervisor.c holds its states and its loop, step/supervisor_order.c says which
 * container starts and restarts when, step/supervisor_stop.c ends the pod, step/supervisor_reap.c
 * takes the children that have exited. Times are wall times where nothing else is said. */
#ifndef TRAINYARD_NODE_STEP_SUPERVISOR_H
#define TRAINYARD_NODE_STEP_SUPERVISOR_H

#include "base/state_machine.h"
#include "node/pod/record/stop.h"
#include "node/step/life.h"
#include "node/step/sandbox/container.h"
#include "node/step/server.h"

enum supervisor_state {
    SUPERVISOR_RESTORING, /* takes over the state that an earlier supervisor wrote */
    SUPERVISOR_RUNNING,   /* containers are started and restarted */
    SUPERVISOR_ENDING,    /* containers are told to end; none is started again */
    SUPERVISOR_PAUSING,   /* the control process stops the cluster: containers are told to end, and
                             those that have not succeeded run again under the next supervisor */
    SUPERVISOR_SHUTDOWN,  /* the machine goes down: containers are told to end, and those whose
                           * policy says so run again under the next supervisor */
    SUPERVISOR_PAUSED,    /* no container runs; the next supervisor starts those that wait */
    SUPERVISOR_ENDED,     /* no container runs, and none will */
};

struct supervisor {
    const char *directory;
    struct pod_spec spec;
    struct pod_state state;
    struct container_run runs[POD_CONTAINERS_MAX];
    struct container_life lives[POD_CONTAINERS_MAX];
    struct step_share share;
    int signal_fd;
    struct step_server server;
    struct state_machine machine; /* an enum supervisor_state */
    bool must_store;              /* the state on the disk is not the newest */
    bool has_pause_mark; /* the mark of an earlier pause still exists; it is removed when the state
                            is stored */
    bool is_deleted;     /* the pod's object is deleted: the supervisor exits even if the last state
                            cannot be written */
};

/* ---- step/supervisor.c ---- */

/* The supervisor begins in SUPERVISOR_RESTORING. */
void supervisor_init(struct supervisor *supervisor, const char *directory);
enum supervisor_state supervisor_state(const struct supervisor *supervisor);
/* From SUPERVISOR_ENDING on: no container is started. */
bool supervisor_is_stopping(const struct supervisor *supervisor);
/* PAUSING or SHUTDOWN: the next supervisor goes on with the pod. */
bool supervisor_is_pausing(const struct supervisor *supervisor);
void supervisor_move(struct supervisor *supervisor, enum supervisor_state state);
/* Runs until the pod has ended or is paused. */
void supervisor_run(struct supervisor *supervisor);
/* Reads the container's output and the reports of its first process. */
void supervisor_read_container(struct supervisor *supervisor, size_t index);

/* ---- step/supervisor_order.c ---- */

/* All containers but sidecars have ended for good, or an init container has failed for good. */
bool supervisor_is_settled(const struct supervisor *supervisor);
void supervisor_set_waiting(struct container_state *state, const char *reason, const char *message);
/* The run of a container has ended, and its state's `end` says how: decides whether and when it
 * runs again. `resumes` says that the pod was being paused when the supervisor before was killed.
 */
void supervisor_decide_restart(struct supervisor *supervisor, size_t index, bool resumes);
/* Starts the containers that are due. *wake becomes earlier if one will be. Returns true if no
 * container runs and none will. */
bool supervisor_start_due(struct supervisor *supervisor, int64_t *wake);

/* ---- step/supervisor_stop.c ---- */

/* Reads <pod directory>/stop. The reason in it becomes the pod's. */
struct pod_stop supervisor_read_stop(struct supervisor *supervisor);
/* SIGTERM has come: from the control process, or, when the machine goes down, from init. */
void supervisor_begin_stop(struct supervisor *supervisor, bool is_from_control);
/* Reads the deadline, which the control process may have changed since the pod was planned. */
void supervisor_read_deadline(struct supervisor *supervisor);
/* Ends the pod when its deadline has passed; else *wake becomes the deadline if that is earlier. */
void supervisor_check_deadline(struct supervisor *supervisor, int64_t *wake);
/* Runs probes, hooks and the ends of all containers as they become due. *wake is a monotonic time
 * here. */
void supervisor_advance_lives(struct supervisor *supervisor, int64_t *wake);

/* ---- step/supervisor_reap.c ---- */

/* Reaps every child that has exited. */
void supervisor_reap(struct supervisor *supervisor);

#endif

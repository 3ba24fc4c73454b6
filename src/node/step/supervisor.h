/* Runs the supervisor of one pod, in the process that step/pod.c starts. The supervisor starts the
 * pod's containers in order, restarts and ends them, and writes each change into <pod
 * directory>/state. step/supervisor.c has the state machine and the loop, step/supervisor_order.c
 * decides when containers start and restart, step/supervisor_stop.c ends the pod, and
 * step/supervisor_reap.c reaps children. Times are wall times unless a comment says otherwise. */
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
    SUPERVISOR_PAUSING,   /* a stop request pauses the pod: containers are told to end; those that
                             fail, or whose restart policy says so, run again under the next
                             supervisor */
    SUPERVISOR_SHUTDOWN,  /* the machine goes down: containers are told to end; those whose restart
                             policy says so run again under the next supervisor */
    SUPERVISOR_PAUSED,    /* no container runs; the next supervisor starts those that are waiting */
    SUPERVISOR_ENDED,     /* no container runs, and none will */
};

struct supervisor {
    const char *directory; /* the pod's directory */
    struct pod_spec spec;
    struct pod_state state;
    struct container_run runs[POD_CONTAINERS_MAX];   /* in the order of the spec */
    struct container_life lives[POD_CONTAINERS_MAX]; /* in the order of the spec */
    struct step_share share; /* used if the containers share a PID namespace */
    int signal_fd;           /* a signalfd for SIGCHLD, SIGHUP and SIGTERM */
    struct step_server server;
    struct state_machine machine; /* an enum supervisor_state */
    bool must_store;              /* the state on the disk is out of date */
    bool has_pause_mark; /* the file that marks an earlier pause still exists; it is removed when
                            the state is stored, unless the pod is being paused again */
    bool is_deleted; /* the stop request says that the pod is deleted: the supervisor exits even if
                        the last state cannot be written */
};

/* ---- step/supervisor.c ---- */

/* The supervisor begins in SUPERVISOR_RESTORING. */
void supervisor_init(struct supervisor *supervisor, const char *directory);
enum supervisor_state supervisor_state(const struct supervisor *supervisor);
/* Returns true from SUPERVISOR_ENDING on: no container is started any more. */
bool supervisor_is_stopping(const struct supervisor *supervisor);
/* Returns true in SUPERVISOR_PAUSING and SUPERVISOR_SHUTDOWN: the next supervisor continues the
 * pod. */
bool supervisor_is_pausing(const struct supervisor *supervisor);
/* Changes the state. Does nothing if the supervisor is in that state already. */
void supervisor_move(struct supervisor *supervisor, enum supervisor_state state);
/* Returns when the pod has ended or is paused, and its last state is written or its object is
 * deleted. Closes the server before it returns. */
void supervisor_run(struct supervisor *supervisor);
/* Reads the container's output and the reports of its first process. Calls life_begin() when the
 * program has started. */
void supervisor_read_container(struct supervisor *supervisor, size_t index);

/* ---- step/supervisor_order.c ---- */

/* Returns true if the outcome of the pod is decided: all containers except sidecars have ended and
 * will not run again, or an init container has failed and will not run again. The sidecars are then
 * ended. */
bool supervisor_has_outcome(const struct supervisor *supervisor);
void supervisor_set_waiting(struct container_state *state, const char *reason, const char *message);
/* Decides whether and when a container runs again after a run has ended. state->end of the
 * container says how the run ended. `resumes` means that the earlier supervisor was killed while it
 * paused the pod. */
void supervisor_decide_restart(struct supervisor *supervisor, size_t index, bool resumes);
/* Starts the containers that are due. If a container is due later and that time is earlier than
 * *wake, *wake becomes that time. Returns true if no container runs and this supervisor will start
 * none. */
bool supervisor_start_due(struct supervisor *supervisor, int64_t *wake);

/* ---- step/supervisor_stop.c ---- */

/* Reads the stop request (pod/record/stop.h). If the request has a reason and the pod's state has
 * none yet, copies the reason to the state and records an event. */
struct pod_stop supervisor_read_stop(struct supervisor *supervisor);
/* Handles SIGTERM. `is_from_control` is true if pod_stop_tell() sent the signal, and false
 * otherwise, as when the machine goes down and init sends it. */
void supervisor_begin_stop(struct supervisor *supervisor, bool is_from_control);
/* Reads the deadline, which the control process may have changed since the pod was planned. */
void supervisor_read_deadline(struct supervisor *supervisor);
/* Begins to end the pod if its deadline has passed. Otherwise *wake becomes the deadline if that is
 * earlier. */
void supervisor_check_deadline(struct supervisor *supervisor, int64_t *wake);
/* Calls life_advance() for every container that runs, and life_end() for the sidecars if
 * supervisor_has_outcome(). Sends SIGTERM to the containers that have waited for the end of others.
 * *wake is a monotonic time here. */
void supervisor_advance_lives(struct supervisor *supervisor, int64_t *wake);

/* ---- step/supervisor_reap.c ---- */

/* Reaps every child that has exited, and passes its exit status to the container, check or command
 * that it ran for. */
void supervisor_reap(struct supervisor *supervisor);

#endif

/* Links the control process to a pod's supervisor process. The link starts the supervisor or finds
 * a running one, watches it and tells it to end. The owner of the link decides when. Callbacks run
 * on the loop thread. */
#ifndef TRAINYARD_NODE_POD_SUPERVISOR_H
#define TRAINYARD_NODE_POD_SUPERVISOR_H

#include "loop/loop.h"
#include "node/pod/record/stop.h"

#include <sys/types.h>

struct supervisor_link;

struct supervisor_events {
    /* The supervisor that supervisor_link_start() has started runs. */
    void (*alive)(void *context);
    /* The pod's state file may have changed (record/state.h). */
    void (*changed)(void *context);
    /* The supervisor has ended (`err` is NULL), or it could not be started or cannot be watched
     * (`err` says why). */
    void (*gone)(void *context, const struct err *err);
};

/* `directory` is the directory of the pod. `step_path` is the path of trainyard-step, the program
 * of the supervisor. */
struct supervisor_link *supervisor_link_new(struct loop *loop, const char *directory,
                                            const char *step_path,
                                            const struct supervisor_events *events, void *context);
/* Stops reporting; the supervisor keeps running. */
struct supervisor_link *supervisor_link_free(struct supervisor_link *link);

/* Finds the running supervisor and watches it. Does not call `alive`. Returns 0, -ERR_NOT_FOUND if
 * no supervisor runs, or another negative code if a supervisor may run: the caller tries again
 * later. */
int supervisor_link_attach(struct supervisor_link *link, struct err *err);
/* Starts a supervisor; `alive` or `gone` follows. */
void supervisor_link_start(struct supervisor_link *link);

pid_t supervisor_link_pid(const struct supervisor_link *link); /* 0 if none runs */
/* Returns whether a supervisor runs or is being started. */
bool supervisor_link_is_busy(const struct supervisor_link *link);
/* Tells the supervisor the wall time at which it must start to end the pod. `planned_ms` is the
 * deadline in the pod's spec. Does nothing if no supervisor runs, or if the supervisor has this
 * deadline already, from the spec or from an earlier call. */
void supervisor_link_set_deadline(struct supervisor_link *link, int64_t planned_ms,
                                  int64_t wall_ms);
/* Tells the supervisor to end or pause the pod: writes `stop` to the pod's directory and sends a
 * signal. If the write fails, returns a negative code; the signal is sent anyway, and the
 * supervisor uses the grace period of an earlier stop request or of the pod's spec. Does nothing if
 * no supervisor runs. */
int supervisor_link_stop(struct supervisor_link *link, const struct pod_stop *stop,
                         struct err *err);

#endif

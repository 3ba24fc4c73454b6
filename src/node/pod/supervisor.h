/* Links the control process to a pod's supervisor process. The link starts the supervisor or finds
 * a running one, watches it and tells it to end. Callbacks run on the loop thread. The link makes
 * no decisions. */
#ifndef TRAINYARD_NODE_POD_SUPERVISOR_H
#define TRAINYARD_NODE_POD_SUPERVISOR_H

#include "loop/loop.h"
#include "node/pod/record/stop.h"

#include <sys/types.h>

struct supervisor_link;

struct supervisor_events {
    /* The supervisor lives: it was started, or found again. */
    void (*alive)(void *context);
    /* The state on the disk may have changed. */
    void (*changed)(void *context);
    /* No supervisor lives. It could not start (`err` says why) or has ended (`err` is NULL). */
    void (*gone)(void *context, const struct err *err);
};

struct supervisor_link *supervisor_link_new(struct loop *loop, const char *directory,
                                            const char *step_path,
                                            const struct supervisor_events *events, void *context);
/* Stops reporting; the supervisor keeps running. */
struct supervisor_link *supervisor_link_free(struct supervisor_link *link);

/* Finds the living supervisor and watches it. Does not call `alive`. Returns false if no supervisor
 * lives, or while the handles for the last supervisor are still being closed. */
bool supervisor_link_attach(struct supervisor_link *link);
/* Starts a supervisor; `alive` or `gone` follows. */
void supervisor_link_start(struct supervisor_link *link);

pid_t supervisor_link_pid(const struct supervisor_link *link);    /* 0 if none lives */
bool supervisor_link_is_busy(const struct supervisor_link *link); /* lives or is starting */
/* Tells the supervisor the wall time at which it must begin to end the pod. Does nothing if no
 * supervisor lives, or if it already has this deadline, from its spec (`planned_ms`) or from an
 * earlier call. */
void supervisor_link_set_deadline(struct supervisor_link *link, int64_t planned_ms,
                                  int64_t wall_ms);
/* Tells the supervisor to end the pod. Returns 0, or a negative code if the order cannot be stored.
 * Then the signal is sent nevertheless, and the pod ends with its own grace period. Does nothing if
 * no supervisor lives. */
int supervisor_link_stop(struct supervisor_link *link, const struct pod_stop *stop,
                         struct err *err);

#endif

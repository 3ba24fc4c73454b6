/* A pod's supervisor process as the control process sees it: started, found again, watched, told to
 * end. It reports from the loop; it decides nothing. */
#ifndef TRAINYARD_NODE_POD_SUPERVISOR_H
#define TRAINYARD_NODE_POD_SUPERVISOR_H

#include "loop/loop.h"
#include "node/pod/stop.h"

#include <sys/types.h>

struct supervisor_link;

struct supervisor_events {
    /* It lives: started, or found again. */
    void (*alive)(void *context);
    /* The state on disk may have changed. */
    void (*changed)(void *context);
    /* It does not live: it could not start (err), or has ended (NULL). */
    void (*gone)(void *context, const struct err *err);
};

struct supervisor_link *supervisor_link_new(struct loop *loop, const char *directory,
                                            const char *step_path,
                                            const struct supervisor_events *events, void *context);
/* Nothing is reported any more; the supervisor goes on. */
struct supervisor_link *supervisor_link_free(struct supervisor_link *link);

/* Find the one that lives and watch it; false if there is none. Reports nothing by itself. */
bool supervisor_link_attach(struct supervisor_link *link);
/* Start one; `alive` or `gone` follows. */
void supervisor_link_start(struct supervisor_link *link);

pid_t supervisor_link_pid(const struct supervisor_link *link);    /* 0: none lives */
bool supervisor_link_is_busy(const struct supervisor_link *link); /* alive or starting */
/* Tell it the time when the pod must have ended, unless it knows that already: from its spec
 * (`planned_ms`), or because it was told. */
void supervisor_link_set_deadline(struct supervisor_link *link, int64_t planned_ms,
                                  int64_t wall_ms);
/* Tell it to end the pod. On failure it ends it all the same, but does not know how soon or why:
 * the grace is the pod's own then. */
int supervisor_link_stop(struct supervisor_link *link, const struct pod_stop *stop,
                         struct err *err);

#endif

/* Decides from the results of a container's probes whether it has started, is ready, or must be
 * ended. The rules are the kubelet's. Pure: step/probe/check.h runs the probes. The time is
 * monotonic, so that probes go on unchanged after the machine was suspended. */
#ifndef TRAINYARD_NODE_POD_PROBE_H
#define TRAINYARD_NODE_POD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum probe_kind { PROBE_STARTUP, PROBE_LIVENESS, PROBE_READINESS, PROBE_KINDS };

const char *probe_kind_name(enum probe_kind kind);  /* "startup" */
const char *probe_kind_title(enum probe_kind kind); /* "Startup", for events */

struct probe_figures {
    bool given; /* the container has such a probe */
    int64_t initial_delay_ms, period_ms, timeout_ms;
    int64_t success_threshold, failure_threshold; /* consecutive results that change the outcome */
    int64_t grace_ms; /* the grace period after this probe has failed; -1 means the pod's */
};

struct probe_run {
    int64_t next_ms;  /* the time of the next try */
    int64_t in_a_row; /* consecutive tries with the result `last` */
    bool last;        /* the newest result; true means passed */
    bool passes;      /* the outcome after the thresholds are applied */
    bool has_passed;  /* at least one try has passed in this run of the container */
    bool over;        /* no further try follows in this run */
};

/* The probes of one container during one run. */
struct probe_set {
    const struct probe_figures *figures[PROBE_KINDS];
    struct probe_run runs[PROBE_KINDS];
};

/* Begins a run of the container, which has started at `now_ms`. */
void probe_set_begin(struct probe_set *set, int64_t now_ms);

/* Returns the time at which the next try of this kind is due. Returns INT64_MAX if no try follows.
 * For liveness and readiness it also returns INT64_MAX until the startup probe has passed. */
int64_t probe_set_next(const struct probe_set *set, enum probe_kind kind);
/* Records that a try starts now, and sets the time of the next one. */
void probe_set_tried(struct probe_set *set, enum probe_kind kind, int64_t now_ms);

/* Takes the result of a try. Returns true if the container must be ended because of this result. */
bool probe_set_take(struct probe_set *set, enum probe_kind kind, bool passed, int64_t now_ms);

bool probe_set_is_started(const struct probe_set *set);
bool probe_set_is_ready(const struct probe_set *set);

#endif

/* Decides when a container's probes are tried, and from their results whether the container has
 * started, is ready, or must be ended. The rules are the kubelet's, except that a readiness probe
 * that has not passed yet is tried more often. Used by the supervisor (step/life.c). Pure:
 * step/probe/check.h runs the probes. All times are monotonic, so that probes continue unchanged
 * after the machine was suspended. */
#ifndef TRAINYARD_NODE_POD_PROBE_H
#define TRAINYARD_NODE_POD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum probe_kind { PROBE_STARTUP, PROBE_LIVENESS, PROBE_READINESS, PROBE_KINDS };

const char *probe_kind_name(enum probe_kind kind);  /* "startup" */
const char *probe_kind_title(enum probe_kind kind); /* "Startup", for events */

/* A probe as the manifest defines it. */
struct probe_settings {
    bool given; /* the container has such a probe */
    int64_t initial_delay_ms, period_ms, timeout_ms;
    /* How many equal results in a row are needed to change probe_run.passes. */
    int64_t success_threshold, failure_threshold;
    int64_t grace_ms; /* the grace period after this probe has failed; -1 means the pod's */
};

/* One probe during one run of its container. A try is one execution of the probe. */
struct probe_run {
    int64_t next_ms;  /* the time of the next try */
    int64_t in_a_row; /* consecutive tries with the result `last` */
    bool last;        /* the newest result; true means passed */
    bool passes;      /* the outcome after the thresholds are applied */
    bool has_passed;  /* at least one try has passed in this run of the container */
    bool over;        /* no further try follows in this run of the container */
};

/* The probes of one container during one run. */
struct probe_set {
    const struct probe_settings *settings[PROBE_KINDS];
    struct probe_run runs[PROBE_KINDS];
};

/* Must be called in each run of the container before the other functions, when the container counts
 * as running. Initial delays count from `now_ms`. */
void probe_set_begin(struct probe_set *set, int64_t now_ms);

/* Returns the time at which the next try of this kind is due, or INT64_MAX if no try is due. No try
 * of the liveness or readiness probe is due before the startup probe has passed. */
int64_t probe_set_next(const struct probe_set *set, enum probe_kind kind);
/* Records that a try starts now, and sets the time of the next one. */
void probe_set_tried(struct probe_set *set, enum probe_kind kind, int64_t now_ms);

/* Records the result of a try. Returns true if the container must be ended because of it. */
bool probe_set_take(struct probe_set *set, enum probe_kind kind, bool passed, int64_t now_ms);

/* Returns true if the container has no startup probe, or if the probe has passed. */
bool probe_set_is_started(const struct probe_set *set);
/* Returns true if the container has started, and has no readiness probe or passes it. */
bool probe_set_is_ready(const struct probe_set *set);

#endif

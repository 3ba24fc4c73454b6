/* What the tries of a container's probes mean: a pure function of their results and of time, with
 * the kubelet's rules. Trying is done elsewhere (step/check.h). Time is one that does not jump, so
 * that a machine that slept finds its probes where they were. */
#ifndef TRAINYARD_NODE_POD_PROBE_H
#define TRAINYARD_NODE_POD_PROBE_H

#include <stdbool.h>
#include <stdint.h>

enum probe_kind { PROBE_STARTUP, PROBE_LIVENESS, PROBE_READINESS, PROBE_KINDS };

const char *probe_kind_name(enum probe_kind kind);  /* "startup" */
const char *probe_kind_title(enum probe_kind kind); /* "Startup", as events say it */

struct probe_figures {
    bool given; /* the container has such a probe */
    int64_t initial_delay_ms, period_ms, timeout_ms;
    int64_t success_threshold, failure_threshold; /* tries in a row that count */
    int64_t grace_ms; /* to end when this probe fails; -1: as the pod says */
};

struct probe_run {
    int64_t next_ms;  /* when the next try is due */
    int64_t in_a_row; /* tries with the result `last` */
    bool last;
    bool passes;     /* what counts, after the thresholds */
    bool has_passed; /* ever, in this run of the container */
    bool over;       /* it has said all it will say of this run */
};

/* The probes of one container through one run of it. */
struct probe_set {
    const struct probe_figures *figures[PROBE_KINDS];
    struct probe_run runs[PROBE_KINDS];
};

/* The container runs since `now_ms`. */
void probe_set_begin(struct probe_set *set, int64_t now_ms);

/* When a try of this kind is due; INT64_MAX: not before something else happens. */
int64_t probe_set_next(const struct probe_set *set, enum probe_kind kind);
/* It is being tried now. */
void probe_set_tried(struct probe_set *set, enum probe_kind kind, int64_t now_ms);

/* The result of a try. True: the container is to be ended for it. */
bool probe_set_take(struct probe_set *set, enum probe_kind kind, bool passed, int64_t now_ms);

bool probe_set_is_started(const struct probe_set *set);
bool probe_set_is_ready(const struct probe_set *set);

#endif

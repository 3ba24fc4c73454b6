/* Applies the kubelet's rules to the results of probes; see pod/probe.h. */
#include "node/pod/probe.h"

enum {
    /* A program needs a moment until it listens; an earlier try would only produce a warning. */
    FIRST_TRY_MS = 1000,
    /* Until one try of the readiness probe has passed, the pauses between tries are 1 s, 2 s, 4 s,
     * …, but at most the probe's period. After this number of failures the period is used. */
    EAGER_DOUBLINGS = 10,
};

static const char *const NAMES[] = {
    [PROBE_STARTUP] = "startup",
    [PROBE_LIVENESS] = "liveness",
    [PROBE_READINESS] = "readiness",
};

static const char *const TITLES[] = {
    [PROBE_STARTUP] = "Startup",
    [PROBE_LIVENESS] = "Liveness",
    [PROBE_READINESS] = "Readiness",
};

const char *probe_kind_name(enum probe_kind kind)
{
    return NAMES[kind];
}

const char *probe_kind_title(enum probe_kind kind)
{
    return TITLES[kind];
}

static int64_t probe_smaller(int64_t a, int64_t b)
{
    return a < b ? a : b;
}

/* Returns the time of the first try. The kubelet makes it between the initial delay and one period
 * later. Readiness is tried as early as that allows. */
static int64_t first_try(const struct probe_figures *figures, enum probe_kind kind, int64_t now_ms)
{
    if (figures->initial_delay_ms > 0 || kind == PROBE_READINESS)
        return now_ms + figures->initial_delay_ms;
    return now_ms + (kind == PROBE_LIVENESS ? figures->period_ms
                                            : probe_smaller(figures->period_ms, FIRST_TRY_MS));
}

void probe_set_begin(struct probe_set *set, int64_t now_ms)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        set->runs[kind] = (struct probe_run){.passes = kind == PROBE_LIVENESS};
        if (set->figures[kind]->given)
            set->runs[kind].next_ms = first_try(set->figures[kind], kind, now_ms);
    }
}

bool probe_set_is_started(const struct probe_set *set)
{
    return !set->figures[PROBE_STARTUP]->given || set->runs[PROBE_STARTUP].passes;
}

bool probe_set_is_ready(const struct probe_set *set)
{
    return probe_set_is_started(set) &&
           (!set->figures[PROBE_READINESS]->given || set->runs[PROBE_READINESS].passes);
}

int64_t probe_set_next(const struct probe_set *set, enum probe_kind kind)
{
    const struct probe_run *run = &set->runs[kind];
    bool is_its_time = kind == PROBE_STARTUP || probe_set_is_started(set);
    return set->figures[kind]->given && !run->over && is_its_time ? run->next_ms : INT64_MAX;
}

/* Until one try of the readiness probe has passed, tries are more frequent than the period says.
 * The container is not ready yet, so failures have no effect, and readiness is noticed earlier. */
static int64_t probe_period(const struct probe_set *set, enum probe_kind kind)
{
    const struct probe_figures *figures = set->figures[kind];
    const struct probe_run *run = &set->runs[kind];
    if (kind != PROBE_READINESS || run->has_passed || run->in_a_row >= EAGER_DOUBLINGS)
        return figures->period_ms;
    return probe_smaller(figures->period_ms, (int64_t)FIRST_TRY_MS << run->in_a_row);
}

/* If tries were missed, they are skipped. */
void probe_set_tried(struct probe_set *set, enum probe_kind kind, int64_t now_ms)
{
    struct probe_run *run = &set->runs[kind];
    int64_t step = probe_period(set, kind);
    run->next_ms += step;
    if (run->next_ms <= now_ms)
        run->next_ms = now_ms + step;
}

bool probe_set_take(struct probe_set *set, enum probe_kind kind, bool passed, int64_t now_ms)
{
    const struct probe_figures *figures = set->figures[kind];
    struct probe_run *run = &set->runs[kind];
    run->in_a_row = run->last == passed ? run->in_a_row + 1 : 1;
    run->last = passed;
    run->has_passed = run->has_passed || passed;
    if (run->in_a_row < (passed ? figures->success_threshold : figures->failure_threshold))
        return false;
    run->passes = passed;
    /* A startup probe is over after its first verdict. A liveness probe is over after it has
     * failed, because the container is ended. */
    run->over = kind == PROBE_STARTUP || (kind == PROBE_LIVENESS && !passed);
    /* The other probes begin now. Their initial delay counts from the start of the container and
     * has usually passed. */
    for (int other = 0; kind == PROBE_STARTUP && passed && other < PROBE_KINDS; other++)
        if (set->figures[other]->given && set->runs[other].next_ms < now_ms)
            set->runs[other].next_ms = now_ms;
    return kind != PROBE_READINESS && !passed;
}

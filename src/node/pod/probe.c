/* Applies the kubelet's rules to the results of probes; see pod/probe.h. */
#include "node/pod/probe.h"

enum {
    /* Time from probe_set_begin() to the first try of the startup probe, if the period is longer
     * and there is no initial delay. An earlier try would only produce a warning, because a program
     * needs a moment until it listens. Also the first pause between tries of the readiness
     * probe. */
    FIRST_PAUSE_MS = 1000,
    /* Until one try of the readiness probe has passed, the pauses between tries are 1 s, 2 s, 4 s,
     * …, but at most the probe's period. After this number of failures the pauses last one
     * period. */
    PAUSE_DOUBLINGS = 10,
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

/* Returns the time of the first try. The kubelet's first try comes between the end of the initial
 * delay and one period later. This function returns a time in that range; for readiness it is the
 * earliest one. */
static int64_t first_try(const struct probe_settings *settings, enum probe_kind kind,
                         int64_t now_ms)
{
    if (settings->initial_delay_ms > 0 || kind == PROBE_READINESS)
        return now_ms + settings->initial_delay_ms;
    return now_ms + (kind == PROBE_LIVENESS ? settings->period_ms
                                            : probe_smaller(settings->period_ms, FIRST_PAUSE_MS));
}

void probe_set_begin(struct probe_set *set, int64_t now_ms)
{
    for (int kind = 0; kind < PROBE_KINDS; kind++) {
        set->runs[kind] = (struct probe_run){.passes = kind == PROBE_LIVENESS};
        if (set->settings[kind]->given)
            set->runs[kind].next_ms = first_try(set->settings[kind], kind, now_ms);
    }
}

bool probe_set_is_started(const struct probe_set *set)
{
    return !set->settings[PROBE_STARTUP]->given || set->runs[PROBE_STARTUP].passes;
}

bool probe_set_is_ready(const struct probe_set *set)
{
    return probe_set_is_started(set) &&
           (!set->settings[PROBE_READINESS]->given || set->runs[PROBE_READINESS].passes);
}

int64_t probe_set_next(const struct probe_set *set, enum probe_kind kind)
{
    const struct probe_run *run = &set->runs[kind];
    bool is_allowed = kind == PROBE_STARTUP || probe_set_is_started(set);
    return set->settings[kind]->given && !run->over && is_allowed ? run->next_ms : INT64_MAX;
}

/* Returns the pause after the current try. Until one try of the readiness probe has passed, the
 * pause is shorter than the period, so that readiness is noticed earlier. More failures change
 * nothing, because the container is not ready yet. */
static int64_t probe_period(const struct probe_set *set, enum probe_kind kind)
{
    const struct probe_settings *settings = set->settings[kind];
    const struct probe_run *run = &set->runs[kind];
    if (kind != PROBE_READINESS || run->has_passed || run->in_a_row >= PAUSE_DOUBLINGS)
        return settings->period_ms;
    return probe_smaller(settings->period_ms, (int64_t)FIRST_PAUSE_MS << run->in_a_row);
}

/* The pause counts from the time at which the try was due. If the pause has passed already, it
 * counts from now. */
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
    const struct probe_settings *settings = set->settings[kind];
    struct probe_run *run = &set->runs[kind];
    run->in_a_row = run->last == passed ? run->in_a_row + 1 : 1;
    run->last = passed;
    run->has_passed = run->has_passed || passed;
    if (run->in_a_row < (passed ? settings->success_threshold : settings->failure_threshold))
        return false;
    run->passes = passed;
    /* A startup probe is over when a threshold is reached. A liveness probe is over when its
     * failure threshold is reached, because the container is ended. */
    run->over = kind == PROBE_STARTUP || (kind == PROBE_LIVENESS && !passed);
    /* After the startup probe has passed, the other probes are tried at once, unless their initial
     * delay, which counts from probe_set_begin(), has not passed yet. */
    for (int other = 0; kind == PROBE_STARTUP && passed && other < PROBE_KINDS; other++)
        if (set->settings[other]->given && set->runs[other].next_ms < now_ms)
            set->runs[other].next_ms = now_ms;
    return kind != PROBE_READINESS && !passed;
}

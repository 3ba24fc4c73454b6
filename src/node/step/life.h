/* The life of one container under its supervisor, from the moment its program runs to its end: the
 * postStart hook, its probes, and how it is brought to an end (preStop hook, its turn, SIGTERM,
 * SIGKILL). What the probes mean is pod/probe.h's; what follows an end is step/pod.c's. Times are
 * monotonic: a machine that slept owes nobody anything. */
#ifndef TRAINYARD_NODE_STEP_LIFE_H
#define TRAINYARD_NODE_STEP_LIFE_H

#include "node/pod/probe.h"
#include "node/step/probe/check.h"
#include "node/step/sandbox/container.h"

#include <poll.h>

enum life_stage {
    LIFE_NONE,       /* nothing runs, or nothing is known to */
    LIFE_POST_START, /* it runs, but counts as running only after its hook */
    LIFE_RUNNING,
    LIFE_PRE_STOP,    /* it is to end, after its hook … */
    LIFE_WAITS,       /* … when others have ended … */
    LIFE_TERMINATING, /* … and has been told */
};

enum {
    LIFE_CHECKS = PROBE_KINDS + 1, /* a hook */
    LIFE_CHILDREN_MAX = 2 * LIFE_CHECKS,
};

struct container_life {
    struct container_run *run;
    struct pod_state *pod;
    enum life_stage stage;
    struct probe_set probes;
    struct step_check checks[LIFE_CHECKS];
    int64_t kill_at_ms; /* while ending: when patience ends */
    bool had_to_wait;   /* … which began before it could be told */
    bool ran_hook;      /* … which may have told it, too */
    bool was_unhealthy; /* it ends because of a probe: who obeys with exit code 0 has failed */
    bool has_news;      /* the state has something to tell */
    bool has_changed;   /* … and something that must not be forgotten */
};

void life_init(struct container_life *life, struct container_run *run, struct pod_state *pod);

/* Its program runs. */
void life_begin(struct container_life *life, int64_t now_ms);
/* It has ended, or will never run. */
void life_over(struct container_life *life);

/* Bring it to its end, within so much time; said again, the shorter time holds. */
void life_end(struct container_life *life, int64_t grace_ms, int64_t now_ms);
/* Nobody has to end before it any more. */
void life_take_turn(struct container_life *life, int64_t now_ms);

/* Do what is due; *wake becomes earlier if something will be. */
void life_advance(struct container_life *life, int64_t now_ms, int64_t *wake);
/* A child of the supervisor has been reaped. */
void life_reaped(struct container_life *life, pid_t pid, int wait_status);
/* The processes of its hook and probes, LIFE_CHILDREN_MAX at most; how many. */
size_t life_children(const struct container_life *life, pid_t *ret);
/* What is to be waited for, LIFE_CHECKS of them. */
void life_polls(const struct container_life *life, struct pollfd *ret);

bool life_is_ending(const struct container_life *life);

#endif

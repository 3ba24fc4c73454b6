/* Decides whether and when a container that has ended runs again, from its policy and its history.
 * Pure. The delays are the kubelet's. The pod's supervisor calls it, so that restarts go on without
 * the control process. */
#ifndef TRAINYARD_NODE_POD_RESTART_H
#define TRAINYARD_NODE_POD_RESTART_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum restart_policy { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER };
enum { RESTART_POLICIES = RESTART_NEVER + 1 };

extern const char *const restart_policy_names[RESTART_POLICIES];

const char *restart_policy_name(enum restart_policy policy); /* "OnFailure" */
int restart_policy_parse(const char *name, enum restart_policy *ret, struct err *err);

enum {
    RESTART_BACKOFF_FIRST_MS = 10 * 1000,
    RESTART_BACKOFF_MAX_MS = 5 * 60 * 1000,
    RESTART_BACKOFF_RESET_MS = 2 * RESTART_BACKOFF_MAX_MS, /* a run this long resets the back-off */
};

/* A restart rule of a container. The container runs again if its exit code is one of `codes`, or,
 * with `not_in`, if it is none of them. */
struct restart_rule {
    bool not_in;
    const int *codes;
    size_t count;
};
struct restart_rules {
    struct restart_rule *items;
    size_t count, capacity;
};

/* The text form is "In 3 42" or "NotIn 0". On failure `ret` is untouched. */
int restart_rule_parse(struct arena *arena, const char *text, struct restart_rule *ret,
                       struct err *err);
void restart_rule_write(const struct restart_rule *rule, struct buf *buf);

struct restart_decision {
    bool restart;
    int64_t delay_ms; /* time from the end of the run to the restart */
    int level;        /* the `level` for the next call */
};

/* Decides whether and when the container runs again. The rules are checked first; the policy
 * decides if no rule matches. `rules` may be NULL. `init` marks an init container other than a
 * sidecar, which does not run again after success. `ran_ms` is the duration of the run. `level` is
 * 0 at the first call. The first restart comes at once, the next ones after 10 s, 20 s, … 5 min. */
struct restart_decision restart_decide(enum restart_policy policy,
                                       const struct restart_rules *rules, bool init, int exit_code,
                                       int level, int64_t ran_ms);

#endif

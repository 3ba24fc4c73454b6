/* Decides whether and when a container runs again after it has ended. The delays are the kubelet's.
 * The pod's supervisor calls restart_decide(), so that restarts do not need the control process.
 * Pure. */
#ifndef TRAINYARD_NODE_POD_RESTART_H
#define TRAINYARD_NODE_POD_RESTART_H

#include "base/arena.h"
#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

enum restart_policy { RESTART_ALWAYS, RESTART_ON_FAILURE, RESTART_NEVER };
enum { RESTART_POLICIES = RESTART_NEVER + 1 };

extern const char *const restart_policy_names[RESTART_POLICIES]; /* by enum restart_policy */

const char *restart_policy_name(enum restart_policy policy); /* "OnFailure" */
int restart_policy_parse(const char *name, enum restart_policy *ret, struct err *err);

enum {
    RESTART_BACKOFF_FIRST_MS = 10 * 1000,
    RESTART_BACKOFF_MAX_MS = 5 * 60 * 1000,
    RESTART_BACKOFF_RESET_MS = 2 * RESTART_BACKOFF_MAX_MS, /* a run this long resets the back-off */
};

/* A rule of a container's restartPolicyRules. It matches if the exit code is one of `codes` or,
 * with `not_in`, if it is none of them. A container runs again if one of its rules matches;
 * restart_decide() has the exception. */
struct restart_rule {
    bool not_in;
    const int *codes;
    size_t count;
};
struct restart_rules {
    struct restart_rule *items;
    size_t count, capacity;
};

/* Parses the text form of a rule, such as "In 3 42" or "NotIn 0". Allocates `ret->codes` in the
 * arena. Returns 0, or a negative code and leaves `ret` untouched. */
int restart_rule_parse(struct arena *arena, const char *text, struct restart_rule *ret,
                       struct err *err);
void restart_rule_write(const struct restart_rule *rule, struct buf *buf);

struct restart_decision {
    bool restart;
    int64_t delay_ms; /* time from the end of the run to the restart */
    int level;        /* the `level` of the next call for this container */
};

/* Decides whether and when the container runs again. `init` is true for an init container, but not
 * for a sidecar: an init container never runs again after exit code 0. Otherwise the container runs
 * again if one of the rules matches, or if the policy says so. `rules` may be NULL. `ran_ms` is the
 * duration of the run. `level` is 0 for the first run. The first restart comes at once, the next
 * ones after 10 s, 20 s, … and at most 5 min. */
struct restart_decision restart_decide(enum restart_policy policy,
                                       const struct restart_rules *rules, bool init, int exit_code,
                                       int level, int64_t ran_ms);

#endif

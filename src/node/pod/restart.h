/* When a container that ended runs again: a pure function of its policy and its history, with the
 * kubelet's figures. The pod's supervisor asks it, so that restarts go on while the control process
 * is away. */
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
    RESTART_BACKOFF_RESET_MS = 2 * RESTART_BACKOFF_MAX_MS, /* ran so long: history is forgotten */
};

/* A rule of a container: it runs again where its exit code is one of these, or is none of them. */
struct restart_rule {
    bool not_in;
    const int *codes;
    size_t count;
};
struct restart_rules {
    struct restart_rule *items;
    size_t count, capacity;
};

/* "In 3 42", "NotIn 0"; of what cannot be read nothing is kept. */
int restart_rule_parse(struct arena *arena, const char *text, struct restart_rule *ret,
                       struct err *err);
void restart_rule_write(const struct restart_rule *rule, struct buf *buf);

struct restart_decision {
    bool restart;
    int64_t delay_ms; /* from the container's end */
    int level;        /* to be handed in at the next end */
};

/* `rules` go before the policy, which decides where none holds; NULL: none. `init`: an init
 * container, which never runs again once it succeeded. `level` is 0 at first. The first restart
 * comes at once, the next after 10 s, 20 s, … 5 min. */
struct restart_decision restart_decide(enum restart_policy policy,
                                       const struct restart_rules *rules, bool init, int exit_code,
                                       int level, int64_t ran_ms);

#endif

/* Applies a container's restart policy; see pod/restart.h. */
#include "node/pod/restart.h"

#include "base/mem.h"
#include "base/str.h"

#include <string.h>

const char *const restart_policy_names[RESTART_POLICIES] = {
    [RESTART_ALWAYS] = "Always",
    [RESTART_ON_FAILURE] = "OnFailure",
    [RESTART_NEVER] = "Never",
};

const char *restart_policy_name(enum restart_policy policy)
{
    return restart_policy_names[policy];
}

int restart_policy_parse(const char *name, enum restart_policy *ret, struct err *err)
{
    for (size_t i = 0; i < RESTART_POLICIES; i++) {
        if (str_eq(name, restart_policy_names[i])) {
            *ret = (enum restart_policy)i;
            return 0;
        }
    }
    return err_set(err, ERR_INVALID,
                   "unknown restart policy '%s': expected Always, OnFailure or Never", name);
}

static const char *operator_name(bool not_in)
{
    return not_in ? "NotIn" : "In";
}

int restart_rule_parse(struct arena *arena, const char *text, struct restart_rule *ret,
                       struct err *err)
{
    char *rest = arena_strdup(arena, text);
    const char *name = strsep(&rest, " ");
    struct restart_rule rule = {.not_in = str_eq(name, operator_name(true))};
    if (!rule.not_in && !str_eq(name, operator_name(false)))
        return err_set(err, ERR_INVALID, "operator '%s' of a restart rule is neither In nor NotIn",
                       name);
    int *codes =
        arena_alloc(arena, strlen(text) * sizeof(*codes)); /* a code has at least one digit */
    for (char *word; (word = strsep(&rest, " "));) {
        int64_t code;
        if (str_to_int64(word, INT32_MIN, INT32_MAX, &code, err) < 0)
            return err_wrap(err, "exit code of a restart rule");
        codes[rule.count++] = (int)code;
    }
    rule.codes = codes;
    *ret = rule;
    return 0;
}

void restart_rule_write(const struct restart_rule *rule, struct buf *buf)
{
    buf_append_str(buf, operator_name(rule->not_in));
    for (size_t i = 0; i < rule->count; i++)
        buf_printf(buf, " %d", rule->codes[i]);
}

static bool restart_rule_matches(const struct restart_rule *rule, int exit_code)
{
    bool found = false;
    for (size_t i = 0; i < rule->count; i++)
        found = found || rule->codes[i] == exit_code;
    return found != rule->not_in;
}

static bool restart_some_rule_matches(const struct restart_rules *rules, int exit_code)
{
    for (size_t i = 0; rules && i < rules->count; i++)
        if (restart_rule_matches(&rules->items[i], exit_code))
            return true;
    return false;
}

static bool runs_again(enum restart_policy policy, const struct restart_rules *rules, bool init,
                       int exit_code)
{
    if (init && exit_code == 0)
        return false;
    return restart_some_rule_matches(rules, exit_code) || policy == RESTART_ALWAYS ||
           (policy == RESTART_ON_FAILURE && exit_code != 0);
}

struct restart_decision restart_decide(enum restart_policy policy,
                                       const struct restart_rules *rules, bool init, int exit_code,
                                       int level, int64_t ran_ms)
{
    if (!runs_again(policy, rules, init, exit_code))
        return (struct restart_decision){.restart = false, .level = level};
    if (ran_ms >= RESTART_BACKOFF_RESET_MS || level < 0)
        level = 0;
    int64_t delay = level == 0 ? 0 : RESTART_BACKOFF_FIRST_MS;
    for (int i = 1; i < level && delay < RESTART_BACKOFF_MAX_MS; i++)
        delay *= 2;
    if (delay > RESTART_BACKOFF_MAX_MS)
        delay = RESTART_BACKOFF_MAX_MS;
    return (struct restart_decision){.restart = true, .delay_ms = delay, .level = level + 1};
}

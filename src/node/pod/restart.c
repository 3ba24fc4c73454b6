/* Restart policy; see pod/restart.h. */
#include "node/pod/restart.h"

#include "base/mem.h"
#include "base/str.h"

static const char *const NAMES[] = {
    [RESTART_ALWAYS] = "Always",
    [RESTART_ON_FAILURE] = "OnFailure",
    [RESTART_NEVER] = "Never",
};

const char *restart_policy_name(enum restart_policy policy)
{
    return NAMES[policy];
}

int restart_policy_parse(const char *name, enum restart_policy *ret, struct err *err)
{
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        if (str_eq(name, NAMES[i])) {
            *ret = (enum restart_policy)i;
            return 0;
        }
    }
    return err_set(err, ERR_INVALID, "restart policy '%s' is none of Always, OnFailure, Never",
                   name);
}

struct restart_decision restart_decide(enum restart_policy policy, bool init, int exit_code,
                                       int level, int64_t ran_ms)
{
    bool again = policy == RESTART_ALWAYS ? !init || exit_code != 0
                                          : policy == RESTART_ON_FAILURE && exit_code != 0;
    if (!again)
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

/* Tracks the workers that have not connected to a parameter server yet; see wait.h. */
#include "comm/ps/wait.h"

#include "base/mem.h"

enum {
    EVERY_MS = 5000,
    LESS_OFTEN = 12, /* factor of the report interval once a worker has connected */
    NAMED_MAX = 4,   /* limit of workers that a report names */
};

void ps_wait_init(struct ps_wait *wait, const struct ps_member *member, int64_t every_ms,
                  int64_t timeout_ms, int64_t now)
{
    *wait = (struct ps_wait){.member = member,
                             .came = mem_calloc((size_t)member->workers, sizeof(*wait->came)),
                             .began = now,
                             .every_ms = every_ms ? every_ms : EVERY_MS,
                             .timeout_ms = timeout_ms};
    wait->next = now + wait->every_ms;
}

void ps_wait_release(struct ps_wait *wait)
{
    free(wait->came);
    *wait = (struct ps_wait){0};
}

void ps_wait_excuse(struct ps_wait *wait, uint32_t worker)
{
    wait->came[worker] = true;
}

void ps_wait_came(struct ps_wait *wait, uint32_t worker)
{
    wait->came[worker] = true;
    wait->any_came = true;
}

/* Writes "worker 0 (host:port), worker 1 (host:port) and 3 more"; empty if no worker is missing. */
static void wait_name_missing(const struct ps_wait *wait, struct buf *text)
{
    int missing = 0;
    for (int rank = 0; rank < wait->member->workers; rank++) {
        char name[TF_CONFIG_TASK_TEXT_MAX];
        if (wait->came[rank] || missing++ >= NAMED_MAX)
            continue;
        ps_member_describe(wait->member, rank, name);
        buf_printf(text, "%s%s", missing > 1 ? ", " : "", name);
    }
    if (missing > NAMED_MAX)
        buf_printf(text, " and %d more", missing - NAMED_MAX);
}

static bool wait_is_missing_any(const struct ps_wait *wait)
{
    for (int rank = 0; rank < wait->member->workers; rank++)
        if (!wait->came[rank])
            return true;
    return false;
}

static bool wait_has_deadline(const struct ps_wait *wait)
{
    return wait->timeout_ms && !wait->any_came;
}

int ps_wait_check(struct ps_wait *wait, int64_t now, struct err *err)
{
    bool late = wait_has_deadline(wait) && now >= wait->began + wait->timeout_ms;
    if (!wait_is_missing_any(wait) || (!late && now < wait->next))
        return 0;
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    wait_name_missing(wait, &text);
    if (late)
        return err_set(err, ERR_TIMEOUT, "no worker connected within %g s: %s",
                       (double)wait->timeout_ms / 1000, text.data);
    ps_member_say(wait->member, "waiting for %s: %lld s so far", text.data,
                  (long long)((now - wait->began) / 1000));
    wait->next = now + wait->every_ms * (wait->any_came ? LESS_OFTEN : 1);
    return 0;
}

int64_t ps_wait_due(const struct ps_wait *wait)
{
    if (!wait_is_missing_any(wait))
        return INT64_MAX;
    int64_t deadline = wait_has_deadline(wait) ? wait->began + wait->timeout_ms : INT64_MAX;
    return deadline < wait->next ? deadline : wait->next;
}

/* Implements the wait of a parameter server for its workers; see wait.h. */
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
    *wait =
        (struct ps_wait){.member = member,
                         .connected = mem_calloc((size_t)member->workers, sizeof(*wait->connected)),
                         .began = now,
                         .every_ms = every_ms ? every_ms : EVERY_MS,
                         .timeout_ms = timeout_ms};
    wait->next_report = now + wait->every_ms;
}

void ps_wait_release(struct ps_wait *wait)
{
    free(wait->connected);
    *wait = (struct ps_wait){0};
}

void ps_wait_set_finished(struct ps_wait *wait, uint32_t worker)
{
    wait->connected[worker] = true;
}

void ps_wait_set_connected(struct ps_wait *wait, uint32_t worker)
{
    wait->connected[worker] = true;
    wait->any_connected = true;
}

/* Writes the names of the missing workers, such as "worker 0 (host:port), worker 1 (host:port) and
 * 3 more". Writes nothing if no worker is missing. */
static void wait_name_missing(const struct ps_wait *wait, struct buf *text)
{
    int missing = 0;
    for (int rank = 0; rank < wait->member->workers; rank++) {
        char name[TF_CONFIG_TASK_TEXT_MAX];
        if (wait->connected[rank] || missing++ >= NAMED_MAX)
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
        if (!wait->connected[rank])
            return true;
    return false;
}

static bool wait_has_deadline(const struct ps_wait *wait)
{
    return wait->timeout_ms && !wait->any_connected;
}

int ps_wait_check(struct ps_wait *wait, int64_t now, struct err *err)
{
    bool late = wait_has_deadline(wait) && now >= wait->began + wait->timeout_ms;
    if (!wait_is_missing_any(wait) || (!late && now < wait->next_report))
        return 0;
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    wait_name_missing(wait, &text);
    if (late)
        return err_set(err, ERR_TIMEOUT, "no worker connected within %g s: %s",
                       (double)wait->timeout_ms / 1000, text.data);
    ps_member_report(wait->member, "waiting for %s: %lld s so far", text.data,
                     (long long)((now - wait->began) / 1000));
    wait->next_report = now + wait->every_ms * (wait->any_connected ? LESS_OFTEN : 1);
    return 0;
}

int64_t ps_wait_due(const struct ps_wait *wait)
{
    if (!wait_is_missing_any(wait))
        return INT64_MAX;
    int64_t deadline = wait_has_deadline(wait) ? wait->began + wait->timeout_ms : INT64_MAX;
    return deadline < wait->next_report ? deadline : wait->next_report;
}

/* The words about who is missing: in lines while others are waited for, in the error at the end,
 * and to whoever shows the state of a run; see rendezvous_private.h. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/moment.h"
#include "base/str.h"
#include "comm/group/rendezvous_private.h"

#include <stdio.h>
#include <string.h>

enum { NAMED_MAX = 4 }; /* missing members that a line or an error names in full */

/* The members that are missing, each once, as "worker 2 (host:port)" with the reason; returns how
 * many. */
static int each_missing(struct rendezvous *r, void (*visit)(void *, const char *, const char *),
                        void *context)
{
    int missing = 0;
    for (int peer = 0; peer < r->options->size; peer++) {
        const struct bond *found = NULL; /* one that we make tells more than one we wait for */
        bool linked = false;
        for (size_t i = 0; i < r->bonds.count; i++) {
            const struct bond *bond = &r->bonds.items[i];
            linked |= r->lobby && bond->peer == peer && bond->state == BOND_READY;
            if (bond->peer == peer && bond->state != BOND_READY &&
                (!found || (bond->outgoing && !found->outgoing)))
                found = bond;
        }
        if (!found || linked) /* in a lobby either of two connections is enough */
            continue;
        if (missing++ < NAMED_MAX) {
            char name[TF_CONFIG_TASK_TEXT_MAX];
            rendezvous_describe(r, peer, name);
            visit(context, name, found->reason);
        }
    }
    return missing;
}

static void report_one(void *context, const char *name, const char *reason)
{
    struct rendezvous *r = context;
    char line[TF_CONFIG_TASK_TEXT_MAX + REASON_MAX + 64];
    snprintf(line, sizeof(line), "waiting for %s since %lld s: %s", name,
             (long long)((moment_monotonic_ms() - r->started) / 1000), reason);
    rendezvous_say(r, line);
}

void rendezvous_report_missing(struct rendezvous *r)
{
    int missing = each_missing(r, report_one, r);
    if (missing > NAMED_MAX) {
        char line[64];
        snprintf(line, sizeof(line), "waiting for %d more tasks", missing - NAMED_MAX);
        rendezvous_say(r, line);
    }
}

static void append_one(void *context, const char *name, const char *reason)
{
    struct buf *text = context;
    buf_printf(text, "%s%s: %s", text->size ? "; " : "", name, reason);
}

int rendezvous_give_up(struct rendezvous *r, struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    int missing = each_missing(r, append_one, &text);
    if (missing > NAMED_MAX)
        buf_printf(&text, "; and %d more", missing - NAMED_MAX);
    /* In tenths: what was asked for is less by what came before the waiting. */
    int64_t tenths = (r->options->timeout_ms + 50) / 100;
    return err_set(err, ERR_TIMEOUT, "%d of %d tasks did not come within %g s: %s", missing,
                   r->wanted, (double)tenths / 10, text.data);
}

static void append_name(void *context, const char *name, const char *reason)
{
    struct buf *text = context;
    (void)reason;
    buf_printf(text, "%s%s", text->size ? ", " : "", name);
}

void rendezvous_tell_missing(struct rendezvous *r)
{
    if (!r->options->waiting)
        return;
    _cleanup_buf_ struct buf text;
    buf_init(&text, MISSING_MAX - 1);
    int missing = each_missing(r, append_name, &text);
    if (missing > NAMED_MAX)
        buf_printf(&text, " and %d more", missing - NAMED_MAX);
    if (str_eq(text.data, r->missing))
        return;
    str_copy(r->missing, sizeof(r->missing), text.data);
    r->options->waiting(r->options->context, missing ? text.data : NULL);
}

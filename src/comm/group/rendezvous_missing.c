/* Names the missing members in reports, in the timeout error, and for options.waiting; see
 * rendezvous_private.h. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/moment.h"
#include "base/str.h"
#include "comm/group/rendezvous_private.h"

#include <stdio.h>
#include <string.h>

enum { NAMED_MAX = 4 }; /* limit of missing members that a report or an error names */

/* Calls `visit` with the name and the reason of each missing member, but for at most NAMED_MAX of
 * them. Returns the number of all missing members. */
static int missing_peers_visit(struct rendezvous *rendezvous,
                               void (*visit)(void *, const char *, const char *), void *context)
{
    int missing = 0;
    for (int peer = 0; peer < rendezvous->options->size; peer++) {
        /* An outgoing link is preferred, because its reason is more exact. */
        const struct peer_link *found = NULL;
        bool linked = false;
        for (size_t i = 0; i < rendezvous->peer_links.count; i++) {
            const struct peer_link *peer_link = &rendezvous->peer_links.items[i];
            linked |= rendezvous->in_discovery && peer_link->peer == peer &&
                      peer_link->state == PEER_LINK_READY;
            if (peer_link->peer == peer && peer_link->state != PEER_LINK_READY &&
                (!found || (peer_link->outgoing && !found->outgoing)))
                found = peer_link;
        }
        if (!found || linked) /* in discovery one of the two links is enough */
            continue;
        if (missing++ < NAMED_MAX) {
            char name[TF_CONFIG_TASK_TEXT_MAX];
            rendezvous_describe(rendezvous, peer, name);
            visit(context, name, found->reason);
        }
    }
    return missing;
}

static void missing_peer_report(void *context, const char *name, const char *reason)
{
    struct rendezvous *rendezvous = context;
    char line[TF_CONFIG_TASK_TEXT_MAX + REASON_MAX + 64];
    snprintf(line, sizeof(line), "waiting for %s for %lld s: %s", name,
             (long long)((moment_monotonic_ms() - rendezvous->started) / 1000), reason);
    rendezvous_report(rendezvous, line);
}

void rendezvous_report_missing(struct rendezvous *rendezvous)
{
    int missing = missing_peers_visit(rendezvous, missing_peer_report, rendezvous);
    if (missing > NAMED_MAX) {
        char line[64];
        snprintf(line, sizeof(line), "waiting for %d more tasks", missing - NAMED_MAX);
        rendezvous_report(rendezvous, line);
    }
}

static void missing_peer_append(void *context, const char *name, const char *reason)
{
    struct buf *text = context;
    buf_printf(text, "%s%s: %s", text->size ? "; " : "", name, reason);
}

int rendezvous_give_up(struct rendezvous *rendezvous, struct err *err)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 4096);
    int missing = missing_peers_visit(rendezvous, missing_peer_append, &text);
    if (missing > NAMED_MAX)
        buf_printf(&text, "; and %d more", missing - NAMED_MAX);
    /* options.timeout_ms is what is left of the user's timeout, a few milliseconds less. Rounding
     * to tenths of a second hides the difference. */
    int64_t tenths = (rendezvous->options->timeout_ms + 50) / 100;
    return err_set(err, ERR_TIMEOUT, "%d of %d tasks did not connect within %g s: %s", missing,
                   rendezvous->wanted, (double)tenths / 10, text.data);
}

static void missing_peer_append_name(void *context, const char *name, const char *reason)
{
    struct buf *text = context;
    (void)reason;
    buf_printf(text, "%s%s", text->size ? ", " : "", name);
}

void rendezvous_tell_missing(struct rendezvous *rendezvous)
{
    if (!rendezvous->options->waiting)
        return;
    _cleanup_buf_ struct buf text;
    buf_init(&text, MISSING_MAX - 1);
    int missing = missing_peers_visit(rendezvous, missing_peer_append_name, &text);
    if (missing > NAMED_MAX)
        buf_printf(&text, " and %d more", missing - NAMED_MAX);
    if (str_eq(text.data, rendezvous->missing))
        return;
    str_copy(rendezvous->missing, sizeof(rendezvous->missing), text.data);
    rendezvous->options->waiting(rendezvous->options->context, missing ? text.data : NULL);
}

/* The waiting of a transport, and whom to blame for it: who is missing, silent, or behind, and when
 * that is said or the group is given up; see transport_tcp_private.h. */
#include "base/moment.h"
#include "comm/transport/control_private.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    PING_MS = 1000,       /* asking who is missing begins after this and is repeated */
    ASK_MS = 20,          /* the same where somebody wants to know who is late */
    EXPLANATION_MS = 500, /* how long a broken data connection waits for a reason */
    HICCUP_MS = 200,      /* longer than asked for: this process itself was stopped */
};

/* One poll; control connections that moved are dealt with. */
static void poll_once(struct transport_tcp *tcp, size_t count, int timeout_ms)
{
    for (int i = 0; i < tcp->options.size; i++) {
        struct peer *peer = &tcp->peers[i];
        tcp->polls[i] = (struct pollfd){.fd = peer->control.fd,
                                        .events = peer->out.size ? POLLIN | POLLOUT : POLLIN};
    }
    if (poll(tcp->polls, (nfds_t)count, timeout_ms) < 0) {
        if (errno != EINTR)
            transport_tcp_break(tcp, ERR_IO, "cannot wait for the other tasks: %s",
                                strerror(errno));
        return;
    }
    for (int i = 0; i < tcp->options.size; i++)
        if (tcp->polls[i].revents)
            transport_tcp_read(tcp, &tcp->peers[i]);
}

int transport_tcp_data_failed(struct transport_tcp *tcp, int rank, int errnum, struct err *err)
{
    /* The neighbour may have given up because of another member, and told so on its control
     * connection before it closed this one; then that one is to blame. */
    int64_t until = moment_monotonic_ms() + EXPLANATION_MS;
    for (int64_t now = moment_monotonic_ms(); now < until && !tcp->broken.code;
         now = moment_monotonic_ms())
        poll_once(tcp, (size_t)tcp->options.size, (int)(until - now));
    transport_tcp_break(tcp, ERR_UNAVAILABLE, "lost %s: %s", tcp->peers[rank].name,
                        socket_reason(errnum));
    return transport_tcp_broken(tcp, err);
}

/* Those that are not known to have reached this call; where all have, the one data should come
 * from. At most a few are named. */
static void name_missing(const struct transport_tcp *tcp, struct buf *text)
{
    enum { NAMED_MAX = 4 };
    int missing = 0;
    for (int i = 0; i < tcp->options.size; i++) {
        const struct peer *peer = &tcp->peers[i];
        if (i == tcp->options.rank || peer->seen >= tcp->sequence ||
            (peer->left && peer->completed >= tcp->sequence))
            continue;
        if (missing++ < NAMED_MAX)
            buf_printf(text, "%s%s", missing > 1 ? ", " : "", peer->name);
    }
    if (missing > NAMED_MAX)
        buf_printf(text, " and %d more", missing - NAMED_MAX);
    if (!missing)
        buf_printf(text, "data from %s", tcp->peers[tcp->awaited].name);
}

void transport_tcp_tell_waiting(struct transport_tcp *tcp, const char *whom)
{
    if (tcp->options.waiting)
        tcp->options.waiting(tcp->options.context, whom);
    tcp->told_waiting = whom != NULL;
}

static void report(struct transport_tcp *tcp, int64_t idle_ms)
{
    _cleanup_buf_ struct buf missing, line;
    buf_init(&missing, 2048);
    buf_init(&line, 4096);
    name_missing(tcp, &missing);
    transport_tcp_tell_waiting(tcp, missing.data);
    if (!tcp->options.report)
        return;
    buf_printf(&line, "%s (call %llu) waits since %lld s for %s",
               transport_tcp_call_name(tcp->call), (unsigned long long)tcp->sequence,
               (long long)(idle_ms / 1000), missing.data);
    tcp->options.report(tcp->options.context, line.data);
}

static int give_up(struct transport_tcp *tcp, struct err *err)
{
    _cleanup_buf_ struct buf missing;
    buf_init(&missing, 2048);
    name_missing(tcp, &missing);
    transport_tcp_break(tcp, ERR_TIMEOUT, "%s (call %llu) waited %g s in vain for %s",
                        transport_tcp_call_name(tcp->call), (unsigned long long)tcp->sequence,
                        (double)tcp->options.timeout_ms / 1000, missing.data);
    return transport_tcp_broken(tcp, err);
}

/* Told to stop, and somebody is so far behind that the call may not end in time. */
static int obey(struct transport_tcp *tcp, struct err *err)
{
    _cleanup_buf_ struct buf missing;
    buf_init(&missing, 2048);
    name_missing(tcp, &missing);
    transport_tcp_break(tcp, ERR_UNAVAILABLE, "%s was told to stop while it waited for %s",
                        tcp->peers[tcp->options.rank].name, missing.data);
    return transport_tcp_broken(tcp, err);
}

static bool is_silent(const struct transport_tcp *tcp, int rank, int64_t now, int64_t limit_ms)
{
    const struct peer *peer = &tcp->peers[rank];
    int64_t since = peer->heard_ms > tcp->idle_since_ms ? peer->heard_ms : tcp->idle_since_ms;
    return rank != tcp->options.rank && !peer->left && now - since >= limit_ms;
}

/* Who did not answer a question for long, though others did or nobody did: the slowest is named
 * first in a line, and taken for dead in the end. */
static int judge_silence(struct transport_tcp *tcp, int64_t now, struct err *err)
{
    int64_t limit = tcp->options.peer_timeout_ms;
    for (int rank = 0; rank < tcp->options.size; rank++)
        if (is_silent(tcp, rank, now, limit)) {
            tcp->peers[rank].silent = true;
            tcp->accused = rank + 1;
            transport_tcp_break(tcp, ERR_UNAVAILABLE, "lost %s: it has not answered for %g s",
                                tcp->peers[rank].name, (double)limit / 1000);
            return transport_tcp_broken(tcp, err);
        }
    return 0;
}

static void report_stragglers(struct transport_tcp *tcp, int64_t now)
{
    for (int rank = 0; rank < tcp->options.size; rank++) {
        char line[TF_CONFIG_TASK_TEXT_MAX + 64];
        if (!is_silent(tcp, rank, now, tcp->options.report_ms))
            continue;
        transport_tcp_tell_waiting(tcp, tcp->peers[rank].name);
        if (!tcp->options.report)
            continue;
        snprintf(line, sizeof(line), "waiting for %s: %.1f s behind the others",
                 tcp->peers[rank].name, (double)(now - tcp->idle_since_ms) / 1000);
        tcp->options.report(tcp->options.context, line);
    }
}

/* Time in which this process was stopped, or not let run, does not count against the others. */
static void forgive(struct transport_tcp *tcp, int64_t excess_ms)
{
    if (tcp->options.peer_timeout_ms && excess_ms > tcp->options.peer_timeout_ms / 2)
        tcp->away = true;
    if (!tcp->idle_since_ms)
        return; /* nothing has been counted yet */
    tcp->idle_since_ms += excess_ms;
    tcp->pinged_ms += excess_ms;
    tcp->reported_ms += excess_ms;
    for (int i = 0; i < tcp->options.size; i++)
        if (tcp->peers[i].heard_ms <= tcp->looked_ms) /* not since it goes on */
            tcp->peers[i].heard_ms += excess_ms;
    tcp->looked_ms += excess_ms;
}

/* It is `now`, and since the clock was last looked at in this wait so much was asked for; what was
 * overslept shows here, in the poll or between two. */
static bool was_stopped(struct transport_tcp *tcp, int64_t now, int64_t asked_ms)
{
    int64_t excess_ms = now - tcp->looked_ms - asked_ms;
    if (excess_ms > HICCUP_MS)
        forgive(tcp, excess_ms);
    tcp->looked_ms = now;
    return excess_ms > HICCUP_MS;
}

static int64_t ping_ms(const struct transport_tcp *tcp, bool block)
{
    if (block && tcp->options.waited && !tcp->asked_ms)
        return ASK_MS;
    int64_t often = tcp->options.peer_timeout_ms / 4;
    return often && often < PING_MS ? often : PING_MS;
}

/* One poll of `count` connections, blocking or not, and what is due by the clock. */
static int poll_and_judge(struct transport_tcp *tcp, size_t count, bool block, struct err *err)
{
    /* Asked only when there is something left to wait for: a call that has all it needs completes,
     * even if a member is gone by now. */
    if (tcp->broken.code)
        return transport_tcp_broken(tcp, err);
    int64_t now = moment_monotonic_ms();
    if (!tcp->idle_since_ms)
        tcp->idle_since_ms = tcp->pinged_ms = tcp->reported_ms = tcp->looked_ms = now;
    (void)was_stopped(tcp, now, 0);
    int64_t next = tcp->pinged_ms + ping_ms(tcp, block),
            deadline = tcp->idle_since_ms + tcp->options.timeout_ms;
    if (tcp->reported_ms + tcp->options.report_ms < next)
        next = tcp->reported_ms + tcp->options.report_ms;
    if (deadline < next)
        next = deadline;
    int wait_ms = block && next > now ? (int)(next - now) : 0;
    poll_once(tcp, count, wait_ms);
    if (!block && tcp->broken.code)
        return transport_tcp_broken(tcp, err);
    now = moment_monotonic_ms();
    if (was_stopped(tcp, now, wait_ms))
        return 0;
    if (now >= deadline)
        return give_up(tcp, err);
    if (tcp->options.stop && *tcp->options.stop &&
        now - tcp->idle_since_ms >= tcp->options.report_ms)
        return obey(tcp, err);
    int result = tcp->options.peer_timeout_ms ? judge_silence(tcp, now, err) : 0;
    if (result < 0)
        return result;
    if (now >= tcp->pinged_ms + ping_ms(tcp, block)) {
        transport_tcp_send_all(tcp, WIRE_FRAME_PING, tcp->sequence, 0, NULL, 0);
        tcp->pinged_ms = now;
        tcp->asked_ms = tcp->asked_ms ? tcp->asked_ms : now;
    }
    if (now >= tcp->reported_ms + tcp->options.report_ms) {
        if (tcp->options.peer_timeout_ms)
            report_stragglers(tcp, now);
        else
            report(tcp, now - tcp->idle_since_ms);
        tcp->reported_ms = now;
    }
    return 0;
}

/* A wait that ends with a loss is over, too, and whoever did not come was waited for. */
static int wait_once(struct transport_tcp *tcp, size_t count, bool block, struct err *err)
{
    int result = poll_and_judge(tcp, count, block, err);
    if (result < 0)
        transport_tcp_moved(tcp);
    return result;
}

int transport_tcp_wait(struct transport_tcp *tcp, struct err *err)
{
    return wait_once(tcp, (size_t)tcp->options.size + 2 * (size_t)tcp->options.channels, true, err);
}

int transport_tcp_watch(struct transport_tcp *tcp, int rank, struct err *err)
{
    tcp->awaited = rank;
    return wait_once(tcp, (size_t)tcp->options.size, false, err);
}

void transport_tcp_overslept(struct transport_tcp *tcp, int64_t excess_ms)
{
    if (excess_ms > HICCUP_MS)
        forgive(tcp, excess_ms);
}

void transport_tcp_noticed(struct transport_tcp *tcp, int rank)
{
    if (tcp->peers[rank].seen >= tcp->sequence)
        return;
    tcp->peers[rank].seen = tcp->sequence;
    tcp->peers[rank].came_ms = 0;
}

void transport_tcp_progress(struct transport_tcp *tcp)
{
    tcp->idle_since_ms = 0;
    if (tcp->told_waiting)
        transport_tcp_tell_waiting(tcp, NULL);
}

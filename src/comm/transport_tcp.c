/* The life of a transport, the waiting and whom to blame for it, and the exchange of small data;
 * see transport_tcp.h. */
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "comm/socket.h"
#include "comm/transport_tcp_lane.h"
#include "comm/transport_tcp_private.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

enum {
    PING_MS = 1000,       /* asking who is missing begins after this and is repeated */
    EXPLANATION_MS = 500, /* how long a broken data connection waits for a reason */
    HICCUP_MS = 200,      /* longer than asked for in poll(): this process itself was stopped */
};

void transport_tcp_set_timeout(struct transport_tcp *tcp, int64_t timeout_ms)
{
    tcp->options.timeout_ms = timeout_ms;
}

void transport_tcp_set_peer_timeout(struct transport_tcp *tcp, int64_t timeout_ms)
{
    tcp->options.peer_timeout_ms = timeout_ms;
}

enum lobby_fate transport_tcp_fate(struct transport_tcp *tcp, int rank)
{
    struct peer *peer = &tcp->peers[rank];
    if (peer->control.fd >= 0)
        transport_tcp_read(tcp, peer);
    if (peer->left || peer->aborted)
        return LOBBY_LEFT;
    if (peer->silent)
        return LOBBY_SILENT;
    return peer->control.fd < 0 && rank != tcp->options.rank ? LOBBY_LOST : LOBBY_OPEN;
}

bool transport_tcp_expelled(const struct transport_tcp *tcp)
{
    return tcp->expelled || tcp->away;
}

int transport_tcp_rank(const struct transport_tcp *tcp)
{
    return tcp->options.rank;
}

int transport_tcp_size(const struct transport_tcp *tcp)
{
    return tcp->options.size;
}

bool transport_tcp_has_pairs(const struct transport_tcp *tcp)
{
    return tcp->links.pairs != NULL;
}

int transport_tcp_left(const struct transport_tcp *tcp)
{
    return (tcp->options.rank + tcp->options.size - 1) % tcp->options.size;
}

int transport_tcp_right(const struct transport_tcp *tcp)
{
    return (tcp->options.rank + 1) % tcp->options.size;
}

struct pollfd *transport_tcp_left_polls(struct transport_tcp *tcp)
{
    return tcp->polls + tcp->options.size;
}

struct pollfd *transport_tcp_right_polls(struct transport_tcp *tcp)
{
    return tcp->polls + tcp->options.size + tcp->options.channels;
}

struct transport_tcp *transport_tcp_new(const struct transport_tcp_options *options,
                                        struct rendezvous_links *links)
{
    struct transport_tcp *tcp = mem_zalloc(sizeof(*tcp));
    size_t size = (size_t)options->size, channels = (size_t)options->channels;
    tcp->options = *options;
    tcp->options.tasks = NULL;
    tcp->links = *links;
    *links = (struct rendezvous_links){0};
    tcp->peers = mem_calloc(size, sizeof(*tcp->peers));
    for (size_t i = 0; i < size; i++) {
        struct peer *peer = &tcp->peers[i];
        tf_config_task_describe(&options->tasks[i], peer->name);
        peer->control = connection_take(&tcp->links.control[i]);
        if (peer->control.fd >= 0)
            socket_limit_silence(peer->control.fd);
        buf_init(&peer->out, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
        if (tcp->links.pairs && tcp->links.pairs[i].fd >= 0)
            socket_do_not_pace_local(tcp->links.pairs[i].fd);
    }
    for (size_t i = 0; size > 1 && i < channels; i++) {
        socket_do_not_pace_local(tcp->links.left[i].fd);
        socket_do_not_pace_local(tcp->links.right[i].fd);
    }
    tcp->polls = mem_calloc(size + 2 * channels, sizeof(*tcp->polls));
    tcp->scratch = mem_calloc(channels, sizeof(*tcp->scratch));
    tcp->send_scratch = mem_calloc(channels, sizeof(*tcp->send_scratch));
    for (size_t i = 0; i < channels; i++)
        tcp->scratch[i] = size > 1 ? mem_alloc(TRANSPORT_TCP_SCRATCH) : NULL;
    return tcp;
}

struct transport_tcp *transport_tcp_free(struct transport_tcp *tcp)
{
    if (!tcp)
        return NULL;
    if (!tcp->broken.code)
        transport_tcp_send_all(tcp, WIRE_FRAME_BYE, tcp->sequence, 0, NULL, 0);
    for (int i = 0; i < tcp->options.size; i++) {
        struct peer *peer = &tcp->peers[i];
        connection_close(&peer->control);
        buf_release(&peer->out);
        for (int slot = 0; slot < PENDING_SLOTS; slot++)
            free(peer->pending[slot].bytes);
    }
    for (int i = 0; i < tcp->options.channels; i++) {
        free(tcp->scratch[i]);
        free(tcp->send_scratch[i]);
    }
    free(tcp->scratch);
    free(tcp->send_scratch);
    free(tcp->peers);
    free(tcp->polls);
    rendezvous_links_release(&tcp->links, tcp->options.size, tcp->options.channels);
    free(tcp);
    return NULL;
}

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

static void report(struct transport_tcp *tcp, int64_t idle_ms)
{
    if (!tcp->options.report)
        return;
    _cleanup_buf_ struct buf missing, line;
    buf_init(&missing, 2048);
    buf_init(&line, 4096);
    name_missing(tcp, &missing);
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
    for (int rank = 0; tcp->options.report && rank < tcp->options.size; rank++) {
        char line[TF_CONFIG_TASK_TEXT_MAX + 64];
        if (!is_silent(tcp, rank, now, tcp->options.report_ms))
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
        tcp->peers[i].heard_ms += excess_ms;
}

static int64_t ping_ms(const struct transport_tcp *tcp)
{
    int64_t often = tcp->options.peer_timeout_ms / 4;
    return often && often < PING_MS ? often : PING_MS;
}

/* One poll of `count` connections, blocking or not, and what is due by the clock. */
static int wait_once(struct transport_tcp *tcp, size_t count, bool block, struct err *err)
{
    /* Asked only when there is something left to wait for: a call that has all it needs completes,
     * even if a member is gone by now. */
    if (tcp->broken.code)
        return transport_tcp_broken(tcp, err);
    int64_t now = moment_monotonic_ms();
    if (!tcp->idle_since_ms)
        tcp->idle_since_ms = tcp->pinged_ms = tcp->reported_ms = now;
    int64_t next = tcp->pinged_ms + ping_ms(tcp),
            deadline = tcp->idle_since_ms + tcp->options.timeout_ms;
    if (tcp->reported_ms + tcp->options.report_ms < next)
        next = tcp->reported_ms + tcp->options.report_ms;
    if (deadline < next)
        next = deadline;
    int wait_ms = block && next > now ? (int)(next - now) : 0;
    poll_once(tcp, count, wait_ms);
    if (!block && tcp->broken.code)
        return transport_tcp_broken(tcp, err);
    int64_t before = now;
    now = moment_monotonic_ms();
    if (now - before > wait_ms + HICCUP_MS) {
        forgive(tcp, now - before - wait_ms);
        return 0;
    }
    if (now >= deadline)
        return give_up(tcp, err);
    if (tcp->options.stop && *tcp->options.stop &&
        now - tcp->idle_since_ms >= tcp->options.report_ms)
        return obey(tcp, err);
    int result = tcp->options.peer_timeout_ms ? judge_silence(tcp, now, err) : 0;
    if (result < 0)
        return result;
    if (now >= tcp->pinged_ms + ping_ms(tcp)) {
        transport_tcp_send_all(tcp, WIRE_FRAME_PING, tcp->sequence, 0, NULL, 0);
        tcp->pinged_ms = now;
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
    if (tcp->peers[rank].seen < tcp->sequence)
        tcp->peers[rank].seen = tcp->sequence;
}

void transport_tcp_progress(struct transport_tcp *tcp)
{
    transport_tcp_moved(tcp);
}

struct transport_mark transport_tcp_mark(const struct transport_tcp *tcp)
{
    return (struct transport_mark){
        .sequence = tcp->sequence, .call = (uint64_t)tcp->call, .size = tcp->call_size};
}

int transport_tcp_differs(struct transport_tcp *tcp, int rank, const struct transport_mark *mark,
                          struct err *err)
{
    /* It may have given up on the group before this task came, and told so. */
    int result = transport_tcp_watch(tcp, rank, err);
    if (result < 0)
        return result;
    return transport_tcp_mismatch(tcp, rank, mark->sequence, mark->call, mark->size, err);
}

void transport_tcp_say(const struct transport_tcp *tcp, const char *format, ...)
{
    if (!tcp->options.report)
        return;
    _cleanup_buf_ struct buf line;
    buf_init(&line, 4096);
    va_list args;
    va_start(args, format);
    buf_vprintf(&line, format, args);
    va_end(args);
    tcp->options.report(tcp->options.context, line.data);
}

int transport_tcp_begin(struct transport_tcp *tcp, enum transport_call call, size_t size,
                        struct err *err)
{
    if (tcp->broken.code)
        return transport_tcp_broken(tcp, err);
    tcp->sequence++;
    tcp->call = call;
    tcp->call_size = size;
    tcp->exchanging = false;
    tcp->away = false; /* all were in the last call after it */
    tcp->idle_since_ms = 0;
    for (int i = 0; i < tcp->options.size; i++)
        if (tcp->peers[i].left && tcp->peers[i].completed < tcp->sequence)
            transport_tcp_break(tcp, ERR_UNAVAILABLE, "%s has left the group", tcp->peers[i].name);
    return tcp->broken.code ? transport_tcp_broken(tcp, err) : 0;
}

int transport_tcp_exchange(struct transport_tcp *tcp, const void *data, size_t size, void *ret_all,
                           struct err *err)
{
    if (size > WIRE_FRAME_MAX)
        mem_panic("transport: %zu bytes do not fit a frame", size);
    tcp->exchanging = true;
    transport_tcp_send_all(tcp, WIRE_FRAME_DATA, tcp->sequence, (uint64_t)tcp->call, data, size);
    struct pollfd *data_polls = transport_tcp_left_polls(tcp);
    for (int i = 0; i < 2 * tcp->options.channels; i++)
        data_polls[i].fd = -1;
    for (int rank = 0; rank < tcp->options.size; rank++) {
        char *place = (char *)ret_all + (size_t)rank * size;
        struct peer *peer = &tcp->peers[rank];
        if (rank == tcp->options.rank) {
            if (size)
                memcpy(place, data, size);
            continue;
        }
        struct pending *found;
        tcp->awaited = rank;
        while (!(found = transport_tcp_find_pending(tcp, peer))) {
            int result = transport_tcp_wait(tcp, err);
            if (result < 0)
                return result;
        }
        if (found->call != (uint64_t)tcp->call || found->size != size)
            return transport_tcp_mismatch(tcp, rank, found->sequence, found->call, found->size,
                                          err);
        memcpy(place, found->bytes, size);
        found->used = false;
        transport_tcp_moved(tcp);
    }
    /* Every other member must have our contribution before this call counts as completed. */
    for (int rank = 0; rank < tcp->options.size; rank++)
        while (tcp->peers[rank].out.size && tcp->peers[rank].control.fd >= 0) {
            int result = transport_tcp_wait(tcp, err);
            if (result < 0)
                return result;
        }
    return 0;
}

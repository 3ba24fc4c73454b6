/* Waits for other members: detects members that are missing, silent or late, reports them, and
 * breaks the group after a timeout; see control_private.h. */
#include "base/moment.h"
#include "comm/transport/control_private.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    PING_MS = 1000,     /* longest interval of pings during a wait */
    FIRST_PING_MS = 20, /* delay of the first ping if options.waited is set */
    /* How long control_data_failed() waits for a message with the cause. */
    EXPLANATION_MS = 500,
    /* If a wait takes this much longer than requested, this process was suspended. */
    SUSPENDED_MS = 200,
};

/* Polls once and handles the control connections that are ready. */
static void control_poll_once(struct control *control, size_t count, int timeout_ms)
{
    for (int i = 0; i < control->options.size; i++) {
        struct control_peer *peer = &control->peers[i];
        control->polls[i] = (struct pollfd){.fd = peer->connection.fd,
                                            .events = peer->out.size ? POLLIN | POLLOUT : POLLIN};
    }
    if (poll(control->polls, (nfds_t)count, timeout_ms) < 0) {
        if (errno != EINTR)
            control_break(control, ERR_IO, "cannot wait for the other tasks: %s", strerror(errno));
        return;
    }
    for (int i = 0; i < control->options.size; i++)
        if (control->polls[i].revents)
            control_read(control, &control->peers[i]);
}

int control_data_failed(struct control *control, int rank, int errnum, struct err *err)
{
    /* The peer may have closed the data connection because of another member. Then it has sent the
     * reason on its control connection, and the error names that member. */
    int64_t until = moment_monotonic_ms() + EXPLANATION_MS;
    for (int64_t now = moment_monotonic_ms(); now < until && !control->broken.code;
         now = moment_monotonic_ms())
        control_poll_once(control, (size_t)control->options.size, (int)(until - now));
    control_break(control, ERR_UNAVAILABLE, "lost %s: %s", control->peers[rank].name,
                  socket_reason(errnum));
    return control_broken(control, err);
}

/* Writes the names of the members that are not known to have reached this call, but at most
 * NAMED_MAX of them. If all have reached it, writes the name of the member whose data is
 * expected. */
static void control_name_missing(const struct control *control, struct buf *text)
{
    enum { NAMED_MAX = 4 };
    int missing = 0;
    for (int i = 0; i < control->options.size; i++) {
        const struct control_peer *peer = &control->peers[i];
        if (i == control->options.rank || peer->seen >= control->sequence ||
            (peer->left && peer->completed >= control->sequence))
            continue;
        if (missing++ < NAMED_MAX)
            buf_printf(text, "%s%s", missing > 1 ? ", " : "", peer->name);
    }
    if (missing > NAMED_MAX)
        buf_printf(text, " and %d more", missing - NAMED_MAX);
    if (!missing)
        buf_printf(text, "data from %s", control->peers[control->expected].name);
}

void control_tell_waiting(struct control *control, const char *names)
{
    if (control->options.waiting)
        control->options.waiting(control->options.context, names);
    control->told_waiting = names != NULL;
}

static void control_report_waiting(struct control *control, int64_t idle_ms)
{
    _cleanup_buf_ struct buf missing, line;
    buf_init(&missing, 2048);
    buf_init(&line, 4096);
    control_name_missing(control, &missing);
    control_tell_waiting(control, missing.data);
    if (!control->options.report)
        return;
    buf_printf(&line, "%s (call %llu) has waited %lld s for %s", control_call_name(control->call),
               (unsigned long long)control->sequence, (long long)(idle_ms / 1000), missing.data);
    control->options.report(control->options.context, line.data);
}

static int control_give_up(struct control *control, struct err *err)
{
    _cleanup_buf_ struct buf missing;
    buf_init(&missing, 2048);
    control_name_missing(control, &missing);
    control_break(control, ERR_TIMEOUT,
                  "%s (call %llu) timed out after %g s while it waited for %s",
                  control_call_name(control->call), (unsigned long long)control->sequence,
                  (double)control->options.timeout_ms / 1000, missing.data);
    return control_broken(control, err);
}

/* Breaks the group because options.stop is set and a member is late: this process must end soon,
 * but the call may take much longer. */
static int control_obey_stop(struct control *control, struct err *err)
{
    _cleanup_buf_ struct buf missing;
    buf_init(&missing, 2048);
    control_name_missing(control, &missing);
    control_break(control, ERR_UNAVAILABLE, "%s was told to stop while it waited for %s",
                  control->peers[control->options.rank].name, missing.data);
    return control_broken(control, err);
}

/* Whether the member has sent nothing during the last `limit_ms` of the current wait. */
static bool control_is_silent(const struct control *control, int rank, int64_t now,
                              int64_t limit_ms)
{
    const struct control_peer *peer = &control->peers[rank];
    int64_t since =
        peer->heard_ms > control->idle_since_ms ? peer->heard_ms : control->idle_since_ms;
    return rank != control->options.rank && !peer->left && now - since >= limit_ms;
}

/* Breaks the group if a member has not answered pings for peer_timeout_ms. */
static int control_check_silence(struct control *control, int64_t now, struct err *err)
{
    int64_t limit = control->options.peer_timeout_ms;
    for (int rank = 0; rank < control->options.size; rank++)
        if (control_is_silent(control, rank, now, limit)) {
            control->peers[rank].silent = true;
            control->silent_member = rank + 1;
            control_break(control, ERR_UNAVAILABLE, "lost %s: it has not answered for %g s",
                          control->peers[rank].name, (double)limit / 1000);
            return control_broken(control, err);
        }
    return 0;
}

static void control_report_stragglers(struct control *control, int64_t now)
{
    for (int rank = 0; rank < control->options.size; rank++) {
        char line[TF_CONFIG_TASK_TEXT_MAX + 64];
        if (!control_is_silent(control, rank, now, control->options.report_ms))
            continue;
        control_tell_waiting(control, control->peers[rank].name);
        if (!control->options.report)
            continue;
        snprintf(line, sizeof(line), "waiting for %s: %.1f s behind the others",
                 control->peers[rank].name, (double)(now - control->idle_since_ms) / 1000);
        control->options.report(control->options.context, line);
    }
}

/* Moves the start of the current wait and all its times by `excess_ms`. Time in which this process
 * was suspended, or got no CPU time, does not count towards the timeouts of the other members. */
static void control_exclude_suspension(struct control *control, int64_t excess_ms)
{
    if (control->options.peer_timeout_ms && excess_ms > control->options.peer_timeout_ms / 2)
        control->was_stopped = true;
    if (!control->idle_since_ms)
        return; /* no wait is in progress */
    control->idle_since_ms += excess_ms;
    control->pinged_ms += excess_ms;
    control->reported_ms += excess_ms;
    /* A peer that has sent a message since this process continued keeps its time. */
    for (int i = 0; i < control->options.size; i++)
        if (control->peers[i].heard_ms <= control->looked_ms)
            control->peers[i].heard_ms += excess_ms;
    control->looked_ms += excess_ms;
}

/* Returns whether this process was suspended since `looked_ms`: much more time than `requested_ms`
 * has passed. Sets `looked_ms` to `now`. */
static bool control_note_suspension(struct control *control, int64_t now, int64_t requested_ms)
{
    int64_t excess_ms = now - control->looked_ms - requested_ms;
    if (excess_ms > SUSPENDED_MS)
        control_exclude_suspension(control, excess_ms);
    control->looked_ms = now;
    return excess_ms > SUSPENDED_MS;
}

/* Returns the time between the previous pings and the next. The first pings of a call are sent
 * early if options.waited needs the arrival times of the members. */
static int64_t control_ping_ms(const struct control *control, bool block)
{
    if (block && control->options.waited && !control->first_ping_ms)
        return FIRST_PING_MS;
    int64_t often = control->options.peer_timeout_ms / 4;
    return often && often < PING_MS ? often : PING_MS;
}

/* Polls `count` descriptors once, then checks the timeouts and sends the pings and reports that are
 * due. Without `block`, poll() does not wait. */
static int control_poll_and_check(struct control *control, size_t count, bool block,
                                  struct err *err)
{
    /* This is checked only when the call needs to wait: a call that has all its data completes,
     * even if a member is lost meanwhile. */
    if (control->broken.code)
        return control_broken(control, err);
    int64_t now = moment_monotonic_ms();
    if (!control->idle_since_ms)
        control->idle_since_ms = control->pinged_ms = control->reported_ms = control->looked_ms =
            now;
    (void)control_note_suspension(control, now, 0);
    int64_t next = control->pinged_ms + control_ping_ms(control, block),
            deadline = control->idle_since_ms + control->options.timeout_ms;
    if (control->reported_ms + control->options.report_ms < next)
        next = control->reported_ms + control->options.report_ms;
    if (deadline < next)
        next = deadline;
    int wait_ms = block && next > now ? (int)(next - now) : 0;
    control_poll_once(control, count, wait_ms);
    if (!block && control->broken.code)
        return control_broken(control, err);
    now = moment_monotonic_ms();
    if (control_note_suspension(control, now, wait_ms))
        return 0;
    if (now >= deadline)
        return control_give_up(control, err);
    if (control->options.stop && *control->options.stop &&
        now - control->idle_since_ms >= control->options.report_ms)
        return control_obey_stop(control, err);
    int result = control->options.peer_timeout_ms ? control_check_silence(control, now, err) : 0;
    if (result < 0)
        return result;
    if (now >= control->pinged_ms + control_ping_ms(control, block)) {
        control_send_all(control, WIRE_FRAME_PING, control->sequence, 0, NULL, 0);
        control->pinged_ms = now;
        control->first_ping_ms = control->first_ping_ms ? control->first_ping_ms : now;
    }
    if (now >= control->reported_ms + control->options.report_ms) {
        if (control->options.peer_timeout_ms)
            control_report_stragglers(control, now);
        else
            control_report_waiting(control, now - control->idle_since_ms);
        control->reported_ms = now;
    }
    return 0;
}

/* Like control_poll_and_check(). On failure also ends the wait, and attributes its time to the late
 * member. */
static int control_wait_once(struct control *control, size_t count, bool block, struct err *err)
{
    int result = control_poll_and_check(control, count, block, err);
    if (result < 0)
        control_progress(control);
    return result;
}

int control_wait(struct control *control, size_t count, struct err *err)
{
    return control_wait_once(control, (size_t)control->options.size + count, true, err);
}

int control_watch(struct control *control, int rank, struct err *err)
{
    control->expected = rank;
    return control_wait_once(control, (size_t)control->options.size, false, err);
}

void control_note_oversleep(struct control *control, int64_t excess_ms)
{
    if (excess_ms > SUSPENDED_MS)
        control_exclude_suspension(control, excess_ms);
}

void control_note_arrival(struct control *control, int rank)
{
    if (control->peers[rank].seen >= control->sequence)
        return;
    control->peers[rank].seen = control->sequence;
    control->peers[rank].came_ms = 0;
}

void control_end_wait(struct control *control)
{
    control->idle_since_ms = 0;
    if (control->told_waiting)
        control_tell_waiting(control, NULL);
}

void control_progress(struct control *control)
{
    if (control->idle_since_ms)
        control_attribute_wait(control);
    control_end_wait(control);
}

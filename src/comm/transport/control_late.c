/* Finds the member that was late for a call, and adds up how long this member waited for it; see
 * control_private.h. Uses only the clock of this task. Another member has arrived when this member
 * receives the first message that the other can send only from inside the call. This is the head of
 * its stream, if the stream starts without waiting for others, or the answer to a ping. This member
 * sends pings when a wait gets long. Long transfers and short waits of unknown cause are not
 * counted. */
#include "base/moment.h"
#include "comm/transport/control_private.h"

/* options.waited is called when the sum of the waits for a member reaches this time, so that the
 * calls are rare. */
static const int64_t CALLBACK_NS = 1000000;

/* A member that waits in the call answers a ping within this time. */
enum { ANSWER_MS = 10 };

void control_count_wait(struct control *control, int rank, int64_t ns)
{
    struct control_peer *peer = &control->peers[rank];
    peer->waited_ns += ns;
    if (peer->waited_ns < CALLBACK_NS || !control->options.waited)
        return;
    control->options.waited(control->options.context, peer->task, peer->waited_ns);
    peer->waited_ns = 0;
}

/* Returns the time at which the member arrived in the current call, `now` if it has not arrived, or
 * 0 if it arrived while this member did not wait. */
static int64_t control_came_ms(const struct control *control, int rank, int64_t now)
{
    const struct control_peer *peer = &control->peers[rank];
    return peer->seen >= control->sequence ? peer->came_ms : now;
}

/* Returns the rank of the last member to arrive among the members that did not answer the first
 * ping in time, or -1 if there is none. If two arrived at the same time, returns the closer
 * predecessor in the ring, because data comes from there. */
static int control_find_last(const struct control *control, int64_t now)
{
    int size = control->options.size, last = -1;
    int64_t latest = control->first_ping_ms + ANSWER_MS;
    for (int i = 1; control->first_ping_ms && i < size; i++) {
        int rank = (control->options.rank + size - i) % size;
        int64_t came = control_came_ms(control, rank, now);
        if (came > latest) {
            latest = came;
            last = rank;
        }
    }
    return last;
}

/* Attributes the time since the start of the current wait to the member, and ends the wait. */
static void control_count_idle(struct control *control, int rank, int64_t now)
{
    if (now > control->idle_since_ms)
        control_count_wait(control, rank, (now - control->idle_since_ms) * 1000000);
    control->idle_since_ms = 0;
}

/* Whether no member can finish the current call before all have arrived. False also for calls that
 * belong to the forming of a group. */
static bool control_needs_all(const struct control *control)
{
    return control->call == CONTROL_CALL_ALLREDUCE || control->call == CONTROL_CALL_ALLGATHER ||
           control->call == CONTROL_CALL_BARRIER;
}

void control_attribute_wait(struct control *control)
{
    int64_t now = moment_monotonic_ms();
    int last = control_needs_all(control) ? control_find_last(control, now) : -1;
    if (last >= 0)
        control_count_idle(control, last, now);
}

void control_peer_arrived(struct control *control, int rank)
{
    struct control_peer *peer = &control->peers[rank];
    int64_t now = control->idle_since_ms ? moment_monotonic_ms() : 0;
    int last = now && control_needs_all(control) ? control_find_last(control, now) : -1;
    /* If no member was late to answer a ping, `rank` counts as the late member. In a call with
     * streams this is so only for the first stream, and only if `rank` has not answered a ping:
     * otherwise `rank` may itself have waited for others. */
    if (last < 0 && now && control_needs_all(control) &&
        (control->exchanging ||
         (!control->arrivals && (peer->seen < control->sequence || !control->first_ping_ms))))
        last = rank;
    if (last >= 0)
        control_count_idle(control, last, now);
    control->arrivals++;
    if (peer->seen < control->sequence) {
        peer->seen = control->sequence;
        peer->came_ms = now;
    }
}

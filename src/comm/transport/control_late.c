/* Finds the member that was late for a call, and counts how long this member waited for it; see
 * control_private.h. It uses only the clock of this task. A member has arrived when its first
 * sign of life comes that it can send only from inside the call: the head of its stream, if it
 * sends one without waiting for others, or its answer to a ping, which this member sends when a
 * wait gets long. Long transfers are not counted, and neither are short waits of unknown cause. */
#include "base/moment.h"
#include "comm/transport/control_private.h"

/* Waits are added up to this before they are passed on: a few times per step at most. */
static const int64_t TELL_NS = 1000000;

/* A member that waits in the call answers a ping within this time. */
enum { ANSWER_MS = 10 };

void control_count_wait(struct control *control, int rank, int64_t ns)
{
    struct control_peer *peer = &control->peers[rank];
    peer->waited_ns += ns;
    if (peer->waited_ns < TELL_NS || !control->options.waited)
        return;
    control->options.waited(control->options.context, peer->task, peer->waited_ns);
    peer->waited_ns = 0;
}

/* When the member arrived in the current call; `now` if it has not arrived. */
static int64_t control_came_ms(const struct control *control, int rank, int64_t now)
{
    const struct control_peer *peer = &control->peers[rank];
    return peer->seen >= control->sequence ? peer->came_ms : now;
}

/* The rank of the last member to arrive among those that did not answer the ping in time; -1:
 * none. Of two equal ones it is the nearer one on the left, because data comes from there. */
static int control_find_last(const struct control *control, int64_t now)
{
    int size = control->options.size, last = -1;
    int64_t latest = control->asked_ms + ANSWER_MS;
    for (int i = 1; control->asked_ms && i < size; i++) {
        int rank = (control->options.rank + size - i) % size;
        int64_t came = control_came_ms(control, rank, now);
        if (came > latest) {
            latest = came;
            last = rank;
        }
    }
    return last;
}

static void control_count_idle(struct control *control, int rank, int64_t now)
{
    if (now > control->idle_since_ms)
        control_count_wait(control, rank, (now - control->idle_since_ms) * 1000000);
    control->idle_since_ms = 0;
}

/* Whether no member can finish the current call before all have arrived. Calls that belong to the
 * forming of a group do not count. */
static bool control_needs_all(const struct control *control)
{
    return control->call == CONTROL_CALL_ALLREDUCE || control->call == CONTROL_CALL_ALLGATHER ||
           control->call == CONTROL_CALL_BARRIER;
}

void control_blame(struct control *control)
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
    /* The member itself may have waited before it sent this, if this is not the first stream or
     * if it has answered a ping: then it is not blamed. */
    if (last < 0 && now && control_needs_all(control) &&
        (control->exchanging ||
         (!control->arrivals && (peer->seen < control->sequence || !control->asked_ms))))
        last = rank;
    if (last >= 0)
        control_count_idle(control, last, now);
    control->arrivals++;
    if (peer->seen < control->sequence) {
        peer->seen = control->sequence;
        peer->came_ms = now;
    }
}

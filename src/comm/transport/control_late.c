/* Who was late for a call, and for how long that was waited; see control_private.h. Only this
 * task's clock is used: a member has come when the first is heard of it that it can say only once
 * it is there. That is the head of its stream, if it waits for nobody before it sends one, or the
 * answer to a question that is asked when a wait begins to be long. Transfers that take long are
 * nobody's fault, and short waits whose cause is not known are left out. */
#include "base/moment.h"
#include "comm/transport/control_private.h"

static const int64_t TELL_NS =
    1000000; /* what is told at once: rarely more than a few times a step */

/* Whoever is there and waits has answered by then. */
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

/* When it was first heard of in this call; now, if it was not. */
static int64_t control_came_ms(const struct control *control, int rank, int64_t now)
{
    const struct control_peer *peer = &control->peers[rank];
    return peer->seen >= control->sequence ? peer->came_ms : now;
}

/* Who came last of those that did not answer when they were asked; -1: nobody. Of two the nearer
 * one on the left, through which everything comes. */
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

/* In these nobody goes on without all others; in the first ones a group only comes about. */
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
    /* It may have waited itself before it sent this: behind the first stream, or if it answered. */
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

/* Who was late for a call, and for how long that was waited; see transport_tcp_private.h. Only this
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

void transport_tcp_waited(struct transport_tcp *tcp, int rank, int64_t ns)
{
    struct peer *peer = &tcp->peers[rank];
    peer->waited_ns += ns;
    if (peer->waited_ns < TELL_NS || !tcp->options.waited)
        return;
    tcp->options.waited(tcp->options.context, peer->task, peer->waited_ns);
    peer->waited_ns = 0;
}

/* When it was first heard of in this call; now, if it was not. */
static int64_t came_ms(const struct transport_tcp *tcp, int rank, int64_t now)
{
    const struct peer *peer = &tcp->peers[rank];
    return peer->seen >= tcp->sequence ? peer->came_ms : now;
}

/* Who came last of those that did not answer when they were asked; -1: nobody. Of two the nearer
 * one on the left, through which everything comes. */
static int find_last(const struct transport_tcp *tcp, int64_t now)
{
    int size = tcp->options.size, last = -1;
    int64_t latest = tcp->asked_ms + ANSWER_MS;
    for (int i = 1; tcp->asked_ms && i < size; i++) {
        int rank = (tcp->options.rank + size - i) % size;
        int64_t came = came_ms(tcp, rank, now);
        if (came > latest) {
            latest = came;
            last = rank;
        }
    }
    return last;
}

static void count(struct transport_tcp *tcp, int rank, int64_t now)
{
    if (now > tcp->idle_since_ms)
        transport_tcp_waited(tcp, rank, (now - tcp->idle_since_ms) * 1000000);
    tcp->idle_since_ms = 0;
}

/* In these nobody goes on without all others; in the first ones a group only comes about. */
static bool needs_all(const struct transport_tcp *tcp)
{
    return tcp->call == TRANSPORT_ALLREDUCE || tcp->call == TRANSPORT_ALLGATHER ||
           tcp->call == TRANSPORT_BARRIER;
}

void transport_tcp_blame(struct transport_tcp *tcp)
{
    int64_t now = moment_monotonic_ms();
    int last = needs_all(tcp) ? find_last(tcp, now) : -1;
    if (last >= 0)
        count(tcp, last, now);
}

void transport_tcp_came(struct transport_tcp *tcp, int rank)
{
    struct peer *peer = &tcp->peers[rank];
    int64_t now = tcp->idle_since_ms ? moment_monotonic_ms() : 0;
    int last = now && needs_all(tcp) ? find_last(tcp, now) : -1;
    /* It may have waited itself before it sent this: behind the first stream, or if it answered. */
    if (last < 0 && now && needs_all(tcp) &&
        (tcp->exchanging || (!tcp->streams && (peer->seen < tcp->sequence || !tcp->asked_ms))))
        last = rank;
    if (last >= 0)
        count(tcp, last, now);
    tcp->streams++;
    if (peer->seen < tcp->sequence) {
        peer->seen = tcp->sequence;
        peer->came_ms = now;
    }
}

/* Leader election: of several processes that use the same Lease, at most one leads at a time. The
 * protocol is client-go's, so that other programs can read the Lease and take part.
 *
 * A leader renews the lease every `retry_ms`. If no renewal succeeds within `renew_ms` after the
 * previous successful renewal was sent, the leader stops leading by itself. The other processes
 * wait for `lease_ms`, which is longer, before they take over. Thus there are never two leaders,
 * even if messages are lost or late, provided that all clocks run at the same rate. A process that
 * lost the lease becomes a candidate again. */
#ifndef TRAINYARD_KUBE_CLIENT_LEADER_H
#define TRAINYARD_KUBE_CLIENT_LEADER_H

#include "loop/loop.h"
#include "net/http/http.h"

struct kube_leader;

struct kube_leader_options {
    const char *namespace_, *name; /* namespace and name of the Lease */
    const char *identity;          /* unique to this process; a restarted process needs a new one */
    /* The times that are explained above: lease_ms > renew_ms > retry_ms. 0: the default. */
    int64_t lease_ms; /* default: 15 s */
    int64_t renew_ms; /* default: 10 s */
    int64_t retry_ms; /* default: 2 s */
};

/* All callbacks run on the loop thread. None of them may free the leader. */
struct kube_leader_listener {
    /* This process has become the leader. */
    void (*on_lead)(void *context);
    /* This process does not lead any more. The callee must at once stop all work that only a leader
     * may do. */
    void (*on_lose)(void *context, const char *why);
    /* Gets a message for the log: which process leads, or why that is unknown. The same message is
     * not sent twice in a row. */
    void (*on_leader_message)(void *context, bool is_warning, const char *message);
};

/* Joins the election. No callback runs from within this call. The loop and the transport must
 * outlive the leader. The transport should have no limit on calls in flight: a renewal that waits
 * behind other calls may come too late. */
struct kube_leader *kube_leader_new(struct loop *loop, struct http_transport *transport,
                                    const struct kube_leader_options *options,
                                    const struct kube_leader_listener *listener, void *context);
/* Frees the leader; no callback runs afterwards. The lease stays as it is, so that other candidates
 * wait until it expires. Returns NULL. NULL-safe. */
struct kube_leader *kube_leader_free(struct kube_leader *leader);

/* Releases the lease, if this process holds it, so that another candidate can take it at once.
 * `done` runs later on the loop thread: after the write, whether it succeeded or failed, or without
 * a write if this process does not hold the lease. Before this call, the caller must have stopped
 * all work that only a leader may do. No other callback runs after this call, and the caller may
 * only free the leader. */
void kube_leader_resign(struct kube_leader *leader, void (*done)(void *context));

/* Returns the holder that the newest successful read or write of the lease showed; "" if the lease
 * had no holder or did not exist, or if a write has failed since. */
const char *kube_leader_holder(const struct kube_leader *leader);

#endif

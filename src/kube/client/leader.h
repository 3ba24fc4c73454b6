/* Leader election: of several processes that ask for the same Lease, one leads at a time. The
 * protocol is client-go's, so that it gets along with everything else that reads leases.
 *
 * A leader renews the lease every `retry_ms`. If it has not managed to for `renew_ms`, counted from
 * the sending of the last renewal that was answered, it stops leading by itself; the others wait
 * for `lease_ms`, which is longer, before they take over. So there is never a moment with two
 * leaders, whatever is lost or late, as long as clocks run at the same pace. Somebody who lost the
 * lease stands by again. */
#ifndef TRAINYARD_KUBE_LEADER_H
#define TRAINYARD_KUBE_LEADER_H

#include "loop/loop.h"
#include "net/http/http.h"

struct kube_leader;

struct kube_leader_options {
    const char *namespace_, *name; /* of the Lease */
    const char *identity;          /* nobody else's, also not a former life's of ours */
    int64_t lease_ms;              /* 0: 15 s */
    int64_t renew_ms;              /* 0: 10 s */
    int64_t retry_ms;              /* 0: 2 s */
};

/* All come from the loop; from none may the leader be freed. */
struct kube_leader_listener {
    void (*on_lead)(void *context);
    /* Stop at once what only a leader may do. */
    void (*on_lose)(void *context, const char *why);
    /* For the log: who leads, or why that is not known. Each sentence once until another comes. */
    void (*on_leader_message)(void *context, bool is_warning, const char *message);
};

/* The loop and the transport must outlive it. Best a transport without limits: an election that
 * waits behind other calls is lost. */
struct kube_leader *kube_leader_new(struct loop *loop, struct http_transport *transport,
                                    const struct kube_leader_options *options,
                                    const struct kube_leader_listener *listener, void *context);
/* At once; the lease is left as it is, and whoever stands by waits for its end. */
struct kube_leader *kube_leader_free(struct kube_leader *leader);

/* Give the lease away, if we hold it, so that another can have it at once; `done` comes from the
 * loop when that is written or has failed. The caller has stopped what only a leader may do. After
 * this nothing comes any more but `done`, and only freeing is left. */
void kube_leader_resign(struct kube_leader *leader, void (*done)(void *context));

const char *kube_leader_holder(const struct kube_leader *leader); /* as last seen; "" for nobody */

#endif

/* Handles pending peers: rejects an unknown peer with the reason, and turns an authenticated peer
 * into the link of its rank. The new link replaces an older link of the same rank, because the
 * usual cause is a restarted member; see rendezvous_private.h. */
#include "base/mem.h"
#include "base/str.h"
#include "comm/group/rendezvous_private.h"
#include "comm/transport/handshake_reason.h"
#include "comm/transport/socket.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* Accepts or rejects an authenticated peer. In the master form, rank 0 only records the address of
 * a peer that it will accept. Fails with ERR_FORBIDDEN if the peer is incompatible, unless
 * rendezvous->tolerant. */
static int pending_peer_admit(struct rendezvous *rendezvous, struct pending_peer *pending_peer,
                              struct err *err)
{
    struct handshake *handshake = &pending_peer->handshake;
    const struct wire_hello *hello = &handshake->hello;
    struct peer_link *peer_link =
        rendezvous_find_link(rendezvous, (int)hello->rank, hello->channel, false);
    enum wire_verdict verdict = handshake_judge_proven(handshake);
    if (verdict != WIRE_ACCEPTED) {
        char peer[TF_CONFIG_TASK_TEXT_MAX], why[HANDSHAKE_REASON_MAX];
        rendezvous_describe(rendezvous, (int)hello->rank, peer);
        handshake_reason_other_shape(handshake, why);
        handshake_decide(handshake, verdict, NULL, 0);
        (void)handshake_progress(handshake, NULL);
        if (rendezvous->tolerant)
            return 0;
        return err_set(err, ERR_FORBIDDEN, "refused %s: %s", peer,
                       verdict == WIRE_OTHER_SHAPE ? why : handshake_reason_text(verdict));
    }
    if (!peer_link) {
        handshake_decide(handshake, WIRE_WRONG_TASK, NULL, 0);
        return 0;
    }
    if (!rendezvous->options->master_form || rendezvous->options->rank != 0 ||
        hello->channel != 0) {
        handshake_decide(handshake, WIRE_ACCEPTED, NULL, 0);
        return 0;
    }
    /* In the master form, rank 0 sends its verdict when it can send the addresses of all members
     * with it. */
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof(from);
    struct wire_address *address = &rendezvous->addresses[hello->rank];
    if (getpeername(handshake->connection.fd, (struct sockaddr *)&from, &size) < 0)
        return 0;
    if (from.ss_family == AF_INET) {
        memset(address->ip, 0, 10);
        memset(address->ip + 10, 0xff, 2);
        memcpy(address->ip + 12, &((struct sockaddr_in *)&from)->sin_addr, 4);
    } else {
        memcpy(address->ip, &((struct sockaddr_in6 *)&from)->sin6_addr, 16);
    }
    address->port = hello->listen_port;
    return 0;
}

/* In the master form, rank 0 accepts all members, and sends them all addresses, as soon as every
 * member is authenticated. */
static void pending_peers_send_addresses(struct rendezvous *rendezvous)
{
    if (!rendezvous->options->master_form || rendezvous->options->rank != 0)
        return;
    for (int rank = 1; rank < rendezvous->options->size; rank++) {
        bool waits = false;
        for (size_t i = 0; i < rendezvous->listener->pending_peers.count; i++)
            waits |=
                rendezvous->listener->pending_peers.items[i]->handshake.state == HANDSHAKE_PROVEN &&
                (int)rendezvous->listener->pending_peers.items[i]->handshake.hello.rank == rank;
        if (!waits && rendezvous_find_link(rendezvous, rank, 0, false)->state != PEER_LINK_READY)
            return;
    }
    rendezvous_on_addresses_known(rendezvous);
    for (size_t i = 0; i < rendezvous->listener->pending_peers.count; i++)
        if (rendezvous->listener->pending_peers.items[i]->handshake.state == HANDSHAKE_PROVEN)
            handshake_decide(&rendezvous->listener->pending_peers.items[i]->handshake,
                             WIRE_ACCEPTED, rendezvous->addresses,
                             (size_t)rendezvous->options->size);
}

static void pending_peer_become_link(struct rendezvous *rendezvous,
                                     struct pending_peer *pending_peer)
{
    const struct wire_hello *hello = &pending_peer->handshake.hello;
    struct peer_link *peer_link =
        rendezvous_find_link(rendezvous, (int)hello->rank, hello->channel, false);
    if (!peer_link || pending_peer->handshake.verdict != WIRE_ACCEPTED)
        return;
    peer_link->resolve = resolve_free(peer_link->resolve);
    connection_close(&peer_link->connection);
    peer_link->carries_messages = false;
    buf_release(&peer_link->in);
    buf_release(&peer_link->out);
    peer_link->connection = handshake_take(&pending_peer->handshake);
    peer_link->state = PEER_LINK_READY;
}

static void pending_peer_report_refusal(struct rendezvous *rendezvous,
                                        const struct pending_peer *pending_peer,
                                        const struct err *why)
{
    char line[ERR_MESSAGE_MAX + SOCKET_ADDRESS_TEXT_MAX + 32];
    snprintf(line, sizeof(line), "refused a connection from %s: %s", pending_peer->from,
             why->message);
    /* A peer that connects again has another source port, so only the reason is compared. */
    if (!str_eq(why->message, rendezvous->listener->last_refusal))
        rendezvous_report(rendezvous, line);
    str_copy(rendezvous->listener->last_refusal, sizeof(rendezvous->listener->last_refusal),
             why->message);
}

/* Returns the identity against which the peer is checked. A task without a group may connect while
 * the members of a generation connect to each other. Such a task is checked against the identity of
 * the listener, and then waits. */
static const struct handshake_identity *
pending_peer_identity(const struct rendezvous *rendezvous, const struct pending_peer *pending_peer)
{
    bool early = pending_peer->handshake.state == HANDSHAKE_EARLY;
    return rendezvous->options->generation && early && pending_peer->handshake.hello.generation == 0
               ? &rendezvous->listener->identity
               : rendezvous->identity;
}

static int pending_peers_progress(struct rendezvous *rendezvous, int64_t now, struct err *err)
{
    for (size_t i = 0; i < rendezvous->listener->pending_peers.count;) {
        struct pending_peer *pending_peer = rendezvous->listener->pending_peers.items[i];
        struct err failure = ERR_INIT;
        handshake_set_identity(&pending_peer->handshake,
                               pending_peer_identity(rendezvous, pending_peer));
        int result = handshake_progress(&pending_peer->handshake, &failure);
        /* A peer that was checked against the identity of the listener waits for the next
         * rendezvous. */
        bool is_current = pending_peer->handshake.identity == rendezvous->identity;
        if (result == 0 && is_current && !pending_peer->admitted &&
            pending_peer->handshake.state == HANDSHAKE_PROVEN) {
            pending_peer->admitted = true;
            if ((result = pending_peer_admit(rendezvous, pending_peer, err)) < 0)
                return result;
            result = handshake_progress(&pending_peer->handshake, &failure);
        }
        bool waits = pending_peer->handshake.state == HANDSHAKE_PROVEN;
        if (pending_peer->handshake.state == HANDSHAKE_SECURING && !pending_peer->securing) {
            pending_peer->securing = true;
            /* The peer may have waited long, so the TLS handshake gets a new deadline. */
            pending_peer->ends = now + ATTEMPT_MAX_MS;
        }
        if (result < 0 && failure.code != ERR_UNAVAILABLE)
            pending_peer_report_refusal(rendezvous, pending_peer, &failure);
        if (result == 0 && pending_peer->handshake.state == HANDSHAKE_DONE)
            pending_peer_become_link(rendezvous, pending_peer);
        else if (result == 0 && (waits || now < pending_peer->ends)) {
            i++;
            continue;
        }
        peer_listener_dismiss(rendezvous->listener, i);
    }
    return 0;
}

int rendezvous_progress_pending_peers(struct rendezvous *rendezvous, int64_t now, struct err *err)
{
    peer_listener_accept(rendezvous->listener, rendezvous->identity, now);
    peer_listener_drop_departed(rendezvous->listener);
    int result = pending_peers_progress(rendezvous, now, err);
    if (result == 0)
        pending_peers_send_addresses(rendezvous);
    return result;
}

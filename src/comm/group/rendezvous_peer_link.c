/* Makes the links that a member needs: resolves the name of each peer, connects, retries, and
 * checks that a ready link stays connected; see rendezvous_private.h. */
#include "base/str.h"
#include "comm/group/rendezvous_private.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

enum { RETRY_FIRST_MS = 50, RETRY_MAX_MS = 1000 };

void rendezvous_postpone(struct peer_link *peer_link, int64_t now, int failure, const char *reason)
{
    peer_link->resolve = resolve_free(peer_link->resolve);
    handshake_release(&peer_link->handshake);
    connection_close(&peer_link->connection);
    peer_link->carries_messages = false;
    buf_release(&peer_link->in);
    buf_release(&peer_link->out);
    peer_link->failure = failure;
    int delay = RETRY_FIRST_MS << (peer_link->attempts < 5 ? peer_link->attempts : 5);
    peer_link->attempts++;
    peer_link->retry_at = now + (delay < RETRY_MAX_MS ? delay : RETRY_MAX_MS);
    peer_link->state = PEER_LINK_WAITING;
    str_copy(peer_link->reason, sizeof(peer_link->reason), reason);
}

static void peer_link_start_handshake(struct rendezvous *rendezvous, struct peer_link *peer_link,
                                      const struct sockaddr *address, socklen_t size, int64_t now)
{
    int fd = socket_connect(address, size);
    if (fd < 0) {
        int errnum = errno;
        rendezvous_postpone(peer_link, now, errnum, socket_reason(errnum));
        return;
    }
    handshake_init_connector(&peer_link->handshake, fd, rendezvous->identity,
                             (uint32_t)peer_link->peer, (uint16_t)peer_link->channel);
    peer_link->state = PEER_LINK_HANDSHAKE;
    peer_link->securing = false;
    peer_link->attempt_ends = now + ATTEMPT_MAX_MS;
}

/* Connects to an address that rank 0 has sent. IPv4 addresses arrive in IPv4-mapped IPv6 form. They
 * are unmapped here, because not every machine has IPv6. */
static void peer_link_start_with_sent_address(struct rendezvous *rendezvous,
                                              struct peer_link *peer_link, int64_t now)
{
    const struct wire_address *sent = &rendezvous->addresses[peer_link->peer];
    struct in6_addr ip;
    memcpy(&ip, sent->ip, sizeof(ip));
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(sent->port)};
        memcpy(&address.sin_addr, sent->ip + 12, sizeof(address.sin_addr));
        peer_link_start_handshake(rendezvous, peer_link, (struct sockaddr *)&address,
                                  sizeof(address), now);
    } else {
        struct sockaddr_in6 address = {
            .sin6_family = AF_INET6, .sin6_port = htons(sent->port), .sin6_addr = ip};
        peer_link_start_handshake(rendezvous, peer_link, (struct sockaddr *)&address,
                                  sizeof(address), now);
    }
}

static void peer_link_start_attempt(struct rendezvous *rendezvous, struct peer_link *peer_link,
                                    int64_t now)
{
    const struct ty_task *task = &rendezvous->options->tasks[peer_link->peer];
    if (task->port) {
        if (peer_link->outgoing && peer_link->attempts == 0)
            str_copy(peer_link->reason, sizeof(peer_link->reason), "its name is being looked up");
        peer_link->resolve = resolve_new(task->host, task->port);
        peer_link->state = PEER_LINK_RESOLVING;
    } else if (peer_link->outgoing && rendezvous->addresses_known) {
        peer_link_start_with_sent_address(rendezvous, peer_link, now);
    } else {
        peer_link->retry_at = now + RETRY_MAX_MS;
        if (peer_link->outgoing)
            str_copy(peer_link->reason, sizeof(peer_link->reason),
                     "its address is not known yet: rank 0 sends it when all tasks have connected");
    }
}

static void peer_link_on_resolved(struct rendezvous *rendezvous, struct peer_link *peer_link,
                                  int64_t now)
{
    const char *reason = NULL;
    const struct addrinfo *addresses = resolve_addresses(peer_link->resolve, &reason);
    if (!peer_link->outgoing) {
        rendezvous_postpone(peer_link, now, 0, addresses ? "has not connected yet" : reason);
        return;
    }
    if (!addresses) {
        rendezvous_postpone(peer_link, now,
                            resolve_is_unknown(peer_link->resolve) ? PEER_LINK_NO_NAME
                                                                   : PEER_LINK_NO_ANSWER,
                            reason);
        return;
    }
    int count = 0;
    for (const struct addrinfo *a = addresses; a; a = a->ai_next)
        count++;
    const struct addrinfo *chosen = addresses;
    for (int skip = peer_link->attempts % count; skip > 0; skip--)
        chosen = chosen->ai_next;
    struct sockaddr_storage address;
    socklen_t size = chosen->ai_addrlen;
    memcpy(&address, chosen->ai_addr, size);
    peer_link->resolve = resolve_free(peer_link->resolve);
    peer_link_start_handshake(rendezvous, peer_link, (struct sockaddr *)&address, size, now);
}

/* Whether another attempt after this rejection is useless. A peer that belongs to another job, or
 * is another task, is usually a process of an earlier run that is about to be replaced. All other
 * reasons are permanent. */
static bool peer_link_is_refused_permanently(const struct handshake *handshake)
{
    return handshake->verdict != WIRE_OTHER_JOB && handshake->verdict != WIRE_WRONG_TASK;
}

static int peer_link_progress(struct rendezvous *rendezvous, struct peer_link *peer_link,
                              int64_t now, struct err *err)
{
    struct err failure = ERR_INIT;
    int result = handshake_progress(&peer_link->handshake, &failure);
    if (result == 0 && peer_link->handshake.state == HANDSHAKE_DONE) {
        if (peer_link->channel == 0 &&
            peer_link->handshake.address_count == (size_t)rendezvous->options->size) {
            memcpy(rendezvous->addresses, peer_link->handshake.addresses,
                   peer_link->handshake.address_count * sizeof(*rendezvous->addresses));
            rendezvous_on_addresses_known(rendezvous);
        }
        peer_link->connection = handshake_take(&peer_link->handshake);
        handshake_release(&peer_link->handshake);
        peer_link->state = PEER_LINK_READY;
        return 0;
    }
    /* The peer may have taken a long time to accept, so the TLS handshake gets a new deadline. */
    if (peer_link->handshake.state == HANDSHAKE_SECURING && !peer_link->securing) {
        peer_link->securing = true;
        peer_link->attempt_ends = now + ATTEMPT_MAX_MS;
    }
    if (result < 0 && failure.code == ERR_FORBIDDEN &&
        peer_link_is_refused_permanently(&peer_link->handshake) && !rendezvous->tolerant) {
        char peer[TF_CONFIG_TASK_TEXT_MAX];
        rendezvous_describe(rendezvous, peer_link->peer, peer);
        return err_set(err, ERR_FORBIDDEN, "cannot join %s: %s", peer, failure.message);
    }
    if (result < 0)
        rendezvous_postpone(peer_link, now,
                            peer_link->handshake.errnum ? peer_link->handshake.errnum
                                                        : ECONNREFUSED,
                            failure.message);
    else if (now >= peer_link->attempt_ends && peer_link->handshake.state == HANDSHAKE_CONNECTING)
        rendezvous_postpone(peer_link, now, ETIMEDOUT, socket_reason(ETIMEDOUT));
    else if (now >= peer_link->attempt_ends && peer_link->securing)
        rendezvous_postpone(peer_link, now, ETIMEDOUT,
                            "it does not continue with the TLS handshake");
    else if (rendezvous->in_discovery && peer_link->handshake.state != HANDSHAKE_CONNECTING)
        str_copy(peer_link->reason, sizeof(peer_link->reason),
                 "it is training, and lets this task join at the end of a step");
    else if (now >= peer_link->attempt_ends && peer_link->handshake.state == HANDSHAKE_READ_WELCOME)
        rendezvous_postpone(peer_link, now, ETIMEDOUT, "connected, but it does not answer");
    else if (peer_link->handshake.state == HANDSHAKE_READ_VERDICT)
        str_copy(peer_link->reason, sizeof(peer_link->reason), "it waits for other tasks");
    return 0;
}

/* The peer of a ready link may die before all members have connected. Then this member waits for
 * the peer again. Does not read bytes that the peer has sent: they are left for the next owner of
 * the connection. */
static void peer_link_check_ready(struct peer_link *peer_link, int64_t now)
{
    struct pollfd state = {.fd = peer_link->connection.fd, .events = POLLRDHUP};
    if (poll(&state, 1, 0) > 0)
        rendezvous_postpone(peer_link, now, ECONNRESET,
                            "it closed the connection and has not reconnected yet");
}

int rendezvous_progress_links(struct rendezvous *rendezvous, int64_t now, struct err *err)
{
    for (size_t i = 0; i < rendezvous->peer_links.count; i++) {
        struct peer_link *peer_link = &rendezvous->peer_links.items[i];
        int result = 0;
        if (peer_link->state == PEER_LINK_READY && !rendezvous->in_discovery)
            peer_link_check_ready(peer_link, now);
        if (peer_link->state == PEER_LINK_WAITING && now >= peer_link->retry_at)
            peer_link_start_attempt(rendezvous, peer_link, now);
        if (peer_link->state == PEER_LINK_RESOLVING && resolve_done(peer_link->resolve))
            peer_link_on_resolved(rendezvous, peer_link, now);
        if (peer_link->state == PEER_LINK_HANDSHAKE)
            result = peer_link_progress(rendezvous, peer_link, now, err);
        if (result < 0)
            return result;
    }
    return 0;
}

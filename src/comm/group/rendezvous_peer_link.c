/* The connections a member must have, one by one: looked up, tried, tried again, watched once they
 * stand; see rendezvous_private.h. */
#include "base/str.h"
#include "comm/group/rendezvous_private.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <netinet/in.h>
#include <string.h>

enum { RETRY_FIRST_MS = 50, RETRY_MAX_MS = 1000 };

void rendezvous_postpone(struct bond *bond, int64_t now, int failure, const char *reason)
{
    bond->resolve = resolve_free(bond->resolve);
    handshake_release(&bond->handshake);
    connection_close(&bond->link);
    bond->talking = false;
    buf_release(&bond->in);
    buf_release(&bond->out);
    bond->failure = failure;
    int delay = RETRY_FIRST_MS << (bond->attempts < 5 ? bond->attempts : 5);
    bond->attempts++;
    bond->retry_at = now + (delay < RETRY_MAX_MS ? delay : RETRY_MAX_MS);
    bond->state = BOND_WAITING;
    str_copy(bond->reason, sizeof(bond->reason), reason);
}

static void start_handshake(struct rendezvous *r, struct bond *bond, const struct sockaddr *address,
                            socklen_t size, int64_t now)
{
    int fd = socket_connect(address, size);
    if (fd < 0) {
        int errnum = errno;
        rendezvous_postpone(bond, now, errnum, socket_reason(errnum));
        return;
    }
    handshake_init_connector(&bond->handshake, fd, r->identity, (uint32_t)bond->peer,
                             (uint16_t)bond->channel);
    bond->state = BOND_SHAKING;
    bond->securing = false;
    bond->attempt_ends = now + ATTEMPT_MAX_MS;
}

/* An address the master told: IPv4 is mapped into IPv6 on the wire and not every machine has IPv6,
 * so it is unmapped here. */
static void start_with_told_address(struct rendezvous *r, struct bond *bond, int64_t now)
{
    const struct wire_address *told = &r->addresses[bond->peer];
    struct in6_addr ip;
    memcpy(&ip, told->ip, sizeof(ip));
    if (IN6_IS_ADDR_V4MAPPED(&ip)) {
        struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(told->port)};
        memcpy(&address.sin_addr, told->ip + 12, sizeof(address.sin_addr));
        start_handshake(r, bond, (struct sockaddr *)&address, sizeof(address), now);
    } else {
        struct sockaddr_in6 address = {
            .sin6_family = AF_INET6, .sin6_port = htons(told->port), .sin6_addr = ip};
        start_handshake(r, bond, (struct sockaddr *)&address, sizeof(address), now);
    }
}

static void start_attempt(struct rendezvous *r, struct bond *bond, int64_t now)
{
    const struct ty_task *task = &r->options->tasks[bond->peer];
    if (task->port) {
        if (bond->outgoing && bond->attempts == 0)
            str_copy(bond->reason, sizeof(bond->reason), "its name is being looked up");
        bond->resolve = resolve_new(task->host, task->port);
        bond->state = BOND_RESOLVING;
    } else if (bond->outgoing && r->told) {
        start_with_told_address(r, bond, now);
    } else {
        bond->retry_at = now + RETRY_MAX_MS;
        if (bond->outgoing)
            str_copy(bond->reason, sizeof(bond->reason),
                     "its address is not known yet: rank 0 tells it when all have come");
    }
}

static void on_resolved(struct rendezvous *r, struct bond *bond, int64_t now)
{
    const char *reason = NULL;
    const struct addrinfo *addresses = resolve_addresses(bond->resolve, &reason);
    if (!bond->outgoing) {
        rendezvous_postpone(bond, now, 0, addresses ? "has not connected yet" : reason);
        return;
    }
    if (!addresses) {
        rendezvous_postpone(
            bond, now, resolve_is_unknown(bond->resolve) ? BOND_NO_NAME : BOND_NO_ANSWER, reason);
        return;
    }
    int count = 0;
    for (const struct addrinfo *a = addresses; a; a = a->ai_next)
        count++;
    const struct addrinfo *chosen = addresses;
    for (int skip = bond->attempts % count; skip > 0; skip--)
        chosen = chosen->ai_next;
    struct sockaddr_storage address;
    socklen_t size = chosen->ai_addrlen;
    memcpy(&address, chosen->ai_addr, size);
    bond->resolve = resolve_free(bond->resolve);
    start_handshake(r, bond, (struct sockaddr *)&address, size, now);
}

/* Whether waiting can heal what a peer and we hold against each other. Another job is most often a
 * member of an earlier run that is about to be replaced; everything else stays wrong. */
static bool is_final(const struct handshake *handshake)
{
    return handshake->verdict != WIRE_OTHER_JOB && handshake->verdict != WIRE_WRONG_TASK;
}

static int progress_outgoing(struct rendezvous *r, struct bond *bond, int64_t now, struct err *err)
{
    struct err failure = ERR_INIT;
    int result = handshake_progress(&bond->handshake, &failure);
    if (result == 0 && bond->handshake.state == HANDSHAKE_DONE) {
        if (bond->channel == 0 && bond->handshake.address_count == (size_t)r->options->size) {
            memcpy(r->addresses, bond->handshake.addresses,
                   bond->handshake.address_count * sizeof(*r->addresses));
            rendezvous_addresses_told(r);
        }
        bond->link = handshake_take(&bond->handshake);
        handshake_release(&bond->handshake);
        bond->state = BOND_READY;
        return 0;
    }
    /* The other side may have thought long before it accepted; from now on it has no reason to. */
    if (bond->handshake.state == HANDSHAKE_SECURING && !bond->securing) {
        bond->securing = true;
        bond->attempt_ends = now + ATTEMPT_MAX_MS;
    }
    if (result < 0 && failure.code == ERR_FORBIDDEN && is_final(&bond->handshake) && !r->tolerant) {
        char peer[TF_CONFIG_TASK_TEXT_MAX];
        rendezvous_describe(r, bond->peer, peer);
        return err_set(err, ERR_FORBIDDEN, "cannot join %s: %s", peer, failure.message);
    }
    if (result < 0)
        rendezvous_postpone(bond, now,
                            bond->handshake.errnum ? bond->handshake.errnum : ECONNREFUSED,
                            failure.message);
    else if (now >= bond->attempt_ends && bond->handshake.state == HANDSHAKE_CONNECTING)
        rendezvous_postpone(bond, now, ETIMEDOUT, socket_reason(ETIMEDOUT));
    else if (now >= bond->attempt_ends && bond->securing)
        rendezvous_postpone(bond, now, ETIMEDOUT, "it does not go on to encrypt");
    else if (r->lobby && bond->handshake.state != HANDSHAKE_CONNECTING)
        str_copy(bond->reason, sizeof(bond->reason),
                 "it is there, and lets this task in at the end of a step");
    else if (now >= bond->attempt_ends && bond->handshake.state == HANDSHAKE_READ_WELCOME)
        rendezvous_postpone(bond, now, ETIMEDOUT, "connected, but it does not answer");
    else if (bond->handshake.state == HANDSHAKE_READ_VERDICT)
        str_copy(bond->reason, sizeof(bond->reason), "it waits for the others to come");
    return 0;
}

/* The other side of a finished connection may die before all have met; then it is waited for
 * again. What it sent already stays unread for the transport. */
static void check_ready(struct bond *bond, int64_t now)
{
    struct pollfd state = {.fd = bond->link.fd, .events = POLLRDHUP};
    if (poll(&state, 1, 0) > 0)
        rendezvous_postpone(bond, now, ECONNRESET,
                            "it closed the connection and has not come back yet");
}

int rendezvous_progress_bonds(struct rendezvous *r, int64_t now, struct err *err)
{
    for (size_t i = 0; i < r->bonds.count; i++) {
        struct bond *bond = &r->bonds.items[i];
        int result = 0;
        if (bond->state == BOND_READY && !r->lobby)
            check_ready(bond, now);
        if (bond->state == BOND_WAITING && now >= bond->retry_at)
            start_attempt(r, bond, now);
        if (bond->state == BOND_RESOLVING && resolve_done(bond->resolve))
            on_resolved(r, bond, now);
        if (bond->state == BOND_SHAKING)
            result = progress_outgoing(r, bond, now, err);
        if (result < 0)
            return result;
    }
    return 0;
}

/* Whoever connects to this member: strangers are refused with the reason, a proven peer takes its
 * place, also from an older connection of its rank, because a member that died and came back is the
 * usual reason for two; see rendezvous_private.h. */
#include "base/mem.h"
#include "base/str.h"
#include "comm/rendezvous_private.h"
#include "comm/socket.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

enum { GUESTS_MAX = 256 }; /* beside one for each member */

/* A proven peer: refuse it for good, or give the connection its place. */
static int admit(struct rendezvous *r, struct guest *guest, struct err *err)
{
    struct handshake *handshake = &guest->handshake;
    const struct wire_hello *hello = &handshake->hello;
    struct bond *bond = rendezvous_find_bond(r, (int)hello->rank, hello->channel, false);
    if (hello->shape != r->options->shape) {
        char peer[TF_CONFIG_TASK_TEXT_MAX];
        rendezvous_describe(r, (int)hello->rank, peer);
        handshake_decide(handshake, WIRE_OTHER_SHAPE, NULL, 0);
        (void)handshake_progress(handshake, NULL);
        return err_set(err, ERR_FORBIDDEN, "refused %s: %s", peer,
                       handshake_verdict_text(WIRE_OTHER_SHAPE));
    }
    if (!bond) {
        handshake_decide(handshake, WIRE_WRONG_TASK, NULL, 0);
        return 0;
    }
    if (!r->options->master_form || r->options->rank != 0 || hello->channel != 0) {
        handshake_decide(handshake, WIRE_ACCEPTED, NULL, 0);
        return 0;
    }
    /* The master answers when it can tell the addresses of all. */
    struct sockaddr_storage from = {0};
    socklen_t size = sizeof(from);
    struct wire_address *address = &r->addresses[hello->rank];
    if (getpeername(handshake->fd, (struct sockaddr *)&from, &size) < 0)
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

/* In the master form: once every member has proved itself, tell all where all are. */
static void tell_addresses(struct rendezvous *r)
{
    if (!r->options->master_form || r->options->rank != 0)
        return;
    for (int rank = 1; rank < r->options->size; rank++) {
        bool waits = false;
        for (size_t i = 0; i < r->guests.count; i++)
            waits |= r->guests.items[i]->handshake.state == HANDSHAKE_PROVEN &&
                     (int)r->guests.items[i]->handshake.hello.rank == rank;
        if (!waits && rendezvous_find_bond(r, rank, 0, false)->state != BOND_READY)
            return;
    }
    rendezvous_addresses_told(r);
    for (size_t i = 0; i < r->guests.count; i++)
        if (r->guests.items[i]->handshake.state == HANDSHAKE_PROVEN)
            handshake_decide(&r->guests.items[i]->handshake, WIRE_ACCEPTED, r->addresses,
                             (size_t)r->options->size);
}

static void dismiss(struct rendezvous *r, size_t position)
{
    handshake_release(&r->guests.items[position]->handshake);
    free(r->guests.items[position]);
    vec_remove(&r->guests, position);
}

static void settle(struct rendezvous *r, struct guest *guest)
{
    const struct wire_hello *hello = &guest->handshake.hello;
    struct bond *bond = rendezvous_find_bond(r, (int)hello->rank, hello->channel, false);
    if (!bond || guest->handshake.verdict != WIRE_ACCEPTED)
        return;
    bond->resolve = resolve_free(bond->resolve);
    if (bond->fd >= 0)
        close(bond->fd);
    bond->fd = handshake_take_fd(&guest->handshake);
    bond->state = BOND_READY;
}

static void note_stranger(struct rendezvous *r, const struct guest *guest, const struct err *why)
{
    char from[SOCKET_ADDRESS_TEXT_MAX];
    socket_peer_text(guest->handshake.fd, from);
    char line[ERR_MESSAGE_MAX + SOCKET_ADDRESS_TEXT_MAX + 32];
    snprintf(line, sizeof(line), "refused a connection from %s: %s", from, why->message);
    /* A peer that tries again comes from another port: the reason makes it new or not. */
    if (!str_eq(why->message, r->stranger))
        rendezvous_say(r, line);
    str_copy(r->stranger, sizeof(r->stranger), why->message);
}

static int progress_each(struct rendezvous *r, int64_t now, struct err *err)
{
    for (size_t i = 0; i < r->guests.count;) {
        struct guest *guest = r->guests.items[i];
        struct err failure = ERR_INIT;
        bool was_proven = guest->handshake.state == HANDSHAKE_PROVEN;
        int result = handshake_progress(&guest->handshake, &failure);
        if (result == 0 && !was_proven && guest->handshake.state == HANDSHAKE_PROVEN) {
            if ((result = admit(r, guest, err)) < 0)
                return result;
            result = handshake_progress(&guest->handshake, &failure);
        }
        bool waits = guest->handshake.state == HANDSHAKE_PROVEN;
        if (result < 0 && failure.code != ERR_UNAVAILABLE)
            note_stranger(r, guest, &failure);
        if (result == 0 && guest->handshake.state == HANDSHAKE_DONE)
            settle(r, guest);
        else if (result == 0 && (waits || now < guest->ends)) {
            i++;
            continue;
        }
        dismiss(r, i);
    }
    return 0;
}

static void accept_guests(struct rendezvous *r, int64_t now)
{
    while (r->listener >= 0 && r->guests.count < GUESTS_MAX + (size_t)r->options->size) {
        int fd = socket_accept(r->listener);
        if (fd < 0)
            return;
        struct guest *guest = mem_zalloc(sizeof(*guest));
        handshake_init_acceptor(&guest->handshake, fd, &r->identity);
        guest->ends = now + ATTEMPT_MAX_MS;
        vec_push(&r->guests, guest);
    }
}

/* A member that proved itself and left before all came must not be taken for present. */
static void drop_departed(struct rendezvous *r)
{
    for (size_t i = 0; i < r->guests.count;) {
        struct pollfd state = {.fd = r->guests.items[i]->handshake.fd, .events = POLLRDHUP};
        if (r->guests.items[i]->handshake.state == HANDSHAKE_PROVEN && poll(&state, 1, 0) > 0)
            dismiss(r, i);
        else
            i++;
    }
}

int rendezvous_progress_guests(struct rendezvous *r, int64_t now, struct err *err)
{
    accept_guests(r, now);
    drop_departed(r);
    int result = progress_each(r, now, err);
    if (result == 0)
        tell_addresses(r);
    return result;
}

void rendezvous_dismiss_guests(struct rendezvous *r)
{
    while (r->guests.count)
        dismiss(r, r->guests.count - 1);
}

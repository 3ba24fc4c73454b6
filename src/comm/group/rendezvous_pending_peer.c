/* Whoever connects to this member: strangers are refused with the reason, a proven peer takes its
 * place, also from an older connection of its rank, because a member that died and came back is the
 * usual reason for two; see rendezvous_private.h. */
#include "base/mem.h"
#include "base/str.h"
#include "comm/group/rendezvous_private.h"
#include "comm/transport/handshake_reason.h"
#include "comm/transport/socket.h"

#include <netinet/in.h>
#include <stdio.h>
#include <string.h>

/* A proven peer: refuse it for good, or give the connection its place. */
static int admit(struct rendezvous *r, struct guest *guest, struct err *err)
{
    struct handshake *handshake = &guest->handshake;
    const struct wire_hello *hello = &handshake->hello;
    struct bond *bond = rendezvous_find_bond(r, (int)hello->rank, hello->channel, false);
    enum wire_verdict verdict = handshake_judge_proven(handshake);
    if (verdict != WIRE_ACCEPTED) {
        char peer[TF_CONFIG_TASK_TEXT_MAX], why[HANDSHAKE_REASON_MAX];
        rendezvous_describe(r, (int)hello->rank, peer);
        handshake_other_shape(handshake, why);
        handshake_decide(handshake, verdict, NULL, 0);
        (void)handshake_progress(handshake, NULL);
        if (r->tolerant)
            return 0;
        return err_set(err, ERR_FORBIDDEN, "refused %s: %s", peer,
                       verdict == WIRE_OTHER_SHAPE ? why : handshake_verdict_text(verdict));
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
    if (getpeername(handshake->link.fd, (struct sockaddr *)&from, &size) < 0)
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
        for (size_t i = 0; i < r->door->guests.count; i++)
            waits |= r->door->guests.items[i]->handshake.state == HANDSHAKE_PROVEN &&
                     (int)r->door->guests.items[i]->handshake.hello.rank == rank;
        if (!waits && rendezvous_find_bond(r, rank, 0, false)->state != BOND_READY)
            return;
    }
    rendezvous_addresses_told(r);
    for (size_t i = 0; i < r->door->guests.count; i++)
        if (r->door->guests.items[i]->handshake.state == HANDSHAKE_PROVEN)
            handshake_decide(&r->door->guests.items[i]->handshake, WIRE_ACCEPTED, r->addresses,
                             (size_t)r->options->size);
}

static void settle(struct rendezvous *r, struct guest *guest)
{
    const struct wire_hello *hello = &guest->handshake.hello;
    struct bond *bond = rendezvous_find_bond(r, (int)hello->rank, hello->channel, false);
    if (!bond || guest->handshake.verdict != WIRE_ACCEPTED)
        return;
    bond->resolve = resolve_free(bond->resolve);
    connection_close(&bond->link);
    bond->talking = false;
    buf_release(&bond->in);
    buf_release(&bond->out);
    bond->link = handshake_take(&guest->handshake);
    bond->state = BOND_READY;
}

static void note_stranger(struct rendezvous *r, const struct guest *guest, const struct err *why)
{
    char line[ERR_MESSAGE_MAX + SOCKET_ADDRESS_TEXT_MAX + 32];
    snprintf(line, sizeof(line), "refused a connection from %s: %s", guest->from, why->message);
    /* A peer that tries again comes from another port: the reason makes it new or not. */
    if (!str_eq(why->message, r->door->stranger))
        rendezvous_say(r, line);
    str_copy(r->door->stranger, sizeof(r->door->stranger), why->message);
}

/* Links of a generation are made while a task may come that looks for another one: it proves
 * itself to the door, and waits there. */
static const struct handshake_identity *identity_for(const struct rendezvous *r,
                                                     const struct guest *guest)
{
    bool early = guest->handshake.state == HANDSHAKE_EARLY;
    return r->options->generation && early && guest->handshake.hello.generation == 0
               ? &r->door->identity
               : r->identity;
}

static int progress_each(struct rendezvous *r, int64_t now, struct err *err)
{
    for (size_t i = 0; i < r->door->guests.count;) {
        struct guest *guest = r->door->guests.items[i];
        struct err failure = ERR_INIT;
        handshake_adopt(&guest->handshake, identity_for(r, guest));
        int result = handshake_progress(&guest->handshake, &failure);
        bool ours = guest->handshake.identity == r->identity; /* not of the next meeting */
        if (result == 0 && ours && !guest->admitted && guest->handshake.state == HANDSHAKE_PROVEN) {
            guest->admitted = true;
            if ((result = admit(r, guest, err)) < 0)
                return result;
            result = handshake_progress(&guest->handshake, &failure);
        }
        bool waits = guest->handshake.state == HANDSHAKE_PROVEN;
        if (guest->handshake.state == HANDSHAKE_SECURING && !guest->securing) {
            guest->securing = true;
            guest->ends = now + ATTEMPT_MAX_MS; /* it may have stood at the door for long */
        }
        if (result < 0 && failure.code != ERR_UNAVAILABLE)
            note_stranger(r, guest, &failure);
        if (result == 0 && guest->handshake.state == HANDSHAKE_DONE)
            settle(r, guest);
        else if (result == 0 && (waits || now < guest->ends)) {
            i++;
            continue;
        }
        door_dismiss(r->door, i);
    }
    return 0;
}

int rendezvous_progress_guests(struct rendezvous *r, int64_t now, struct err *err)
{
    door_accept(r->door, r->identity, now);
    door_drop_departed(r->door);
    int result = progress_each(r, now, err);
    if (result == 0)
        tell_addresses(r);
    return result;
}

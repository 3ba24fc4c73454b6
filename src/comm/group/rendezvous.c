/* How the members of a group find each other; see rendezvous.h. Everything happens in one loop over
 * poll(); this file has the loop, and the beginning and the end. */
#include "comm/group/rendezvous.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "comm/group/rendezvous_private.h"

#include <ctype.h>
#include <string.h>

void rendezvous_say(struct rendezvous *r, const char *line)
{
    if (r->options->report)
        r->options->report(r->options->context, line);
}

void rendezvous_describe(const struct rendezvous *r, int rank, char text[TF_CONFIG_TASK_TEXT_MAX])
{
    tf_config_task_describe(&r->options->tasks[rank], text);
}

void rendezvous_addresses_told(struct rendezvous *r)
{
    for (size_t i = 0; !r->told && i < r->bonds.count; i++)
        r->bonds.items[i].retry_at = 0;
    r->told = true;
}

struct bond *rendezvous_find_bond(struct rendezvous *r, int peer, int channel, bool outgoing)
{
    for (size_t i = 0; i < r->bonds.count; i++) {
        struct bond *bond = &r->bonds.items[i];
        if (bond->peer == peer && bond->channel == channel && bond->outgoing == outgoing)
            return bond;
    }
    return NULL;
}

/* The cluster as all members must see it. In the master form they may name the master differently
 * (localhost, its service), so only the size counts there. */
static void hash_job(const struct rendezvous_options *options, uint8_t ret[SECRET_MAC_SIZE])
{
    struct buf text;
    buf_init(&text, SIZE_MAX / 2);
    buf_printf(&text, "trainyard job, %d tasks%s\n", options->size,
               options->elastic ? ", elastic" : "");
    if (options->generation)
        buf_printf(&text, "generation %llu\n", (unsigned long long)options->generation);
    for (int i = 0; !options->master_form && i < options->size; i++) {
        const struct ty_task *task = &options->tasks[i];
        buf_printf(&text, "%s %d ", ty_role_name(task->role), task->index);
        for (const char *c = task->host; *c; c++)
            buf_append_char(&text, (char)tolower((unsigned char)*c));
        buf_printf(&text, " %d\n", task->port);
    }
    secret_hash(text.data, text.size, ret);
    buf_release(&text);
}

void rendezvous_add_bond(struct rendezvous *r, int peer, int channel, bool outgoing)
{
    struct bond bond = {
        .peer = peer, .channel = channel, .outgoing = outgoing, .link = CONNECTION_NONE};
    str_copy(bond.reason, sizeof(bond.reason), "has not connected yet");
    vec_push(&r->bonds, bond);
}

/* Two members are neighbours anyway, and for very many the algorithms that use connections between
 * any two gain nothing that is worth so many sockets. */
static bool has_pairs(const struct rendezvous_options *options)
{
    enum { PAIRS_MEMBERS_MIN = 3, PAIRS_MEMBERS_MAX = 64 };
    return options->size >= PAIRS_MEMBERS_MIN && options->size <= PAIRS_MEMBERS_MAX;
}

static void plan_bonds(struct rendezvous *r)
{
    int rank = r->options->rank, size = r->options->size;
    for (int peer = 0; peer < size; peer++)
        if (peer != rank)
            rendezvous_add_bond(r, peer, 0, peer < rank);
    for (int peer = 0; peer < size && has_pairs(r->options); peer++)
        if (peer != rank)
            rendezvous_add_bond(r, peer, r->options->channels + 1, peer < rank);
    for (int channel = 1; size > 1 && channel <= r->options->channels; channel++) {
        rendezvous_add_bond(r, (rank + 1) % size, channel, true);
        rendezvous_add_bond(r, (rank + size - 1) % size, channel, false);
    }
}

static bool is_complete(const struct rendezvous *r)
{
    for (size_t i = 0; i < r->bonds.count; i++)
        if (r->bonds.items[i].state != BOND_READY)
            return false;
    return true;
}

int rendezvous_check_stop(const struct rendezvous *r, struct err *err)
{
    if (!r->options->stop || !*r->options->stop)
        return 0;
    return err_set(err, ERR_CANCELED, "told to stop while others were waited for");
}

void rendezvous_wait(struct rendezvous *r, int64_t now, int64_t until)
{
    r->polls.count = 0;
    bool room = door_has_room(r->door, r->identity->size);
    vec_push(&r->polls, ((struct pollfd){.fd = room ? r->door->listener : -1, .events = POLLIN}));
    until = r->deadline < until ? r->deadline : until;
    until = r->next_report < until ? r->next_report : until;
    for (size_t i = 0; i < r->bonds.count; i++) {
        struct bond *bond = &r->bonds.items[i];
        struct pollfd watch = {.fd = bond->link.fd, .events = POLLRDHUP};
        if (r->lobby && bond->state == BOND_READY)
            watch.events = bond->out.size ? POLLIN | POLLOUT : POLLIN;
        if (bond->state == BOND_WAITING) {
            until = bond->retry_at < until ? bond->retry_at : until;
            continue;
        }
        if (bond->state == BOND_RESOLVING)
            watch = (struct pollfd){.fd = resolve_fd(bond->resolve), .events = POLLIN};
        if (bond->state == BOND_SHAKING) {
            watch = (struct pollfd){.fd = bond->handshake.link.fd,
                                    .events = handshake_events(&bond->handshake)};
            until =
                bond->attempt_ends > now && bond->attempt_ends < until ? bond->attempt_ends : until;
        }
        vec_push(&r->polls, watch);
    }
    for (size_t i = 0; i < r->door->guests.count; i++) {
        struct guest *guest = r->door->guests.items[i];
        bool idle =
            guest->handshake.state == HANDSHAKE_PROVEN || guest->handshake.state == HANDSHAKE_EARLY;
        until = guest->ends > now && guest->ends < until ? guest->ends : until;
        vec_push(&r->polls, ((struct pollfd){
                                .fd = guest->handshake.link.fd,
                                .events = idle ? POLLRDHUP : handshake_events(&guest->handshake)}));
    }
    (void)poll(r->polls.items, (nfds_t)r->polls.count, until > now ? (int)(until - now) : 0);
}

/* A generation is not waited for: whoever has agreed to it is there, or the next one does without.
 */
static int check_generation(struct rendezvous *r, int64_t now, struct err *err)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    for (size_t i = 0; i < r->bonds.count; i++) {
        const struct bond *bond = &r->bonds.items[i];
        if (!bond->failure && now < r->deadline)
            continue;
        if (!bond->failure && bond->state == BOND_READY)
            continue;
        rendezvous_describe(r, bond->peer, name);
        return err_set(err, ERR_UNAVAILABLE, "lost %s while the group was formed: %s", name,
                       bond->reason);
    }
    for (size_t i = 0; i < r->door->guests.count; i++) {
        const struct handshake *handshake = &r->door->guests.items[i]->handshake;
        for (int rank = 0; rank < r->options->size; rank++)
            if (handshake->state == HANDSHAKE_PROVEN && handshake->hello.generation == 0 &&
                (int)handshake->hello.rank == r->options->numbers[rank]) {
                rendezvous_describe(r, rank, name);
                return err_set(err, ERR_UNAVAILABLE, "%s began anew while the group was formed",
                               name);
            }
    }
    return 0;
}

static int meet(struct rendezvous *r, struct err *err)
{
    for (;;) {
        int64_t now = moment_monotonic_ms();
        int result = rendezvous_progress_guests(r, now, err);
        if (result < 0 || (result = rendezvous_progress_bonds(r, now, err)) < 0)
            return result;
        rendezvous_tell_missing(r);
        if (is_complete(r))
            return 0;
        if (r->options->generation && (result = check_generation(r, now, err)) < 0)
            return result;
        if ((result = rendezvous_check_stop(r, err)) < 0)
            return result;
        if (now >= r->deadline)
            return rendezvous_give_up(r, err);
        if (now >= r->next_report) {
            rendezvous_report_missing(r);
            r->next_report = now + r->options->report_ms;
        }
        rendezvous_wait(r, now, INT64_MAX);
    }
}

static void hand_over(struct rendezvous *r, struct connection_set *ret)
{
    const struct rendezvous_options *options = r->options;
    struct connection_set links = {
        .size = options->size,
        .channels = options->channels,
        .control = mem_calloc((size_t)options->size, sizeof(struct connection)),
        .left = mem_calloc((size_t)options->channels, sizeof(struct connection)),
        .right = mem_calloc((size_t)options->channels, sizeof(struct connection)),
        .pairs = has_pairs(options) ? mem_calloc((size_t)options->size, sizeof(struct connection))
                                    : NULL,
    };
    for (int i = 0; i < options->size; i++)
        links.control[i] = CONNECTION_NONE;
    for (int i = 0; links.pairs && i < options->size; i++)
        links.pairs[i] = CONNECTION_NONE;
    for (int i = 0; i < options->channels; i++)
        links.left[i] = links.right[i] = CONNECTION_NONE;
    for (size_t i = 0; i < r->bonds.count; i++) {
        struct bond *bond = &r->bonds.items[i];
        if (bond->channel > options->channels && !links.pairs)
            continue; /* there are none */
        struct connection *place = bond->channel == 0                  ? &links.control[bond->peer]
                                   : bond->channel > options->channels ? &links.pairs[bond->peer]
                                   : bond->outgoing ? &links.right[bond->channel - 1]
                                                    : &links.left[bond->channel - 1];
        *place = connection_take(&bond->link);
    }
    *ret = links;
}

/* Guests of this meeting go with it; those that wait for the next one, or have not said anything
 * yet, stay at a door that stays open. */
static void release_guests(struct rendezvous *r)
{
    if (r->door == &r->own_door)
        return door_close(r->door);
    for (size_t i = 0; i < r->door->guests.count;) {
        struct handshake *handshake = &r->door->guests.items[i]->handshake;
        handshake_adopt(handshake, &r->door->identity);
        if (handshake->identity != &r->door->identity || handshake->state == HANDSHAKE_SECURING)
            door_dismiss(r->door, i);
        else
            i++;
    }
}

void rendezvous_release(struct rendezvous *r)
{
    release_guests(r);
    for (size_t i = 0; i < r->bonds.count; i++) {
        struct bond *bond = &r->bonds.items[i];
        resolve_free(bond->resolve);
        handshake_release(&bond->handshake);
        connection_close(&bond->link);
        buf_release(&bond->in);
        buf_release(&bond->out);
    }
    vec_release(&r->bonds);
    vec_release(&r->polls);
    free(r->addresses);
}

void rendezvous_identify(const struct rendezvous_options *options, struct handshake_identity *ret)
{
    *ret = (struct handshake_identity){.rank = (uint32_t)options->rank,
                                       .size = (uint32_t)options->size,
                                       .channels = (uint16_t)options->channels,
                                       .generation = options->generation,
                                       .shape = options->shape,
                                       .terms = options->terms,
                                       .secret = options->secret,
                                       .secret_size = options->secret_size,
                                       .encryption = options->encryption};
    hash_job(options, ret->job);
}

void rendezvous_init(struct rendezvous *r, const struct rendezvous_options *options, int wanted)
{
    *r = (struct rendezvous){.options = options,
                             .wanted = wanted,
                             .door = options->door ? options->door : &r->own_door,
                             .own_door = {.listener = -1},
                             .identity = &r->own_identity,
                             .started = moment_monotonic_ms()};
    r->deadline = r->started + options->timeout_ms;
    r->next_report = r->started + options->report_ms;
    r->addresses = mem_calloc((size_t)options->size, sizeof(*r->addresses));
    rendezvous_identify(options, &r->own_identity);
}

int rendezvous_meet(const struct rendezvous_options *options, struct connection_set *ret,
                    struct err *err)
{
    const struct ty_task *self = &options->tasks[options->rank];
    struct rendezvous r;
    rendezvous_init(&r, options, options->size);
    int result = 0;
    if (options->size > 1 && !options->door)
        result = door_open(r.door, self, options->size, err);
    if (result == 0) {
        r.own_identity.listen_port = r.door->identity.listen_port;
        plan_bonds(&r);
        result = meet(&r, err);
    }
    if (result == 0)
        hand_over(&r, ret);
    rendezvous_release(&r);
    return result;
}

int rendezvous_call(const struct rendezvous_options *options, const int *peers, int count,
                    int *ret_fds, struct err *err)
{
    struct rendezvous r;
    rendezvous_init(&r, options, count);
    for (int i = 0; i < count; i++)
        rendezvous_add_bond(&r, peers[i], 0, true);
    int result = meet(&r, err);
    for (int i = 0; result == 0 && i < count; i++)
        ret_fds[i] = connection_take(&r.bonds.items[i].link).fd;
    rendezvous_release(&r);
    return result;
}

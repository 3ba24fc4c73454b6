/* Connects the members of a group; see rendezvous.h. This file has the setup, the poll() loop that
 * drives all links, and the result. */
#include "comm/group/rendezvous.h"

#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "comm/group/rendezvous_private.h"

#include <ctype.h>
#include <string.h>

void rendezvous_report(struct rendezvous *rendezvous, const char *line)
{
    if (rendezvous->options->report)
        rendezvous->options->report(rendezvous->options->context, line);
}

void rendezvous_describe(const struct rendezvous *rendezvous, int rank,
                         char text[TF_CONFIG_TASK_TEXT_MAX])
{
    tf_config_task_describe(&rendezvous->options->tasks[rank], text);
}

void rendezvous_on_addresses_known(struct rendezvous *rendezvous)
{
    for (size_t i = 0; !rendezvous->addresses_known && i < rendezvous->peer_links.count; i++)
        rendezvous->peer_links.items[i].retry_at = 0;
    rendezvous->addresses_known = true;
}

struct peer_link *rendezvous_find_link(struct rendezvous *rendezvous, int peer, int channel,
                                       bool outgoing)
{
    for (size_t i = 0; i < rendezvous->peer_links.count; i++) {
        struct peer_link *peer_link = &rendezvous->peer_links.items[i];
        if (peer_link->peer == peer && peer_link->channel == channel &&
            peer_link->outgoing == outgoing)
            return peer_link;
    }
    return NULL;
}

/* Hashes the cluster description, which must be the same for all members. In the master form,
 * members may know the master by different names (localhost, its service), so addresses are not
 * hashed. */
static void rendezvous_hash_job(const struct rendezvous_options *options,
                                uint8_t ret[SECRET_MAC_SIZE])
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

void rendezvous_add_link(struct rendezvous *rendezvous, int peer, int channel, bool outgoing)
{
    struct peer_link peer_link = {
        .peer = peer, .channel = channel, .outgoing = outgoing, .connection = CONNECTION_NONE};
    str_copy(peer_link.reason, sizeof(peer_link.reason), "has not connected yet");
    vec_push(&rendezvous->peer_links, peer_link);
}

/* Whether each two members have a data connection. A group of two does not need it, because its
 * members are neighbours in the ring. In very large groups the sockets cost more time than the
 * algorithms over pairs save. */
static bool rendezvous_has_pairs(const struct rendezvous_options *options)
{
    enum { PAIRS_MEMBERS_MIN = 3, PAIRS_MEMBERS_MAX = 64 };
    return options->size >= PAIRS_MEMBERS_MIN && options->size <= PAIRS_MEMBERS_MAX;
}

static void rendezvous_plan_links(struct rendezvous *rendezvous)
{
    int rank = rendezvous->options->rank, size = rendezvous->options->size;
    for (int peer = 0; peer < size; peer++)
        if (peer != rank)
            rendezvous_add_link(rendezvous, peer, 0, peer < rank);
    for (int peer = 0; peer < size && rendezvous_has_pairs(rendezvous->options); peer++)
        if (peer != rank)
            rendezvous_add_link(rendezvous, peer, rendezvous->options->channels + 1, peer < rank);
    for (int channel = 1; size > 1 && channel <= rendezvous->options->channels; channel++) {
        rendezvous_add_link(rendezvous, (rank + 1) % size, channel, true);
        rendezvous_add_link(rendezvous, (rank + size - 1) % size, channel, false);
    }
}

static bool rendezvous_is_complete(const struct rendezvous *rendezvous)
{
    for (size_t i = 0; i < rendezvous->peer_links.count; i++)
        if (rendezvous->peer_links.items[i].state != PEER_LINK_READY)
            return false;
    return true;
}

int rendezvous_check_stop(const struct rendezvous *rendezvous, struct err *err)
{
    if (!rendezvous->options->stop || !*rendezvous->options->stop)
        return 0;
    return err_set(err, ERR_CANCELED, "told to stop while waiting for other tasks");
}

void rendezvous_wait(struct rendezvous *rendezvous, int64_t now, int64_t until)
{
    rendezvous->polls.count = 0;
    bool room = peer_listener_has_room(rendezvous->listener, rendezvous->identity->size);
    vec_push(&rendezvous->polls,
             ((struct pollfd){.fd = room ? rendezvous->listener->fd : -1, .events = POLLIN}));
    until = rendezvous->deadline < until ? rendezvous->deadline : until;
    until = rendezvous->next_report < until ? rendezvous->next_report : until;
    for (size_t i = 0; i < rendezvous->peer_links.count; i++) {
        struct peer_link *peer_link = &rendezvous->peer_links.items[i];
        struct pollfd watch = {.fd = peer_link->connection.fd, .events = POLLRDHUP};
        if (rendezvous->in_discovery && peer_link->state == PEER_LINK_READY)
            watch.events = peer_link->out.size ? POLLIN | POLLOUT : POLLIN;
        if (peer_link->state == PEER_LINK_WAITING) {
            until = peer_link->retry_at < until ? peer_link->retry_at : until;
            continue;
        }
        if (peer_link->state == PEER_LINK_RESOLVING)
            watch = (struct pollfd){.fd = resolve_fd(peer_link->resolve), .events = POLLIN};
        if (peer_link->state == PEER_LINK_HANDSHAKE) {
            watch = (struct pollfd){.fd = peer_link->handshake.connection.fd,
                                    .events = handshake_events(&peer_link->handshake)};
            until = peer_link->attempt_ends > now && peer_link->attempt_ends < until
                        ? peer_link->attempt_ends
                        : until;
        }
        vec_push(&rendezvous->polls, watch);
    }
    for (size_t i = 0; i < rendezvous->listener->pending_peers.count; i++) {
        struct pending_peer *pending_peer = rendezvous->listener->pending_peers.items[i];
        bool idle = pending_peer->handshake.state == HANDSHAKE_PROVEN ||
                    pending_peer->handshake.state == HANDSHAKE_EARLY;
        until = pending_peer->ends > now && pending_peer->ends < until ? pending_peer->ends : until;
        vec_push(&rendezvous->polls,
                 ((struct pollfd){.fd = pending_peer->handshake.connection.fd,
                                  .events = idle ? POLLRDHUP
                                                 : handshake_events(&pending_peer->handshake)}));
    }
    (void)poll(rendezvous->polls.items, (nfds_t)rendezvous->polls.count,
               until > now ? (int)(until - now) : 0);
}

/* Fails if a member of the generation is lost or has restarted. Does not wait for the member to
 * return: the tasks agree on a new generation instead. */
static int rendezvous_check_generation(struct rendezvous *rendezvous, int64_t now, struct err *err)
{
    char name[TF_CONFIG_TASK_TEXT_MAX];
    for (size_t i = 0; i < rendezvous->peer_links.count; i++) {
        const struct peer_link *peer_link = &rendezvous->peer_links.items[i];
        if (!peer_link->failure && now < rendezvous->deadline)
            continue;
        if (!peer_link->failure && peer_link->state == PEER_LINK_READY)
            continue;
        rendezvous_describe(rendezvous, peer_link->peer, name);
        return err_set(err, ERR_UNAVAILABLE, "lost %s while the group was forming: %s", name,
                       peer_link->reason);
    }
    for (size_t i = 0; i < rendezvous->listener->pending_peers.count; i++) {
        const struct handshake *handshake =
            &rendezvous->listener->pending_peers.items[i]->handshake;
        for (int rank = 0; rank < rendezvous->options->size; rank++)
            if (handshake->state == HANDSHAKE_PROVEN && handshake->hello.generation == 0 &&
                (int)handshake->hello.rank == rendezvous->options->numbers[rank]) {
                rendezvous_describe(rendezvous, rank, name);
                return err_set(err, ERR_UNAVAILABLE, "%s restarted while the group was forming",
                               name);
            }
    }
    return 0;
}

static int rendezvous_run(struct rendezvous *rendezvous, struct err *err)
{
    for (;;) {
        int64_t now = moment_monotonic_ms();
        int result = rendezvous_progress_pending_peers(rendezvous, now, err);
        if (result < 0 || (result = rendezvous_progress_links(rendezvous, now, err)) < 0)
            return result;
        rendezvous_tell_missing(rendezvous);
        if (rendezvous_is_complete(rendezvous))
            return 0;
        if (rendezvous->options->generation &&
            (result = rendezvous_check_generation(rendezvous, now, err)) < 0)
            return result;
        if ((result = rendezvous_check_stop(rendezvous, err)) < 0)
            return result;
        if (now >= rendezvous->deadline)
            return rendezvous_give_up(rendezvous, err);
        if (now >= rendezvous->next_report) {
            rendezvous_report_missing(rendezvous);
            rendezvous->next_report = now + rendezvous->options->report_ms;
        }
        rendezvous_wait(rendezvous, now, INT64_MAX);
    }
}

static void rendezvous_hand_over(struct rendezvous *rendezvous, struct connection_set *ret)
{
    const struct rendezvous_options *options = rendezvous->options;
    struct connection_set links = {
        .size = options->size,
        .channels = options->channels,
        .control = mem_calloc((size_t)options->size, sizeof(struct connection)),
        .left = mem_calloc((size_t)options->channels, sizeof(struct connection)),
        .right = mem_calloc((size_t)options->channels, sizeof(struct connection)),
        .pairs = rendezvous_has_pairs(options)
                     ? mem_calloc((size_t)options->size, sizeof(struct connection))
                     : NULL,
    };
    for (int i = 0; i < options->size; i++)
        links.control[i] = CONNECTION_NONE;
    for (int i = 0; links.pairs && i < options->size; i++)
        links.pairs[i] = CONNECTION_NONE;
    for (int i = 0; i < options->channels; i++)
        links.left[i] = links.right[i] = CONNECTION_NONE;
    for (size_t i = 0; i < rendezvous->peer_links.count; i++) {
        struct peer_link *peer_link = &rendezvous->peer_links.items[i];
        if (peer_link->channel > options->channels && !links.pairs)
            continue; /* this group has no connections between pairs */
        struct connection *place = peer_link->channel == 0 ? &links.control[peer_link->peer]
                                   : peer_link->channel > options->channels
                                       ? &links.pairs[peer_link->peer]
                                   : peer_link->outgoing ? &links.right[peer_link->channel - 1]
                                                         : &links.left[peer_link->channel - 1];
        *place = connection_take(&peer_link->connection);
    }
    *ret = links;
}

/* Drops the pending peers of this rendezvous. If the listener stays open, peers that wait for the
 * next rendezvous, or have not sent a hello yet, stay pending. */
static void rendezvous_release_pending_peers(struct rendezvous *rendezvous)
{
    if (rendezvous->listener == &rendezvous->own_listener)
        return peer_listener_close(rendezvous->listener);
    for (size_t i = 0; i < rendezvous->listener->pending_peers.count;) {
        struct handshake *handshake = &rendezvous->listener->pending_peers.items[i]->handshake;
        handshake_set_identity(handshake, &rendezvous->listener->identity);
        if (handshake->identity != &rendezvous->listener->identity ||
            handshake->state == HANDSHAKE_SECURING)
            peer_listener_dismiss(rendezvous->listener, i);
        else
            i++;
    }
}

void rendezvous_release(struct rendezvous *rendezvous)
{
    rendezvous_release_pending_peers(rendezvous);
    for (size_t i = 0; i < rendezvous->peer_links.count; i++) {
        struct peer_link *peer_link = &rendezvous->peer_links.items[i];
        resolve_free(peer_link->resolve);
        handshake_release(&peer_link->handshake);
        connection_close(&peer_link->connection);
        buf_release(&peer_link->in);
        buf_release(&peer_link->out);
    }
    vec_release(&rendezvous->peer_links);
    vec_release(&rendezvous->polls);
    free(rendezvous->addresses);
}

void rendezvous_identify(const struct rendezvous_options *options, struct handshake_identity *ret)
{
    *ret = (struct handshake_identity){.rank = (uint32_t)options->rank,
                                       .size = (uint32_t)options->size,
                                       .channels = (uint16_t)options->channels,
                                       .generation = options->generation,
                                       .shape = options->shape,
                                       .shape_text = options->shape_text,
                                       .secret = options->secret,
                                       .secret_size = options->secret_size,
                                       .encryption = options->encryption};
    rendezvous_hash_job(options, ret->job);
}

void rendezvous_init(struct rendezvous *rendezvous, const struct rendezvous_options *options,
                     int wanted)
{
    *rendezvous = (struct rendezvous){.options = options,
                                      .wanted = wanted,
                                      .listener = options->listener ? options->listener
                                                                    : &rendezvous->own_listener,
                                      .own_listener = {.fd = -1},
                                      .identity = &rendezvous->own_identity,
                                      .started = moment_monotonic_ms()};
    rendezvous->deadline = rendezvous->started + options->timeout_ms;
    rendezvous->next_report = rendezvous->started + options->report_ms;
    rendezvous->addresses = mem_calloc((size_t)options->size, sizeof(*rendezvous->addresses));
    rendezvous_identify(options, &rendezvous->own_identity);
}

int rendezvous_connect_all(const struct rendezvous_options *options, struct connection_set *ret,
                           struct err *err)
{
    const struct ty_task *self = &options->tasks[options->rank];
    struct rendezvous rendezvous;
    rendezvous_init(&rendezvous, options, options->size);
    int result = 0;
    if (options->size > 1 && !options->listener)
        result = peer_listener_open(rendezvous.listener, self, options->size, err);
    if (result == 0) {
        rendezvous.own_identity.listen_port = rendezvous.listener->identity.listen_port;
        rendezvous_plan_links(&rendezvous);
        result = rendezvous_run(&rendezvous, err);
    }
    if (result == 0)
        rendezvous_hand_over(&rendezvous, ret);
    rendezvous_release(&rendezvous);
    return result;
}

int rendezvous_connect_some(const struct rendezvous_options *options, const int *peers, int count,
                            int *ret_fds, struct err *err)
{
    struct rendezvous rendezvous;
    rendezvous_init(&rendezvous, options, count);
    for (int i = 0; i < count; i++)
        rendezvous_add_link(&rendezvous, peers[i], 0, true);
    int result = rendezvous_run(&rendezvous, err);
    for (int i = 0; result == 0 && i < count; i++)
        ret_fds[i] = connection_take(&rendezvous.peer_links.items[i].connection).fd;
    rendezvous_release(&rendezvous);
    return result;
}

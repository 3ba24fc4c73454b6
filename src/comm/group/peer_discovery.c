/* Implements the discovery of the tasks that form the next group; see peer_discovery.h. */
#include "comm/group/peer_discovery.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/rand.h"
#include "comm/group/membership_message.h"
#include "comm/group/rendezvous_private.h"
#include "comm/transport/socket.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

enum {
    REMIND_MS = 1000, /* longest interval after which the view or proposal is sent again */
    /* Delay before a new attempt after a connection has ended. The attempt shows whether the
     * process of the peer is gone. */
    RETRY_MS = 10,
    /* If poll() takes longer than requested, at most this excess counts as time in which this
     * process was running. */
    SUSPENDED_MS = 200,
};

struct discovery_peer {
    enum peer_outcome outcome; /* outcome of the previous group; reset when the task connects */
    bool silent;               /* the peer has stopped answering in this discovery */
    /* The peer may be training without this task: it left the previous group, closed a connection
     * of this discovery, or this process was suspended. Reset when the address of the peer refuses
     * a connection. */
    bool may_be_training;
    /* The link that all messages to this peer use, so that they arrive in order; NULL: none. */
    struct peer_link *link;
    /* value of peer_discovery.clock_ms when the latest message arrived */
    int64_t heard_ms;
};

struct peer_discovery {
    const struct peer_discovery_options *options;
    struct rendezvous rendezvous;
    struct membership *membership;
    struct discovery_peer *others; /* by task */
    uint8_t *tasks;                /* buffer for the tasks of a received message */
    /* `clock_ms` counts only the time in which this process was running. `looked_ms` is the
     * monotonic time of its latest update. */
    int64_t clock_ms, looked_ms;
    int64_t requested_ms; /* longest duration that was requested for the latest wait */
    int64_t reminded_ms;  /* when the view or proposal was last sent again (monotonic) */
};

/* Closes a link. An outgoing link is tried again after RETRY_MS; an incoming link waits for the
 * peer. */
static void discovery_close_link(struct peer_discovery *discovery, struct peer_link *peer_link,
                                 int64_t now, int failure, const char *reason)
{
    if (discovery->others[peer_link->peer].link == peer_link)
        discovery->others[peer_link->peer].link = NULL;
    rendezvous_postpone(peer_link, now, failure, reason);
    peer_link->retry_at = peer_link->outgoing ? now + RETRY_MS : INT64_MAX;
}

static struct peer_link *discovery_link(struct peer_discovery *discovery, int task, bool outgoing)
{
    return rendezvous_find_link(&discovery->rendezvous, task, 0, outgoing);
}

static void discovery_send(void *context, int task, const struct membership_message *message)
{
    struct peer_discovery *discovery = context;
    struct peer_link *peer_link = discovery->others[task].link;
    if (peer_link)
        membership_message_encode(message, discovery->options->rendezvous.size, &peer_link->out);
}

static void discovery_flush_link(struct peer_link *peer_link)
{
    while (peer_link->out.size) {
        ssize_t sent =
            connection_send(&peer_link->connection, peer_link->out.data, peer_link->out.size);
        if (sent < 0)
            return; /* the next read detects a broken connection */
        buf_consume(&peer_link->out, (size_t)sent);
    }
}

static int discovery_parse_link(struct peer_discovery *discovery, struct peer_link *peer_link,
                                struct err *err)
{
    while (peer_link->in.size >= WIRE_FRAME_HEAD_SIZE) {
        const uint8_t *bytes = (const uint8_t *)peer_link->in.data;
        struct wire_frame frame;
        int result = wire_frame_decode(bytes, &frame, err);
        if (result < 0 || peer_link->in.size < WIRE_FRAME_HEAD_SIZE + frame.size)
            return result;
        struct membership_message message = {.tasks = discovery->tasks};
        result = membership_message_decode(&frame, bytes + WIRE_FRAME_HEAD_SIZE,
                                           discovery->options->rendezvous.size, &message, err);
        if (result < 0)
            return result;
        struct discovery_peer *other = &discovery->others[peer_link->peer];
        other->heard_ms = discovery->clock_ms;
        membership_receive(discovery->membership, peer_link->peer, &message);
        buf_consume(&peer_link->in, WIRE_FRAME_HEAD_SIZE + frame.size);
    }
    return 0;
}

/* Reads and handles all messages that have arrived, and only then the end of the connection,
 * because the last message may be the commit. */
static void discovery_read_link(struct peer_discovery *discovery, struct peer_link *peer_link,
                                int64_t now)
{
    struct err failure = ERR_INIT;
    for (;;) {
        char *room = buf_reserve(&peer_link->in, 4096);
        ssize_t got = room ? connection_recv(&peer_link->connection, room, 4096) : -EMSGSIZE;
        if (got == -EAGAIN)
            return;
        if (got > 0) {
            buf_commit(&peer_link->in, (size_t)got);
            if (discovery_parse_link(discovery, peer_link, &failure) == 0)
                continue;
        }
        /* The peer may be alive until its address refuses a connection. */
        discovery->others[peer_link->peer].may_be_training = true;
        discovery_close_link(discovery, peer_link, now, ECONNRESET,
                             got > 0 ? failure.message : socket_reason((int)-got));
        return;
    }
}

/* Starts to use the links that have become ready, and stops using those that are no longer
 * ready. */
static void discovery_start_links(struct peer_discovery *discovery)
{
    for (size_t i = 0; i < discovery->rendezvous.peer_links.count; i++) {
        struct peer_link *peer_link = &discovery->rendezvous.peer_links.items[i];
        struct discovery_peer *other = &discovery->others[peer_link->peer];
        if (peer_link->state != PEER_LINK_READY) {
            if (other->link == peer_link)
                other->link = NULL;
            continue;
        }
        if (!peer_link->carries_messages) {
            peer_link->carries_messages = true;
            buf_init(&peer_link->in, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
            buf_init(&peer_link->out, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
            /* The link was replaced by a connection of the task's next process. */
            if (other->link == peer_link)
                other->link = NULL;
        }
        if (!other->link) {
            membership_set_presence(discovery->membership, peer_link->peer, MEMBERSHIP_UNKNOWN);
            other->link = peer_link;
            other->silent = false;
            other->outcome = PEER_CONNECTED;
            other->heard_ms = discovery->clock_ms;
            membership_set_presence(discovery->membership, peer_link->peer, MEMBERSHIP_PRESENT);
        }
    }
}

static void discovery_read_links(struct peer_discovery *discovery, int64_t now)
{
    for (size_t i = 0; i < discovery->rendezvous.peer_links.count; i++) {
        struct peer_link *peer_link = &discovery->rendezvous.peer_links.items[i];
        if (peer_link->carries_messages)
            discovery_read_link(discovery, peer_link, now);
    }
}

static bool discovery_flush_links(struct peer_discovery *discovery)
{
    bool all = true;
    for (size_t i = 0; i < discovery->rendezvous.peer_links.count; i++) {
        struct peer_link *peer_link = &discovery->rendezvous.peer_links.items[i];
        if (peer_link->carries_messages)
            discovery_flush_link(peer_link);
        all &= !peer_link->carries_messages || !peer_link->out.size;
    }
    return all;
}

/* Returns the presence of a task without a link. A refused connection proves that its process is
 * gone. A connection that ends or gets no answer does not. */
static enum membership_presence discovery_presence_of(struct peer_discovery *discovery, int task)
{
    const struct peer_discovery_options *options = discovery->options;
    struct discovery_peer *other = &discovery->others[task];
    const struct peer_link *peer_link = discovery_link(discovery, task, true);
    bool was_member = options->previous_members && options->previous_members[task];
    bool connected = peer_link->state == PEER_LINK_HANDSHAKE &&
                     peer_link->handshake.state != HANDSHAKE_CONNECTING;
    if (peer_listener_is_securing(discovery->rendezvous.listener, task))
        return MEMBERSHIP_UNKNOWN; /* the task is connected, and its link will be ready soon */
    if (peer_link->failure == ECONNREFUSED && !connected) {
        other->may_be_training = false;
        return MEMBERSHIP_GONE;
    }
    /* A pod that is not scheduled yet, or was deleted, has no DNS name. With --min-workers, a task
     * without training state may then start without this pod. */
    if (peer_link->failure == PEER_LINK_NO_NAME && peer_link->state != PEER_LINK_HANDSHAKE &&
        !options->live)
        return MEMBERSHIP_GONE;
    if (other->silent || other->outcome == PEER_SILENT)
        return MEMBERSHIP_SILENT;
    if (other->outcome == PEER_LOST)
        return MEMBERSHIP_GONE;
    if (!connected && peer_link->failure && peer_link->failure != ECONNRESET &&
        peer_link->failure != ENOTCONN)
        return MEMBERSHIP_SILENT;
    /* A task that was not in the previous group and does not answer can join later, so this task
     * does not wait for it. */
    if (!connected && options->live && !was_member && !*options->expelled)
        return MEMBERSHIP_SILENT;
    return MEMBERSHIP_UNKNOWN;
}

static void discovery_update_presence(struct peer_discovery *discovery, int64_t now)
{
    const struct peer_discovery_options *options = discovery->options;
    for (int task = 0; task < options->rendezvous.size; task++) {
        struct discovery_peer *other = &discovery->others[task];
        if (task == options->rendezvous.rank)
            continue;
        bool late = discovery->clock_ms - other->heard_ms >= options->peer_timeout_ms;
        if (other->link && late) {
            other->silent = true;
            for (int outgoing = 0; outgoing < 2; outgoing++) {
                struct peer_link *peer_link = discovery_link(discovery, task, outgoing);
                if (peer_link->carries_messages)
                    discovery_close_link(discovery, peer_link, now, ETIMEDOUT,
                                         "it has stopped answering");
            }
        }
        if (other->link)
            continue;
        enum membership_presence presence = discovery_presence_of(discovery, task);
        if (presence == MEMBERSHIP_UNKNOWN && late && options->live && !other->may_be_training) {
            other->silent = true;
            presence = MEMBERSHIP_SILENT;
        }
        membership_set_presence(discovery->membership, task, presence);
    }
}

/* Sets the presence of all tasks without a link to unknown, and connects to them again
 * immediately. */
static void discovery_forget_absent(struct peer_discovery *discovery)
{
    for (int task = 0; task < discovery->options->rendezvous.size; task++) {
        struct discovery_peer *other = &discovery->others[task];
        if (task == discovery->options->rendezvous.rank || other->link)
            continue;
        struct peer_link *peer_link = discovery_link(discovery, task, true);
        other->outcome = PEER_CONNECTED;
        other->silent = false;
        other->may_be_training = true;
        peer_link->failure = 0;
        peer_link->retry_at = 0;
        membership_set_presence(discovery->membership, task, MEMBERSHIP_UNKNOWN);
    }
}

/* Updates clock_ms. Time in which this process was suspended, or got no CPU time, does not count
 * towards the timeouts of the other tasks. After a long suspension the other tasks may have
 * continued without this task, so the presence of tasks without a link is unknown again. */
static void discovery_advance_clock(struct peer_discovery *discovery, int64_t now)
{
    int64_t passed = now - discovery->looked_ms, most = discovery->requested_ms + SUSPENDED_MS;
    discovery->clock_ms += passed < most ? passed : most;
    discovery->looked_ms = now;
    if (passed - discovery->requested_ms > discovery->options->peer_timeout_ms / 2) {
        membership_note_absence(discovery->membership);
        discovery_forget_absent(discovery);
    }
}

/* Whether options.start tasks are enough for a group in which no task has training state. */
static bool discovery_may_start_small(const struct peer_discovery *discovery, int64_t now)
{
    return now - discovery->rendezvous.started >= discovery->options->start_after_ms;
}

/* Reports the missing tasks. If some of the tasks would be enough for a group, also reports the
 * obstacle to it. */
static void discovery_report(struct peer_discovery *discovery, int64_t now)
{
    const struct peer_discovery_options *options = discovery->options;
    const char *obstacle = membership_obstacle(discovery->membership);
    bool may_start_small =
        options->start < options->rendezvous.size && discovery_may_start_small(discovery, now);
    if (obstacle && (options->live || may_start_small)) {
        char line[256];
        snprintf(line, sizeof(line), "waiting%s: %s", options->live ? " to continue training" : "",
                 obstacle);
        rendezvous_report(&discovery->rendezvous, line);
    }
    rendezvous_report_missing(&discovery->rendezvous);
}

static int discovery_progress(struct peer_discovery *discovery, int64_t now, struct err *err)
{
    struct rendezvous *rendezvous = &discovery->rendezvous;
    int result = rendezvous_progress_pending_peers(rendezvous, now, err);
    discovery_read_links(discovery, now);
    if (result == 0)
        result = rendezvous_progress_links(rendezvous, now, err);
    if (result < 0)
        return result;
    discovery_start_links(discovery);
    discovery_read_links(discovery, now);
    discovery_update_presence(discovery, now);
    int64_t remind = discovery->options->peer_timeout_ms / 4;
    if (now >= discovery->reminded_ms + (remind < REMIND_MS ? remind : REMIND_MS)) {
        membership_announce(discovery->membership);
        discovery->reminded_ms = now;
    }
    if (discovery_may_start_small(discovery, now))
        membership_set_start(discovery->membership, discovery->options->start);
    return 0;
}

static int discovery_run(struct peer_discovery *discovery, struct err *err)
{
    struct rendezvous *rendezvous = &discovery->rendezvous;
    const bool *list;
    for (;;) {
        int64_t now = moment_monotonic_ms();
        discovery_advance_clock(discovery, now);
        int result = discovery_progress(discovery, now, err);
        if (result < 0)
            return result;
        if (discovery_flush_links(discovery) && membership_decided(discovery->membership, &list))
            return 0;
        rendezvous_tell_missing(rendezvous);
        if ((result = rendezvous_check_stop(rendezvous, err)) < 0)
            return result;
        if (now >= rendezvous->deadline)
            return rendezvous_give_up(rendezvous, err);
        if (now >= rendezvous->next_report) {
            discovery_report(discovery, now);
            rendezvous->next_report = now + rendezvous->options->report_ms;
        }
        discovery->requested_ms = REMIND_MS / 4;
        rendezvous_wait(rendezvous, now, now + discovery->requested_ms);
    }
}

static void discovery_init(struct peer_discovery *discovery)
{
    const struct peer_discovery_options *options = discovery->options;
    int size = options->rendezvous.size;
    rendezvous_init(&discovery->rendezvous, &options->rendezvous, size);
    discovery->rendezvous.in_discovery = true;
    discovery->rendezvous.tolerant = options->live != 0;
    discovery->rendezvous.identity = &options->rendezvous.listener->identity;
    discovery->looked_ms = options->ended_ms ? options->ended_ms : discovery->rendezvous.started;
    discovery->others = mem_calloc((size_t)size, sizeof(*discovery->others));
    discovery->tasks = mem_calloc((size_t)size, 1);
    for (int task = 0; task < size; task++) {
        if (task == options->rendezvous.rank)
            continue;
        rendezvous_add_link(&discovery->rendezvous, task, 0, true);
        rendezvous_add_link(&discovery->rendezvous, task, 0, false);
        discovery_link(discovery, task, false)->retry_at = INT64_MAX;
        if (options->outcomes)
            discovery->others[task].outcome = options->outcomes[task];
        discovery->others[task].may_be_training = discovery->others[task].outcome == PEER_LEFT;
    }
    uint32_t salt;
    rand_secure(&salt, sizeof(salt));
    const struct membership_options membership = {
        .salt = salt,
        .tasks = size,
        .self = options->rendezvous.rank,
        .min = options->min,
        .start = size,
        .live = options->live,
        .left_behind = *options->expelled,
        .highest = options->highest,
        .previous_members = options->previous_members,
        .accepted_members = options->accepted_members,
        .machine = options->machine,
        .machines = options->machines,
        .send = discovery_send,
        .context = discovery,
    };
    discovery->membership = membership_new(&membership);
}

/* Drops the pending connections of the members. They were made for this discovery, which is over;
 * the members make new connections as members of the generation. */
static void discovery_drop_pending_members(struct peer_discovery *discovery, const bool *list)
{
    struct peer_listener *peer_listener = discovery->rendezvous.listener;
    for (size_t i = 0; i < peer_listener->pending_peers.count;) {
        const struct handshake *handshake = &peer_listener->pending_peers.items[i]->handshake;
        bool known = handshake->state == HANDSHAKE_PROVEN ||
                     handshake->state == HANDSHAKE_READ_PROOF ||
                     handshake->state == HANDSHAKE_WRITE_VERDICT;
        if (known && handshake->hello.generation == 0 && list[handshake->hello.rank])
            peer_listener_dismiss(peer_listener, i);
        else
            i++;
    }
}

int peer_discovery_agree(const struct peer_discovery_options *options, uint64_t *ret_generation,
                         bool *ret_list, struct err *err)
{
    struct peer_discovery discovery = {.options = options};
    discovery_init(&discovery);
    int result = discovery_run(&discovery, err);
    *options->expelled = membership_left_behind(discovery.membership);
    if (result == 0) {
        const bool *list;
        *ret_generation = membership_decided(discovery.membership, &list);
        memcpy(ret_list, list, (size_t)options->rendezvous.size * sizeof(*list));
        discovery_drop_pending_members(&discovery, list);
        if (discovery.rendezvous.missing[0])
            options->rendezvous.waiting(options->rendezvous.context, NULL);
    }
    rendezvous_release(&discovery.rendezvous);
    membership_free(discovery.membership);
    free(discovery.others);
    free(discovery.tasks);
    return result;
}

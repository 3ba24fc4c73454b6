/* Where tasks meet before they are a group; see lobby.h. */
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
    REMIND_MS = 1000,
    AGAIN_MS = 10,   /* after a connection ended: is its process gone? */
    HICCUP_MS = 200, /* longer than asked for in poll(): this process itself was stopped */
};

struct other {
    enum control_outcome fate; /* until it is met */
    bool silent;
    bool lives;        /* it left, or closed a connection: it may be at work without this task */
    struct bond *link; /* what is sent to it goes here, so that it comes in order; NULL: none */
    int64_t heard_ms;  /* by the clock below, as is all that is counted against others */
};

struct lobby {
    const struct lobby_options *options;
    struct rendezvous meeting;
    struct membership *membership;
    struct other *others;
    uint8_t *tasks;              /* room for a message */
    int64_t clock_ms, looked_ms; /* time this process was awake, and when it was looked at */
    int64_t allowed_ms, reminded_ms;
};

static void link_close(struct lobby *lobby, struct bond *bond, int64_t now, int failure,
                       const char *reason)
{
    if (lobby->others[bond->peer].link == bond)
        lobby->others[bond->peer].link = NULL;
    rendezvous_postpone(bond, now, failure, reason);
    bond->retry_at = bond->outgoing ? now + AGAIN_MS : INT64_MAX;
}

static struct bond *bond_of(struct lobby *lobby, int task, bool outgoing)
{
    return rendezvous_find_bond(&lobby->meeting, task, 0, outgoing);
}

static void send_message(void *context, int task, const struct membership_message *message)
{
    struct lobby *lobby = context;
    struct bond *bond = lobby->others[task].link;
    if (bond)
        membership_message_encode(message, lobby->options->meeting.size, &bond->out);
}

static void link_flush(struct bond *bond)
{
    while (bond->out.size) {
        ssize_t sent = connection_send(&bond->link, bond->out.data, bond->out.size);
        if (sent < 0)
            return; /* a broken one shows itself when it is read */
        buf_consume(&bond->out, (size_t)sent);
    }
}

static int link_parse(struct lobby *lobby, struct bond *bond, struct err *err)
{
    while (bond->in.size >= WIRE_FRAME_HEAD_SIZE) {
        const uint8_t *bytes = (const uint8_t *)bond->in.data;
        struct wire_frame frame;
        int result = wire_frame_decode(bytes, &frame, err);
        if (result < 0 || bond->in.size < WIRE_FRAME_HEAD_SIZE + frame.size)
            return result;
        struct membership_message message = {.tasks = lobby->tasks};
        result = membership_message_decode(&frame, bytes + WIRE_FRAME_HEAD_SIZE,
                                           lobby->options->meeting.size, &message, err);
        if (result < 0)
            return result;
        struct other *other = &lobby->others[bond->peer];
        other->heard_ms = lobby->clock_ms;
        membership_receive(lobby->membership, bond->peer, &message);
        buf_consume(&bond->in, WIRE_FRAME_HEAD_SIZE + frame.size);
    }
    return 0;
}

/* All that has come is taken in before the end of a connection is: the last word may be the one
 * that commits. */
static void link_read(struct lobby *lobby, struct bond *bond, int64_t now)
{
    struct err failure = ERR_INIT;
    for (;;) {
        char *room = buf_reserve(&bond->in, 4096);
        ssize_t got = room ? connection_recv(&bond->link, room, 4096) : -EMSGSIZE;
        if (got == -EAGAIN)
            return;
        if (got > 0) {
            buf_commit(&bond->in, (size_t)got);
            if (link_parse(lobby, bond, &failure) == 0)
                continue;
        }
        lobby->others[bond->peer].lives = true; /* until its address tells otherwise */
        link_close(lobby, bond, now, ECONNRESET,
                   got > 0 ? failure.message : socket_reason((int)-got));
        return;
    }
}

/* A bond that has become ready is a link. */
static void links_take_up(struct lobby *lobby)
{
    for (size_t i = 0; i < lobby->meeting.bonds.count; i++) {
        struct bond *bond = &lobby->meeting.bonds.items[i];
        struct other *other = &lobby->others[bond->peer];
        if (bond->state != BOND_READY) {
            if (other->link == bond)
                other->link = NULL;
            continue;
        }
        if (!bond->talking) {
            bond->talking = true;
            buf_init(&bond->in, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
            buf_init(&bond->out, 4 * (WIRE_FRAME_HEAD_SIZE + WIRE_FRAME_MAX));
            if (other->link == bond) /* one of its earlier life was replaced */
                other->link = NULL;
        }
        if (!other->link) {
            membership_see(lobby->membership, bond->peer, MEMBERSHIP_UNKNOWN);
            other->link = bond;
            other->silent = false;
            other->fate = CONTROL_OUTCOME_CONNECTED;
            other->heard_ms = lobby->clock_ms;
            membership_see(lobby->membership, bond->peer, MEMBERSHIP_PRESENT);
        }
    }
}

static void links_read(struct lobby *lobby, int64_t now)
{
    for (size_t i = 0; i < lobby->meeting.bonds.count; i++) {
        struct bond *bond = &lobby->meeting.bonds.items[i];
        if (bond->talking)
            link_read(lobby, bond, now);
    }
}

static bool links_flush(struct lobby *lobby)
{
    bool all = true;
    for (size_t i = 0; i < lobby->meeting.bonds.count; i++) {
        struct bond *bond = &lobby->meeting.bonds.items[i];
        if (bond->talking)
            link_flush(bond);
        all &= !bond->talking || !bond->out.size;
    }
    return all;
}

/* What can be known of a task that is not linked. Being refused by its address proves that its
 * process is gone; a connection that ends, or is not answered, proves nothing. */
static enum membership_sight look_for(struct lobby *lobby, int task)
{
    const struct lobby_options *options = lobby->options;
    struct other *other = &lobby->others[task];
    const struct bond *bond = bond_of(lobby, task, true);
    bool mate = options->mates && options->mates[task];
    bool connected = bond->state == BOND_SHAKING && bond->handshake.state != HANDSHAKE_CONNECTING;
    if (door_secures(lobby->meeting.door, task))
        return MEMBERSHIP_UNKNOWN; /* it is there, and can say so in a moment */
    if (bond->failure == ECONNREFUSED && !connected) {
        other->lives = false;
        return MEMBERSHIP_GONE;
    }
    /* A pod that waits for its place, or was deleted, has no name. To a task that has no state that
     * says enough: with --min-workers it may begin. */
    if (bond->failure == BOND_NO_NAME && bond->state != BOND_SHAKING && !options->live)
        return MEMBERSHIP_GONE;
    if (other->silent || other->fate == CONTROL_OUTCOME_SILENT)
        return MEMBERSHIP_SILENT;
    if (other->fate == CONTROL_OUTCOME_LOST)
        return MEMBERSHIP_GONE;
    if (!connected && bond->failure && bond->failure != ECONNRESET && bond->failure != ENOTCONN)
        return MEMBERSHIP_SILENT;
    /* One that has not worked with this task lately, and does not answer, is not waited for: it
     * comes as a newcomer. */
    if (!connected && options->live && !mate && !*options->expelled)
        return MEMBERSHIP_SILENT;
    return MEMBERSHIP_UNKNOWN;
}

static void look_around(struct lobby *lobby, int64_t now)
{
    const struct lobby_options *options = lobby->options;
    for (int task = 0; task < options->meeting.size; task++) {
        struct other *other = &lobby->others[task];
        if (task == options->meeting.rank)
            continue;
        bool late = lobby->clock_ms - other->heard_ms >= options->peer_timeout_ms;
        if (other->link && late) {
            other->silent = true;
            for (int outgoing = 0; outgoing < 2; outgoing++) {
                struct bond *bond = bond_of(lobby, task, outgoing);
                if (bond->talking)
                    link_close(lobby, bond, now, ETIMEDOUT, "it has stopped answering");
            }
        }
        if (other->link)
            continue;
        enum membership_sight sight = look_for(lobby, task);
        if (sight == MEMBERSHIP_UNKNOWN && late && options->live && !other->lives) {
            other->silent = true;
            sight = MEMBERSHIP_SILENT;
        }
        membership_see(lobby->membership, task, sight);
    }
}

/* What was known of those that are not linked is not believed any more. */
static void forget_absent(struct lobby *lobby)
{
    for (int task = 0; task < lobby->options->meeting.size; task++) {
        struct other *other = &lobby->others[task];
        if (task == lobby->options->meeting.rank || other->link)
            continue;
        struct bond *bond = bond_of(lobby, task, true);
        other->fate = CONTROL_OUTCOME_CONNECTED;
        other->silent = false;
        other->lives = true;
        bond->failure = 0;
        bond->retry_at = 0;
        membership_see(lobby->membership, task, MEMBERSHIP_UNKNOWN);
    }
}

/* Time in which this process was stopped, or not let run, does not count against the others. If it
 * was so long that they may have gone on without this task, they may be anywhere now. */
static void advance_clock(struct lobby *lobby, int64_t now)
{
    int64_t passed = now - lobby->looked_ms, most = lobby->allowed_ms + HICCUP_MS;
    lobby->clock_ms += passed < most ? passed : most;
    lobby->looked_ms = now;
    if (passed - lobby->allowed_ms > lobby->options->peer_timeout_ms / 2) {
        membership_was_away(lobby->membership);
        forget_absent(lobby);
    }
}

static bool may_begin(const struct lobby *lobby, int64_t now)
{
    return now - lobby->meeting.started >= lobby->options->start_after_ms;
}

/* At a usual start all are waited for, and who they are says enough. */
static void report(struct lobby *lobby, int64_t now)
{
    const struct lobby_options *options = lobby->options;
    const char *obstacle = membership_obstacle(lobby->membership);
    bool few = options->start < options->meeting.size && may_begin(lobby, now);
    if (obstacle && (options->live || few)) {
        char line[256];
        snprintf(line, sizeof(line), "waiting%s: %s",
                 options->live ? " with what has been trained" : "", obstacle);
        rendezvous_say(&lobby->meeting, line);
    }
    rendezvous_report_missing(&lobby->meeting);
}

static int progress(struct lobby *lobby, int64_t now, struct err *err)
{
    struct rendezvous *meeting = &lobby->meeting;
    int result = rendezvous_progress_guests(meeting, now, err);
    links_read(lobby, now);
    if (result == 0)
        result = rendezvous_progress_bonds(meeting, now, err);
    if (result < 0)
        return result;
    links_take_up(lobby);
    links_read(lobby, now);
    look_around(lobby, now);
    int64_t remind = lobby->options->peer_timeout_ms / 4;
    if (now >= lobby->reminded_ms + (remind < REMIND_MS ? remind : REMIND_MS)) {
        membership_remind(lobby->membership);
        lobby->reminded_ms = now;
    }
    if (may_begin(lobby, now))
        membership_set_start(lobby->membership, lobby->options->start);
    return 0;
}

static int run(struct lobby *lobby, struct err *err)
{
    struct rendezvous *meeting = &lobby->meeting;
    const bool *list;
    for (;;) {
        int64_t now = moment_monotonic_ms();
        advance_clock(lobby, now);
        int result = progress(lobby, now, err);
        if (result < 0)
            return result;
        if (links_flush(lobby) && membership_decided(lobby->membership, &list))
            return 0;
        rendezvous_tell_missing(meeting);
        if ((result = rendezvous_check_stop(meeting, err)) < 0)
            return result;
        if (now >= meeting->deadline)
            return rendezvous_give_up(meeting, err);
        if (now >= meeting->next_report) {
            report(lobby, now);
            meeting->next_report = now + meeting->options->report_ms;
        }
        lobby->allowed_ms = REMIND_MS / 4;
        rendezvous_wait(meeting, now, now + lobby->allowed_ms);
    }
}

static void prepare(struct lobby *lobby)
{
    const struct lobby_options *options = lobby->options;
    int size = options->meeting.size;
    rendezvous_init(&lobby->meeting, &options->meeting, size);
    lobby->meeting.lobby = true;
    lobby->meeting.tolerant = options->live != 0;
    lobby->meeting.identity = &options->meeting.door->identity;
    lobby->looked_ms = options->parted_ms ? options->parted_ms : lobby->meeting.started;
    lobby->others = mem_calloc((size_t)size, sizeof(*lobby->others));
    lobby->tasks = mem_calloc((size_t)size, 1);
    for (int task = 0; task < size; task++) {
        if (task == options->meeting.rank)
            continue;
        rendezvous_add_bond(&lobby->meeting, task, 0, true);
        rendezvous_add_bond(&lobby->meeting, task, 0, false);
        bond_of(lobby, task, false)->retry_at = INT64_MAX;
        if (options->fates)
            lobby->others[task].fate = options->fates[task];
        lobby->others[task].lives = lobby->others[task].fate == CONTROL_OUTCOME_LEFT;
    }
    uint32_t salt;
    rand_secure(&salt, sizeof(salt));
    const struct membership_options membership = {
        .salt = salt,
        .tasks = size,
        .self = options->meeting.rank,
        .min = options->min,
        .start = size,
        .live = options->live,
        .left_behind = *options->expelled,
        .highest = options->highest,
        .mates = options->mates,
        .pledged = options->pledged,
        .machine = options->machine,
        .machines = options->machines,
        .send = send_message,
        .context = lobby,
    };
    lobby->membership = membership_new(&membership);
}

/* Members are linked anew under their generation: a connection of theirs that still stands at the
 * door is one of this meeting, which is over. */
static void dismiss_members(struct lobby *lobby, const bool *list)
{
    struct door *door = lobby->meeting.door;
    for (size_t i = 0; i < door->guests.count;) {
        const struct handshake *handshake = &door->guests.items[i]->handshake;
        bool known = handshake->state == HANDSHAKE_PROVEN ||
                     handshake->state == HANDSHAKE_READ_PROOF ||
                     handshake->state == HANDSHAKE_WRITE_VERDICT;
        if (known && handshake->hello.generation == 0 && list[handshake->hello.rank])
            door_dismiss(door, i);
        else
            i++;
    }
}

int lobby_agree(const struct lobby_options *options, uint64_t *ret_generation, bool *ret_list,
                struct err *err)
{
    struct lobby lobby = {.options = options};
    prepare(&lobby);
    int result = run(&lobby, err);
    *options->expelled = membership_left_behind(lobby.membership);
    if (result == 0) {
        const bool *list;
        *ret_generation = membership_decided(lobby.membership, &list);
        memcpy(ret_list, list, (size_t)options->meeting.size * sizeof(*list));
        dismiss_members(&lobby, list);
        if (lobby.meeting.missing[0])
            options->meeting.waiting(options->meeting.context, NULL);
    }
    rendezvous_release(&lobby.meeting);
    membership_free(lobby.membership);
    free(lobby.others);
    free(lobby.tasks);
    return result;
}

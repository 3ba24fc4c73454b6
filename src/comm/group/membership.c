/* Implements the agreement on the members of the next group; see membership.h. */
#include "comm/group/membership.h"

#include "base/mem.h"

#include <string.h>

/* The upper bits of a generation are a number that grows. The lower bits are the salt and the task
 * of the leader, which make the generation unique to one process. */
enum { LEADER_BITS = 16, SALT_BITS = 24, NUMBER_SHIFT = LEADER_BITS + SALT_BITS };

struct membership_peer {
    enum membership_presence presence;
    bool has_view; /* the view of this peer has arrived */
    bool accepted; /* this peer has accepted the proposal of this task */
    uint64_t live; /* the latest generation in which this peer had training state; 0: none */
    uint8_t *view; /* the latest view of this peer: one byte per task */
};

struct membership {
    struct membership_options options;
    struct membership_peer *peers; /* by task, including this task itself */
    uint64_t highest;              /* the highest generation that this task knows */
    uint64_t accepted;             /* the proposal that this task has accepted; 0: none */
    int leader;                    /* the task that proposed `accepted` */
    uint64_t proposed;             /* the current proposal of this task; 0: none */
    bool *list;                    /* the members of `accepted` or `proposed`, by task */
    uint64_t decided;              /* the committed generation; 0: none */
};

static bool membership_is_present(const struct membership *membership, int task)
{
    return membership->peers[task].presence == MEMBERSHIP_PRESENT;
}

static enum membership_presence membership_presence_in(const uint8_t *view, int task)
{
    return (enum membership_presence)(view[task] & MEMBERSHIP_PRESENCE);
}

/* Updates this task's own view, as it is sent to others. */
static void membership_refresh_view(struct membership *membership)
{
    uint8_t *view = membership->peers[membership->options.self].view;
    for (int i = 0; i < membership->options.tasks; i++) {
        bool same_machine = membership->options.machine &&
                            membership->options.machines[i] == membership->options.machine;
        view[i] = (uint8_t)membership->peers[i].presence;
        if (membership->options.previous_members && membership->options.previous_members[i] &&
            !(i == membership->options.self && membership->options.left_behind))
            view[i] |= MEMBERSHIP_PREVIOUS_MEMBER;
        if (membership->options.live && membership->options.accepted_members[i])
            view[i] |= MEMBERSHIP_ACCEPTED_MEMBER;
        if (same_machine || i == membership->options.self)
            view[i] |= MEMBERSHIP_SAME_MACHINE;
    }
}

struct membership *membership_new(const struct membership_options *options)
{
    struct membership *membership = mem_zalloc(sizeof(*membership));
    size_t tasks = (size_t)options->tasks;
    membership->options = *options;
    membership->highest = options->highest;
    membership->peers = mem_calloc(tasks, sizeof(*membership->peers));
    membership->list = mem_calloc(tasks, sizeof(*membership->list));
    for (size_t i = 0; i < tasks; i++)
        membership->peers[i].view = mem_calloc(tasks, 1);
    struct membership_peer *self = &membership->peers[options->self];
    self->presence = MEMBERSHIP_PRESENT;
    self->has_view = true;
    self->live = options->live;
    membership_refresh_view(membership);
    return membership;
}

struct membership *membership_free(struct membership *membership)
{
    if (!membership)
        return NULL;
    for (int i = 0; i < membership->options.tasks; i++)
        free(membership->peers[i].view);
    free(membership->peers);
    free(membership->list);
    free(membership);
    return NULL;
}

static void membership_send(struct membership *membership, int task, enum membership_kind kind,
                            uint64_t generation, uint8_t *tasks)
{
    const struct membership_message message = {
        .kind = kind,
        .generation = generation,
        .live = kind == MEMBERSHIP_VIEW ? membership->options.live : 0,
        .machine = kind == MEMBERSHIP_VIEW ? membership->options.machine : 0,
        .tasks = tasks,
    };
    membership->options.send(membership->options.context, task, &message);
}

static void membership_send_all(struct membership *membership, enum membership_kind kind,
                                uint64_t generation, uint8_t *tasks)
{
    for (int i = 0; i < membership->options.tasks; i++)
        if (i != membership->options.self && membership_is_present(membership, i))
            membership_send(membership, i, kind, generation, tasks);
}

static void membership_send_view(struct membership *membership)
{
    membership_refresh_view(membership);
    membership_send_all(membership, MEMBERSHIP_VIEW, membership->highest,
                        membership->peers[membership->options.self].view);
}

/* A leader repeats its proposal, not its view, because a view would withdraw the proposal. */
void membership_announce(struct membership *membership)
{
    if (membership->proposed && !membership->decided)
        membership_send_all(membership, MEMBERSHIP_PROPOSE, membership->proposed,
                            membership->peers[membership->options.self].view);
    else if (!membership->decided)
        membership_send_view(membership);
}

/* Whether every present task has sent a view, and each view lists exactly the present tasks. */
static bool membership_views_agree(const struct membership *membership)
{
    for (int i = 0; i < membership->options.tasks; i++) {
        if (!membership_is_present(membership, i))
            continue;
        if (!membership->peers[i].has_view)
            return false;
        for (int j = 0; j < membership->options.tasks; j++)
            if ((membership_presence_in(membership->peers[i].view, j) == MEMBERSHIP_PRESENT) !=
                membership_is_present(membership, j))
                return false;
    }
    return true;
}

/* Returns the present task with training state from the latest generation, or -1 if no present task
 * has training state. Prefers a task that is not left behind. The view of the returned task decides
 * which tasks the group may leave out. */
static int membership_find_latest(const struct membership *membership)
{
    int found = -1;
    for (int i = 0; i < membership->options.tasks; i++)
        if (membership_is_present(membership, i) && membership->peers[i].live &&
            (found < 0 || membership->peers[i].live > membership->peers[found].live ||
             (membership->peers[i].live == membership->peers[found].live &&
              membership->peers[i].view[i] & MEMBERSHIP_PREVIOUS_MEMBER)))
            found = i;
    return found;
}

/* Whether an absent task may be training elsewhere, according to the views of the present tasks.
 * Sets *ret_unknown to true if the presence of the task is unknown in one of these views. If
 * `only_trained`, only the views of tasks with training state count: a new task may wait for a task
 * that never comes, and must not block the others. */
static bool membership_may_train_elsewhere(const struct membership *membership, int task,
                                           bool only_trained, bool *ret_unknown)
{
    bool found = false;
    for (int i = 0; i < membership->options.tasks; i++) {
        if (!membership_is_present(membership, i) || (only_trained && !membership->peers[i].live))
            continue;
        uint8_t seen = membership->peers[i].view[task];
        *ret_unknown |= (seen & MEMBERSHIP_PRESENCE) == MEMBERSHIP_UNKNOWN;
        found |=
            (seen & MEMBERSHIP_PRESENCE) == MEMBERSHIP_SILENT && !(seen & MEMBERSHIP_SAME_MACHINE);
    }
    return found;
}

static const char ELSEWHERE[] = "the connected tasks have no quorum: the other tasks may be "
                                "training on machines that cannot be reached";

/* Whether the present tasks are a majority of the tasks that have `flag` in the view of task
 * `latest`, or of all tasks if `latest` is -1. If both parts are equal, the part with the lowest
 * task counts as the majority. Absent tasks count only if `apart`, by task, says that they may be
 * training elsewhere. Present tasks without training state do not count if `latest` is not -1. */
static bool membership_is_majority(const struct membership *membership, int latest, int flag,
                                   const bool *apart)
{
    int here = 0, elsewhere = 0;
    bool lowest_is_here = true, found = false;
    for (int i = 0; i < membership->options.tasks; i++) {
        bool counts =
            membership_is_present(membership, i) && (latest < 0 || membership->peers[i].live);
        if ((latest >= 0 && !(membership->peers[latest].view[i] & flag)) || (!counts && !apart[i]))
            continue;
        if (!found)
            lowest_is_here = counts;
        found = true;
        here += counts;
        elsewhere += apart[i];
    }
    return !elsewhere || here > elsewhere || (here == elsewhere && lowest_is_here);
}

const char *membership_obstacle(const struct membership *membership)
{
    int present = 0, latest = membership_find_latest(membership);
    bool unknown = false, any_apart = false;
    bool left_behind =
        latest >= 0 && !(membership->peers[latest].view[latest] & MEMBERSHIP_PREVIOUS_MEMBER);
    _cleanup_free_ bool *apart = mem_calloc((size_t)membership->options.tasks, sizeof(*apart));
    for (int i = 0; i < membership->options.tasks; i++) {
        present += membership_is_present(membership, i);
        apart[i] = !membership_is_present(membership, i) &&
                   membership_may_train_elsewhere(membership, i, latest >= 0, &unknown);
        any_apart |= apart[i];
    }
    if (present == membership->options.tasks)
        return NULL;
    if (latest < 0 && present < membership->options.start)
        return "too few tasks are connected to start, and none of them has a training state";
    if (latest >= 0 && present < membership->options.min)
        return "fewer tasks are connected than --min-workers requires";
    if (unknown)
        return "it is not known yet which other tasks are running";
    if (left_behind && any_apart)
        return ELSEWHERE;
    /* The other members of a proposal that a present task has accepted may be training. */
    for (int i = 0; i < membership->options.tasks; i++)
        if (membership_is_present(membership, i) && membership->peers[i].live &&
            !membership_is_majority(membership, i, MEMBERSHIP_ACCEPTED_MEMBER, apart))
            return ELSEWHERE;
    return membership_is_majority(membership, latest, MEMBERSHIP_PREVIOUS_MEMBER, apart)
               ? NULL
               : ELSEWHERE;
}

static void membership_accept_list(struct membership *membership)
{
    memcpy(membership->options.accepted_members, membership->list,
           (size_t)membership->options.tasks * sizeof(*membership->list));
    membership_refresh_view(membership);
}

/* Makes a proposal if this task is the leader, all views agree, and there is no obstacle. Otherwise
 * drops the current proposal. If the present tasks are a minority, a task with training state also
 * records that it is left behind. */
static void membership_update_proposal(struct membership *membership)
{
    if (membership->decided)
        return;
    int self = membership->options.self, lowest = 0, members = 0;
    bool agree = membership_views_agree(membership);
    const char *obstacle = agree ? membership_obstacle(membership) : NULL;
    if (obstacle == ELSEWHERE && membership->options.live && !membership->options.left_behind) {
        membership->options.left_behind = true;
        membership_send_view(membership);
    }
    while (!membership_is_present(membership, lowest))
        lowest++;
    for (int i = 0; i < membership->options.tasks; i++)
        members += membership_is_present(membership, i);
    /* This condition also holds for a task that has accepted a proposal: its leader has a lower
     * number. */
    if (lowest != self || !agree || obstacle) {
        membership->proposed = 0;
        return;
    }
    if (membership->proposed)
        return; /* the proposal is up to date: every change of the view drops it first */
    uint64_t salt = membership->options.salt & ((1u << SALT_BITS) - 1);
    membership->proposed = (((membership->highest >> NUMBER_SHIFT) + 1) << NUMBER_SHIFT) |
                           salt << LEADER_BITS | (uint64_t)self;
    membership->highest = membership->proposed;
    for (int i = 0; i < membership->options.tasks; i++) {
        membership->list[i] = membership_is_present(membership, i);
        membership->peers[i].accepted = i == self;
    }
    membership_accept_list(membership);
    if (members == 1)
        membership->decided = membership->proposed;
    else
        membership_send_all(membership, MEMBERSHIP_PROPOSE, membership->proposed,
                            membership->peers[self].view);
}

static void membership_view_changed(struct membership *membership)
{
    membership->proposed = 0;
    membership_send_view(membership);
    membership_update_proposal(membership);
}

void membership_set_presence(struct membership *membership, int task,
                             enum membership_presence presence)
{
    struct membership_peer *peer = &membership->peers[task];
    if (membership->decided || task == membership->options.self || peer->presence == presence)
        return;
    peer->presence = presence;
    peer->has_view = false;
    peer->live = 0;
    if (membership->accepted && membership->leader == task && presence != MEMBERSHIP_PRESENT)
        membership->accepted = 0;
    membership_view_changed(membership);
}

static void membership_on_view(struct membership *membership, int task,
                               const struct membership_message *message)
{
    struct membership_peer *peer = &membership->peers[task];
    if (membership->accepted && membership->leader == task)
        membership->accepted = 0; /* the leader has withdrawn its proposal */
    if (message->generation > membership->highest)
        membership->highest = message->generation;
    bool same = peer->has_view && peer->live == message->live &&
                memcmp(peer->view, message->tasks, (size_t)membership->options.tasks) == 0;
    peer->has_view = true;
    peer->live = message->live;
    memcpy(peer->view, message->tasks, (size_t)membership->options.tasks);
    membership->options.machines[task] = message->machine;
    if (!same)
        membership->proposed = 0;
    membership_refresh_view(membership);
    membership_update_proposal(membership);
}

static void membership_on_propose(struct membership *membership, int task,
                                  const struct membership_message *message)
{
    if (message->generation > membership->highest)
        membership->highest = message->generation;
    if (membership->accepted && membership->leader != task)
        return;
    membership->accepted = 0;
    for (int i = 0; i < membership->options.tasks; i++) {
        bool listed = membership_presence_in(message->tasks, i) == MEMBERSHIP_PRESENT;
        if (listed != membership_is_present(membership, i) || (listed && i < task))
            return; /* the leader gets the view of this task and proposes again */
        membership->list[i] = listed;
    }
    membership->proposed = 0;
    membership->accepted = message->generation;
    membership->leader = task;
    membership_accept_list(membership);
    membership_send(membership, task, MEMBERSHIP_ACCEPT, membership->accepted, NULL);
}

static void membership_on_accept(struct membership *membership, int task, uint64_t generation)
{
    if (!membership->proposed || generation != membership->proposed)
        return;
    membership->peers[task].accepted = true;
    for (int i = 0; i < membership->options.tasks; i++)
        if (membership->list[i] && !membership->peers[i].accepted)
            return;
    membership_send_all(membership, MEMBERSHIP_COMMIT, membership->proposed, NULL);
    membership->decided = membership->proposed;
}

void membership_receive(struct membership *membership, int task,
                        const struct membership_message *message)
{
    if (membership->decided || !membership_is_present(membership, task))
        return;
    switch (message->kind) {
    case MEMBERSHIP_VIEW:
        membership_on_view(membership, task, message);
        break;
    case MEMBERSHIP_PROPOSE:
        membership_on_propose(membership, task, message);
        break;
    case MEMBERSHIP_ACCEPT:
        membership_on_accept(membership, task, message->generation);
        break;
    default:
        if (membership->accepted && membership->leader == task &&
            membership->accepted == message->generation)
            membership->decided = membership->accepted;
        break;
    }
}

void membership_note_absence(struct membership *membership)
{
    if (membership->decided || !membership->options.live || membership->options.left_behind)
        return;
    membership->options.left_behind = true;
    membership_view_changed(membership);
}

void membership_set_start(struct membership *membership, int start)
{
    membership->options.start = start;
    membership_update_proposal(membership);
}

uint64_t membership_decided(const struct membership *membership, const bool **ret_list)
{
    *ret_list = membership->list;
    return membership->decided;
}

bool membership_left_behind(const struct membership *membership)
{
    return membership->options.left_behind;
}

uint64_t membership_highest(const struct membership *membership)
{
    return membership->highest;
}

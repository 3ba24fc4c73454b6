/* Who belongs to the next group; see membership.h. */
#include "comm/group/membership.h"

#include "base/mem.h"

#include <string.h>

/* A generation: a number that grows, and below it what makes it one leader's in one of its lives.
 */
enum { LEADER_BITS = 16, SALT_BITS = 24, NUMBER_SHIFT = LEADER_BITS + SALT_BITS };

struct peer {
    enum membership_sight sight;
    bool told;     /* its view is known */
    bool accepted; /* our proposal */
    uint64_t live;
    uint8_t *view;
};

struct membership {
    struct membership_options options;
    struct peer *peers; /* by task; the own has the own view */
    uint64_t highest;
    uint64_t bound;    /* the proposal this task has accepted; 0: none */
    int leader;        /* whose it is */
    uint64_t proposed; /* ours; 0: none */
    bool *list;        /* of `bound` or `proposed` */
    uint64_t decided;
};

static bool is_present(const struct membership *m, int task)
{
    return m->peers[task].sight == MEMBERSHIP_PRESENT;
}

static enum membership_sight sight_in(const uint8_t *view, int task)
{
    return (enum membership_sight)(view[task] & MEMBERSHIP_SIGHT);
}

/* The own view, as it is told to others. */
static void refresh_view(struct membership *m)
{
    uint8_t *view = m->peers[m->options.self].view;
    for (int i = 0; i < m->options.tasks; i++) {
        bool near = m->options.machine && m->options.machines[i] == m->options.machine;
        view[i] = (uint8_t)m->peers[i].sight;
        if (m->options.mates && m->options.mates[i] &&
            !(i == m->options.self && m->options.left_behind))
            view[i] |= MEMBERSHIP_MATE;
        if (m->options.live && m->options.pledged[i])
            view[i] |= MEMBERSHIP_PLEDGED;
        if (near || i == m->options.self)
            view[i] |= MEMBERSHIP_NEAR;
    }
}

struct membership *membership_new(const struct membership_options *options)
{
    struct membership *m = mem_zalloc(sizeof(*m));
    size_t tasks = (size_t)options->tasks;
    m->options = *options;
    m->highest = options->highest;
    m->peers = mem_calloc(tasks, sizeof(*m->peers));
    m->list = mem_calloc(tasks, sizeof(*m->list));
    for (size_t i = 0; i < tasks; i++)
        m->peers[i].view = mem_calloc(tasks, 1);
    struct peer *self = &m->peers[options->self];
    self->sight = MEMBERSHIP_PRESENT;
    self->told = true;
    self->live = options->live;
    refresh_view(m);
    return m;
}

struct membership *membership_free(struct membership *m)
{
    if (!m)
        return NULL;
    for (int i = 0; i < m->options.tasks; i++)
        free(m->peers[i].view);
    free(m->peers);
    free(m->list);
    free(m);
    return NULL;
}

static void tell(struct membership *m, int task, enum membership_kind kind, uint64_t generation,
                 uint8_t *tasks)
{
    const struct membership_message message = {
        .kind = kind,
        .generation = generation,
        .live = kind == MEMBERSHIP_HERE ? m->options.live : 0,
        .machine = kind == MEMBERSHIP_HERE ? m->options.machine : 0,
        .tasks = tasks,
    };
    m->options.send(m->options.context, task, &message);
}

static void tell_all(struct membership *m, enum membership_kind kind, uint64_t generation,
                     uint8_t *tasks)
{
    for (int i = 0; i < m->options.tasks; i++)
        if (i != m->options.self && is_present(m, i))
            tell(m, i, kind, generation, tasks);
}

static void tell_view(struct membership *m)
{
    refresh_view(m);
    tell_all(m, MEMBERSHIP_HERE, m->highest, m->peers[m->options.self].view);
}

/* The word of a leader that only repeats itself must not undo its proposal. */
void membership_remind(struct membership *m)
{
    if (m->proposed && !m->decided)
        tell_all(m, MEMBERSHIP_PROPOSE, m->proposed, m->peers[m->options.self].view);
    else if (!m->decided)
        tell_view(m);
}

/* Whether all that are present see just those. */
static bool views_agree(const struct membership *m)
{
    for (int i = 0; i < m->options.tasks; i++) {
        if (!is_present(m, i))
            continue;
        if (!m->peers[i].told)
            return false;
        for (int j = 0; j < m->options.tasks; j++)
            if ((sight_in(m->peers[i].view, j) == MEMBERSHIP_PRESENT) != is_present(m, j))
                return false;
    }
    return true;
}

/* Of those present, whose word counts about who is left out: the one that was at work last. */
static int last_at_work(const struct membership *m)
{
    int found = -1;
    for (int i = 0; i < m->options.tasks; i++)
        if (is_present(m, i) && m->peers[i].live &&
            (found < 0 || m->peers[i].live > m->peers[found].live ||
             (m->peers[i].live == m->peers[found].live && m->peers[i].view[i] & MEMBERSHIP_MATE)))
            found = i;
    return found;
}

/* Whether a task that is left out may be at work elsewhere, in the eyes of those present. Only the
 * eyes of such as have been at work count, where there are any: a newcomer's wait for somebody who
 * never comes must not hold the others up. */
static bool may_work_elsewhere(const struct membership *m, int task, bool any_lived,
                               bool *ret_unknown)
{
    bool found = false;
    for (int i = 0; i < m->options.tasks; i++) {
        if (!is_present(m, i) || (any_lived && !m->peers[i].live))
            continue;
        uint8_t seen = m->peers[i].view[task];
        *ret_unknown |= (seen & MEMBERSHIP_SIGHT) == MEMBERSHIP_UNKNOWN;
        found |= (seen & MEMBERSHIP_SIGHT) == MEMBERSHIP_SILENT && !(seen & MEMBERSHIP_NEAR);
    }
    return found;
}

static const char ELSEWHERE[] =
    "the others may be training on machines that cannot be reached, and are not fewer";

/* Whether those present are the greater part of the tasks that task `last` counts with `bit`, not
 * counting such as are surely not at work, and such as are here in a new life, without a state. */
static bool is_greater_part(const struct membership *m, int last, int bit, const bool *apart)
{
    int here = 0, elsewhere = 0;
    bool lowest_is_here = true, found = false;
    for (int i = 0; i < m->options.tasks; i++) {
        bool counts = is_present(m, i) && (last < 0 || m->peers[i].live);
        if ((last >= 0 && !(m->peers[last].view[i] & bit)) || (!counts && !apart[i]))
            continue;
        if (!found)
            lowest_is_here = counts;
        found = true;
        here += counts;
        elsewhere += apart[i];
    }
    return !elsewhere || here > elsewhere || (here == elsewhere && lowest_is_here);
}

const char *membership_obstacle(const struct membership *m)
{
    int present = 0, last = last_at_work(m);
    bool unknown = false, anybody_apart = false;
    bool left_behind = last >= 0 && !(m->peers[last].view[last] & MEMBERSHIP_MATE);
    _cleanup_free_ bool *apart = mem_calloc((size_t)m->options.tasks, sizeof(*apart));
    for (int i = 0; i < m->options.tasks; i++) {
        present += is_present(m, i);
        apart[i] = !is_present(m, i) && may_work_elsewhere(m, i, last >= 0, &unknown);
        anybody_apart |= apart[i];
    }
    if (present == m->options.tasks)
        return NULL;
    if (last < 0 && present < m->options.start)
        return "nobody here has been training, and too few are there to begin";
    if (last >= 0 && present < m->options.min)
        return "fewer tasks are there than --min-workers asks for";
    if (unknown)
        return "it is not known yet who else is there";
    if (left_behind && anybody_apart)
        return ELSEWHERE;
    for (int i = 0; i < m->options.tasks; i++) /* what any of them has agreed to may be at work */
        if (is_present(m, i) && m->peers[i].live &&
            !is_greater_part(m, i, MEMBERSHIP_PLEDGED, apart))
            return ELSEWHERE;
    return is_greater_part(m, last, MEMBERSHIP_MATE, apart) ? NULL : ELSEWHERE;
}

static void pledge(struct membership *m)
{
    memcpy(m->options.pledged, m->list, (size_t)m->options.tasks * sizeof(*m->list));
    refresh_view(m);
}

/* If this task leads and all agree, propose; a proposal that does not hold any more is dropped. */
static void reconsider(struct membership *m)
{
    if (m->decided)
        return;
    int self = m->options.self, lowest = 0, members = 0;
    bool agree = views_agree(m);
    const char *obstacle = agree ? membership_obstacle(m) : NULL;
    if (obstacle == ELSEWHERE && m->options.live && !m->options.left_behind) {
        m->options.left_behind = true;
        tell_view(m);
    }
    while (!is_present(m, lowest))
        lowest++;
    for (int i = 0; i < m->options.tasks; i++)
        members += is_present(m, i);
    if (lowest != self || !agree || obstacle) { /* a task that is bound sees its leader below it */
        m->proposed = 0;
        return;
    }
    if (m->proposed)
        return; /* of the same members: every change drops it first */
    uint64_t salt = m->options.salt & ((1u << SALT_BITS) - 1);
    m->proposed =
        (((m->highest >> NUMBER_SHIFT) + 1) << NUMBER_SHIFT) | salt << LEADER_BITS | (uint64_t)self;
    m->highest = m->proposed;
    for (int i = 0; i < m->options.tasks; i++) {
        m->list[i] = is_present(m, i);
        m->peers[i].accepted = i == self;
    }
    pledge(m);
    if (members == 1)
        m->decided = m->proposed;
    else
        tell_all(m, MEMBERSHIP_PROPOSE, m->proposed, m->peers[self].view);
}

static void view_changed(struct membership *m)
{
    m->proposed = 0;
    tell_view(m);
    reconsider(m);
}

void membership_see(struct membership *m, int task, enum membership_sight sight)
{
    struct peer *peer = &m->peers[task];
    if (m->decided || task == m->options.self || peer->sight == sight)
        return;
    peer->sight = sight;
    peer->told = false;
    peer->live = 0;
    if (m->bound && m->leader == task && sight != MEMBERSHIP_PRESENT)
        m->bound = 0;
    view_changed(m);
}

static void on_here(struct membership *m, int task, const struct membership_message *message)
{
    struct peer *peer = &m->peers[task];
    if (m->bound && m->leader == task)
        m->bound = 0; /* it does not stand by its proposal any more */
    if (message->generation > m->highest)
        m->highest = message->generation;
    bool same = peer->told && peer->live == message->live &&
                memcmp(peer->view, message->tasks, (size_t)m->options.tasks) == 0;
    peer->told = true;
    peer->live = message->live;
    memcpy(peer->view, message->tasks, (size_t)m->options.tasks);
    m->options.machines[task] = message->machine;
    if (!same)
        m->proposed = 0;
    refresh_view(m);
    reconsider(m);
}

static void on_propose(struct membership *m, int task, const struct membership_message *message)
{
    if (message->generation > m->highest)
        m->highest = message->generation;
    if (m->bound && m->leader != task)
        return;
    m->bound = 0;
    for (int i = 0; i < m->options.tasks; i++) {
        bool listed = sight_in(message->tasks, i) == MEMBERSHIP_PRESENT;
        if (listed != is_present(m, i) || (listed && i < task))
            return; /* it will hear that this task sees others, and propose again */
        m->list[i] = listed;
    }
    m->proposed = 0;
    m->bound = message->generation;
    m->leader = task;
    pledge(m);
    tell(m, task, MEMBERSHIP_ACCEPT, m->bound, NULL);
}

static void on_accept(struct membership *m, int task, uint64_t generation)
{
    if (!m->proposed || generation != m->proposed)
        return;
    m->peers[task].accepted = true;
    for (int i = 0; i < m->options.tasks; i++)
        if (m->list[i] && !m->peers[i].accepted)
            return;
    tell_all(m, MEMBERSHIP_COMMIT, m->proposed, NULL);
    m->decided = m->proposed;
}

void membership_receive(struct membership *m, int task, const struct membership_message *message)
{
    if (m->decided || !is_present(m, task))
        return;
    switch (message->kind) {
    case MEMBERSHIP_HERE:
        on_here(m, task, message);
        break;
    case MEMBERSHIP_PROPOSE:
        on_propose(m, task, message);
        break;
    case MEMBERSHIP_ACCEPT:
        on_accept(m, task, message->generation);
        break;
    default:
        if (m->bound && m->leader == task && m->bound == message->generation)
            m->decided = m->bound;
        break;
    }
}

void membership_was_away(struct membership *m)
{
    if (m->decided || !m->options.live || m->options.left_behind)
        return;
    m->options.left_behind = true;
    view_changed(m);
}

void membership_set_start(struct membership *m, int start)
{
    m->options.start = start;
    reconsider(m);
}

uint64_t membership_decided(const struct membership *m, const bool **ret_list)
{
    *ret_list = m->list;
    return m->decided;
}

bool membership_left_behind(const struct membership *m)
{
    return m->options.left_behind;
}

uint64_t membership_highest(const struct membership *m)
{
    return m->highest;
}

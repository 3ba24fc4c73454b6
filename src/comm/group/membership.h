/* Membership: the agreement of tasks on the members of the next group, without sockets and clocks.
 * Its driver (peer_discovery) tells it which tasks are present and passes it their messages. It
 * says which messages to send and, at the end, the generation and its members. The same code runs
 * in a simulation with random losses, joins and message orders.
 *
 * Every task sends the others its view: the presence of each task of the cluster. The present task
 * with the lowest number is the leader. Once all present tasks have the same view, the leader
 * proposes them as members, all accept, and it commits. A task that has accepted a proposal does
 * nothing else until its leader commits, proposes again, sends another view, or is lost. So a
 * committed proposal was accepted by all its members, and a task is bound to one proposal at a
 * time. A generation starts to work only after all its members have connected to each other under
 * its number; if one is lost before that, all tasks begin again.
 *
 * The group may not leave out a task whose presence is still unknown to a previous member. A task
 * that is gone does not count. A silent task on another machine may be training there with others.
 * Then only a majority of the previous group continues, or of two equal parts the one with the
 * lowest task. The same rule applies to a group that this task has accepted since, because others
 * may be training in it. The other part is left behind. It continues only once no task of the
 * cluster can be training elsewhere, or together with a task that was in a later group, because
 * other tasks may have joined the group that it does not see. docs/design/elastic.md has the
 * reasons.
 */
#ifndef TRAINYARD_COMM_GROUP_MEMBERSHIP_H
#define TRAINYARD_COMM_GROUP_MEMBERSHIP_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

enum membership_presence {
    MEMBERSHIP_UNKNOWN, /* not known yet: the driver still tries to reach it */
    MEMBERSHIP_PRESENT, /* messages can be exchanged */
    MEMBERSHIP_GONE,    /* its process does not exist */
    MEMBERSHIP_SILENT,  /* its process may exist, but it does not answer */
};

enum membership_kind {
    MEMBERSHIP_VIEW = 1, /* the view of the sender: the presence of all tasks */
    MEMBERSHIP_PROPOSE,
    MEMBERSHIP_ACCEPT,
    MEMBERSHIP_COMMIT,
    MEMBERSHIP_KINDS,
};

/* What a view says about one task: its presence in the low bits, and flags. A sender that is left
 * behind does not set PREVIOUS_MEMBER for itself. */
enum {
    MEMBERSHIP_PRESENCE = 3,
    MEMBERSHIP_PREVIOUS_MEMBER = 4,
    MEMBERSHIP_SAME_MACHINE = 8,
    MEMBERSHIP_ACCEPTED_MEMBER = 16
};

struct membership_message {
    enum membership_kind kind;
    uint64_t generation; /* VIEW: the highest that the sender knows; otherwise the proposed one */
    uint64_t live;       /* VIEW: the last generation in which the sender had a state; 0: none */
    uint64_t machine;    /* VIEW: the machine of the sender */
    uint8_t *tasks;      /* VIEW and PROPOSE: one byte per task; PROPOSE: the members are PRESENT */
};

struct membership_options {
    int tasks, self;
    int min;          /* the least number of members of a group that continues after a loss */
    int start;        /* the least number of members of a group in which no task has a state */
    uint64_t live;    /* the last generation in which this task had a state; 0: none */
    bool left_behind; /* the others continued without this task, or may have done so */
    uint64_t highest; /* the highest generation that this task knows */
    const bool *previous_members; /* by task, the members of generation `live`; NULL: none */
    /* By task, the members of the last proposal that this task accepted since `live`; all false:
     * none. Updated here; owned by the caller. */
    bool *accepted_members;
    uint32_t salt; /* random, so that a restarted process never reuses the number of a generation */
    uint64_t machine;   /* the machine of this task; 0: not known */
    uint64_t *machines; /* by task, updated from their views; 0: not known; owned by the caller */
    void (*send)(void *context, int task, const struct membership_message *message);
    void *context;
};

enum { MEMBERSHIP_TASKS_MAX = 8192 };

struct membership;

struct membership *membership_new(const struct membership_options *options);
struct membership *membership_free(struct membership *membership); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(membership)

/* Sets the presence of another task. A task that restarted must have had another presence in
 * between.
 */
void membership_set_presence(struct membership *membership, int task,
                             enum membership_presence presence);

void membership_receive(struct membership *membership, int task,
                        const struct membership_message *message);

/* Sends the view, or the proposal of this task, again to all present tasks. */
void membership_announce(struct membership *membership);

/* This process was stopped for so long that the others may have continued without it. */
void membership_note_absence(struct membership *membership);

/* Replaces options.start. */
void membership_set_start(struct membership *membership, int start);

/* Returns the committed generation, with its members by task in ret_list, which stays valid as long
 * as `membership`; 0: none is committed yet. After a commit nothing changes any more. */
uint64_t membership_decided(const struct membership *membership, const bool **ret_list);
uint64_t membership_highest(const struct membership *membership);
bool membership_left_behind(const struct membership *membership);

/* Returns why the present tasks cannot be the next group, as text for a person. NULL if nothing but
 * the exchange of views is missing. */
const char *membership_obstacle(const struct membership *membership);

#endif

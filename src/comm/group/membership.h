/* Membership: the agreement of tasks on the members of the next group, without sockets and clocks.
 * Called by peer_discovery only, which reports the presence and the messages of the other tasks.
 * Membership passes messages to options.send and, at the end, returns the next group: its members,
 * and its generation, a number that no other group has. The unit tests run the same code in a
 * simulation with random losses, joins and message orders. A task has training state from its first
 * comm_group_settle() on.
 *
 * Every task sends its view to all others: the presence of each task of the cluster. The present
 * task with the lowest number is the leader. Once the views of all present tasks list the same
 * tasks as present, the leader proposes these tasks as members, all of them accept, and the leader
 * commits. A task that has accepted a proposal accepts no proposal of another leader until its own
 * leader sends a view or is lost. So a committed proposal was accepted by all its members, and a
 * task has accepted at most one proposal at a time. The members of a generation start to work only
 * after all of them have connected to each other as members of this generation. If a member is lost
 * before that, all tasks begin again.
 *
 * The next group may leave out a task that is gone. If present tasks have training state, the group
 * may not leave out a task whose presence one of them does not know yet; otherwise the presence
 * must be known to all present tasks. A silent task on another machine may be training there with
 * others. Then only a majority of the previous group continues, where tasks that are gone are not
 * counted; of two equal parts, the part with the lowest task continues. The same rule applies to
 * the latest proposal that each present task has accepted, because the other members of that
 * proposal may be training as a group. A minority is left behind: other tasks may have formed a
 * group that the minority cannot reach. So the minority continues only if no absent task can be
 * training elsewhere, or if a task of a later group is present. docs/design/elastic.md has the
 * reasons. */
#ifndef TRAINYARD_COMM_GROUP_MEMBERSHIP_H
#define TRAINYARD_COMM_GROUP_MEMBERSHIP_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

enum membership_presence {
    MEMBERSHIP_UNKNOWN, /* this task still tries to reach the task */
    MEMBERSHIP_PRESENT, /* messages can be exchanged with the task */
    MEMBERSHIP_GONE,    /* the process of the task does not exist */
    MEMBERSHIP_SILENT,  /* the process may exist, but does not answer */
};

enum membership_kind {
    MEMBERSHIP_VIEW = 1, /* the view of the sender: the presence of all tasks */
    MEMBERSHIP_PROPOSE,  /* the leader proposes the members of a generation */
    MEMBERSHIP_ACCEPT,   /* the sender accepts the proposal of the leader */
    MEMBERSHIP_COMMIT,   /* all members have accepted the proposal of the leader */
    MEMBERSHIP_KINDS,
};

/* The byte of a view for one task: its presence in the low bits, and flags. */
enum {
    MEMBERSHIP_PRESENCE = 3,
    /* The task was a member of generation `live` of the sender. A sender that is left behind does
     * not set this flag for itself. */
    MEMBERSHIP_PREVIOUS_MEMBER = 4,
    MEMBERSHIP_SAME_MACHINE = 8, /* the task runs on the machine of the sender */
    /* The task is a member of the latest proposal that the sender accepted since `live`. */
    MEMBERSHIP_ACCEPTED_MEMBER = 16,
};

struct membership_message {
    enum membership_kind kind;
    /* VIEW: the highest generation that the sender knows; other kinds: that of the proposal */
    uint64_t generation;
    /* VIEW: the latest generation in which the sender had training state; 0: none */
    uint64_t live;
    uint64_t machine; /* VIEW: the machine of the sender; 0: not known */
    /* VIEW: one byte per task. PROPOSE: the same; the members are PRESENT. Other kinds: not
     * used. */
    uint8_t *tasks;
};

struct membership_options {
    int tasks, self;  /* number of tasks of the cluster, and the number of this task */
    int min;          /* the least number of members of a group that continues after a loss */
    int start;        /* the least number of members of a group in which no task has training
                       * state */
    uint64_t live;    /* the latest generation in which this task had training state; 0: none */
    bool left_behind; /* the others continued without this task, or may have done so */
    uint64_t highest; /* the highest generation that this task knows */
    /* By task: whether it was a member of generation `live`; NULL: no members. Must outlive the
     * membership. */
    const bool *previous_members;
    /* By task: whether it is a member of the latest proposal that this task accepted since `live`.
     * Membership updates the array; the caller owns it. */
    bool *accepted_members;
    uint32_t salt; /* random, so that a restarted process never reuses the number of a generation */
    uint64_t machine;   /* the machine of this task; 0: not known */
    uint64_t *machines; /* by task, updated from views; 0: not known; owned by the caller */
    /* Sends a message to another task. Must not call a function of this header. */
    void (*send)(void *context, int task, const struct membership_message *message);
    void *context;
};

enum { MEMBERSHIP_TASKS_MAX = 8192 };

struct membership;

struct membership *membership_new(const struct membership_options *options);
struct membership *membership_free(struct membership *membership); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(membership)

/* Sets the presence of another task. If a present task has restarted, the caller must set another
 * presence first, then MEMBERSHIP_PRESENT again. Has no effect after the commit. */
void membership_set_presence(struct membership *membership, int task,
                             enum membership_presence presence);

/* Handles a message of another task. Ignores it if the task is not present, or after the commit. */
void membership_receive(struct membership *membership, int task,
                        const struct membership_message *message);

/* Sends the view, or the proposal of this task, again to all present tasks. Has no effect after the
 * commit. */
void membership_announce(struct membership *membership);

/* Records that this process was suspended for so long that the other tasks may have continued
 * without it. Has no effect if this task has no training state, or after the commit. */
void membership_note_absence(struct membership *membership);

/* Replaces options.start. */
void membership_set_start(struct membership *membership, int start);

/* Returns the committed generation, or 0 if none is committed yet. Sets *ret_list to its members,
 * by task. The list stays valid until membership_free(). After the commit, no call changes the
 * result. */
uint64_t membership_decided(const struct membership *membership, const bool **ret_list);
/* Returns the highest generation that this task knows. */
uint64_t membership_highest(const struct membership *membership);
/* Whether the other tasks continued without this task, or may have done so. */
bool membership_left_behind(const struct membership *membership);

/* Returns why the present tasks cannot be the next group, as text for reports. Returns NULL if they
 * can, and only have to agree. */
const char *membership_obstacle(const struct membership *membership);

#endif

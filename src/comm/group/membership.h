/* Who belongs to the next group: the agreement between tasks that are about to form one, without
 * sockets and clocks. Its driver (lobby) tells it which tasks it sees and hands it their messages;
 * it says what to send and, in the end, the generation and its members. The same code runs in
 * a simulation with random losses, joins and orders of messages.
 *
 * Every task tells the others how it sees all. The lowest task that is there leads: once all it
 * sees tell that they see the same ones, it proposes them, all accept, and it commits. A task that
 * has accepted does nothing else until its leader commits, proposes anew, tells that its view has
 * changed, or is lost: so what was committed is what all have accepted, and a task is bound to one
 * proposal at a time. A generation is at work only when all its members have linked with all others
 * under its number; if one is lost before, all begin again.
 *
 * Who may be left out: nobody whose whereabouts a member of the last group does not know yet. One
 * that is surely gone does not count any more. One that is silent, on another machine, may be at
 * work there: then only the greater part of the last group goes on, or of two equal parts the one
 * with the lowest task; and the same must hold of a group that this task has agreed to since, for
 * others may be at work in it. The other part is left behind: from then on others may have come and
 * gone there, so it goes on only once it is known of every task of the cluster that it is not at
 * work, or with one that was at work later. docs/design/elastic.md has the reasons.
 */
#ifndef TRAINYARD_COMM_MEMBERSHIP_H
#define TRAINYARD_COMM_MEMBERSHIP_H

#include "base/cleanup.h"

#include <stdbool.h>
#include <stdint.h>

enum membership_presence {
    MEMBERSHIP_UNKNOWN, /* being looked for, or busy with something else */
    MEMBERSHIP_PRESENT, /* messages can be exchanged */
    MEMBERSHIP_GONE,    /* its process does not exist */
    MEMBERSHIP_SILENT,  /* it may exist */
};

enum membership_kind {
    MEMBERSHIP_VIEW = 1, /* how the sender sees all tasks */
    MEMBERSHIP_PROPOSE,
    MEMBERSHIP_ACCEPT,
    MEMBERSHIP_COMMIT,
    MEMBERSHIP_KINDS,
};

/* What a message says of one task; the low bits are its sight. A sender that is left behind is no
 * mate of its own. */
enum {
    MEMBERSHIP_PRESENCE = 3,
    MEMBERSHIP_PREVIOUS_MEMBER = 4,
    MEMBERSHIP_SAME_MACHINE = 8,
    MEMBERSHIP_ACCEPTED_MEMBER = 16
};

struct membership_message {
    enum membership_kind kind;
    uint64_t generation; /* HERE: the highest heard of; else the one proposed */
    uint64_t live;    /* HERE: the one the sender was last at work in; 0: none, it has no state */
    uint64_t machine; /* HERE: which one the sender runs on */
    uint8_t *tasks;   /* HERE and PROPOSE: a byte a task; PROPOSE: members are PRESENT */
};

struct membership_options {
    int tasks, self;
    int min;                      /* members that a group which goes on needs at least */
    int start;                    /* members that a group needs of which nobody has a state */
    uint64_t live;                /* as above */
    bool left_behind;             /* others went on, or may have gone on, without this task */
    uint64_t highest;             /* generation heard of */
    const bool *previous_members; /* who was in `live`, by task; NULL: none */
    bool *accepted_members; /* who is in what this task agreed to since; the caller's, all false:
                               none */
    uint32_t salt;      /* drawn by chance: no generation of an earlier life is called the same */
    uint64_t machine;   /* which one this is; 0: not known */
    uint64_t *machines; /* by task, 0: not known; kept up to date; the caller's */
    void (*send)(void *context, int task, const struct membership_message *message);
    void *context;
};

enum { MEMBERSHIP_TASKS_MAX = 8192 };

struct membership;

struct membership *membership_new(const struct membership_options *options);
struct membership *membership_free(struct membership *membership); /* NULL-safe; returns NULL */
DEFINE_CLEANUP(membership)

/* How this task sees another one now. A task that comes back must have been seen otherwise in
 * between. */
void membership_set_presence(struct membership *membership, int task,
                             enum membership_presence presence);

void membership_receive(struct membership *membership, int task,
                        const struct membership_message *message);

/* Tell all that are present how this task sees all, again. */
void membership_announce(struct membership *membership);

/* This task was away for so long that others may have gone on without it. */
void membership_note_absence(struct membership *membership);

/* From now on so many are enough to begin with. */
void membership_set_start(struct membership *membership, int start);

/* The generation that was committed, with its members by task in ret_list; 0: none yet. Afterwards
 * the agreement is over. */
uint64_t membership_decided(const struct membership *membership, const bool **ret_list);
uint64_t membership_highest(const struct membership *membership);
bool membership_left_behind(const struct membership *membership);

/* Why this task cannot go on with those that are present, for a person: NULL if only views are
 * still to be exchanged. */
const char *membership_obstacle(const struct membership *membership);

#endif

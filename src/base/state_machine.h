/* A state machine whose allowed transitions are a table. It is used for objects with an
 * asynchronous lifecycle. If a transition is not in the table, the program prints both states and
 * aborts, before the error can corrupt data. The program also aborts if the invariant of the owner
 * is false after a transition. */
#ifndef TRAINYARD_BASE_STATE_MACHINE_H
#define TRAINYARD_BASE_STATE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct state_row {
    const char *name;
    uint64_t next; /* the states that may follow, as a set of STATE_BIT() values */
    bool final;    /* the machine may be released in this state */
};

#define STATE_BIT(state) (UINT64_C(1) << (state))

struct state_machine {
    const char *subject; /* the kind of object, for messages: "http connection" */
    const struct state_row *rows;
    int count;
    int state;
    const char *(*invariant)(const struct state_machine *machine); /* or NULL */
};

void state_machine_init(struct state_machine *machine, const char *subject,
                        const struct state_row *rows, int count, int initial);
/* Sets a function that runs after each transition. It gets the owner of the machine with
 * CONTAINER_OF(). It returns NULL if the owner fits the new state. Otherwise it returns a text that
 * names the broken rule, and the program prints this text and aborts. */
void state_machine_set_invariant(struct state_machine *machine,
                                 const char *(*invariant)(const struct state_machine *machine));
/* Moves to `state`. Aborts if the table does not allow this transition. */
void state_machine_move(struct state_machine *machine, int state);
bool state_machine_may_move(const struct state_machine *machine, int state);
/* Returns the name of the current state. */
const char *state_machine_name(const struct state_machine *machine);
void state_machine_release(struct state_machine *machine); /* aborts unless the state is final */

#endif

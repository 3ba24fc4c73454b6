/* An asynchronous lifecycle as a state machine whose allowed transitions are data. A transition
 * that the table does not allow is a defect: the program aborts and prints both states, before the
 * defect can corrupt anything. The same holds for a transition after which the owner's invariant
 * does not hold. */
#ifndef TRAINYARD_BASE_STATE_MACHINE_H
#define TRAINYARD_BASE_STATE_MACHINE_H

#include <stdbool.h>
#include <stdint.h>

struct state_row {
    const char *name;
    uint64_t next; /* set of the states that may follow, made with STATE_BIT() */
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
/* `invariant` runs after each move. It returns NULL, or the rule that the owner breaks in the new
 * state, in words; the process aborts with them. It finds the owner with CONTAINER_OF(). */
void state_machine_set_invariant(struct state_machine *machine,
                                 const char *(*invariant)(const struct state_machine *machine));
void state_machine_move(struct state_machine *machine, int state);
bool state_machine_may_move(const struct state_machine *machine, int state);
const char *state_machine_name(const struct state_machine *machine);
void state_machine_release(struct state_machine *machine); /* aborts unless the state is final */

#endif

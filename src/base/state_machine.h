/* An asynchronous lifecycle as a state machine whose allowed transitions are data. A transition
 * that the table does not allow is a defect: the program aborts and prints both states, before the
 * defect can corrupt anything. */
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
};

void state_machine_init(struct state_machine *machine, const char *subject,
                        const struct state_row *rows, int count, int initial);
void state_machine_move(struct state_machine *machine, int state);
bool state_machine_may_move(const struct state_machine *machine, int state);
const char *state_machine_name(const struct state_machine *machine);
void state_machine_release(struct state_machine *machine); /* aborts unless the state is final */

#endif

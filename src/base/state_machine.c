/* Checks and performs the transitions of state machines; see state_machine.h. */
#include "base/state_machine.h"

#include "base/mem.h"

enum { STATES_MAX = 64 }; /* state_row.next has one bit per state */

static const char *name_of(const struct state_machine *machine, int state)
{
    return state >= 0 && state < machine->count ? machine->rows[state].name : "unknown";
}

void state_machine_init(struct state_machine *machine, const char *subject,
                        const struct state_row *rows, int count, int initial)
{
    if (count < 1 || count > STATES_MAX || initial < 0 || initial >= count)
        mem_panic("%s: a state machine of %d states that starts in state %d", subject, count,
                  initial);
    *machine =
        (struct state_machine){.subject = subject, .rows = rows, .count = count, .state = initial};
}

void state_machine_set_invariant(struct state_machine *machine,
                                 const char *(*invariant)(const struct state_machine *machine))
{
    machine->invariant = invariant;
}

bool state_machine_may_move(const struct state_machine *machine, int state)
{
    return state >= 0 && state < machine->count &&
           (machine->rows[machine->state].next & STATE_BIT(state)) != 0;
}

void state_machine_move(struct state_machine *machine, int state)
{
    if (!state_machine_may_move(machine, state))
        mem_panic("%s: may not move from '%s' to '%s'", machine->subject,
                  name_of(machine, machine->state), name_of(machine, state));
    const char *before = state_machine_name(machine);
    machine->state = state;
    const char *broken = machine->invariant ? machine->invariant(machine) : NULL;
    if (broken)
        mem_panic("%s: moved from '%s' to '%s', where %s", machine->subject, before,
                  state_machine_name(machine), broken);
}

const char *state_machine_name(const struct state_machine *machine)
{
    return name_of(machine, machine->state);
}

void state_machine_release(struct state_machine *machine)
{
    if (!machine->rows[machine->state].final)
        mem_panic("%s: released while '%s'", machine->subject, state_machine_name(machine));
}

/* Tests that transitions in the table succeed, and that any other aborts. */
#include "base/state_machine.h"

#include "base/mem.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

enum { OPENING, OPEN, CLOSED, STATES };

static const struct state_row ROWS[STATES] = {
    [OPENING] = {.name = "opening", .next = STATE_BIT(OPEN) | STATE_BIT(CLOSED)},
    [OPEN] = {.name = "open", .next = STATE_BIT(CLOSED)},
    [CLOSED] = {.name = "closed", .final = true},
};

static void test_allowed_moves(void **state)
{
    struct state_machine machine;
    state_machine_init(&machine, "door", ROWS, STATES, OPENING);
    assert_string_equal(state_machine_name(&machine), "opening");
    assert_true(state_machine_may_move(&machine, OPEN));
    assert_true(state_machine_may_move(&machine, CLOSED));
    assert_false(state_machine_may_move(&machine, OPENING));
    assert_false(state_machine_may_move(&machine, STATES));
    assert_false(state_machine_may_move(&machine, -1));
    state_machine_move(&machine, OPEN);
    state_machine_move(&machine, CLOSED);
    assert_int_equal(machine.state, CLOSED);
    assert_false(state_machine_may_move(&machine, OPEN));
    state_machine_release(&machine);
}

static void bad_move(void)
{
    struct state_machine machine;
    state_machine_init(&machine, "door", ROWS, STATES, CLOSED);
    state_machine_move(&machine, OPEN);
}

static void bad_release(void)
{
    struct state_machine machine;
    state_machine_init(&machine, "door", ROWS, STATES, OPEN);
    state_machine_release(&machine);
}

static void bad_init(void)
{
    struct state_machine machine;
    state_machine_init(&machine, "door", ROWS, STATES, STATES);
}

struct gate {
    struct state_machine machine;
    bool has_key;
};

static const char *check_gate(const struct state_machine *machine)
{
    const struct gate *gate = CONTAINER_OF(machine, struct gate, machine);
    return machine->state == OPEN && !gate->has_key ? "the key is missing" : NULL;
}

static void test_invariant_holds(void **state)
{
    struct gate gate = {.has_key = true};
    state_machine_init(&gate.machine, "gate", ROWS, STATES, OPENING);
    state_machine_set_invariant(&gate.machine, check_gate);
    state_machine_move(&gate.machine, OPEN);
    gate.has_key = false; /* the invariant is checked only on a move */
    state_machine_move(&gate.machine, CLOSED);
}

static void broken_invariant(void)
{
    struct gate gate = {.has_key = false};
    state_machine_init(&gate.machine, "gate", ROWS, STATES, OPENING);
    state_machine_set_invariant(&gate.machine, check_gate);
    state_machine_move(&gate.machine, OPEN);
}

static void expect_abort(void (*function)(void), const char *message)
{
    int ends[2];
    assert_int_equal(pipe(ends), 0);
    pid_t child = fork();
    if (child == 0) {
        signal(SIGABRT, SIG_DFL);
        dup2(ends[1], STDERR_FILENO);
        function();
        _exit(0);
    }
    close(ends[1]);
    char text[256] = "";
    size_t size = 0;
    for (ssize_t got; (got = read(ends[0], text + size, sizeof(text) - 1 - size)) > 0;)
        size += (size_t)got;
    close(ends[0]);
    int status;
    assert_int_equal(waitpid(child, &status, 0), child);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT);
    assert_string_equal(text, message);
}

static void test_forbidden_moves_abort(void **state)
{
    expect_abort(bad_move, "panic: door: may not move from 'closed' to 'open'\n");
    expect_abort(broken_invariant,
                 "panic: gate: moved from 'opening' to 'open', where the key is missing\n");
    expect_abort(bad_release, "panic: door: released while 'open'\n");
    expect_abort(bad_init, "panic: door: a state machine of 3 states that starts in state 3\n");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_allowed_moves),
        cmocka_unit_test(test_invariant_holds),
        cmocka_unit_test(test_forbidden_moves_abort),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

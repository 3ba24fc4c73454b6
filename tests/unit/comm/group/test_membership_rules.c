/* Tests the rules of the agreement one by one, where the simulation (test_membership.c) would need
 * luck: which task is bound to a proposal and until when, when a leader may propose, and what is
 * remembered. */
#include "comm/group/membership.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { TASKS = 3, P = MEMBERSHIP_PRESENT, G = MEMBERSHIP_GONE, M = MEMBERSHIP_PREVIOUS_MEMBER };

/* The last message that the tested task sent to each other task. */
static enum membership_kind sent[TASKS];
static uint64_t sent_generation[TASKS];
static bool accepted_members[TASKS];
static uint64_t machines[TASKS];

static void note(void *context, int task, const struct membership_message *message)
{
    sent[task] = message->kind;
    sent_generation[task] = message->generation;
}

static struct membership *make_task(int self, uint64_t live)
{
    static const bool ALL[TASKS] = {true, true, true};
    memset(sent, 0, sizeof(sent));
    memset(accepted_members, 0, sizeof(accepted_members));
    const struct membership_options options = {.tasks = TASKS,
                                               .self = self,
                                               .min = 1,
                                               .start = 1,
                                               .live = live,
                                               .previous_members = live ? ALL : NULL,
                                               .accepted_members = accepted_members,
                                               .machine = (uint64_t)self + 1,
                                               .machines = machines,
                                               .send = note};
    for (uint64_t i = 0; i < TASKS; i++)
        machines[i] = i + 1;
    return membership_new(&options);
}

static void receive_message(struct membership *m, int from, enum membership_kind kind,
                            uint64_t generation, uint64_t live, const uint8_t view[TASKS])
{
    uint8_t tasks[TASKS] = {0};
    if (view)
        memcpy(tasks, view, sizeof(tasks));
    const struct membership_message message = {.kind = kind,
                                               .generation = generation,
                                               .live = live,
                                               .machine = (uint64_t)from + 1,
                                               .tasks = tasks};
    membership_receive(m, from, &message);
}

static void a_task_that_accepted_is_bound_until_its_leader_releases_it(void **state)
{
    static const uint8_t TWO[] = {G, P, P}, THREE[] = {P, P, P};
    struct membership *m = make_task(2, 0);
    membership_set_presence(m, 0, MEMBERSHIP_GONE);
    membership_set_presence(m, 1, MEMBERSHIP_PRESENT);
    receive_message(m, 1, MEMBERSHIP_PROPOSE, 100, 0, TWO);
    assert_int_equal(sent[1], MEMBERSHIP_ACCEPT);
    assert_int_equal(sent_generation[1], 100);
    /* The accepted proposal counts from now on. */
    assert_true(!accepted_members[0] && accepted_members[1] && accepted_members[2]);
    membership_set_presence(m, 0, MEMBERSHIP_PRESENT);
    receive_message(m, 0, MEMBERSHIP_PROPOSE, 200, 0, THREE);
    assert_int_not_equal(sent[0], MEMBERSHIP_ACCEPT);
    /* The leader sends its view, and so withdraws its proposal. */
    receive_message(m, 1, MEMBERSHIP_VIEW, 200, 0, THREE);
    receive_message(m, 1, MEMBERSHIP_COMMIT, 100, 0, NULL);
    const bool *list;
    assert_int_equal(membership_decided(m, &list), 0);
    receive_message(m, 0, MEMBERSHIP_PROPOSE, 200, 0, THREE);
    assert_int_equal(sent[0], MEMBERSHIP_ACCEPT);
    assert_true(accepted_members[0]);
    receive_message(m, 1, MEMBERSHIP_COMMIT, 200, 0, NULL); /* not from its leader */
    assert_int_equal(membership_decided(m, &list), 0);
    receive_message(m, 0, MEMBERSHIP_COMMIT, 199, 0, NULL); /* of an earlier proposal */
    assert_int_equal(membership_decided(m, &list), 0);
    receive_message(m, 0, MEMBERSHIP_COMMIT, 200, 0, NULL);
    assert_int_equal(membership_decided(m, &list), 200);
    membership_free(m);
}

static void a_lost_leader_releases_its_proposal(void **state)
{
    static const uint8_t TWO[] = {G, P, P};
    struct membership *m = make_task(2, 0);
    const bool *list;
    membership_set_presence(m, 0, MEMBERSHIP_GONE);
    membership_set_presence(m, 1, MEMBERSHIP_PRESENT);
    receive_message(m, 1, MEMBERSHIP_PROPOSE, 100, 0, TWO);
    assert_int_equal(membership_decided(m, &list), 0);
    membership_set_presence(m, 1, MEMBERSHIP_GONE); /* the task is alone now, which is enough */
    assert_int_not_equal(membership_decided(m, &list), 0);
    assert_true(!list[0] && !list[1] && list[2]);
    membership_free(m);
}

static void a_leader_proposes_when_all_views_agree(void **state)
{
    static const uint8_t ALL[] = {P, P, P}, LESS[] = {P, MEMBERSHIP_UNKNOWN, P};
    struct membership *m = make_task(0, 0);
    membership_set_presence(m, 1, MEMBERSHIP_PRESENT);
    membership_set_presence(m, 2, MEMBERSHIP_PRESENT);
    receive_message(m, 1, MEMBERSHIP_VIEW, 0, 0, ALL);
    assert_int_not_equal(sent[1], MEMBERSHIP_PROPOSE); /* the view of task 2 has not arrived */
    receive_message(m, 2, MEMBERSHIP_VIEW, 0, 0, LESS);
    assert_int_not_equal(sent[1], MEMBERSHIP_PROPOSE);
    receive_message(m, 2, MEMBERSHIP_VIEW, 0, 0, ALL);
    assert_int_equal(sent[1], MEMBERSHIP_PROPOSE);
    assert_int_equal(sent[2], MEMBERSHIP_PROPOSE);
    assert_true(accepted_members[0] && accepted_members[1] && accepted_members[2]);
    /* After its restart, task 2 has not sent a view. */
    membership_set_presence(m, 2, MEMBERSHIP_GONE);
    membership_set_presence(m, 2, MEMBERSHIP_PRESENT);
    receive_message(m, 1, MEMBERSHIP_VIEW, 0, 0, LESS);
    receive_message(m, 1, MEMBERSHIP_VIEW, 0, 0, ALL);
    assert_int_not_equal(sent[1], MEMBERSHIP_PROPOSE);
    receive_message(m, 2, MEMBERSHIP_VIEW, 0, 0, ALL);
    assert_int_equal(sent[1], MEMBERSHIP_PROPOSE);
    const bool *list;
    receive_message(m, 1, MEMBERSHIP_ACCEPT, sent_generation[1], 0, NULL);
    assert_int_equal(membership_decided(m, &list), 0);
    receive_message(m, 2, MEMBERSHIP_ACCEPT, sent_generation[2], 0, NULL);
    assert_int_not_equal(membership_decided(m, &list), 0);
    membership_free(m);
}

/* The part that may not continue is left behind. A second task that was left behind does not make
 * it a majority, because others may have joined the first part. A task that was not left behind
 * does make it one. */
static void two_tasks_that_were_left_behind_are_no_majority(void **state)
{
    static const uint8_t BEHIND[] = {P | M, P, MEMBERSHIP_SILENT | M},
                         AT_WORK[] = {P | M, P | M, MEMBERSHIP_SILENT | M};
    struct membership *m = make_task(0, 7);
    membership_set_presence(m, 1, MEMBERSHIP_SILENT);
    assert_false(membership_left_behind(m));
    membership_set_presence(m, 2, MEMBERSHIP_SILENT);
    assert_true(membership_left_behind(m));
    membership_set_presence(m, 1, MEMBERSHIP_PRESENT);
    receive_message(m, 1, MEMBERSHIP_VIEW, 0, 7, BEHIND);
    assert_non_null(membership_obstacle(m));
    receive_message(m, 1, MEMBERSHIP_VIEW, 0, 7, AT_WORK);
    assert_null(membership_obstacle(m));
    assert_int_equal(sent[1], MEMBERSHIP_PROPOSE);
    membership_free(m);

    m = make_task(0, 7);
    membership_note_absence(m);
    assert_true(membership_left_behind(m));
    membership_free(m);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_task_that_accepted_is_bound_until_its_leader_releases_it),
        cmocka_unit_test(a_lost_leader_releases_its_proposal),
        cmocka_unit_test(a_leader_proposes_when_all_views_agree),
        cmocka_unit_test(two_tasks_that_were_left_behind_are_no_majority),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

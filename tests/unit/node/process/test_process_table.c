/* Tests the process table as read from /proc, and which process descends from which. */
#include "node_test.h"

#include "node/process/table.h"

#include "base/mem.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

static void stat_lines_are_parsed(void **state)
{
    struct process_entry entry;
    assert_true(process_entry_parse(
        "7 (a ) b) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 700 8000 20 0 1 0 99 9 9", &entry));
    assert_int_equal(entry.pid, 7);
    assert_int_equal(entry.parent, 1);
    assert_int_equal(entry.born, 99);
    assert_int_equal(entry.ticks, 8756);
    assert_false(entry.is_dead);
    /* A zombie whose last thread has ended. */
    assert_true(process_entry_parse(
        "7 (a) Z 1 7 7 0 -1 4194560 1 2 3 4 50 6 700 8000 20 0 1 0 99 9 9", &entry));
    assert_true(entry.is_dead);
    assert_true(process_entry_parse(
        "7 (a) Z 1 7 7 0 -1 4194560 1 2 3 4 50 6 700 8000 20 0 2 0 99 9 9", &entry));
    assert_false(entry.is_dead);
    static const char *const BROKEN[] = {
        "", "7 (a", "x (a) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 700 8000 20 0 1 0 99",
        "7 (a) S 1 7 7 0 -1 4194560 1 2 3 4 50 6 7"};
    for (size_t i = 0; i < ARRAY_SIZE(BROKEN); i++)
        assert_false(process_entry_parse(BROKEN[i], &entry));
}

static void ancestor_search_terminates(void **state)
{
    /* 2 is above 3 and 4. 8 and 9 are each other's parent, as reused PIDs can look. */
    struct process_entry all[] = {{.pid = 2, .parent = 1},
                                  {.pid = 3, .parent = 2},
                                  {.pid = 4, .parent = 3},
                                  {.pid = 8, .parent = 9},
                                  {.pid = 9, .parent = 8}};
    const struct process_table table = {.all = {all, ARRAY_SIZE(all), ARRAY_SIZE(all)}};
    const pid_t of_two[] = {77, 2}, of_one[] = {1};
    assert_ptr_equal(process_table_find(&table, 4), &all[2]);
    assert_null(process_table_find(&table, 5));
    assert_ptr_equal(process_table_climb(&table, &all[2], of_two, 2), &all[1]);
    assert_ptr_equal(process_table_climb(&table, &all[1], of_two, 2), &all[1]);
    assert_ptr_equal(process_table_climb(&table, &all[2], of_one, 1), &all[0]);
    assert_null(process_table_climb(&table, &all[0], of_two, 2));
    assert_null(process_table_climb(&table, &all[3], of_one, 1));
    const struct process_table empty = {0};
    assert_null(process_table_find(&empty, 1));
}

static void processes_of_the_machine_are_read(void **state)
{
    const pid_t self = getpid();
    pid_t child = fork();
    if (child == 0)
        _exit(0);
    assert_int_equal(waitid(P_PID, (id_t)child, &(siginfo_t){0}, WEXITED | WNOWAIT), 0);
    struct process_table table;
    process_table_read(&table);
    const struct process_entry *own = process_table_find(&table, self);
    const struct process_entry *dead = process_table_find(&table, child);
    assert_non_null(own);
    assert_int_equal(own->parent, getppid());
    assert_non_null(dead);
    assert_true(dead->is_dead);
    assert_ptr_equal(process_table_climb(&table, dead, &self, 1), dead);
    process_table_release(&table);
    waitpid(child, NULL, 0);
    struct process_entry gone;
    assert_false(process_entry_read(child, &gone));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(stat_lines_are_parsed),
        cmocka_unit_test(ancestor_search_terminates),
        cmocka_unit_test(processes_of_the_machine_are_read),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

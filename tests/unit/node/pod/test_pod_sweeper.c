/* Tests that the pool removes the files of deleted pods in batches. Files that a freed sweeper has
 * not begun with stay until the next start. */
#include "node_test.h"

#include "loop/sim/sim_loop.h"
#include "node/pod/sweeper.h"
#include "scratch_directory.h"

static const char *in_scratch(struct arena *arena, const char *name, int number)
{
    return arena_printf(arena, "%s/%s/pod-%d", directory, name, number);
}

static void make_pod(struct arena *arena, int number)
{
    struct err err = ERR_INIT;
    const char *pod = in_scratch(arena, "pods", number);
    assert_int_equal(file_make_dirs(arena_printf(arena, "%s/volumes/a", pod), 0755, &err), 0);
    assert_int_equal(file_replace(arena_printf(arena, "%s/state", pod), "x", 1, 0600, &err), 0);
    assert_int_equal(file_make_dirs(in_scratch(arena, "handouts", number), 0755, &err), 0);
}

static void add_pods(struct arena *arena, struct pod_sweeper *sweeper, int from, int to)
{
    for (int i = from; i < to; i++) {
        make_pod(arena, i);
        pod_sweeper_add(sweeper, arena_printf(arena, "pod-%d", i), in_scratch(arena, "pods", i),
                        i % 2 ? POD_REMAINS_FILES : POD_REMAINS_PROCESSES);
    }
}

static int count_left(struct arena *arena, int from, int to)
{
    int count = 0;
    for (int i = from; i < to; i++) {
        count += file_exists(in_scratch(arena, "pods", i));
        assert_int_equal(file_exists(in_scratch(arena, "handouts", i)),
                         file_exists(in_scratch(arena, "pods", i)));
    }
    return count;
}

static void files_are_removed_later_in_batches(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct loop *loop = sim_loop_new(1, 0);
    const char *handouts = arena_printf(arena, "%s/handouts", directory);
    struct pod_sweeper *sweeper = pod_sweeper_new(loop, handouts, false);
    add_pods(arena, sweeper, 0, 100);
    assert_int_equal(count_left(arena, 0, 100), 100);
    make_pod(arena, 100); /* not added to the sweeper */
    sim_loop_run_for(loop, 1000);
    assert_int_equal(count_left(arena, 0, 100), 0);
    assert_int_equal(count_left(arena, 100, 101), 1);
    pod_sweeper_free(sweeper);
    loop_free(loop);
}

static void freed_sweeper_finishes_only_its_batch(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct loop *loop = sim_loop_new(1, 0);
    const char *handouts = arena_printf(arena, "%s/handouts", directory);
    struct pod_sweeper *sweeper = pod_sweeper_new(loop, handouts, false);
    pod_sweeper_free(sweeper); /* without any work */
    sweeper = pod_sweeper_new(loop, handouts, false);
    add_pods(arena, sweeper, 200, 300);
    pod_sweeper_free(sweeper);
    sim_loop_run_for(loop, 1000);
    /* The first batch had only the first pod, which was alone in the queue. */
    assert_int_equal(count_left(arena, 200, 300), 99);
    assert_false(file_exists(in_scratch(arena, "pods", 200)));
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(files_are_removed_later_in_batches),
        cmocka_unit_test(freed_sweeper_finishes_only_its_batch),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

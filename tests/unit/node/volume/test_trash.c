/* Tests that the trash removes everything: also directories that arrive meanwhile, and those that
 * an earlier server left. */
#include "node_test.h"

#include "loop/sim/sim_loop.h"
#include "node/volume/trash.h"
#include "scratch_directory.h"

static const char *in_scratch(struct arena *arena, const char *name)
{
    return arena_printf(arena, "%s/%s", directory, name);
}

static void make_dirs(struct arena *arena, const char *name)
{
    struct err err = ERR_INIT;
    assert_int_equal(file_make_dirs(in_scratch(arena, name), 0755, &err), 0);
}

static void trash_removes_all_directories(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct loop *loop = sim_loop_new(1, 0);
    make_dirs(arena, "volumes/.deleted/left/deep");
    make_dirs(arena, "volumes/n/a/deep");
    make_dirs(arena, "volumes/n/b/deep");
    /* Begins with the directories that were left. */
    struct trash *trash = trash_new(loop, directory);
    assert_true(trash_throw(trash, in_scratch(arena, "volumes/n/a"), "a"));
    assert_true(trash_throw(trash, in_scratch(arena, "volumes/n/b"), "b"));
    assert_false(trash_throw(trash, in_scratch(arena, "volumes/n/a"), "again"));
    assert_false(file_exists(in_scratch(arena, "volumes/n/a")));
    sim_loop_run_for(loop, 1000);
    assert_true(file_exists(in_scratch(arena, "volumes/.deleted")));
    for (int i = 0; i < 3; i++) {
        const char *const names[] = {"left", "a", "b"};
        const char *path = arena_printf(arena, "%s/volumes/.deleted/%s", directory, names[i]);
        if (file_exists(path))
            fail_msg("%s is still there", path);
    }
    /* The trash is freed during a removal. */
    make_dirs(arena, "volumes/n/c/deep");
    assert_true(trash_throw(trash, in_scratch(arena, "volumes/n/c"), "c"));
    trash_free(trash);
    sim_loop_run_for(loop, 1000);
    assert_false(file_exists(in_scratch(arena, "volumes/.deleted/c")));
    loop_free(loop);
}

/* A claim with this name stays if its data cannot be moved, and no caller waits for that. */
static void unmovable_directory_stays(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct loop *loop = sim_loop_new(1, 0);
    make_dirs(arena, "full/volumes/n/a");
    assert_int_equal(file_replace(in_scratch(arena, "full/volumes/.deleted"), "", 0, 0600, NULL),
                     0);
    struct trash *trash = trash_new(loop, in_scratch(arena, "full"));
    assert_false(trash_throw(trash, in_scratch(arena, "full/volumes/n/a"), "a"));
    assert_true(file_exists(in_scratch(arena, "full/volumes/n/a")));
    sim_loop_run_for(loop, 1000);
    trash_free(trash);
    loop_free(loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(trash_removes_all_directories),
        cmocka_unit_test(unmovable_directory_stays),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

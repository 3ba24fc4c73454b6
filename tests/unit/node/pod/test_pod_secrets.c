/* Tests the list of files that contain secrets of the cluster. */
#include "node/pod/secrets.h"

#include "base/system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

struct world {
    struct arena *arena;
    char root[64];
    const char *list;
};

static int set_up(void **state)
{
    static struct world world;
    world = (struct world){.arena = arena_new(), .root = "/tmp/trainyard-secrets.XXXXXX"};
    assert_non_null(mkdtemp(world.root));
    world.list = arena_printf(world.arena, "%s/secrets", world.root);
    *state = &world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    file_remove_tree(world->root, NULL);
    arena_free(world->arena);
    return 0;
}

static void a_missing_list_is_empty(void **state)
{
    struct world *world = *state;
    struct pod_strings paths = {0};
    struct err err = ERR_INIT;
    assert_int_equal(pod_secrets_load(world->arena, world->list, &paths, &err), 0);
    assert_int_equal(paths.count, 0);
}

static void paths_are_kept_once_and_in_order(void **state)
{
    static const char *const ADDED[] = {"/home/me/mine", "/a path/with\nlines\\", "/home/me/mine"};
    struct world *world = *state;
    struct pod_strings paths = {0};
    struct err err = ERR_INIT;
    struct stat info;
    for (size_t i = 0; i < 3; i++)
        assert_int_equal(pod_secrets_add(world->list, ADDED[i], &err), 0);
    assert_int_equal(pod_secrets_load(world->arena, world->list, &paths, &err), 0);
    assert_int_equal(paths.count, 2);
    assert_string_equal(paths.items[0], ADDED[0]);
    assert_string_equal(paths.items[1], ADDED[1]);
    assert_int_equal(stat(world->list, &info), 0);
    assert_int_equal(info.st_mode & 0777, 0600);
}

static void full_list_drops_deleted_files(void **state)
{
    struct world *world = *state;
    struct pod_strings paths = {0};
    struct err err = ERR_INIT;
    assert_int_equal(pod_secrets_add(world->list, world->root, &err), 0);
    for (int i = 1; i < 256; i++)
        assert_int_equal(
            pod_secrets_add(world->list, arena_printf(world->arena, "/gone/%d", i), &err), 0);
    assert_int_equal(pod_secrets_load(world->arena, world->list, &paths, &err), 0);
    assert_int_equal(paths.count, 256);
    assert_int_equal(pod_secrets_add(world->list, "/dev/null", &err), 0);
    paths = (struct pod_strings){0};
    assert_int_equal(pod_secrets_load(world->arena, world->list, &paths, &err), 0);
    assert_int_equal(paths.count, 2);
    assert_string_equal(paths.items[0], world->root);
    assert_string_equal(paths.items[1], "/dev/null");
}

/* No container may start without the list of files to hide. */
static void damaged_list_is_rejected(void **state)
{
    struct world *world = *state;
    struct pod_strings paths = {0};
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(world->list, "nonsense\n", 9, 0600, &err), 0);
    assert_true(pod_secrets_load(world->arena, world->list, &paths, &err) < 0);
    assert_non_null(strstr(err.message, world->list));
    assert_true(pod_secrets_add(world->list, "/x", &err) < 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(a_missing_list_is_empty),
        TEST(paths_are_kept_once_and_in_order),
        TEST(full_list_drops_deleted_files),
        TEST(damaged_list_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Images are names for commands: built in, added, removed, unknown. */
#include "node_test.h"

#include "base/file.h"
#include "node/image_table.h"
#include "node/node.h"

#include <stdlib.h>

static char directory[] = "/tmp/trainyard-images.XXXXXX";

static int lookup(struct arena *arena, const char *image, struct pod_strings *ret, struct err *err)
{
    struct json *table;
    *ret = (struct pod_strings){0};
    assert_int_equal(image_table_load(arena, directory, &table, err), 0);
    return image_table_lookup(arena, table, image, ret, err);
}

static void built_in(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char *const NAMES[] = {"trainyard/trainer", "trainyard/trainer:latest",
                                        "docker.io/trainyard/trainer",
                                        "trainyard/trainer:v1@sha256:00"};
    struct pod_strings command;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        if (lookup(arena, NAMES[i], &command, &err) < 0)
            fail_msg("%s: %s", NAMES[i], err.message);
        assert_string_equal(command.items[0], IMAGE_TRAINER_PATH);
    }
    assert_int_equal(lookup(arena, "trainyard/tools", &command, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "give the container a command"));
}

static void unknown_ones_come_with_advice(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_strings command;
    struct err err = ERR_INIT;
    assert_int_equal(lookup(arena, "registry:5000/x/y:1", &command, &err), -ERR_NOT_FOUND);
    assert_string_equal(err.message,
                        "image 'registry:5000/x/y:1' is not known here: run 'trainyard image add "
                        "registry:5000/x/y -- COMMAND' or give the container a command");
}

static void added_ones(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *const python[] = {"/usr/bin/python3", "train.py", NULL};
    const char *const none[] = {NULL};
    struct pod_strings command;
    struct err err = ERR_INIT;
    assert_int_equal(node_image_add(directory, "tf/tf", python, &err), 0);
    assert_int_equal(lookup(arena, "tf/tf:2.1", &command, &err), 0);
    assert_int_equal(command.count, 2);
    assert_string_equal(command.items[1], "train.py");
    assert_int_equal(node_image_add(directory, "tf/tf", none, &err), -ERR_INVALID);
    assert_int_equal(node_image_add(directory, "", python, &err), -ERR_INVALID);
    assert_int_equal(node_image_add(directory, "a b", python, &err), -ERR_INVALID);
    assert_int_equal(node_image_remove(directory, "tf/tf", &err), 0);
    assert_int_equal(node_image_remove(directory, "tf/tf", &err), -ERR_NOT_FOUND);
    assert_int_equal(lookup(arena, "tf/tf", &command, &err), -ERR_NOT_FOUND);
}

static void a_broken_table_is_named(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *path = arena_printf(arena, "%s/images.json", directory);
    struct json *table;
    struct err err = ERR_INIT;
    assert_int_equal(file_write_atomic(path, "[]", 2, 0600, &err), 0);
    assert_int_equal(image_table_load(arena, directory, &table, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in),
        cmocka_unit_test(unknown_ones_come_with_advice),
        cmocka_unit_test(added_ones),
        cmocka_unit_test(a_broken_table_is_named),
    };
    if (!mkdtemp(directory))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(directory, NULL);
    return failed;
}

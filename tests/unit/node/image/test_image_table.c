/* Tests the table of images: built-in, added, removed and unknown ones, and the users of their
 * files. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/image/table.h"
#include "node/image/tmp_program.h"
#include "node/image/user.h"
#include "node/node.h"

#include <stdlib.h>
#include <unistd.h>

static char directory[] = "/tmp/trainyard-images.XXXXXX";

static bool find(struct arena *arena, const char *name, struct image *ret)
{
    struct json *table;
    assert_int_equal(image_table_load(arena, directory, &table, NULL), 0);
    return image_table_find(arena, directory, table, name, ret);
}

static void write_text(struct arena *arena, const char *name, const char *text)
{
    file_write_atomic(arena_printf(arena, "%s/%s", directory, name), text, strlen(text), 0644,
                      NULL);
}

static int add(const char *name, const char *program)
{
    const struct node_image image = {.state_dir = directory,
                                     .name = name,
                                     .command = (const char *const[]){program, "train.py"},
                                     .command_count = program ? 2 : 0};
    return node_image_add(&image, NULL);
}

static void built_in_images_are_found(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const char *const NAMES[] = {"trainyard/trainer", "trainyard/trainer:latest",
                                        "docker.io/trainyard/trainer",
                                        ("trainyard/trainer:v1@sha256:"
                                         "00000000000000000000000000000000")};
    struct image image;
    struct err err = ERR_INIT;
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        assert_true(find(arena, NAMES[i], &image));
        assert_string_equal(image.command.items[0], IMAGE_TRAINER_PATH);
        assert_null(image.root);
    }
    assert_true(find(arena, "trainyard/tools", &image));
    assert_int_equal(image.command.count, 0);
    assert_int_equal(image_table_advise(arena, "trainyard/tools", "", &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "give the container a command"));
}

static void unknown_images_are_reported_with_advice(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct image image;
    struct err err = ERR_INIT;
    assert_false(find(arena, "registry:5000/x/y:1", &image));
    assert_int_equal(image_table_advise(arena, "registry:5000/x/y:1", "Always", &err),
                     -ERR_NOT_FOUND);
    assert_string_equal(
        err.message,
        "image 'registry:5000/x/y:1' is not present on this machine, and images are never pulled "
        "(imagePullPolicy Always): run 'trainyard image add registry:5000/x/y -- COMMAND' to map "
        "it to a program of this machine, 'trainyard image import FILE.tar' to import a saved "
        "image, or give the container a command");
}

static void images_are_added_and_removed(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct image image;
    assert_int_equal(add("docker.io/tf/tf", "/usr/bin/python3"), 0);
    assert_int_equal(add("tf/tf:2", "/usr/bin/python2"), 0);
    assert_true(find(arena, "tf/tf:2.1", &image));
    assert_int_equal(image.command.count, 2);
    assert_string_equal(image.command.items[0], "/usr/bin/python3");
    assert_true(find(arena, "tf/tf:2", &image));
    assert_string_equal(image.command.items[0], "/usr/bin/python2");
    assert_int_equal(add("tf/tf", NULL), -ERR_INVALID);
    assert_int_equal(add("", "/x"), -ERR_INVALID);
    assert_int_equal(add("a b", "/x"), -ERR_INVALID);
    assert_int_equal(node_image_remove(directory, "tf/tf", NULL), 0);
    assert_int_equal(node_image_remove(directory, "tf/tf", NULL), -ERR_NOT_FOUND);
    assert_int_equal(node_image_remove(directory, "tf/tf:2", NULL), 0);
    assert_false(find(arena, "tf/tf", &image));
}

static void rows_of_earlier_versions_are_read(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct image image;
    struct json *list;
    write_text(arena, "images.json", "{\"old/one\": [\"/bin/old\", \"-x\"]}");
    assert_true(find(arena, "old/one:1", &image));
    assert_string_equal(image.command.items[1], "-x");
    assert_int_equal(node_image_list(arena, directory, &list, NULL), 0);
    assert_string_equal(json_to_string(arena, list),
                        "[{\"name\":\"old/one\",\"command\":[\"/bin/old\",\"-x\"]}]");
    assert_int_equal(add("new", "/bin/new"), 0); /* the old rows stay when others are added */
    assert_true(find(arena, "old/one", &image));
    assert_int_equal(node_image_remove(directory, "old/one", NULL), 0);
    assert_int_equal(node_image_remove(directory, "new", NULL), 0);
}

static void rows_with_all_fields_are_read(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *root = arena_printf(arena, "%s/a-root", directory);
    const char *const env[] = {"A=1", "B=x=y"}, *const wrong[] = {"=1"};
    struct node_image image = {.state_dir = directory,
                               .name = "rooted",
                               .env = env,
                               .env_count = 2,
                               .rootfs = root,
                               .workdir = "/w"};
    struct image found;
    struct err err = ERR_INIT;
    assert_true(node_image_add(&image, &err) < 0); /* the directory does not exist */
    file_make_dirs(root, 0755, NULL);
    assert_int_equal(node_image_add(&image, NULL), 0);
    assert_true(find(arena, "rooted", &found));
    assert_string_equal(found.root, root);
    assert_string_equal(found.directory, "/w");
    assert_string_equal(found.environment.items[1], "B=x=y");
    assert_int_equal(found.command.count, 0);
    image.env = wrong;
    image.env_count = 1;
    assert_int_equal(node_image_add(&image, NULL), -ERR_INVALID);
    image.env_count = 0;
    image.workdir = "w";
    assert_int_equal(node_image_add(&image, NULL), -ERR_INVALID);
    image.workdir = NULL;
    image.rootfs = "/";
    assert_int_equal(node_image_add(&image, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "holds this cluster's state"));
    assert_int_equal(node_image_remove(directory, "rooted", NULL), 0);
    assert_true(file_exists(root)); /* the directory belongs to the user */
}

static void programs_outside_of_pods_are_rejected(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const struct {
        const char *program, *part; /* NULL: accepted */
    } CASES[] = {
        {"/bin/sh", NULL},
        {"sh", NULL},
        {"trainer", NULL},
        {"nosuchprogram", "no program 'nosuchprogram' in the PATH of pods"},
        {"python3 train.py", "the whole command 'python3 train.py' is one word"},
        {"./sh", "begins with '/'"},
        {"/tmp/missing/x", "'/tmp/missing/x' does not exist"},
        {"/tmpx", "'/tmpx' does not exist"},
        {"/proc/self/exe", "'/proc' of their own"},
        {"/state/x", "do not see '/state'"},
        {"/root/x", "do not see '/root'"},
        {"/home/me/.ssh/x", "do not see '/home/me/.ssh'"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        const struct node_image image = {
            .state_dir = "/state", .command = &CASES[i].program, .command_count = 1};
        const char *said = node_image_warning(arena, &image, "/home/me");
        if (!CASES[i].part)
            assert_null(said);
        else if (!said || !strstr(said, CASES[i].part))
            fail_msg("%s: %s", CASES[i].program, said ? said : "nothing");
    }
}

/* A program below /tmp and its script are mounted into pods. Other files there are not. */
static void programs_below_tmp_are_mounted(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char scratch[] = "/tmp/trainyard-unit.XXXXXX";
    assert_non_null(mkdtemp(scratch));
    const char *program = arena_printf(arena, "%s/program", scratch);
    const char *script = arena_printf(arena, "%s/train.py", scratch);
    const char *data = arena_printf(arena, "%s/data", scratch);
    const char *const files[] = {program, script, data};
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        assert_int_equal(file_write_atomic(files[i], "x", 1, i == 0 ? 0755 : 0644, NULL), 0);

    assert_string_equal(image_tmp_program_entry(arena, program, 0), scratch);
    /* The file may be a program. */
    assert_string_equal(image_tmp_program_entry(arena, data, 0), scratch);
    assert_string_equal(image_tmp_program_entry(arena, script, 1), scratch);
    assert_string_equal(image_tmp_program_entry(arena, program, 2), scratch);
    assert_null(image_tmp_program_entry(arena, data, 1));
    assert_null(image_tmp_program_entry(arena, scratch, 0)); /* a directory */
    assert_null(image_tmp_program_entry(arena, arena_printf(arena, "%s/none", scratch), 0));
    assert_null(image_tmp_program_entry(arena, "/bin/sh", 0));
    assert_null(image_tmp_program_entry(arena, "/tmp/", 0));
    assert_null(image_tmp_program_entry(arena, arena_printf(arena, "/tmp/..%s", program), 0));

    const char *const commands[][2] = {{program, script}, {"sh", script}, {"sh", data}};
    for (size_t i = 0; i < ARRAY_SIZE(commands); i++) {
        const struct node_image image = {
            .state_dir = "/state", .command = commands[i], .command_count = 2};
        const char *said = node_image_warning(arena, &image, "/home/me");
        if (i < 2)
            assert_null(said);
        else
            assert_non_null(strstr(said, "pods have a '/tmp' of their own and will not find"));
    }
    const char *const lost[] = {"sh", arena_printf(arena, "%s/lost.py", scratch)};
    const struct node_image missing = {.state_dir = "/state", .command = lost, .command_count = 2};
    assert_non_null(
        strstr(node_image_warning(arena, &missing, "/home/me"), "/lost.py' does not exist"));
    const char *const shares[] = {"/opt", scratch, NULL};
    const struct node_image shared = {
        .state_dir = "/state", .command = commands[2], .command_count = 2, .shares = shares};
    assert_null(node_image_warning(arena, &shared, "/home/me"));
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        unlink(files[i]);
    rmdir(scratch);
}

static void users_of_images_are_resolved(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    static const struct {
        const char *text;
        int64_t user, group;
        const char *home; /* NULL: rejected */
    } CASES[] = {
        {"", 0, 0, "/root"},
        {"app", 1234, 567, "/home/app"},
        {"1234", 1234, 567, "/home/app"},
        {"77", 77, 0, "/"},
        {"app:staff", 1234, 50, "/home/app"},
        {"77:88", 77, 88, "/"},
        {"app:", 1234, 567, "/home/app"},
        {"nobody", 0, 0, NULL},
        {"app:nobody", 0, 0, NULL},
        {"-1", 0, 0, NULL},
        {"99999999999", 0, 0, NULL},
    };
    struct image_user user;
    file_make_dirs(arena_printf(arena, "%s/etc", directory), 0755, NULL);
    write_text(arena, "etc/passwd",
               "broken\n::\nroot:x:0:0:root:/root:/bin/sh\napp:x:1234:567::/home/app:/bin/sh");
    write_text(arena, "etc/group", "staff:x:50:\n");
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        int result = image_user_find(arena, directory, CASES[i].text, &user, NULL);
        assert_int_equal(result, CASES[i].home ? 0 : -ERR_INVALID);
        if (result < 0)
            continue;
        assert_int_equal(user.user, CASES[i].user);
        assert_int_equal(user.group, CASES[i].group);
        assert_string_equal(user.home, CASES[i].home);
    }
    /* A link in the image must not lead to a file of the machine. */
    char *passwd = arena_printf(arena, "%s/etc/passwd", directory);
    unlink(passwd);
    assert_int_equal(symlink("/etc/passwd", passwd), 0);
    assert_int_equal(image_user_find(arena, directory, "daemon", &user, NULL), -ERR_INVALID);
}

static void damaged_table_is_named_in_the_error(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    char *path = arena_printf(arena, "%s/images.json", directory);
    struct json *table;
    struct err err = ERR_INIT;
    write_text(arena, "images.json", "[]");
    assert_int_equal(image_table_load(arena, directory, &table, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, path));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(built_in_images_are_found),
        cmocka_unit_test(unknown_images_are_reported_with_advice),
        cmocka_unit_test(images_are_added_and_removed),
        cmocka_unit_test(rows_of_earlier_versions_are_read),
        cmocka_unit_test(rows_with_all_fields_are_read),
        cmocka_unit_test(programs_outside_of_pods_are_rejected),
        cmocka_unit_test(programs_below_tmp_are_mounted),
        cmocka_unit_test(users_of_images_are_resolved),
        cmocka_unit_test(damaged_table_is_named_in_the_error),
    };
    if (!mkdtemp(directory))
        return 1;
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(directory, NULL);
    return failed;
}

/* Tests layers over layers, and archives that try to write outside of their root. The root is in a
 * scratch directory, beside files that must not change. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/image/unpack.h"
#include "tar_write.h"

#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

enum { ARCHIVE_MAX = 16 * 1024 * 1024, ENTRIES_MAX = 1000 };

static char scratch[] = "/tmp/trainyard-unpack.XXXXXX";
static char *root, *outside;
static int root_fd;
static struct image_unpack *unpack;
static struct tar_memory layer;

static char *path_of(const char *directory, const char *name)
{
    static char *paths[4];
    static size_t next;
    free(paths[next % 4]);
    paths[next % 4] = mem_printf("%s/%s", directory, name);
    return paths[next++ % 4];
}

static int set_up(void **state)
{
    file_make_dirs(root, 0755, NULL);
    file_make_dirs(outside, 0755, NULL);
    file_write_atomic(path_of(outside, "secret"), "secret", 6, 0600, NULL);
    root_fd = open(root, O_RDONLY | O_DIRECTORY);
    unpack = image_unpack_new(root_fd, ENTRIES_MAX);
    layer = (struct tar_memory){0};
    buf_init(&layer.buf, ARCHIVE_MAX);
    return 0;
}

static int tear_down(void **state)
{
    struct err err = ERR_INIT;
    unpack = image_unpack_free(unpack);
    close(root_fd);
    buf_release(&layer.buf);
    if (file_remove_tree(root, &err) < 0)
        fail_msg("%s", err.message);
    return file_remove_tree(outside, NULL);
}

/* Applies the layer that was written so far, and begins an empty one. */
static int apply(struct err *err)
{
    tar_end(&layer.buf);
    int result = image_unpack_layer(unpack, tar_memory_source(&layer), err);
    buf_clear(&layer.buf);
    return result;
}

static void must_apply(void)
{
    struct err err = ERR_INIT;
    if (apply(&err) < 0)
        fail_msg("%s", err.message);
}

static void expect_file(const char *name, const char *content)
{
    _cleanup_buf_ struct buf text;
    struct err err = ERR_INIT;
    buf_init(&text, 1000);
    if (file_read(path_of(root, name), &text, &err) < 0)
        fail_msg("%s", err.message);
    assert_string_equal(text.data, content);
}

static void expect_gone(const char *name)
{
    struct stat info;
    if (lstat(path_of(root, name), &info) == 0)
        fail_msg("%s is there", name);
}

/* Checks that nothing was created beside the root, and that the files there are unchanged. */
static void expect_untouched(void)
{
    _cleanup_buf_ struct buf text;
    struct stat info;
    buf_init(&text, 1000);
    assert_int_equal(file_read(path_of(outside, "secret"), &text, NULL), 0);
    assert_string_equal(text.data, "secret");
    assert_int_equal(stat(path_of(outside, "secret"), &info), 0);
    assert_int_equal(info.st_nlink, 1);
    assert_int_equal(info.st_mode & 0777, 0600);
    assert_int_equal(stat(outside, &info), 0);
    assert_int_equal(info.st_nlink, 2);
    assert_false(file_exists(path_of(outside, "new")));
    assert_false(file_exists(path_of(scratch, "new")));
}

static void later_layers_delete_files(void **state)
{
    struct buf *tar = &layer.buf;
    tar_put(tar, '5', "./", "");
    tar_put(tar, '5', "./etc/", "");
    tar_put(tar, '0', "./etc/one", "1");
    tar_put(tar, '0', "etc/two", "2");
    tar_put(tar, '0', "deep/er/file", "deep");
    tar_put(tar, '0', "opaque/old", "old");
    tar_put(tar, '0', "opaque/both/old", "old");
    tar_put(tar, '0', "becomes-dir", "x");
    tar_put(tar, '0', "becomes-file/x", "x");
    tar_put(tar, '0', "stays", "first");
    must_apply();
    expect_file("etc/one", "1");
    tar_put(tar, '0', "etc/.wh.one", "");
    tar_put(tar, '0', ".wh.deep", "");
    tar_put(tar, '0', "etc/.wh.missing", "");
    tar_put(tar, '0', "opaque/both/new", "new");
    tar_put(tar, '0', "opaque/.wh..wh..opq", ""); /* also applies after entries of the same layer */
    tar_put(tar, '0', "opaque/new", "new");
    tar_put(tar, '5', "becomes-dir", "");
    tar_put(tar, '0', "becomes-dir/inner", "in");
    tar_put(tar, '0', "becomes-file", "file");
    tar_put(tar, '0', "stays", "second");
    tar_put(tar, '0', ".wh.stays", ""); /* hides files of lower layers, not of the same layer */
    tar_put(tar, '0', ".wh..wh.plnk/1.2", "");
    must_apply();
    expect_gone("etc/one");
    expect_file("etc/two", "2");
    expect_gone("deep");
    expect_gone("opaque/old");
    expect_gone("opaque/both/old");
    expect_file("opaque/both/new", "new");
    expect_file("opaque/new", "new");
    expect_file("becomes-dir/inner", "in");
    expect_file("becomes-file", "file");
    expect_file("stays", "second");
}

static void links_inside_the_root_are_followed(void **state)
{
    struct buf *tar = &layer.buf;
    tar_put(tar, '5', "usr/lib", "");
    tar_put(tar, '2', "lib", "usr/lib");
    tar_put(tar, '2', "abs", "/usr/lib");
    must_apply();
    tar_put(tar, '0', "lib/a", "a"); /* as on a machine where /lib is a link to /usr/lib */
    tar_put(tar, '0', "abs/b", "b");
    tar_put(tar, '1', "hard", "abs/b");
    tar_put(tar, '1', "to-link", "lib");
    must_apply();
    expect_file("usr/lib/a", "a");
    expect_file("usr/lib/b", "b");
    expect_file("hard", "b");
    char target[100] = "";
    assert_int_equal(readlink(path_of(root, "to-link"), target, sizeof(target) - 1), 7);
    assert_string_equal(target, "usr/lib");
}

static void modes_are_set_and_sizes_counted(void **state)
{
    struct buf *tar = &layer.buf;
    struct stat info;
    uint64_t size;
    tar_put_data(tar, '5', "closed", "", 0, "", 0);
    tar_put_data(tar, '0', "closed/setuid", "", 06755, "12345", 5);
    tar_put_data(tar, '5', "closed/sticky", "", 07777, "", 0);
    tar_put(tar, '3', "dev/null", "");
    tar_put(tar, '6', "pipe", "");
    tar_put(tar, '0', "gone/file", "123456789");
    must_apply();
    tar_put(tar, '0', "closed/later", "87654321");
    tar_put(tar, '1', "closed/again", "closed/later");
    tar_put(tar, '0', ".wh.gone", "");
    must_apply();
    assert_int_equal(image_unpack_finish(unpack, &size, NULL), 0);
    assert_int_equal(size, 13);
    assert_int_equal(stat(path_of(root, "closed"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0);
    assert_int_equal(info.st_mtime, 1000000000);
    chmod(path_of(root, "closed"), 0700);
    assert_int_equal(stat(path_of(root, "closed/setuid"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0755);
    assert_int_equal(info.st_mtime, 1000000000);
    assert_int_equal(stat(path_of(root, "closed/sticky"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 01777);
    expect_gone("dev/null");
    assert_int_equal(stat(path_of(root, "pipe"), &info), 0);
    assert_true(S_ISFIFO(info.st_mode));
    chmod(path_of(root, "closed"), 0); /* it can be removed anyway */
}

static void entries_outside_of_the_root_are_not_written(void **state)
{
    _cleanup_free_ char *secret = mem_printf("%s/secret", outside);
    const struct {
        char type;
        const char *name, *text;   /* the second entry */
        const char *link, *target; /* the link before it */
    } CASES[] = {
        {'0', "../new", "x", NULL, NULL},
        {'0', "a/../../new", "x", NULL, NULL},
        {'0', "link/new", "x", "link", outside},
        {'0', "link/new", "x", "link", "../outside"},
        {'0', "link/new", "x", "link", "../../../../../../../../../../../../tmp"},
        {'0', "link/../new", "x", "link", outside},
        {'0', "link", "x", "link", secret},
        {'5', "link", "", "link", outside},
        {'5', "link/new", "", "link", outside},
        {'0', "link/.wh.secret", "", "link", outside},
        {'0', "link/.wh..wh..opq", "", "link", outside},
        {'0', ".wh..", "", NULL, NULL},
        {'0', ".wh...", "", NULL, NULL},
        {'0', "x/.wh...", "", NULL, NULL},
        {'1', "hard", "../outside/secret", NULL, NULL},
        {'1', "hard", secret, NULL, NULL},
        {'1', "hard", "link/secret", "link", outside},
        {'1', "link/new", "link", "link", outside},
        {'2', "link/new", "x", "link", outside},
        {'6', "link/new", "", "link", outside},
        {'0', "self/new", "x", "self", "/proc/self/cwd"},
        {'0', "loop/new", "x", "loop", "loop"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        if (CASES[i].link)
            tar_put(&layer.buf, '2', CASES[i].link, CASES[i].target);
        tar_put(&layer.buf, CASES[i].type, CASES[i].name, CASES[i].text);
        (void)apply(NULL); /* rejected, or done inside the root */
        expect_untouched();
        tear_down(state);
        set_up(state);
    }
    /* The top of an archive is the root, in any notation. */
    tar_put(&layer.buf, '0', "/etc//./absolute", "here");
    must_apply();
    expect_file("etc/absolute", "here");
}

static void parent_directories_in_names_are_rejected(void **state)
{
    static const char *const NAMES[] = {"../x", "a/../x", "a/..", ".."};
    for (size_t i = 0; i < ARRAY_SIZE(NAMES); i++) {
        struct err err = ERR_INIT;
        tar_put(&layer.buf, '0', NAMES[i], "x");
        assert_int_equal(apply(&err), -ERR_INVALID);
        assert_non_null(strstr(err.message, "contains '..'"));
    }
}

/* A directory that became a link to another directory must not change the mode of that
 * directory. */
static void link_in_place_of_a_directory_keeps_its_target(void **state)
{
    struct stat info;
    uint64_t size;
    tar_put_data(&layer.buf, '5', "first", "", 0700, "", 0);
    tar_put_data(&layer.buf, '5', "other", "", 0755, "", 0);
    must_apply();
    tar_put(&layer.buf, '2', "first", "other");
    must_apply();
    assert_int_equal(image_unpack_finish(unpack, &size, NULL), 0);
    assert_int_equal(stat(path_of(root, "other"), &info), 0);
    assert_int_equal(info.st_mode & 07777, 0755);
}

static void pending_sigterm_cancels_the_layer(void **state)
{
    sigset_t ending, before;
    sigemptyset(&ending);
    sigaddset(&ending, SIGTERM);
    sigprocmask(SIG_BLOCK, &ending, &before);
    raise(SIGTERM);
    tar_put(&layer.buf, '0', "file", "x");
    int result = apply(NULL);
    assert_int_equal(sigwaitinfo(&ending, NULL), SIGTERM);
    sigprocmask(SIG_SETMASK, &before, NULL);
    assert_int_equal(result, -ERR_CANCELED);
    expect_gone("file");
}

static void entries_and_depth_are_limited(void **state)
{
    struct err err = ERR_INIT;
    for (int i = 0; i < ENTRIES_MAX; i++)
        tar_put(&layer.buf, '0', path_of("many", "x"), "");
    must_apply();
    image_unpack_free(unpack);
    unpack = image_unpack_new(root_fd, ENTRIES_MAX);
    for (int i = 0; i <= ENTRIES_MAX; i++)
        tar_put(&layer.buf, '0', path_of("many", "x"), "");
    assert_int_equal(apply(&err), -ERR_TOO_MANY);
    image_unpack_free(unpack);
    unpack = image_unpack_new(root_fd, ENTRIES_MAX);
    /* A deep path through links. There are few links, since the kernel limits them. */
    char name[1000] = "";
    for (size_t i = 0; i + 2 < sizeof(name); i += 2)
        memcpy(name + i, "d/", 2);
    int result = 0;
    for (int i = 0; result == 0 && i < 10; i++) {
        char link[32], inner[1100];
        snprintf(link, sizeof(link), "l%d", i);
        snprintf(inner, sizeof(inner), "%s%d/%s", i ? "l" : "d", i ? i - 1 : 0, name);
        tar_put_data(&layer.buf, 'L', "name", "", 0, inner, strlen(inner));
        tar_put(&layer.buf, '5', "cut", "");
        tar_put_data(&layer.buf, 'K', "link", "", 0, inner, strlen(inner));
        tar_put(&layer.buf, '2', link, "cut");
        result = apply(&err);
    }
    assert_int_equal(result, -ERR_TOO_LARGE);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(later_layers_delete_files, set_up, tear_down),
        cmocka_unit_test_setup_teardown(links_inside_the_root_are_followed, set_up, tear_down),
        cmocka_unit_test_setup_teardown(modes_are_set_and_sizes_counted, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_outside_of_the_root_are_not_written, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(parent_directories_in_names_are_rejected, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(link_in_place_of_a_directory_keeps_its_target, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(pending_sigterm_cancels_the_layer, set_up, tear_down),
        cmocka_unit_test_setup_teardown(entries_and_depth_are_limited, set_up, tear_down),
    };
    if (!mkdtemp(scratch))
        return 1;
    root = mem_printf("%s/root", scratch);
    outside = mem_printf("%s/outside", scratch);
    int failed = cmocka_run_group_tests(tests, NULL, NULL);
    file_remove_tree(scratch, NULL);
    return failed;
}

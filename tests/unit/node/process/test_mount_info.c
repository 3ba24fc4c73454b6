/* Tests files that are mounted at several places. */
#include "node/process/mount_info.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

static const char MACHINE[] =
    "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
    "23 22 0:5 / /dev rw,nosuid shared:2 - devtmpfs udev rw\n"
    "30 22 8:2 / /data rw,relatime shared:3 - ext4 /dev/sdb1 rw\n"
    "31 22 8:2 /home /home rw,relatime shared:3 - ext4 /dev/sdb1 rw\n"
    "32 22 8:2 /home/me/my\\040code /srv/code rw,relatime shared:3 - ext4 /dev/sdb1 rw\n"
    "33 22 8:1 /opt /mnt/opt ro - ext4 /dev/sda1 rw\n"
    "34 30 0:40 / /data/scratch rw - tmpfs tmpfs rw\n";

static void check(const char *mounts, const char *path, const char *const *expected)
{
    struct arena *arena = arena_new();
    struct pod_strings aliases = {0};
    mount_info_aliases(arena, mounts, path, &aliases);
    size_t count = 0;
    for (; expected[count]; count++) {
        assert_true(count < aliases.count);
        assert_string_equal(aliases.items[count], expected[count]);
    }
    assert_int_equal(aliases.count, count);
    arena_free(arena);
}

#define CHECK(mounts, path, ...) check(mounts, path, (const char *const[]){__VA_ARGS__, NULL})

static void every_path_of_a_file_is_found(void **state)
{
    CHECK(MACHINE, "/home/me/mine", "/data/home/me/mine");
    CHECK(MACHINE, "/data/home/me/mine", "/home/me/mine");
    CHECK(MACHINE, "/home/me/my code/a", "/data/home/me/my code/a", "/srv/code/a");
    CHECK(MACHINE, "/home/me/my code", "/data/home/me/my code", "/srv/code");
    CHECK(MACHINE, "/srv/code/deep/a", "/data/home/me/my code/deep/a", "/home/me/my code/deep/a");
    CHECK(MACHINE, "/opt/a", "/mnt/opt/a");
    CHECK(MACHINE, "/mnt/opt/a", "/opt/a");
}

static void files_mounted_once_have_no_alias(void **state)
{
    CHECK(MACHINE, "/etc/passwd", NULL);
    CHECK(MACHINE, "/optional", NULL);       /* not below /opt */
    CHECK(MACHINE, "/data/scratch/a", NULL); /* on another file system */
    CHECK(MACHINE, "/data/other", NULL);     /* a part of it that is mounted only once */
}

static void malformed_lines_are_skipped(void **state)
{
    CHECK("", "/a", NULL);
    CHECK("\n\n1 2 3\n1 2 3 4 5\n", "/a", NULL);
    /* The other columns of a row are not needed. */
    CHECK("1 2 8:1 / /\n2 1 8:1 /a /b", "/a/x", "/b/x");
    CHECK("1 2 8:1 /sub /\n2 1 8:1 / /top\n", "/x", "/top/sub/x");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_path_of_a_file_is_found),
        cmocka_unit_test(files_mounted_once_have_no_alias),
        cmocka_unit_test(malformed_lines_are_skipped),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

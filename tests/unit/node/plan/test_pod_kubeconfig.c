/* Tests how a pod without namespaces finds the API: which users can read its kubeconfig, and what
 * is left of it. */
#include "node_test.h"

#include "node/plan/kubeconfig.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "base/system/file.h"
#include "scratch_directory.h"

#include <errno.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { OTHER_USER = 65534, STRANGER = 65533 };

static struct plan_kubeconfig make_kubeconfig(struct arena *arena, int64_t user)
{
    static const char CA[] = "-----CERT-----\n", TOKEN[] = "a.b.c";
    const char *files = arena_printf(arena, "%s/files", directory);
    assert_int_equal(chmod(directory, 0711), 0);
    assert_int_equal(file_make_dirs(files, 0700, NULL), 0);
    assert_int_equal(
        file_replace(arena_printf(arena, "%s/ca.crt", files), CA, strlen(CA), 0644, NULL), 0);
    assert_int_equal(
        file_replace(arena_printf(arena, "%s/token", files), TOKEN, strlen(TOKEN), 0644, NULL), 0);
    return (struct plan_kubeconfig){
        .pod_dir = directory,
        .uid = "u",
        .namespace_ = "here",
        .files = files,
        .api_port = 7443,
        .user = user,
        .handout_dir = arena_printf(arena, "%s/handout", directory),
    };
}

static const char *read_text(struct arena *arena, const char *path)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 65536);
    assert_int_equal(file_read(path, &text, NULL), 0);
    return arena_strndup(arena, text.data, text.size);
}

static void kubeconfig_of_the_own_user_names_the_files(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct plan_kubeconfig kubeconfig = make_kubeconfig(arena, -1);
    const char *path;
    assert_int_equal(plan_kubeconfig_write(arena, &kubeconfig, &path, NULL), 0);
    assert_string_equal(path, arena_printf(arena, "%s/kubeconfig", directory));
    const char *text = read_text(arena, path);
    assert_non_null(strstr(text, "server: https://127.0.0.1:7443\n"));
    assert_non_null(strstr(text, "namespace: here\n"));
    assert_non_null(strstr(text, arena_printf(arena, "tokenFile: '%s/token'", kubeconfig.files)));
    assert_false(file_exists(kubeconfig.handout_dir));
}

/* Returns 0 if the user can open the file, or else the reason. */
static int open_as_user(uid_t user, const char *path)
{
    int status;
    pid_t pid = fork();
    if (pid == 0) {
        if (setgid(user) < 0 || setuid(user) < 0)
            _exit(255);
        int fd = open(path, O_RDONLY | O_CLOEXEC);
        _exit(fd < 0 ? errno : 0);
    }
    waitpid(pid, &status, 0);
    return WEXITSTATUS(status);
}

static void kubeconfig_is_readable_only_by_the_pod_user(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    uid_t user = geteuid() ? geteuid() : OTHER_USER;
    const struct plan_kubeconfig kubeconfig = make_kubeconfig(arena, user);
    const char *path;
    struct stat info;
    struct err err = ERR_INIT;
    mode_t mask = umask(077);
    for (int i = 0; i < 2; i++) /* a pod may be planned again */
        if (plan_kubeconfig_write(arena, &kubeconfig, &path, &err) < 0)
            fail_msg("%s", err.message);
    umask(mask);
    assert_string_equal(path,
                        arena_printf(arena, "%s/u/kubeconfig-%u", kubeconfig.handout_dir, user));
    const char *text = read_text(arena, path);
    assert_non_null(strstr(text, "certificate-authority-data: LS0tLS1DRVJULS0tLS0K\n"));
    assert_non_null(strstr(text, "    token: a.b.c\n"));
    assert_int_equal(stat(path, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0400);
    assert_int_equal(info.st_uid, user);
    assert_int_equal(stat(kubeconfig.handout_dir, &info), 0);
    assert_int_equal(info.st_mode & 07777, 0711);
    assert_false(file_exists(arena_printf(arena, "%s.new", path)));
    if (geteuid() == 0) {
        assert_int_equal(open_as_user(OTHER_USER, path), 0);
        assert_int_equal(open_as_user(STRANGER, path), EACCES);
        assert_int_equal(open_as_user(STRANGER, kubeconfig.handout_dir), EACCES);
    }
    assert_int_equal(plan_handouts_remove(kubeconfig.handout_dir, "u", NULL), 0);
    assert_false(file_exists(path));
    assert_int_equal(plan_handouts_remove(kubeconfig.handout_dir, "u", NULL), 0);
}

static void missing_files_are_reported(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct plan_kubeconfig kubeconfig = make_kubeconfig(arena, geteuid() ? geteuid() : OTHER_USER);
    struct err err = ERR_INIT;
    const char *path;
    kubeconfig.handout_dir = "/proc/nowhere";
    assert_true(plan_kubeconfig_write(arena, &kubeconfig, &path, &err) < 0);
    assert_non_null(
        strstr(err.message, "(if the pod needs none, set automountServiceAccountToken: false): "));
    assert_non_null(strstr(err.message, "/proc/nowhere"));
    kubeconfig = make_kubeconfig(arena, kubeconfig.user);
    assert_int_equal(unlink(arena_printf(arena, "%s/token", kubeconfig.files)), 0);
    assert_true(plan_kubeconfig_write(arena, &kubeconfig, &path, &err) < 0);
    assert_non_null(strstr(err.message, "/files/token"));
}

static void clusters_have_separate_handout_directories(void **state)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *one = plan_handout_dir(arena, directory);
    assert_true(str_has_prefix(one, "/run/trainyard-"));
    assert_string_equal(one, plan_handout_dir(arena, arena_printf(arena, "%s/.", directory)));
    assert_string_not_equal(one, plan_handout_dir(arena, "/"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(kubeconfig_of_the_own_user_names_the_files, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(kubeconfig_is_readable_only_by_the_pod_user, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(missing_files_are_reported, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(clusters_have_separate_handout_directories, make_directory,
                                        remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests egress for root when several clusters start and stop at once. The machine forwards packets
 * as long as one cluster needs it, and afterwards has its old setting. Runs in a separate network
 * namespace. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/network/egress_internal.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <sys/mount.h>
#include <sys/wait.h>
#include <unistd.h>

#define SWITCH "/proc/sys/net/ipv4/ip_forward"

enum { CLUSTERS = 3, ROUNDS = 30, SKIPPED = 77 };

static bool is_forwarding(void)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, 16);
    return file_read(SWITCH, &text, NULL) == 0 && text.data[0] == '1';
}

/* Returns the exit code. */
static int start_and_stop_egress(int number)
{
    struct err err = ERR_INIT;
    _cleanup_free_ char *state_dir = mem_printf("/nowhere/cluster-%d", number);
    _cleanup_fd_ int outer = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (unshare(CLONE_NEWNET) < 0)
        return 1;
    _cleanup_fd_ int inner = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    if (setns(outer, CLONE_NEWNET) < 0)
        return 1;
    for (int i = 0; i < ROUNDS; i++) {
        struct egress way = {0};
        if (egress_make_kernel(state_dir, inner, &way, &err) < 0) {
            fprintf(stderr, "%s\n", err.message);
            return i == 0 ? SKIPPED : 1;
        }
        egress_release(&way);
        for (int k = 0; k < 20; k++) {
            if (!is_forwarding()) {
                fprintf(stderr, "round %d: switched off behind cluster %d\n", i, number);
                return 1;
            }
            sched_yield();
        }
        if (egress_remove_kernel(state_dir, &err) < 0) {
            fprintf(stderr, "%s\n", err.message);
            return 1;
        }
    }
    return 0;
}

/* Moves the process to a network and a /run of its own, where forwarding is off. Needs root, and a
 * sandbox that allows it. */
static void enter_test_network(void)
{
    if (unshare(CLONE_NEWNET | CLONE_NEWNS) < 0 ||
        mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount("tmpfs", "/run", "tmpfs", 0, NULL) < 0 || file_write_into(SWITCH, "0\n", NULL) < 0)
        skip();
}

static void concurrent_clusters_restore_forwarding(void **state)
{
    pid_t pids[CLUSTERS];
    bool missing = false;
    enter_test_network();
    for (int i = 0; i < CLUSTERS; i++) {
        pids[i] = fork();
        assert_true(pids[i] >= 0);
        if (pids[i] == 0)
            _exit(start_and_stop_egress(i));
    }
    for (int i = 0; i < CLUSTERS; i++) {
        int status;
        assert_int_equal(waitpid(pids[i], &status, 0), pids[i]);
        assert_true(WIFEXITED(status));
        missing = missing || WEXITSTATUS(status) == SKIPPED;
        if (WEXITSTATUS(status) != SKIPPED)
            assert_int_equal(WEXITSTATUS(status), 0);
    }
    if (missing)
        skip(); /* a kernel without nf_tables */
    assert_false(is_forwarding());
    assert_false(file_exists("/run/trainyard-ip-forward"));
}

/* A cluster that cannot write the switch gets no egress from another cluster's forwarding: it might
 * be the last to stop, and could not turn forwarding off. */
static void read_only_switch_is_rejected(void **state)
{
    struct egress first = {0}, second = {0};
    struct err err = ERR_INIT;
    enter_test_network();
    _cleanup_fd_ int outer = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    assert_int_equal(unshare(CLONE_NEWNET), 0);
    _cleanup_fd_ int inner = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
    assert_int_equal(setns(outer, CLONE_NEWNET), 0);
    if (egress_make_kernel("/nowhere/first", inner, &first, NULL) < 0)
        skip(); /* a kernel without nf_tables */
    assert_int_equal(mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL), 0);
    assert_int_equal(mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
    assert_true(egress_make_kernel("/nowhere/second", inner, &second, &err) < 0);
    assert_string_equal(err.message, "cannot open '" SWITCH "': Read-only file system");
    assert_int_equal(umount("/proc/sys"), 0);
    assert_int_equal(egress_remove_kernel("/nowhere/second", NULL), 0);
    assert_true(is_forwarding());
    assert_int_equal(egress_remove_kernel("/nowhere/first", NULL), 0);
    assert_false(is_forwarding());
    egress_release(&first);
    egress_release(&second);
}

/* Only this file tells the next `down` that there is a link to remove. */
static void failed_removal_keeps_the_file(void **state)
{
    char directory[] = "/tmp/trainyard-egress.XXXXXX";
    struct err err = ERR_INIT;
    enter_test_network();
    assert_non_null(mkdtemp(directory));
    _cleanup_free_ char *run = mem_printf("%s/run", directory),
                        *path = mem_printf("%s/way-out", run);
    assert_int_equal(file_make_dirs(run, 0700, NULL), 0);
    assert_int_equal(file_replace(path, "kind none\n", 10, 0600, NULL), 0);
    /* Forwarding was off before the first cluster, and cannot be turned off again. */
    assert_int_equal(file_replace("/run/trainyard-ip-forward", "0\n", 2, 0600, NULL), 0);
    assert_int_equal(mount("/proc/sys", "/proc/sys", NULL, MS_BIND, NULL), 0);
    assert_int_equal(mount(NULL, "/proc/sys", NULL, MS_REMOUNT | MS_BIND | MS_RDONLY, NULL), 0);
    int result = egress_close(directory, &err);
    bool is_kept = file_exists(path);
    assert_int_equal(umount("/proc/sys"), 0);
    assert_true(result < 0);
    assert_string_equal(err.message, "cannot remove the egress of the pod network: cannot open "
                                     "'" SWITCH "': Read-only file system");
    assert_true(is_kept);
    assert_int_equal(egress_close(directory, NULL), 0);
    assert_false(file_exists(path));
    assert_int_equal(file_remove_tree(directory, NULL), 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(concurrent_clusters_restore_forwarding),
                                       cmocka_unit_test(read_only_switch_is_rejected),
                                       cmocka_unit_test(failed_removal_keeps_the_file)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}

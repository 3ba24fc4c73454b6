/* Tests control groups: how they are found on every kind of machine, what is written into them, and
 * that nothing is left behind. Tests that need a real hierarchy use the machine's own. Version 2
 * alone is played by a directory with the same files. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/limits/cgroup_base.h"
#include "node/limits/cgroup_detect.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

/* ---- Finding ---- */

struct expected {
    const char *parent; /* for root, or for an ordinary user */
    unsigned controllers;
    bool unified, read_only;
};

static void check_places(const char *own, const char *mounts, bool privileged,
                         const struct expected *expected, size_t count)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct cgroup_places places;
    cgroup_detect(arena, own, mounts, &places);
    assert_int_equal(places.count, count);
    for (size_t i = 0; i < count; i++) {
        const struct cgroup_place *place = &places.items[i];
        assert_string_equal(cgroup_place_parent(place, privileged), expected[i].parent);
        assert_int_equal(place->controllers, expected[i].controllers);
        assert_int_equal(place->unified, expected[i].unified);
        assert_int_equal(place->read_only, expected[i].read_only);
    }
}

#define CHECK(own, mounts, privileged, ...)                                                        \
    check_places(own, mounts, privileged, (const struct expected[]){__VA_ARGS__},                  \
                 sizeof((const struct expected[]){__VA_ARGS__}) / sizeof(struct expected))

static void test_version_2_places(void **state)
{
    const char *mounts = "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"
                         "30 23 0:26 / /sys/fs/cgroup rw,nosuid shared:9 - cgroup2 cgroup2 "
                         "rw,nsdelegate,memory_recursiveprot\n";
    /* Root in a login session: systemd owns the group of the unit, but the root group is free. */
    CHECK("0::/user.slice/user-0.slice/session-1.scope\n", mounts, true,
          {"/sys/fs/cgroup", 0, true, false});
    /* A user in a delegated scope. */
    CHECK("0::/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope\n", mounts,
          false,
          {"/sys/fs/cgroup/user.slice/user-1000.slice/user@1000.service/app.slice/run-r1.scope", 0,
           true, false});
    /* Without systemd our own limits apply to our pods. */
    CHECK("0::/jobs/7\n", mounts, true, {"/sys/fs/cgroup/jobs/7", 0, true, false});
    CHECK("0::/\n", mounts, true, {"/sys/fs/cgroup", 0, true, false});
    /* A restarted server finds the groups of the server before. */
    CHECK("0::/jobs/7/trainyard-self\n", mounts, true, {"/sys/fs/cgroup/jobs/7", 0, true, false});
    CHECK("0::/trainyard-self\n", mounts, true, {"/sys/fs/cgroup", 0, true, false});
}

static void test_version_1_places(void **state)
{
    const char *mounts =
        "25 18 0:20 / /sys/fs/cgroup ro,nosuid shared:5 - tmpfs tmpfs ro,mode=755\n"
        "26 25 0:21 / /sys/fs/cgroup/systemd rw shared:6 - cgroup cgroup rw,xattr,name=systemd\n"
        "27 25 0:22 / /sys/fs/cgroup/cpu,cpuacct rw shared:7 - cgroup cgroup rw,cpu,cpuacct\n"
        "28 25 0:23 / /sys/fs/cgroup/memory rw shared:8 - cgroup cgroup rw,memory\n"
        "29 25 0:24 / /sys/fs/cgroup/pids rw shared:9 - cgroup cgroup rw,pids\n";
    const char *own = "4:pids:/user.slice/user-0.slice/session-1.scope\n"
                      "3:memory:/user.slice\n"
                      "2:cpu,cpuacct:/\n"
                      "1:name=systemd:/user.slice/user-0.slice/session-1.scope\n";
    CHECK(own, mounts, true,
          {"/sys/fs/cgroup/cpu,cpuacct", CGROUP_CPU | CGROUP_CPUACCT, false, false},
          {"/sys/fs/cgroup/memory", CGROUP_MEMORY, false, false},
          {"/sys/fs/cgroup/pids", CGROUP_PIDS, false, false});
}

static void test_hybrid_places(void **state)
{
    const char *mounts =
        "32 31 0:29 / /sys/fs/cgroup/cpu rw,relatime - cgroup cgroup rw,cpu\n"
        "33 31 0:30 / /sys/fs/cgroup/cpuacct rw,relatime - cgroup cgroup rw,cpuacct\n"
        "35 31 0:32 / /sys/fs/cgroup/memory rw,relatime - cgroup cgroup rw,memory\n"
        "39 31 0:36 / /sys/fs/cgroup/pids rw,relatime - cgroup cgroup rw,pids\n"
        "41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw\n"
        "42 31 0:36 / /mnt/again rw,relatime - cgroup cgroup rw,pids\n";
    const char *own = "8:pids:/\n4:memory:/jobs/7\n2:cpuacct:/\n1:cpu:/\n0::/\n";
    CHECK(own, mounts, true, {"/sys/fs/cgroup/cpu", CGROUP_CPU, false, false},
          {"/sys/fs/cgroup/cpuacct", CGROUP_CPUACCT, false, false},
          {"/sys/fs/cgroup/memory/jobs/7", CGROUP_MEMORY, false, false},
          {"/sys/fs/cgroup/pids", CGROUP_PIDS, false, false},
          {"/sys/fs/cgroup/unified", 0, true, false});
}

static void test_places_inside_a_container(void **state)
{
    /* The container has its own view of the hierarchy, read-only. */
    CHECK("0::/\n",
          "700 699 0:26 / /sys/fs/cgroup ro,nosuid,nodev - cgroup2 cgroup rw,nsdelegate\n", true,
          {"/sys/fs/cgroup", 0, true, true});
    /* The container has the machine's view, but only its own part is mounted. */
    CHECK("5:memory:/docker/abc\n",
          "700 699 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", true,
          {"/sys/fs/cgroup/memory", CGROUP_MEMORY, false, false});
    CHECK("5:memory:/docker/abc/inner\n",
          "700 699 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", true,
          {"/sys/fs/cgroup/memory/inner", CGROUP_MEMORY, false, false});
    /* The mounted part is not ours, although its name begins like ours; and a part above the
     * visible one. */
    CHECK("5:memory:/docker/abcdef\n",
          "700 699 0:32 /docker/abc /sys/fs/cgroup/memory rw - cgroup cgroup rw,memory\n", true,
          {"/sys/fs/cgroup/memory", CGROUP_MEMORY, false, false});
    CHECK("0::/../other\n", "700 699 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup rw\n", true,
          {"/sys/fs/cgroup", 0, true, false});
    /* A mount point with a space in its name. */
    CHECK("0::/\n", "700 699 0:26 / /my\\040groups rw - cgroup2 cgroup rw\n", true,
          {"/my groups", 0, true, false});
}

static void test_no_places(void **state)
{
    static const char *const texts[][2] = {
        {"", ""},
        {"0::/\n", ""},
        {"", "30 23 0:26 / /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n"},
        {"0::/\n", "22 1 8:1 / / rw,relatime shared:1 - ext4 /dev/sda1 rw\n"},
        {"0::/\n", "30 23 0:26 / /sys/fs/cgroup rw cgroup2 cgroup2 rw\n"},
        {"0::/\n", "30 23 0:26 / /sys/fs/cgroup rw -"},
        {"nonsense\n::\n1:cpu\n", "40 31 0:37 / /s rw - cgroup cgroup rw,name=systemd\n"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        check_places(texts[i][0], texts[i][1], true, NULL, 0);
}

/* ---- As text ---- */

static void test_trees_round_trip(void **state)
{
    char text[] = "1 cpu,cpuacct /a/b\n2  /c d\n2 memory,pids /e\n", copy[sizeof(text)];
    memcpy(copy, text, sizeof(text));
    struct cgroup_trees trees;
    assert_int_equal(cgroup_trees_parse(copy, &trees, NULL), 0);
    assert_int_equal(trees.count, 3);
    assert_int_equal(cgroup_controllers(&trees),
                     CGROUP_CPU | CGROUP_CPUACCT | CGROUP_MEMORY | CGROUP_PIDS);
    assert_string_equal(trees.items[1].directory, "/c d");
    _cleanup_buf_ struct buf written;
    buf_init(&written, 4096);
    cgroup_trees_write(&trees, &written);
    assert_string_equal(written.data, text);
    char wrong[][24] = {"3 cpu /a", "1 cpu", "1 cpu a", "1 gpu /a", "1", "1 cpu,, /a"};
    for (size_t i = 0; i < ARRAY_SIZE(wrong); i++)
        assert_true(cgroup_trees_parse(wrong[i], &trees, NULL) < 0);
}

/* ---- Version 2, from its files ---- */

static char scratch[] = "/tmp/trainyard-cgroup.XXXXXX";

static void put(const char *path, const char *text)
{
    _cleanup_free_ char *whole = mem_printf("%s/%s", scratch, path);
    char *slash = strrchr(whole, '/');
    *slash = '\0';
    assert_int_equal(file_make_dirs(whole, 0700, NULL), 0);
    *slash = '/';
    assert_int_equal(file_replace(whole, text, strlen(text), 0600, NULL), 0);
}

static void assert_file(const char *path, const char *text)
{
    _cleanup_free_ char *whole = mem_printf("%s/%s", scratch, path);
    _cleanup_buf_ struct buf found;
    buf_init(&found, 4096);
    assert_int_equal(file_read(whole, &found, NULL), 0);
    assert_string_equal(found.data, text);
}

static void test_version_2_files(void **state)
{
    static const char *const files[] = {
        "pod/cgroup.subtree_control",
        "pod/pids.max",
        "pod/cpu.weight",
        "pod/cpu.max",
        "pod/container-main/cgroup.procs",
        "pod/container-main/cpu.weight",
        "pod/container-main/cpu.max",
        "pod/container-main/memory.max",
        "pod/container-main/memory.swap.max",
        "pod/container-main/memory.oom.group",
    };
    for (size_t i = 0; i < ARRAY_SIZE(files); i++)
        put(files[i], "");
    _cleanup_free_ char *directory = mem_printf("%s/pod", scratch);
    const struct cgroup_trees pod = {{{.directory = directory,
                                       .controllers = CGROUP_CPU | CGROUP_MEMORY | CGROUP_PIDS,
                                       .unified = true}},
                                     1};
    const struct cgroup_limits whole = {.cpu_shares = 2048, .pids = 100};
    const struct cgroup_limits limits = {
        .cpu_shares = 1, .cpu_quota_us = 50000, .memory_bytes = 1 << 20};
    assert_int_equal(cgroup_make(&pod, NULL, NULL), 0);
    assert_int_equal(cgroup_make(&pod, "main", NULL), 0);
    assert_int_equal(cgroup_limit(&pod, NULL, &whole, NULL), 0);
    assert_int_equal(cgroup_limit(&pod, "main", &limits, NULL), 0);
    assert_int_equal(cgroup_enter(&pod, "main", NULL), 0);
    /* The writes overwrite each other: these are plain files, which the kernel does not
     * truncate. */
    assert_file("pod/cgroup.subtree_control", "+pidsry");
    assert_file("pod/pids.max", "100");
    assert_file("pod/cpu.weight", "79");
    assert_file("pod/cpu.max", ""); /* not limited: not touched */
    assert_file("pod/container-main/cpu.weight", "1");
    assert_file("pod/container-main/cpu.max", "50000 100000");
    assert_file("pod/container-main/memory.max", "1048576");
    assert_file("pod/container-main/memory.swap.max", "0");
    assert_file("pod/container-main/memory.oom.group", "1");
    assert_file("pod/container-main/cgroup.procs", "0");

    put("pod/container-main/memory.events", "low 0\nhigh 0\nmax 12\noom 3\noom_kill 2\n");
    put("pod/container-main/memory.current", "5000\n");
    put("pod/container-main/memory.stat", "anon 3000\nfile 2000\ninactive_file 1500\n");
    put("pod/container-main/cpu.stat", "usage_usec 1234\nuser_usec 1000\n");
    struct cgroup_usage usage;
    assert_int_equal(cgroup_oom_kills(&pod, "main"), 2);
    assert_true(cgroup_usage(&pod, "main", &usage));
    assert_int_equal(usage.cpu_ns, 1234000);
    assert_int_equal(usage.memory_bytes, 3500);
    assert_int_equal(cgroup_oom_kills(&pod, "other"), 0);
    assert_false(cgroup_usage(&pod, "other", &usage));
}

/* ---- The hierarchies of this machine ---- */

static bool no_pod_is_known(void *context, const char *uid)
{
    return false;
}

/* Starts a process in the group that runs until it is killed. */
static pid_t start_process_in_group(const struct cgroup_trees *pod, const char *container)
{
    int fds[2];
    assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
    pid_t pid = fork();
    if (pid == 0) {
        if (cgroup_enter(pod, container, NULL) < 0 || write(fds[1], "", 1) != 1)
            _exit(1);
        for (;;)
            pause();
    }
    close(fds[1]);
    char byte;
    assert_int_equal(read(fds[0], &byte, 1), 1);
    close(fds[0]);
    return pid;
}

/* Whether root can create control groups here. A hierarchy of version 2 may have no controllers at
 * all. */
static bool machine_has_controllers(void)
{
    _cleanup_buf_ struct buf names;
    buf_init(&names, 4096);
    if (file_read("/sys/fs/cgroup/cgroup.controllers", &names, NULL) == 0)
        return strstr(names.data, "memory") && access("/sys/fs/cgroup/cgroup.procs", W_OK) == 0;
    return access("/sys/fs/cgroup/memory/tasks", W_OK) == 0;
}

static void test_groups_limit_and_end_processes(void **state)
{
    struct cgroup_base *base = cgroup_base_open(scratch, geteuid() == 0);
    const unsigned needed = CGROUP_CPU | CGROUP_MEMORY | CGROUP_PIDS;
    /* An ordinary user has no controllers. */
    if ((cgroup_controllers(&base->trees) & needed) != needed) {
        assert_false(geteuid() == 0 && machine_has_controllers());
        cgroup_base_free(base);
        skip();
    }
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct cgroup_trees pod, lost;
    struct cgroup_usage usage;
    const struct cgroup_limits limits = {.cpu_quota_us = 20000, .memory_bytes = 1 << 26, .pids = 9};
    cgroup_trees_below(arena, &base->trees, "one", &pod);
    cgroup_trees_below(arena, &base->trees, "lost", &lost);
    assert_int_equal(cgroup_make(&pod, NULL, NULL), 0);
    assert_int_equal(cgroup_limit(&pod, NULL, &limits, NULL), 0);
    /* A container may have the name of a file of the kernel. */
    assert_int_equal(cgroup_make(&pod, "tasks", NULL), 0);
    assert_int_equal(cgroup_limit(&pod, "tasks", &limits, NULL), 0);
    pid_t pid = start_process_in_group(&pod, "tasks");
    assert_true(cgroup_usage(&pod, "tasks", &usage));
    assert_int_equal(cgroup_oom_kills(&pod, "tasks"), 0);
    /* The processes are killed with the groups. */
    assert_int_equal(cgroup_remove(&pod, NULL, NULL), 0);
    int status;
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(cgroup_remove(&pod, NULL, NULL), 0);

    /* The next server removes the groups that a killed supervisor left. */
    assert_int_equal(cgroup_make(&lost, NULL, NULL), 0);
    assert_int_equal(cgroup_make(&lost, "main", NULL), 0);
    pid = start_process_in_group(&lost, "main");
    cgroup_base_sweep(scratch, base, no_pod_is_known, NULL);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    for (size_t i = 0; i < lost.count; i++)
        assert_int_equal(access(lost.items[i].directory, F_OK), -1);
    /* The other groups are removed with the cluster. */
    assert_int_equal(cgroup_base_destroy(scratch, NULL), 0);
    for (size_t i = 0; i < base->trees.count; i++)
        assert_int_equal(access(base->trees.items[i].directory, F_OK), -1);
    cgroup_base_free(base);
}

static const struct cgroup_tree *find_unified(const struct cgroup_base *base)
{
    for (size_t i = 0; i < base->trees.count; i++)
        if (base->trees.items[i].unified)
            return &base->trees.items[i];
    return NULL;
}

/* Our processes are moved. A foreign process stays and makes the move fail. */
static void test_own_processes_are_moved_to_a_subgroup(void **state)
{
    struct cgroup_base *base = cgroup_base_open(scratch, geteuid() == 0);
    const struct cgroup_tree *unified = find_unified(base);
    if (!unified) {
        cgroup_base_free(base);
        skip();
    }
    const struct cgroup_trees parent = {{*unified}, 1};
    _cleanup_free_ char *before = mem_printf("%s/cgroup.procs", unified->directory);
    _cleanup_free_ char *after = mem_printf("%s/trainyard-self/cgroup.procs", unified->directory);
    pid_t ours = start_process_in_group(&parent, NULL), stranger = fork();
    if (stranger == 0) {
        (void)cgroup_enter(&parent, NULL, NULL);
        execlp("sleep", "sleep", "1000", (char *)NULL);
        _exit(1);
    }
    _cleanup_free_ char *exe = mem_printf("/proc/%d/comm", (int)stranger);
    for (bool is_there = false; !is_there;) {
        _cleanup_buf_ struct buf name;
        buf_init(&name, 64);
        assert_int_equal(file_read(exe, &name, NULL), 0);
        is_there = str_eq(name.data, "sleep\n");
    }
    assert_false(cgroup_base_step_aside(scratch, unified->directory));
    _cleanup_buf_ struct buf left, moved;
    _cleanup_free_ char *stranger_line = mem_printf("%d\n", (int)stranger);
    _cleanup_free_ char *our_line = mem_printf("%d\n", (int)ours);
    buf_init(&left, 4096);
    buf_init(&moved, 4096);
    assert_int_equal(file_read(before, &left, NULL), 0);
    assert_int_equal(file_read(after, &moved, NULL), 0);
    assert_string_equal(left.data, stranger_line);
    assert_string_equal(moved.data, our_line);
    kill(stranger, SIGKILL);
    assert_int_equal(waitpid(stranger, NULL, 0), stranger);
    assert_true(cgroup_base_step_aside(scratch, unified->directory));
    assert_int_equal(cgroup_base_destroy(scratch, NULL), 0);
    assert_int_equal(waitpid(ours, NULL, 0), ours);
    assert_int_equal(access(unified->directory, F_OK), -1);
    cgroup_base_free(base);
}

/* A start that fails destroys its groups while it runs in one of them itself, together with the
 * `trainyard up` that waits for it. */
static void test_failed_start_does_not_kill_itself(void **state)
{
    struct cgroup_base *base = cgroup_base_open(scratch, geteuid() == 0);
    const struct cgroup_tree *unified = find_unified(base);
    if (!unified) {
        cgroup_base_free(base);
        skip();
    }
    _cleanup_free_ char *scope = mem_printf("%s-scope", unified->directory);
    const struct cgroup_trees parent = {{{.directory = scope, .unified = true}}, 1};
    assert_int_equal(cgroup_make(&parent, NULL, NULL), 0);
    pid_t waiting = start_process_in_group(&parent, NULL), starting = fork();
    if (starting == 0)
        _exit(cgroup_enter(&parent, NULL, NULL) < 0 || !cgroup_base_step_aside(scratch, scope) ||
              cgroup_base_destroy(scratch, NULL) < 0);
    int status;
    assert_int_equal(waitpid(starting, &status, 0), starting);
    assert_int_equal(waitpid(waiting, NULL, WNOHANG), 0);
    assert_true(WIFEXITED(status));
    assert_int_equal(WEXITSTATUS(status), 0);
    assert_int_equal(access(unified->directory, F_OK), -1);
    /* The record still has the group, so the next `down` removes it. */
    assert_int_equal(cgroup_base_destroy(scratch, NULL), 0);
    assert_int_equal(waitpid(waiting, &status, 0), waiting);
    assert_true(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
    assert_int_equal(rmdir(scope), 0);
    cgroup_base_free(base);
}

/* A pod whose directory was lost had groups where an earlier `up` ran. A new supervisor must not
 * start beside them. */
static void test_groups_of_a_lost_pod_are_removed(void **state)
{
    put("run/cgroups", "");
    put("pods/one/state", "");
    put("elsewhere/one/container-main/file", "");
    put("elsewhere/two/file", "");
    _cleanup_free_ char *elsewhere = mem_printf("%s/elsewhere", scratch);
    _cleanup_free_ char *record = mem_printf("%s/run/cgroups", scratch);
    _cleanup_free_ char *left = mem_printf("%s/one/container-main/file", elsewhere);
    _cleanup_free_ char *gone = mem_printf("%s/one", elsewhere);
    _cleanup_free_ char *other = mem_printf("%s/two", elsewhere);
    _cleanup_free_ char *pod = mem_printf("%s/pods/one", scratch);
    _cleanup_free_ char *line = mem_printf("2 cpu,memory %s\n", elsewhere);
    assert_int_equal(file_write_atomic(record, line, strlen(line), 0600, NULL), 0);
    /* Files would keep a plain directory, but not a real control group. */
    assert_int_equal(unlink(left), 0);
    struct cgroup_base *base = cgroup_base_open(scratch, geteuid() == 0);
    assert_int_equal(cgroup_base_place_pod(base, pod, "one", NULL), 0);
    assert_int_equal(access(gone, F_OK), -1);
    assert_int_equal(access(other, F_OK), 0);
    cgroup_base_free(base);
    assert_int_equal(file_remove_tree(elsewhere, NULL), 0);
}

static int set_up(void **state)
{
    assert_non_null(mkdtemp(scratch));
    put("run/none", "");
    return 0;
}

static int tear_down(void **state)
{
    (void)cgroup_base_destroy(scratch, NULL);
    return file_remove_tree(scratch, NULL);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_version_2_places),
        cmocka_unit_test(test_version_1_places),
        cmocka_unit_test(test_hybrid_places),
        cmocka_unit_test(test_places_inside_a_container),
        cmocka_unit_test(test_no_places),
        cmocka_unit_test(test_trees_round_trip),
        cmocka_unit_test(test_version_2_files),
        cmocka_unit_test(test_groups_limit_and_end_processes),
        cmocka_unit_test(test_own_processes_are_moved_to_a_subgroup),
        cmocka_unit_test(test_failed_start_does_not_kill_itself),
        cmocka_unit_test(test_groups_of_a_lost_pod_are_removed),
    };
    return cmocka_run_group_tests(tests, set_up, tear_down);
}

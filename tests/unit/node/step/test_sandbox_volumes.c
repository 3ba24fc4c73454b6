/* Tests volumes in a sandbox: where they are mounted, which containers share them, and that no link
 * in them leads out. Also tests their owner, and what the container's root may do with them. */
#include "sandbox_pod.h"

#include "base/system/file.h"
#include "node/plan/capabilities.h"
#include "node/pod/secrets.h"

#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

void volumes_are_mounted(void **state)
{
    struct pod pod = pod_make(
        "volumes", "10.244.1.1",
        "cat /data/in && echo out >/data/out && echo deep >/usr/share/doc/here/x && ls "
        "/usr/share/doc "
        "| grep -q base-files && touch /usr/share/doc/y 2>/dev/null || echo sealed\n"
        "touch /closed/x 2>/dev/null || echo closed; cat /etc/one; echo m >/mem/m && cat /mem/m\n"
        "echo nested >/data/below/n; echo sub >/sub/file; mkdir -p /else/x 2>/dev/null; pwd\n");
    _cleanup_free_ char *volume = mem_printf("%s/volume", scratch);
    file_make_dirs(arena_printf(pod.arena, "%s/below", volume), 0777, NULL);
    file_write_atomic(arena_printf(pod.arena, "%s/in", volume), "in\n", 3, 0644, NULL);
    struct pod_mount *mount = pod_container_add_mount(pod.arena, pod.main, "/etc/one", volume);
    mount->sub_path = "in";
    mount->read_only = true;
    pod_container_add_mount(pod.arena, pod.main, "/data", volume);
    pod_container_add_mount(pod.arena, pod.main, "/data/below", volume)->sub_path = "below";
    pod_container_add_mount(pod.arena, pod.main, "/sub", volume)->sub_path = "made/on/the/way";
    pod_container_add_mount(pod.arena, pod.main, "/usr/share/doc/here", volume);
    pod_container_add_mount(pod.arena, pod.main, "/closed", volume)->read_only = true;
    char *memory = arena_printf(pod.arena, "%s/memory", pod.directory);
    file_make_dirs(memory, 0777, NULL);
    pod_spec_add_memory(pod.arena, &pod.spec, memory);
    pod_container_add_mount(pod.arena, pod.main, "/mem", memory);
    pod.main->directory = "/workspace";
    pod_start(&pod);
    const struct container_end *end = pod_finish(&pod);
    if (end->exit_code)
        fail_msg("%d %s: %s", end->exit_code, end->message, pod_log(&pod, 0));
    pod_expect_log(&pod, "in\nsealed\nclosed\nin\nm\n/workspace\n");
    assert_true(file_exists(arena_printf(pod.arena, "%s/out", volume)));
    assert_true(file_exists(arena_printf(pod.arena, "%s/x", volume)));
    assert_true(file_exists(arena_printf(pod.arena, "%s/below/n", volume)));
    assert_true(file_exists(arena_printf(pod.arena, "%s/made/on/the/way/file", volume)));
    pod_drop(&pod);

    /* A link that the pod may have left in its volume does not lead out. */
    pod = pod_make("volumes", "10.244.1.1", "ls /out");
    assert_int_equal(symlink("/", arena_printf(pod.arena, "%s/link", volume)), 0);
    pod_container_add_mount(pod.arena, pod.main, "/out", volume)->sub_path = "link/etc";
    pod_start(&pod);
    assert_string_equal(pod_finish(&pod)->reason, "StartError");
    pod_drop(&pod);
}

/* One container writes to the memory volume, the other reads it. It cannot exceed its size, and
 * nothing of it is on the machine's disk. */
void memory_volumes_are_shared_and_limited(void **state)
{
    struct pod pod = pod_make("memory", "10.244.1.1",
                              "until test -e /m/full; do sleep 0.01; done; stat -f -c %T /m\n"
                              "wc -c </m/data; cat /m/full");
    char *memory = arena_printf(pod.arena, "%s/memory", pod.directory);
    file_make_dirs(memory, 0777, NULL);
    struct pod_memory *row = pod_spec_add_memory(pod.arena, &pod.spec, memory);
    row->size = 1024 * 1024;
    pod_container_add_mount(pod.arena, pod.main, "/m", memory);
    pod_add_container(&pod, "side",
                      "head -c 524288 /dev/zero >/m/data\n"
                      "head -c 1048576 /dev/zero >/m/more 2>/dev/null && echo endless >/m/word\n"
                      "rm /m/more; test -e /m/word || echo limited >/m/word; mv /m/word /m/full");
    pod_start(&pod);
    pod_finish(&pod);
    pod_expect_log(&pod, "tmpfs\n524288\nlimited\n");
    assert_false(file_exists(arena_printf(pod.arena, "%s/data", memory)));
    pod_drop(&pod);
}

/* Mounts below a read-only volume are read-only, too, unless the manifest overrides it. */
void read_only_volumes_include_mounts_below(void **state)
{
    struct pod pod = pod_make("deep", "10.244.1.1",
                              "for f in deep deep/below top top/below; do\n"
                              "touch /$f/x 2>/dev/null && echo $f; done; true");
    char *volume = arena_printf(pod.arena, "%s/volume", pod.directory);
    char *below = arena_printf(pod.arena, "%s/below", volume);
    file_make_dirs(below, 0777, NULL);
    pod_spec_add_memory(pod.arena, &pod.spec, below);
    pod_container_add_mount(pod.arena, pod.main, "/deep", volume)->read_only = true;
    struct pod_mount *top = pod_container_add_mount(pod.arena, pod.main, "/top", volume);
    top->read_only = top->only_top = true;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "top/below\n");
    pod_drop(&pod);
}

/* Mounts below such a volume are writable, but a secret there stays hidden. The first run creates
 * the secret, and the second run finds it hidden. */
void secrets_below_a_read_only_volume_are_hidden(void **state)
{
    struct pod pod =
        pod_make("below", "10.244.1.1",
                 "cd /top/below; test -e dir || { mkdir dir; echo secret >dir/key; exit "
                 "1; }\n"
                 "wc -c <dir/key; mv dir gone 2>/dev/null && echo BAD; true");
    char *volume = arena_printf(pod.arena, "%s/volume", pod.directory);
    char *below = arena_printf(pod.arena, "%s/below", volume);
    file_make_dirs(below, 0777, NULL);
    pod_spec_add_memory(pod.arena, &pod.spec, below);
    pod_strings_add(pod.arena, &pod.spec.masks, arena_printf(pod.arena, "%s/dir/key", below));
    struct pod_mount *top = pod_container_add_mount(pod.arena, pod.main, "/top", volume);
    top->read_only = top->only_top = true;
    pod.spec.restart = RESTART_ON_FAILURE;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    assert_string_equal(pod_log(&pod, 1), "0\n");
    pod_drop(&pod);
}

/* One pod swaps a directory and a link to the machine's root as fast as it can, while others mount
 * this path as a sub path. They must never see the machine's root. */
static void race_for_sub_path(const char *volume)
{
    struct pod swapper =
        pod_make("swapper", "10.244.1.9",
                 "cd /v && mkdir -p a/etc && ln -s / b && exec python3 -c '\n"
                 "import ctypes\n"
                 "libc = ctypes.CDLL(None, use_errno=True)\n"
                 "def swap(): return libc.renameat2(-100, b\"a\", -100, b\"b\", 2)\n"
                 "print(\"up\" if swap() == 0 else ctypes.get_errno(), flush=True)\n"
                 "while True: swap()'");
    pod_container_add_mount(swapper.arena, swapper.main, "/v", volume);
    pod_start(&swapper);
    pod_wait_for_word(&swapper, "up");
    for (int i = 0; i < 25; i++) {
        struct pod pod = pod_make("raced", "10.244.1.1", "ls -A /s");
        pod_container_add_mount(pod.arena, pod.main, "/s", volume)->sub_path = "a/etc";
        pod_start(&pod);
        const struct container_end *end = pod_finish(&pod);
        if (str_eq(end->reason, "Completed"))
            pod_expect_log(&pod, "");
        pod_drop(&pod);
    }
    pod_drop(&swapper);
}

/* A missing sub path is created, but never through a link: neither out of the volume, nor within
 * it, where the link may have changed in between. */
static void expect_no_file_behind_links(const char *volume)
{
    static const char *const WAYS[] = {"new/../away/made", "away/made", "deep/made", "nowhere"};
    _cleanup_free_ char *outside = mem_printf("%s/outside", scratch);
    _cleanup_free_ char *away = mem_printf("%s/away", volume);
    _cleanup_free_ char *nowhere = mem_printf("%s/nowhere", volume);
    _cleanup_free_ char *made_outside = mem_printf("%s/made", outside);
    _cleanup_free_ char *made_inside = mem_printf("%s/deep/made", volume);
    file_make_dirs(outside, 0777, NULL);
    assert_int_equal(symlink(outside, away), 0);
    assert_int_equal(symlink("new/there", nowhere), 0);
    for (size_t i = 0; i < ARRAY_SIZE(WAYS); i++) {
        struct pod pod = pod_make("made", "10.244.1.1", "ls /made");
        pod_container_add_mount(pod.arena, pod.main, "/made", volume)->sub_path = WAYS[i];
        pod_start(&pod);
        assert_string_equal(pod_finish(&pod)->reason, "StartError");
        assert_false(file_exists(made_outside));
        assert_false(file_exists(made_inside));
        pod_drop(&pod);
    }
}

void sub_paths_stay_in_the_volume(void **state)
{
    struct pod pod = pod_make("sub", "10.244.1.1", "cat /inside/file; ls /up");
    _cleanup_free_ char *volume = mem_printf("%s/sub", scratch);
    file_make_dirs(arena_printf(pod.arena, "%s/..1/deep", volume), 0777, NULL);
    chmod(volume, 0777);
    file_write_atomic(arena_printf(pod.arena, "%s/..1/deep/file", volume), "linked\n", 7, 0644,
                      NULL);
    /* The files of a config map have this layout. */
    assert_int_equal(symlink("..1", arena_printf(pod.arena, "%s/..data", volume)), 0);
    assert_int_equal(symlink("..data/deep", arena_printf(pod.arena, "%s/deep", volume)), 0);
    pod_container_add_mount(pod.arena, pod.main, "/inside", volume)->sub_path = "deep";
    pod_container_add_mount(pod.arena, pod.main, "/up", volume)->sub_path = "deep/../../..1/deep";
    pod_start(&pod);
    assert_string_equal(pod_finish(&pod)->reason, "Completed");
    pod_expect_log(&pod, "linked\nfile\n");
    pod_drop(&pod);

    static const char *const WAYS_OUT[] = {"../..", "deep/../../..", "absolute/etc", "upward"};
    for (size_t i = 0; i < ARRAY_SIZE(WAYS_OUT); i++) {
        pod = pod_make("sub", "10.244.1.1", "ls /out");
        (void)!symlink("/", arena_printf(pod.arena, "%s/absolute", volume));
        (void)!symlink("../../../../etc", arena_printf(pod.arena, "%s/upward", volume));
        pod_container_add_mount(pod.arena, pod.main, "/out", volume)->sub_path = WAYS_OUT[i];
        pod_start(&pod);
        assert_string_equal(pod_finish(&pod)->reason, "StartError");
        pod_drop(&pod);
    }
    expect_no_file_behind_links(volume);
    race_for_sub_path(volume);
}

/* A pod that can write to a directory above a volume can put a link into its path, after the volume
 * was checked, and then restart. */
void symbolic_links_in_volume_paths_are_rejected(void **state)
{
    static const char *const PATHS[] = {"link", "link/pods"};
    _cleanup_free_ char *link = mem_printf("%s/link", scratch);
    assert_int_equal(symlink(state_dir, link), 0);
    for (size_t i = 0; i < ARRAY_SIZE(PATHS); i++) {
        struct pod pod = pod_make("linked", "10.244.1.1", "ls /out");
        pod_container_add_mount(pod.arena, pod.main, "/out",
                                arena_printf(pod.arena, "%s/%s", scratch, PATHS[i]));
        pod_start(&pod);
        const struct container_end *end = pod_finish(&pod);
        assert_string_equal(end->reason, "StartError");
        assert_non_null(strstr(end->message, "a symbolic link was put into this path"));
        pod_drop(&pod);
    }
    unlink(link);
}

/* The list of secrets is read when a container starts. It also applies to a volume that is reached
 * through a link, and to a part of it. */
void listed_secrets_in_volumes_are_hidden(void **state)
{
    struct pod pod =
        pod_make("listed", "10.244.1.1",
                 "for f in /host /linked /part; do wc -c <$f/listed; done\n"
                 "rm -f /host/listed 2>/dev/null; mv /host/listed /host/x 2>/dev/null\n"
                 "wc -c </host/listed; wc -c </host/plain");
    struct err test_err = ERR_INIT;
    char *directory = arena_printf(pod.arena, "%s/deep", scratch);
    char *secret = arena_printf(pod.arena, "%s/listed", directory);
    char *link = arena_printf(pod.arena, "%s/link", scratch);
    pod.spec.secrets = arena_printf(pod.arena, "%s/secrets", scratch);
    file_make_dirs(directory, 0755, NULL);
    file_write_atomic(secret, "secret", 6, 0644, NULL);
    file_write_atomic(arena_printf(pod.arena, "%s/plain", directory), "plain", 5, 0644, NULL);
    assert_int_equal(symlink("deep", link), 0);
    /* The list has the file under another path, and a file that does not exist. */
    assert_int_equal(
        pod_secrets_add(pod.spec.secrets, arena_printf(pod.arena, "%s/listed", link), &test_err),
        0);
    assert_int_equal(pod_secrets_add(pod.spec.secrets, "/nowhere/at/all", &test_err), 0);
    pod_container_add_mount(pod.arena, pod.main, "/host", directory);
    pod_container_add_mount(pod.arena, pod.main, "/linked", scratch)->sub_path = "link";
    pod_container_add_mount(pod.arena, pod.main, "/part", scratch)->sub_path = "deep";
    pod_start(&pod);
    pod_finish(&pod);
    pod_expect_log(&pod, "0\n0\n0\n0\n5\n");
    _cleanup_buf_ struct buf text;
    buf_init(&text, 64);
    assert_int_equal(file_read(secret, &text, &test_err), 0);
    assert_string_equal(text.data, "secret");
    unlink(link);
    pod_drop(&pod);

    /* If the list cannot be read, the container does not start. */
    pod = pod_make("unlisted", "10.244.1.1", "true");
    pod.spec.secrets = arena_printf(pod.arena, "%s/secrets", scratch);
    file_write_atomic(pod.spec.secrets, "x\n", 2, 0600, NULL);
    pod_start(&pod);
    assert_string_equal(pod_finish(&pod)->reason, "StartError");
    pod_drop(&pod);
}

/* If a volume includes the state directory, the directory is shown empty, wherever the volume is
 * mounted. A volume with a path in it shows that path, except for the hidden files below it. */
void secrets_in_volumes_are_hidden(void **state)
{
    struct pod pod = pod_make("cover", "10.244.1.1",
                              "test -e /host/seen && echo seen; ls -A /host/state\n"
                              "echo part; ls -A /part | grep pods; ls -A /part/pods\n"
                              "echo file; wc -c </host/secret; wc -c </whole/secret\n"
                              "cd /host/deep; ls -A; wc -c <er/key; {\n"
                              "mv /host/deep /host/gone && echo BAD\n"
                              "mv er gone && echo BAD; rm -r er && echo BAD\n"
                              "mv er/key er/gone && echo BAD; ln er/key er/gone && echo BAD\n"
                              "} 2>/dev/null; touch er/new && echo made");
    char *secret = arena_printf(pod.arena, "%s/secret", scratch);
    file_write_atomic(arena_printf(pod.arena, "%s/seen", scratch), "", 0, 0644, NULL);
    file_write_atomic(secret, "secret", 6, 0644, NULL);
    char *key = arena_printf(pod.arena, "%s/deep/er/key", scratch);
    file_make_dirs(arena_printf(pod.arena, "%s/deep/er", scratch), 0777, NULL);
    file_write_atomic(key, "secret", 6, 0644, NULL);
    pod_strings_add(pod.arena, &pod.spec.masks, key);
    pod_container_add_mount(pod.arena, pod.main, "/host", scratch);
    pod_container_add_mount(pod.arena, pod.main, "/part", scratch)->sub_path = "state";
    pod_container_add_mount(pod.arena, pod.main, "/whole/secret", secret);
    pod_strings_add(pod.arena, &pod.spec.masks, arena_printf(pod.arena, "%s/pods", state_dir));
    pod_strings_add(pod.arena, &pod.spec.masks, secret);
    pod_start(&pod);
    pod_finish(&pod);
    pod_expect_log(&pod, "seen\npart\npods\nfile\n0\n6\ner\n0\nmade\n");
    pod_drop(&pod);
}

void groups_and_capabilities_are_set(void **state)
{
    static const char script[] = "id -G; grep CapBnd /proc/self/status; chown 1:1 /tmp 2>/dev/null "
                                 "&& echo BAD; test -e /sys/class/net && cat "
                                 "/proc/sys/net/core/somaxconn /proc/sys/kernel/msgmni";
    struct pod pod = pod_make("drop", "10.244.1.1", script);
    pod.main->capabilities = capabilities_default() & ~capabilities_named("CHOWN");
    pod.main->capabilities |= capabilities_named("SYS_ADMIN"); /* never given */
    pod_strings_add(pod.arena, &pod.spec.sysctls, "net.core.somaxconn=123");
    pod_strings_add(pod.arena, &pod.spec.sysctls, "kernel.msgmni=45");
    pod.spec.extra_groups[0] = 4242;
    pod.spec.extra_groups[1] = 4343;
    pod.spec.extra_group_count = 2;
    pod_start(&pod);
    const struct container_end *end = pod_finish(&pod);
    if (end->exit_code)
        fail_msg("%s: %s", end->message, pod_log(&pod, 0));
    char *wanted = arena_printf(
        pod.arena, "%s\nCapBnd:\t%016llx\n123\n45\n", pod.spec.nested ? "0" : "0 4242 4343",
        (unsigned long long)(capabilities_default() & ~capabilities_named("cap_chown")));
    pod_expect_log(&pod, wanted);
    pod_drop(&pod);

    pod = pod_make("none", "10.244.1.1", "id -u; grep CapEff /proc/self/status");
    pod.main->capabilities = 0;
    pod.main->user = 1000;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "1000\nCapEff:\t0000000000000000\n");
    pod_drop(&pod);

    pod = pod_make("sysctl", "10.244.1.1", "true");
    pod_strings_add(pod.arena, &pod.spec.sysctls, "kernel.core_pattern=|/tmp/x");
    pod_write_spec(&pod);
    assert_int_not_equal(pod_try_supervisor(&pod), 0);
    pod_drop(&pod);
}

void read_only_root_is_not_writable(void **state)
{
    struct pod pod =
        pod_make("closed", "10.244.1.1",
                 "for d in /tmp /run /var/tmp /usr /; do touch $d/x 2>/dev/null && echo "
                 "BAD $d; done; touch /tmp/mine/x && echo mine");
    char *volume = arena_printf(pod.arena, "%s/mine", scratch);
    file_make_dirs(volume, 0777, NULL);
    pod.main->read_only = true;
    pod_container_add_mount(pod.arena, pod.main, "/tmp/mine", volume);
    pod_start(&pod);
    pod_finish(&pod);
    pod_expect_log(&pod, "mine\n");
    pod_drop(&pod);
}

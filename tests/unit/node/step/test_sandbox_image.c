/* Tests containers with their own root file system: what they see, what they can write, and the
 * ways to escape that an untrusted image may try. */
#include "sandbox_pod.h"

#include "base/moment.h"
#include "base/system/file.h"

#include <poll.h>
#include <signal.h>
#include <stdlib.h>

/* Makes a root file system: a shell, a few programs with their libraries, and the traps of an
 * untrusted image. */
static char *make_image(const char *name)
{
    char *root = mem_printf("%s/%s", scratch, name);
    _cleanup_free_ char *script = mem_printf(
        "set -e; mkdir -p '%s'; cd '%s'; PATH=$PATH:/usr/sbin:/sbin\n"
        "for p in sh ls cat touch id mount umount mknod unshare chroot readlink grep rm; do\n"
        "  f=$(command -v $p); cp -L --parents $f $(ldd $f | grep -o '/[^ ]*') .; done\n"
        "test -e bin || ln -s usr/bin bin; mkdir -p etc data; echo image >etc/word\n"
        "ln -s /somewhere etc/resolv.conf; ln -s /tmp dev; ln -s ../../../../../tmp proc\n"
        "echo x >sys; chmod 555 data",
        root, root);
    assert_int_equal(system(script), 0);
    return root;
}

static struct pod make_image_pod(const char *root, const char *script)
{
    struct pod pod = pod_make("image", "10.244.1.1", script);
    pod.main->root = root;
    pod_strings_add(pod.arena, &pod.main->environment,
                    arena_printf(pod.arena, "STATE_DIR=%s", state_dir));
    return pod;
}

#define YES_AND_NO                                                                                 \
    "no() { if \"$@\" >/dev/null 2>&1; then echo \"BAD: $*\"; fi; }\n"                             \
    "yes() { \"$@\" >/dev/null 2>&1 || echo \"BAD: not $*\"; }\n"

void image_is_the_root_of_the_container(void **state)
{
    static const char script[] = YES_AND_NO
        "yes grep -q image /etc/word; no test -e /etc/shadow; no test -e /home; no test -e /boot\n"
        "no test -e \"$STATE_DIR\"; no test -e /usr/bin/python3; no test -e /run/trainyard/bin\n"
        "yes touch /x; yes touch /usr/x; yes touch /etc/x; yes touch /tmp/x; yes touch /run/x\n"
        "yes rm /etc/word; no test -e /etc/word; no touch /dev/x; yes touch /dev/shm/x\n"
        "yes test -c /dev/null; yes test -d /proc/self/fd; yes test -d /sys/class; no test -L "
        "/dev\n"
        "yes grep -q 'nameserver 10.244.0.1' /etc/resolv.conf; yes grep -q image /etc/hosts\n"
        "yes test \"$(cat /etc/hostname)\" = image; yes test \"$(cat /data/in)\" = in\n"
        "yes test \"$(cat /new/place/in)\" = in; no touch /new/place/x; yes touch /data/out\n"
        "no mount -t tmpfs none /mnt; no umount /proc; no umount /data; no mount -o remount,rw "
        "/proc\n"
        "no unshare -m true; no mknod /tmp/disk b 8 0; no chroot /proc/1/root touch /y\n"
        "no unshare -Urm sh -c 'umount /data'; no unshare -Urm sh -c 'umount -l /'\n"
        "no sh -c 'echo 1 >/proc/sys/kernel/randomize_va_space'; no ls /proc/1/root/\n"
        "no readlink /proc/1/exe; no sh -c 'echo b >/proc/sysrq-trigger'; yes test \"$PWD\" = "
        "/work\n"
        "echo done\n";
    _cleanup_free_ char *root = make_image("image-root");
    _cleanup_free_ char *volume = mem_printf("%s/image-volume", scratch);
    file_make_dirs(volume, 0777, NULL);
    struct pod pod = make_image_pod(root, script);
    file_write_atomic(arena_printf(pod.arena, "%s/in", volume), "in\n", 3, 0644, NULL);
    pod_container_add_mount(pod.arena, pod.main, "/data", volume);
    pod_container_add_mount(pod.arena, pod.main, "/new/place", volume)->read_only = true;
    pod.main->directory = "/work";
    pod_start(&pod);
    const struct container_end *end = pod_finish(&pod);
    if (end->exit_code)
        fail_msg("%s %s", end->reason, end->message);
    pod_expect_log(&pod, "done\n");
    assert_true(file_exists(arena_printf(pod.arena, "%s/out", volume)));
    /* Files that the container wrote are in its layer, not in the image. */
    assert_true(file_exists(arena_printf(pod.arena, "%s/etc/word", root)));
    assert_false(file_exists(arena_printf(pod.arena, "%s/x", root)));
    assert_true(file_exists(arena_printf(pod.arena, "%s/upper/usr/x", pod.main->layer)));
    pod_drop(&pod);

    /* The layer is removed after the run. */
    pod = make_image_pod(root, "test -e /been && echo BAD; touch /been; exit 1");
    pod_expect_silent_restarts(&pod);

    pod =
        make_image_pod(root, YES_AND_NO "no touch /x; no touch /usr/x; no touch /tmp/x; yes touch "
                                        "/data/x; yes grep -q image /etc/hosts; echo done");
    pod.main->read_only = true;
    pod_container_add_mount(pod.arena, pod.main, "/data", volume);
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "done\n");
    pod_drop(&pod);
}

void missing_program_in_the_image_is_reported(void **state)
{
    _cleanup_free_ char *root = make_image("image-without");
    struct pod pod = make_image_pod(root, "");
    pod.main->arguments.items[0] = "/usr/bin/python3";
    pod_start(&pod);
    assert_string_equal(pod_finish(&pod)->message,
                        "cannot run '/usr/bin/python3': No such file or directory in the image");
    pod_drop(&pod);
    pod = make_image_pod("/nowhere", "");
    pod_start(&pod);
    assert_string_equal(pod_finish(&pod)->message,
                        "the image's files are gone from '/nowhere': No such file or directory");
    pod_drop(&pod);
    pod = pod_make("image", "10.244.1.1", "");
    pod.main->arguments.items[0] = "/tmp/my-program";
    pod_start(&pod);
    assert_non_null(strstr(pod_finish(&pod)->message, "pods do not see this directory"));
    pod_drop(&pod);
}

void stop_signal_of_the_container_is_sent(void **state)
{
    struct pod pod =
        pod_make("stop", "10.244.1.1",
                 "trap 'echo quit; exit 5' QUIT; echo up; while :; do sleep 0.01; done");
    pod.main->stop_signal = SIGQUIT;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    assert_int_equal(node_pod_end(pod.directory, pod.spec.plain, DEADLINE_MS, NULL), 0);
    assert_int_equal(pod_finish(&pod)->exit_code, 5);
    pod_drop(&pod);
}

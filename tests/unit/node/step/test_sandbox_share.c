/* Tests containers of one pod that share a PID namespace: which container may see, signal and
 * inspect which, and that each container still ends completely and with its own exit code. */
#include "sandbox_pod.h"

#include "base/system/file.h"
#include "node/process/lock.h"

#include <signal.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

static struct pod make_shared(const char *name, const char *script)
{
    struct pod pod = pod_make(name, "10.244.1.1", script);
    pod.spec.shares_processes = true;
    return pod;
}

static const struct container_state *state_of(const struct pod *pod, const char *name)
{
    return pod_state_find(pod_state_now(pod), name);
}

/* All containers of the pod share /dev/shm, also after restarts. A volume mounted there takes
 * precedence. */
void containers_share_the_memory_of_the_pod(void **state)
{
    struct pod pod = pod_make("shm", "10.244.1.1",
                              "until test -e /dev/shm/word; do sleep 0.01; done\n"
                              "cat /dev/shm/word /dev/shm/word; ls -l /dev/shm/own 2>/dev/null\n"
                              "stat -f -c %T /dev/shm; stat -c %a /dev/shm\n"
                              "grep -c ' /dev/shm .*nosuid,nodev,noexec' /proc/mounts");
    pod_add_container(&pod, "other",
                      "test -e /dev/shm/mine && mv /dev/shm/mine /dev/shm/word && exit 0\n"
                      "echo word >/dev/shm/mine; exit 1");
    char *volume = arena_printf(pod.arena, "%s/volume", pod.directory);
    file_make_dirs(volume, 0777, NULL);
    struct pod_container *third = pod_add_container(&pod, "third", "echo x >/dev/shm/own");
    pod_container_add_mount(pod.arena, third, "/dev/shm", volume);
    pod.spec.restart = RESTART_ON_FAILURE;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "word\nword\ntmpfs\n1777\n1\n");
    assert_true(file_exists(arena_printf(pod.arena, "%s/own", volume)));
    pod_drop(&pod);
}

void host_ipc_shares_the_memory_of_the_machine(void **state)
{
    char own[64] = "";
    assert_true(readlink("/proc/self/ns/ipc", own, sizeof(own) - 1) > 0);
    struct pod pod =
        pod_make("ipc", "10.244.1.1", "readlink /proc/self/ns/ipc; stat -c %d /dev/shm");
    struct stat info;
    assert_int_equal(stat("/dev/shm", &info), 0);
    pod.spec.machine_ipc = true;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod,
                   arena_printf(pod.arena, "%s\n%llu\n", own, (unsigned long long)info.st_dev));
    pod_drop(&pod);
    pod = pod_make("ipc", "10.244.1.1", "readlink /proc/self/ns/ipc");
    pod_start(&pod);
    pod_finish(&pod);
    assert_string_not_equal(pod_log(&pod, 0), arena_printf(pod.arena, "%s\n", own));
    pod_drop(&pod);
}

/* The containers of root can read each other's files, as in Kubernetes. The containers of an
 * ordinary user cannot, because each has its own user namespace. Neither can see anything through
 * the first process. */
void shared_pid_namespace_shows_other_containers(void **state)
{
    struct pod pod = make_shared(
        "shared",
        "until pid=$(pgrep -xf 'sleep 4321'); do sleep 0.01; done\n"
        "cat /proc/1/comm; cat /proc/$pid/root/tmp/mine 2>/dev/null || echo closed\n"
        "ls /proc/1/root/ 2>/dev/null; ls /proc/1/fd/ 2>/dev/null; cat /proc/1/exe 2>/dev/null\n"
        "for p in $(pgrep -x trainyard-init); do ls /proc/$p/root/ 2>/dev/null; done\n"
        "kill -KILL 1 2>/dev/null; cat /proc/1/comm; kill -TERM $pid");
    pod_add_container(&pod, "other", "echo mine >/tmp/mine; exec sleep 4321");
    pod_start(&pod);
    const struct container_end *end = pod_finish(&pod);
    assert_int_equal(end->exit_code, 128 + SIGTERM);
    assert_int_equal(end->signal, SIGTERM);
    assert_int_equal(state_of(&pod, "main")->end.exit_code, 0);
    pod_expect_log(&pod, pod.spec.nested ? "trainyard-pause\nclosed\ntrainyard-pause\n"
                                         : "trainyard-pause\nmine\ntrainyard-pause\n");
    pod_drop(&pod);
}

/* Adds a directory that both containers see at /run/kept. */
static void add_kept_directory(struct pod *pod)
{
    char *kept = arena_printf(pod->arena, "%s/kept", pod->directory);
    file_make_dirs(kept, 0777, NULL);
    chmod(kept, 0777);
    pod_container_add_mount(pod->arena, pod->main, "/run/kept", kept);
}

/* The pipes are closed then, too: the supervisor does not wait for processes that inherited
 * them. */
void leftover_processes_end_with_their_container(void **state)
{
    struct pod pod =
        make_shared("leaving", "until pgrep -xf 'sleep 4322' >/dev/null; do sleep 0.01; done\n"
                               "touch /run/kept/seen\n"
                               "while pgrep -xf 'sleep 432[23]' >/dev/null; do sleep 0.01; done");
    add_kept_directory(&pod);
    struct pod_container *other =
        pod_add_container(&pod, "other",
                          "setsid sleep 4323 & (setsid sleep 4322 &)\n"
                          "until test -e /run/kept/seen; do sleep 0.01; done; exit 3");
    other->user = 1000; /* also a user other than the supervisor's */
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 3);
    assert_int_equal(state_of(&pod, "main")->end.exit_code, 0);
    pod_drop(&pod);
}

void shared_containers_restart_alone(void **state)
{
    struct pod pod =
        make_shared("again", "if test -e /run/kept/ended; then pgrep -xf 'sleep 4324'\n"
                             "touch /run/kept/done; exit 0; fi\n"
                             "touch /run/kept/ended; setsid sleep 4324 & exit 7");
    add_kept_directory(&pod);
    pod_add_container(&pod, "other", "until test -e /run/kept/done; do sleep 0.01; done; exit 0");
    pod.spec.restart = RESTART_ON_FAILURE;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    assert_int_equal(state_of(&pod, "main")->restarts, 1);
    assert_int_equal(state_of(&pod, "main")->last.exit_code, 7);
    assert_int_equal(state_of(&pod, "main")->end.exit_code, 0);
    assert_int_equal(state_of(&pod, "other")->restarts, 0);
    assert_string_equal(pod_log(&pod, 1), "");
    pod_drop(&pod);
}

void killed_supervisor_ends_shared_containers(void **state)
{
    struct pod pod = make_shared("gone", "(setsid sleep 4325 &); echo up; exec sleep 1000");
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    int init_fd = pidfd_open((pid_t)state_of(&pod, "main")->pid, 0);
    int pidfd = pod_find_supervisor(&pod);
    assert_true(init_fd >= 0 && pidfd >= 0);
    pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    assert_true(process_wait_end(init_fd, DEADLINE_MS));
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(init_fd);
    close(pidfd);
    pod_start_supervisor(&pod);
    assert_string_equal(pod_finish(&pod)->reason, "ContainerStatusUnknown");
    pod_drop(&pod);
}

/* Without namespaces the supervisor must itself remember which process belongs to which container.
 * Here the hook of one container outlives the other, and nothing in the process shows its
 * container. */
void hook_of_another_container_survives_an_exit(void **state)
{
    struct pod pod = pod_make("apart", NULL, "");
    char *hook = arena_printf(pod.arena, "%s/hook", pod.directory);
    char *survived = arena_printf(pod.arena, "%s/survived", pod.directory);
    pod.spec.plain = pod.spec.machine_ipc = true;
    pod.spec.network = pod.spec.hosts = pod.spec.resolv_conf = NULL;
    pod.spec.masks = (struct pod_strings){0};
    pod.main->arguments.items[2] =
        arena_printf(pod.arena, "until test -e %s; do sleep 0.01; done; exit 42", hook);
    struct pod_container *other = pod_add_container(
        &pod, "other",
        arena_printf(pod.arena, "until test -e %s; do sleep 0.01; done; exit 5", survived));
    const char *const words[] = {
        "/usr/bin/env",
        "-i",
        "PATH=/usr/bin:/bin",
        "/bin/sh",
        "-c",
        arena_printf(pod.arena,
                     "touch %s; until grep -qx 'exit 42' %s/state; do sleep 0.01; done\n"
                     "touch %s",
                     hook, pod.directory, survived)};
    other->life.post_start.kind = HANDLER_EXEC;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(pod.arena, &other->life.post_start.words, words[i]);
    pod_start(&pod);
    pod_finish(&pod);
    assert_int_equal(state_of(&pod, "main")->end.exit_code, 42);
    assert_int_equal(state_of(&pod, "other")->end.exit_code, 5);
    pod_drop(&pod);
}

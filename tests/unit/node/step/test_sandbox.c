/* Tests pods as processes of this machine, without any API: what a sandbox shows and forbids, how
 * it ends, and that everything survives the death of the process that started it.
 *
 *   test_sandbox TRAINYARD-STEP [user [covered]]
 *
 * As root it tests pods of root, and with "user" those of a user without any privileges. "covered"
 * is a machine with a mount below /etc, as in containers, where overlays are rejected. The test is
 * skipped where the machine forbids namespaces. */
#include "sandbox_pod.h"

#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"
#include "loop/loop.h"
#include "node/pod/supervisor.h"
#include "node/process/lock.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mount.h>
#include <sys/pidfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { NOBODY = 65534, SKIPPED = 77 };

/* ---- The tests ---- */

static void exit_codes_and_signals_are_recorded(void **state)
{
    static const struct {
        const char *script, *reason;
        int exit_code, signal;
    } CASES[] = {
        {"exit 0", "Completed", 0, 0},
        {"exit 7", "Error", 7, 0},
        {"kill -SEGV $$", "Error", 139, SIGSEGV},
        {"kill -KILL $$", "Error", 137, SIGKILL},
        {"sleep 1000 & exit 3", "Error", 3, 0}, /* orphans are killed, too */
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct pod pod = pod_make("exits", "10.244.1.1", CASES[i].script);
        pod_start(&pod);
        const struct container_end *end = pod_finish(&pod);
        assert_int_equal(end->exit_code, CASES[i].exit_code);
        assert_int_equal(end->signal, CASES[i].signal);
        assert_string_equal(end->reason, CASES[i].reason);
        pod_drop(&pod);
    }
}

static void container_runs_as_its_user(void **state)
{
    struct pod pod = pod_make("user", "10.244.1.1", "id -u; id -g; cat /etc/hosts >/dev/null");
    pod.main->user = 1234;
    pod.main->group = 567;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "1234\n567\n");
    pod_drop(&pod);
}

/* Many programs write their log to /dev/stderr instead of the descriptor. */
static void user_can_open_its_output_by_name(void **state)
{
    struct pod pod = pod_make("user", "10.244.1.1", "echo error >/dev/stderr");
    pod.main->user = 1234;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "error\n");
    pod_drop(&pod);

    pod = pod_make("user", "10.244.1.1", "echo output >/dev/stdout");
    pod.main->user = 1234;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "output\n");
    pod_drop(&pod);
}

static void pods_can_use_the_same_port(void **state)
{
    static const char server[] =
        "exec python3 -c 'import socket\n"
        "s = socket.create_server((\"0.0.0.0\", 2222)); print(\"listening\", flush=True)\n"
        "c, who = s.accept(); c.sendall(b\"hello \" + who[0].encode())'";
    static const char client[] =
        "exec python3 -c 'import socket\n"
        "own = socket.create_server((\"0.0.0.0\", 2222)); low = socket.create_server((\"\", 80))\n"
        "print(socket.create_connection((\"10.244.1.1\", 2222)).recv(100).decode())\n"
        "s = socket.socket(); s.settimeout(0.2)\n"
        "try: s.connect((\"192.0.2.1\", 80)); print(\"BAD: a way out\")\n"
        "except OSError: pass'";
    struct pod first = pod_make("first", "10.244.1.1", server);
    struct pod second = pod_make("second", "10.244.2.1", client);
    pod_start(&first);
    pod_wait_for_word(&first, "listening");
    pod_start(&second);
    assert_int_equal(pod_finish(&second)->exit_code, 0);
    pod_expect_log(&second, "hello 10.244.2.1\n");
    pod_finish(&first);
    /* The address can be given again at once, and is the only one. */
    struct pod third = pod_make("third", "10.244.1.1",
                                "ip -o -4 addr show eth0 | grep -o 10.244.1.1 && "
                                "test -z \"$(ip -o -6 addr show eth0)\" && "
                                "{ test ! -e /proc/net/if_inet6 || "
                                "ip -o -6 addr show lo | grep ::1; }");
    pod_start(&third);
    assert_int_equal(pod_finish(&third)->exit_code, 0);
    pod_drop(&first);
    pod_drop(&second);
    pod_drop(&third);
}

/* The first process adopts the orphans of a program and waits for them. Without that wait a dead
 * orphan would stay in /proc. */
static void orphans_are_reaped(void **state)
{
    struct pod pod = pod_make("orphans", "10.244.1.1",
                              "mkfifo /tmp/go; sh -c 'read word </tmp/go & echo $! >/tmp/orphan'\n"
                              "read orphan </tmp/orphan\n"
                              "grep -q '^PPid:.1$' /proc/$orphan/status || exit 1\n"
                              "echo >/tmp/go; while test -e /proc/$orphan; do sleep 0.01; done\n"
                              "echo reaped");
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "reaped\n");
    pod_drop(&pod);
}

static void containers_share_network_and_volumes(void **state)
{
    struct pod pod =
        pod_make("share", "10.244.1.1",
                 "until test -e /v/up; do sleep 0.01; done; hostname\n"
                 "python3 -c 'import socket; print(socket.create_connection((\"127.0.0."
                 "1\", 7000)).recv(9).decode())'");
    char *volume = arena_printf(pod.arena, "%s/shared", scratch);
    file_make_dirs(volume, 0777, NULL);
    chmod(volume, 0777);
    pod_container_add_mount(pod.arena, pod.main, "/v", volume);
    struct pod_container main = *pod.main;
    pod.spec.container_count = 0;
    struct pod_container *first = pod_spec_add_container(pod.arena, &pod.spec, "prepare");
    *first = main;
    first->name = "prepare";
    first->layer = arena_printf(pod.arena, "%s/layers/prepare", pod.directory);
    first->init = true;
    first->arguments = (struct pod_strings){0};
    const char *const words[] = {"sh", "-c", "test ! -e /v/up && echo prepared >/v/prepared"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(pod.arena, &first->arguments, words[i]);
    struct pod_container *side = pod_spec_add_container(pod.arena, &pod.spec, "side");
    *side = main;
    side->name = "side";
    side->layer = arena_printf(pod.arena, "%s/layers/side", pod.directory);
    side->arguments = (struct pod_strings){0};
    const char *const serve[] = {"python3", "-c",
                                 "import socket\nopen('/v/prepared')\n"
                                 "s = socket.create_server(('127.0.0.1', 7000))\n"
                                 "open('/v/up', 'w')\ns.accept()[0].sendall(b'sidecar')"};
    for (size_t i = 0; i < ARRAY_SIZE(serve); i++)
        pod_strings_add(pod.arena, &side->arguments, serve[i]);
    *pod_spec_add_container(pod.arena, &pod.spec, "main") = main;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    pod_expect_log(&pod, "share\nsidecar\n");
    assert_int_equal(pod_state_now(&pod)->count, 3);
    pod_drop(&pod);
}

static void restarts_keep_the_previous_log(void **state)
{
    struct pod pod = pod_make("again", "10.244.1.1",
                              "if test -e /v/been; then echo second; else touch /v/been; echo "
                              "first >&2; exit 1; fi");
    char *volume = arena_printf(pod.arena, "%s/again", scratch);
    file_make_dirs(volume, 0777, NULL);
    pod_container_add_mount(pod.arena, pod.main, "/v", volume);
    pod.spec.restart = RESTART_ON_FAILURE;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    const struct container_state *container = &pod_state_now(&pod)->containers[0];
    assert_int_equal(container->restarts, 1);
    assert_int_equal(container->last.exit_code, 1);
    assert_string_equal(pod_log(&pod, 0), "first\n");
    assert_string_equal(pod_log(&pod, 1), "second\n");
    pod_drop(&pod);
}

static void killed_supervisor_ends_its_pod(void **state)
{
    struct pod pod = pod_make("killed", "10.244.1.1", "echo up; exec sleep 1000");
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    int64_t init = pod_state_now(&pod)->containers[0].pid;
    int init_fd = pidfd_open((pid_t)init, 0), pidfd = pod_find_supervisor(&pod);
    assert_true(init_fd >= 0 && pidfd >= 0);
    pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    assert_true(process_wait_end(init_fd, DEADLINE_MS));
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(init_fd);
    close(pidfd);
    assert_false(pod_state_now(&pod)->finished);
    pod_start_supervisor(&pod); /* the node does this when it finds such a pod */
    const struct container_end *end = pod_finish(&pod);
    assert_string_equal(end->reason, "ContainerStatusUnknown");
    assert_int_equal(end->exit_code, 137);
    pod_drop(&pod);
}

/* ---- Survival: three control processes, one after the other ---- */

static const char SERVER[] =
    "exec python3 -c 'import socket\n"
    "s = socket.create_server((\"0.0.0.0\", 2222)); print(\"listening\", flush=True)\n"
    "while True: s.accept()[0].sendall(b\"alive\")'";

static void run_first_control(void)
{
    struct err err = ERR_INIT;
    if (sandbox_enter(&err) < 0)
        _exit(1);
    struct pod pod = pod_make("survivor", "10.244.1.1", SERVER);
    pod_start(&pod);
    pod_wait_for_word(&pod, "listening");
    raise(SIGKILL);
}

static void run_second_control(void)
{
    struct err err = ERR_INIT;
    if (sandbox_enter(&err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        _exit(1);
    }
    int fd;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(2222)};
    inet_pton(AF_INET, "10.244.1.1", &address.sin_addr);
    if (node_namespaces_socket(space, AF_INET, SOCK_STREAM, 0, &fd, &err) < 0)
        _exit(2);
    (void)connect(fd, (struct sockaddr *)&address, sizeof(address));
    struct pollfd wait = {.fd = fd, .events = POLLIN};
    char word[6] = "";
    if (poll(&wait, 1, DEADLINE_MS) != 1 || recv(fd, word, 5, 0) != 5 || strcmp(word, "alive") != 0)
        _exit(3);
    _exit(0);
}

static int run_child(void (*function)(void))
{
    fflush(NULL);
    pid_t pid = fork();
    if (pid == 0) {
        function();
        _exit(0);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

static int run_survival_test(void)
{
    int first = run_child(run_first_control);
    if (!WIFSIGNALED(first))
        return fprintf(stderr, "the first control process failed: %x\n", first), 1;
    int second = run_child(run_second_control);
    if (second != 0)
        return fprintf(stderr, "the second control process found nothing: %x\n", second), 1;
    /* `down` comes from outside the cluster's namespaces. */
    struct err err = ERR_INIT;
    _cleanup_free_ char *holder = mem_printf("%s/run/holder", state_dir);
    int pidfd;
    pid_t pid;
    if (node_namespaces_destroy(state_dir, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), 1;
    if (process_lock_holder(holder, &pidfd, &pid, NULL) == 0)
        return fprintf(stderr, "the holder lives on\n"), 1;
    return 0;
}

static void run_sandbox_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_and_signals_are_recorded),
        cmocka_unit_test(python_runs_python3),
        cmocka_unit_test(missing_program_is_reported),
        cmocka_unit_test(invalid_program_files_are_reported),
        cmocka_unit_test(files_of_the_machine_are_read_only_or_hidden),
        cmocka_unit_test(volumes_are_mounted),
        cmocka_unit_test(memory_volumes_are_shared_and_limited),
        cmocka_unit_test(sub_paths_stay_in_the_volume),
        cmocka_unit_test(symbolic_links_in_volume_paths_are_rejected),
        cmocka_unit_test(secrets_in_volumes_are_hidden),
        cmocka_unit_test(listed_secrets_in_volumes_are_hidden),
        cmocka_unit_test(groups_and_capabilities_are_set),
        cmocka_unit_test(read_only_root_is_not_writable),
        cmocka_unit_test(working_directory_is_writable),
        cmocka_unit_test(each_run_has_its_own_files),
        cmocka_unit_test(program_runs_if_the_layer_cannot_be_created),
        cmocka_unit_test(root_on_an_overlay_is_writable),
        cmocka_unit_test(system_calls_cannot_escape_the_sandbox),
        cmocka_unit_test(mounts_forbid_setuid_files_and_devices),
        cmocka_unit_test(image_is_the_root_of_the_container),
        cmocka_unit_test(missing_program_in_the_image_is_reported),
        cmocka_unit_test(stop_signal_of_the_container_is_sent),
        cmocka_unit_test(container_runs_as_its_user),
        cmocka_unit_test(user_can_open_its_output_by_name),
        cmocka_unit_test(pods_can_use_the_same_port),
        cmocka_unit_test(orphans_are_reaped),
        cmocka_unit_test(containers_share_network_and_volumes),
        cmocka_unit_test(pod_ends_within_its_grace_period),
        cmocka_unit_test(too_long_variable_is_named),
        cmocka_unit_test(restarts_keep_the_previous_log),
        cmocka_unit_test(killed_supervisor_ends_its_pod),
        cmocka_unit_test(earlier_deadline_ends_the_pod),
        cmocka_unit_test(paused_pod_resumes_with_any_restart_policy),
        cmocka_unit_test(deletion_ends_a_pod_that_is_being_paused),
        cmocka_unit_test(interrupted_pause_resumes),
        cmocka_unit_test(interrupted_eviction_is_completed),
        cmocka_unit_test(machine_shutdown_pauses_restartable_pods),
        cmocka_unit_test(evicted_pod_never_restarts),
        cmocka_unit_test(unwritable_stop_request_is_reported),
        cmocka_unit_test(deletion_does_not_wait_for_the_last_state),
        cmocka_unit_test(read_only_volumes_include_mounts_below),
        cmocka_unit_test(secrets_below_a_read_only_volume_are_hidden),
        cmocka_unit_test(containers_share_the_memory_of_the_pod),
        cmocka_unit_test(host_ipc_shares_the_memory_of_the_machine),
        cmocka_unit_test(shared_pid_namespace_shows_other_containers),
        cmocka_unit_test(leftover_processes_end_with_their_container),
        cmocka_unit_test(shared_containers_restart_alone),
        cmocka_unit_test(killed_supervisor_ends_shared_containers),
        cmocka_unit_test(hook_of_another_container_survives_an_exit),
        cmocka_unit_test(failed_probe_restarts_the_container),
        cmocka_unit_test(failed_probe_without_restart_ends_the_container),
        cmocka_unit_test(probe_timeout_is_a_failure),
        cmocka_unit_test(probe_does_not_fail_an_exited_container),
        cmocka_unit_test(container_that_exited_before_sigterm_succeeds),
        cmocka_unit_test(startup_probe_delays_the_other_probes),
        cmocka_unit_test(readiness_follows_the_probe),
        cmocka_unit_test(probes_and_hooks_use_tcp_and_http),
        cmocka_unit_test(next_container_waits_for_the_post_start_hook),
        cmocka_unit_test(failed_post_start_hook_ends_the_container),
        cmocka_unit_test(pre_stop_hook_runs_before_sigterm),
        cmocka_unit_test(sleep_hook_is_supported),
        cmocka_unit_test(sidecars_run_beside_other_containers),
        cmocka_unit_test(sidecars_end_last),
        cmocka_unit_test(failed_init_container_ends_the_pod),
        cmocka_unit_test(second_failure_causes_backoff),
        cmocka_unit_test(deadline_survives_a_new_supervisor),
        cmocka_unit_test(stored_deadline_never_moves_later),
    };
    struct err err = ERR_INIT;
    if (sandbox_enter(&err) < 0) {
        printf("skipped: %s\n", err.message);
        exit(SKIPPED);
    }
    exit(cmocka_run_group_tests(tests, NULL, NULL));
}

/* Copies the program, because an ordinary user may not be able to read the build directory. */
static int become_ordinary_user(void)
{
    _cleanup_buf_ struct buf program;
    buf_init(&program, 64 * 1024 * 1024);
    char *copy = mem_printf("%s/trainyard-step", scratch);
    if (file_read(step_path, &program, NULL) < 0 ||
        file_write_atomic(copy, program.data, program.size, 0755, NULL) < 0 ||
        chown(scratch, NOBODY, NOBODY) < 0 || setgroups(0, NULL) < 0 ||
        setresgid(NOBODY, NOBODY, NOBODY) < 0 || setresuid(NOBODY, NOBODY, NOBODY) < 0 ||
        prctl(PR_SET_DUMPABLE, 1) < 0)
        return -1;
    step_path = copy;
    return 0;
}

static int cover_hosts(void)
{
    _cleanup_free_ char *file = mem_printf("%s/hosts", scratch);
    if (file_write_atomic(file, "1.1.1.1 covered\n", 16, 0644, NULL) < 0 ||
        unshare(CLONE_NEWNS) < 0 || mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) < 0 ||
        mount(file, "/etc/hosts", NULL, MS_BIND, NULL) < 0)
        return -1;
    return 0;
}

int main(int argc, char **argv)
{
    if (argc < 2 || !mkdtemp(scratch))
        return 2;
    step_path = argv[1];
    state_dir = mem_printf("%s/state", scratch);
    umask(0022);
    if (argc > 3 && (geteuid() != 0 || cover_hosts() < 0)) {
        rmdir(scratch);
        return SKIPPED; /* only root can arrange it */
    }
    if (argc > 2 && geteuid() == 0 && become_ordinary_user() < 0)
        return 2;
    int status = run_child(run_sandbox_tests);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    node_namespaces_destroy(state_dir, NULL);
    if (code == 0)
        code = run_survival_test();
    file_remove_tree(scratch, NULL);
    return code;
}

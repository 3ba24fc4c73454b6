/* Pods as processes of this machine, without any API: what a sandbox shows and refuses, how it
 * ends, and that everything survives the death of whoever started it.
 *
 *   test_sandbox TRAINYARD-STEP [user [covered]]
 *
 * As root it tests pods of root, and with "user" those of a user without any right; "covered" is a
 * machine with something mounted below /etc, as in containers, where overlays are refused. Where
 * the machine forbids namespaces it is skipped. */
#include "node_test.h"

#include "base/file.h"
#include "base/moment.h"
#include "node/log_read.h"
#include "node/pod_state.h"
#include "node/process_lock.h"
#include "node/space.h"

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

enum { NOBODY = 65534, LOG_MAX = 1024 * 1024, DEADLINE_MS = 60 * 1000, SKIPPED = 77 };

static char scratch[] = "/tmp/trainyard-sandbox.XXXXXX";
static char *state_dir, *step_path;
static struct node_space *space;

static int enter(struct err *err)
{
    static const char *const names[] = {"node", NULL};
    const struct node_options options = {
        .state_dir = state_dir, .node_names = names, .step_path = step_path};
    return node_space_enter(&options, &space, err);
}

/* ---- A pod under test ---- */

struct pod {
    struct arena *arena;
    struct pod_spec spec;
    struct pod_container *main;
    char *directory;
};

static struct pod make_pod(const char *name, const char *address, const char *script)
{
    struct pod pod = {.arena = arena_new()};
    pod.directory = arena_printf(pod.arena, "%s/pods/%s", state_dir, name);
    file_make_dirs(pod.directory, 0700, NULL);
    pod.spec = (struct pod_spec){
        .hostname = name,
        .network = arena_strdup(pod.arena, node_space_network(space)),
        .address = address,
        .nested = node_space_is_nested(space),
        .restart = RESTART_NEVER,
        .hosts = arena_printf(pod.arena, "127.0.0.1 localhost\n%s %s\n", address, name),
        .resolv_conf = "nameserver 10.244.0.1\n",
    };
    pod_strings_add(pod.arena, &pod.spec.masks, state_dir);
    pod.main = pod_spec_add_container(pod.arena, &pod.spec, "main");
    pod_strings_add(pod.arena, &pod.main->arguments, "/bin/sh");
    pod_strings_add(pod.arena, &pod.main->arguments, "-c");
    pod_strings_add(pod.arena, &pod.main->arguments, script);
    pod_strings_add(pod.arena, &pod.main->environment, "PATH=/usr/bin:/bin:/usr/sbin:/sbin");
    return pod;
}

static void start_supervisor(const struct pod *pod)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl(step_path, step_path, "pod", pod->directory, (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
        fail_msg("the supervisor of %s did not start", pod->directory);
}

static void start(const struct pod *pod)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", pod->directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    pod_spec_write(&pod->spec, &text);
    assert_int_equal(file_write_atomic(path, text.data, text.size, 0600, NULL), 0);
    start_supervisor(pod);
}

static int find_supervisor(const struct pod *pod)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", pod->directory);
    int pidfd;
    pid_t pid;
    return process_lock_holder(lock, &pidfd, &pid, NULL) == 0 ? pidfd : -1;
}

static struct pod_state *state_of(const struct pod *pod)
{
    static struct pod_state state;
    pod_state_release(&state);
    (void)pod_state_load(pod->directory, &state, NULL);
    return &state;
}

/* Wait for the supervisor's end and give the pod's last word. */
static struct container_end *finish(const struct pod *pod)
{
    int pidfd = find_supervisor(pod);
    if (pidfd >= 0) {
        if (!process_wait_end(pidfd, DEADLINE_MS))
            fail_msg("%s does not end", pod->directory);
        close(pidfd);
    }
    struct pod_state *state = state_of(pod);
    assert_true(state->finished);
    return &state->containers[state->count - 1].end;
}

static char *log_of(const struct pod *pod, int64_t run)
{
    _cleanup_free_ char *path = pod_log_path(pod->directory, "main", run);
    _cleanup_buf_ struct buf records, text;
    buf_init(&records, LOG_MAX);
    buf_init(&text, LOG_MAX);
    struct err err = ERR_INIT;
    if (file_read(path, &records, &err) < 0)
        fail_msg("%s", err.message);
    node_log_render(records.data, records.size, false, 0, &text);
    return arena_strdup(pod->arena, text.data);
}

/* Until the pod has written the word; the deadline is reached by a defect only. */
static void wait_for_word(const struct pod *pod, const char *word)
{
    int64_t deadline = moment_wall_ms() + DEADLINE_MS;
    _cleanup_free_ char *path = pod_log_path(pod->directory, "main", 0);
    while (!file_exists(path) || !strstr(log_of(pod, 0), word)) {
        if (moment_wall_ms() > deadline)
            fail_msg("%s does not say '%s'", pod->directory, word);
        poll(NULL, 0, 5);
    }
}

static void expect_log(const struct pod *pod, const char *expected)
{
    assert_string_equal(log_of(pod, 0), expected);
}

static void drop(struct pod *pod)
{
    node_pod_end(pod->directory, 0, NULL);
    file_remove_tree(pod->directory, NULL);
    arena_free(pod->arena);
}

/* ---- The tests ---- */

static void exit_codes_and_signals(void **state)
{
    static const struct {
        const char *script, *reason;
        int exit_code, signal;
    } CASES[] = {
        {"exit 0", "Completed", 0, 0},
        {"exit 7", "Error", 7, 0},
        {"kill -SEGV $$", "Error", 139, SIGSEGV},
        {"kill -KILL $$", "Error", 137, SIGKILL},
        {"sleep 1000 & exit 3", "Error", 3, 0}, /* what is left behind goes too */
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct pod pod = make_pod("exits", "10.244.1.1", CASES[i].script);
        start(&pod);
        const struct container_end *end = finish(&pod);
        assert_int_equal(end->exit_code, CASES[i].exit_code);
        assert_int_equal(end->signal, CASES[i].signal);
        assert_string_equal(end->reason, CASES[i].reason);
        drop(&pod);
    }
}

static void what_cannot_start_says_why(void **state)
{
    struct pod pod = make_pod("wrong", "10.244.1.1", "");
    pod.main->arguments.items[0] = "no-such-program";
    start(&pod);
    const struct container_end *end = finish(&pod);
    assert_int_equal(end->exit_code, 128);
    assert_string_equal(end->reason, "StartError");
    assert_string_equal(end->message, "cannot run 'no-such-program': No such file or directory");
    drop(&pod);

    pod = make_pod("wrong", "10.244.1.1", "true");
    pod.main->directory = "/usr/nowhere";
    start(&pod);
    assert_string_equal(
        finish(&pod)->message,
        "cannot change to working directory '/usr/nowhere': No such file or directory");
    drop(&pod);
}

/* What the kernel would only call "Argument list too long". */
static void what_is_too_long_is_named(void **state)
{
    struct pod pod = make_pod("large", "10.244.1.1", "true");
    size_t size = 32 * (size_t)sysconf(_SC_PAGESIZE);
    char *variable = mem_zalloc(size + 1);
    memset(variable, 'x', size);
    memcpy(variable, "TF_CONFIG=", strlen("TF_CONFIG="));
    pod_strings_add(pod.arena, &pod.main->environment, variable);
    start(&pod);
    const struct container_end *end = finish(&pod);
    assert_string_equal(end->reason, "StartError");
    char *wanted = arena_printf(
        pod.arena,
        "cannot run '/bin/sh': 'TF_CONFIG' has %zu bytes, and one argument or variable "
        "may have %zu",
        size + 1, size);
    assert_string_equal(end->message, wanted);
    free(variable);
    drop(&pod);
}

/* Each line of the script says BAD if the sandbox leaks. */
static void the_machine_is_read_only_and_hidden(void **state)
{
    static const char script[] =
        "no() { if \"$@\" >/dev/null 2>&1; then echo \"BAD: $*\"; fi; }\n"
        "yes() { \"$@\" >/dev/null 2>&1 || echo \"BAD: not $*\"; }\n"
        "no touch /usr/x; no touch /x; no touch /home/x; no touch /etc/x; no touch /dev/x\n"
        "no mount -o remount,rw /usr; no mount -o remount,bind,rw /usr; no mount -o remount,rw /\n"
        "no mount -t tmpfs none /mnt; no umount /etc; no umount /proc; no umount /usr\n"
        "no unshare -m true; no mknod /tmp/disk b 8 0; no chroot /proc/1/root touch /usr/x\n"
        "no sh -c 'echo 1 >/proc/sys/kernel/randomize_va_space'\n"
        "no sh -c 'echo b >/proc/sysrq-trigger'\n"
        "no unshare -Urm sh -c 'mount -o remount,bind,rw /usr && touch /usr/x'\n"
        "no unshare -Urm sh -c \"umount $STATE_DIR && ls $STATE_DIR | grep pods\"\n"
        "no readlink /proc/1/exe; no readlink /proc/1/fd/3; no ls /proc/1/root/\n"
        "no test -s /etc/shadow; no test -e /run/systemd; no test -e \"$STATE_DIR/pods\"\n"
        "no ip link add dummy0 type dummy; no ip addr add 10.244.9.9/16 dev eth0\n"
        "yes touch /tmp/x; yes touch /dev/shm/x; yes touch /run/x; yes touch /var/tmp/x\n"
        "yes sh -c 'echo >/dev/null'; yes head -c1 /dev/urandom; yes test -c /dev/tty\n"
        "yes test \"$(hostname)\" = hidden; yes grep -q hidden /etc/hosts\n"
        "yes grep -q 'nameserver 10.244.0.1' /etc/resolv.conf; yes test \"$(id -u)\" = 0\n"
        "yes test \"$(cat /proc/1/comm)\" = trainyard-init; yes test -d /proc/self/fd\n"
        "yes test \"$(ls -d /proc/[0-9]* | wc -l)\" -lt 10; yes test \"$(cat /etc/hostname)\" = "
        "hidden\n"
        "echo done\n";
    struct pod pod = make_pod("hidden", "10.244.1.1", script);
    pod_strings_add(pod.arena, &pod.main->environment,
                    arena_printf(pod.arena, "STATE_DIR=%s", state_dir));
    start(&pod);
    finish(&pod);
    expect_log(&pod, "done\n");
    drop(&pod);
}

static void volumes_lie_where_they_are_mounted(void **state)
{
    struct pod pod = make_pod(
        "volumes", "10.244.1.1",
        "cat /data/in && echo out >/data/out && echo deep >/usr/share/doc/here/x && ls "
        "/usr/share/doc "
        "| grep -q base-files && touch /usr/share/doc/y 2>/dev/null || echo sealed\n"
        "touch /closed/x 2>/dev/null || echo closed; cat /etc/one; echo m >/mem/m && cat /mem/m\n"
        "echo nested >/data/below/n; echo sub >/sub/file; mkdir -p /work/x 2>/dev/null; pwd\n");
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
    pod_container_add_mount(pod.arena, pod.main, "/mem", NULL);
    pod.main->directory = "/workspace";
    start(&pod);
    const struct container_end *end = finish(&pod);
    if (end->exit_code)
        fail_msg("%d %s: %s", end->exit_code, end->message, log_of(&pod, 0));
    expect_log(&pod, "in\nsealed\nclosed\nin\nm\n/workspace\n");
    assert_true(file_exists(arena_printf(pod.arena, "%s/out", volume)));
    assert_true(file_exists(arena_printf(pod.arena, "%s/x", volume)));
    assert_true(file_exists(arena_printf(pod.arena, "%s/below/n", volume)));
    assert_true(file_exists(arena_printf(pod.arena, "%s/made/on/the/way/file", volume)));
    drop(&pod);

    /* A link that the pod may have left in its volume leads nowhere. */
    pod = make_pod("volumes", "10.244.1.1", "ls /out");
    assert_int_equal(symlink("/", arena_printf(pod.arena, "%s/link", volume)), 0);
    pod_container_add_mount(pod.arena, pod.main, "/out", volume)->sub_path = "link/etc";
    start(&pod);
    assert_string_equal(finish(&pod)->reason, "StartError");
    drop(&pod);
}

static void run_as_user(void **state)
{
    struct pod pod = make_pod("user", "10.244.1.1", "id -u; id -g; cat /etc/hosts >/dev/null");
    pod.main->user = 1234;
    pod.main->group = 567;
    start(&pod);
    assert_int_equal(finish(&pod)->exit_code, 0);
    expect_log(&pod, "1234\n567\n");
    drop(&pod);
}

static void two_pods_on_one_port(void **state)
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
    struct pod first = make_pod("first", "10.244.1.1", server);
    struct pod second = make_pod("second", "10.244.2.1", client);
    start(&first);
    wait_for_word(&first, "listening");
    start(&second);
    assert_int_equal(finish(&second)->exit_code, 0);
    expect_log(&second, "hello 10.244.2.1\n");
    finish(&first);
    /* The address may be given again at once. */
    struct pod third =
        make_pod("third", "10.244.1.1", "ip -o -4 addr show eth0 | grep -o 10.244.1.1");
    start(&third);
    assert_int_equal(finish(&third)->exit_code, 0);
    drop(&first);
    drop(&second);
    drop(&third);
}

static void containers_share_the_pod(void **state)
{
    struct pod pod =
        make_pod("share", "10.244.1.1",
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
    first->init = true;
    first->arguments = (struct pod_strings){0};
    const char *const words[] = {"sh", "-c", "test ! -e /v/up && echo prepared >/v/prepared"};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(pod.arena, &first->arguments, words[i]);
    struct pod_container *side = pod_spec_add_container(pod.arena, &pod.spec, "side");
    *side = main;
    side->name = "side";
    side->arguments = (struct pod_strings){0};
    const char *const serve[] = {"python3", "-c",
                                 "import socket\nopen('/v/prepared')\n"
                                 "s = socket.create_server(('127.0.0.1', 7000))\n"
                                 "open('/v/up', 'w')\ns.accept()[0].sendall(b'sidecar')"};
    for (size_t i = 0; i < ARRAY_SIZE(serve); i++)
        pod_strings_add(pod.arena, &side->arguments, serve[i]);
    *pod_spec_add_container(pod.arena, &pod.spec, "main") = main;
    start(&pod);
    assert_int_equal(finish(&pod)->exit_code, 0);
    expect_log(&pod, "share\nsidecar\n");
    assert_int_equal(state_of(&pod)->count, 3);
    drop(&pod);
}

static void ending_with_grace(void **state)
{
    struct pod pod =
        make_pod("polite", "10.244.1.1",
                 "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done");
    start(&pod);
    wait_for_word(&pod, "up");
    assert_int_equal(node_pod_end(pod.directory, DEADLINE_MS, NULL), 0);
    assert_int_equal(finish(&pod)->exit_code, 5);
    expect_log(&pod, "up\nbye\n");
    drop(&pod);

    /* No handler: PID 1 of the sandbox is ours, so the signal works. */
    pod = make_pod("plain", "10.244.1.1", "echo up; exec sleep 1000");
    start(&pod);
    wait_for_word(&pod, "up");
    assert_int_equal(node_pod_end(pod.directory, DEADLINE_MS, NULL), 0);
    assert_int_equal(finish(&pod)->signal, SIGTERM);
    drop(&pod);

    pod = make_pod("stubborn", "10.244.1.1", "trap '' TERM; echo up; while :; do sleep 0.01; done");
    start(&pod);
    wait_for_word(&pod, "up");
    assert_int_equal(node_pod_end(pod.directory, 1, NULL), 0);
    assert_int_equal(finish(&pod)->exit_code, 137);
    drop(&pod);
}

static void restarts_keep_the_log_before(void **state)
{
    struct pod pod = make_pod("again", "10.244.1.1",
                              "if test -e /v/been; then echo second; else touch /v/been; echo "
                              "first >&2; exit 1; fi");
    char *volume = arena_printf(pod.arena, "%s/again", scratch);
    file_make_dirs(volume, 0777, NULL);
    pod_container_add_mount(pod.arena, pod.main, "/v", volume);
    pod.spec.restart = RESTART_ON_FAILURE;
    start(&pod);
    assert_int_equal(finish(&pod)->exit_code, 0);
    const struct container_state *container = &state_of(&pod)->containers[0];
    assert_int_equal(container->restarts, 1);
    assert_int_equal(container->last.exit_code, 1);
    assert_string_equal(log_of(&pod, 0), "first\n");
    assert_string_equal(log_of(&pod, 1), "second\n");
    drop(&pod);
}

static void a_killed_supervisor_takes_its_pod_along(void **state)
{
    struct pod pod = make_pod("killed", "10.244.1.1", "echo up; exec sleep 1000");
    start(&pod);
    wait_for_word(&pod, "up");
    int64_t init = state_of(&pod)->containers[0].pid;
    int init_fd = pidfd_open((pid_t)init, 0), pidfd = find_supervisor(&pod);
    assert_true(init_fd >= 0 && pidfd >= 0);
    pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    assert_true(process_wait_end(init_fd, DEADLINE_MS));
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(init_fd);
    close(pidfd);
    assert_false(state_of(&pod)->finished);
    start_supervisor(&pod); /* what the node does when it finds the pod like that */
    const struct container_end *end = finish(&pod);
    assert_string_equal(end->reason, "ContainerStatusUnknown");
    assert_int_equal(end->exit_code, 137);
    drop(&pod);
}

static void a_pause_goes_on_by_policy(void **state)
{
    struct pod pod = make_pod("pause", "10.244.1.1", "echo up; exec sleep 1000");
    pod.spec.restart = RESTART_ON_FAILURE;
    start(&pod);
    wait_for_word(&pod, "up");
    int pidfd = find_supervisor(&pod);
    const struct pod_stop stop = {.grace_ms = DEADLINE_MS, .pause = true};
    pod_stop_store(pod.directory, &stop, NULL);
    pidfd_send_signal(pidfd, SIGTERM, NULL, 0);
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(pidfd);
    assert_false(state_of(&pod)->finished);
    assert_int_equal(state_of(&pod)->containers[0].phase, CONTAINER_WAITING);
    assert_int_equal(state_of(&pod)->containers[0].last.signal, SIGTERM);
    drop(&pod);
}

/* ---- Survival: three control processes, one after the other ---- */

static const char SERVER[] =
    "exec python3 -c 'import socket\n"
    "s = socket.create_server((\"0.0.0.0\", 2222)); print(\"listening\", flush=True)\n"
    "while True: s.accept()[0].sendall(b\"alive\")'";

static void first_control_dies(void)
{
    struct err err = ERR_INIT;
    if (enter(&err) < 0)
        _exit(1);
    struct pod pod = make_pod("survivor", "10.244.1.1", SERVER);
    start(&pod);
    wait_for_word(&pod, "listening");
    raise(SIGKILL);
}

static void second_control_finds_the_pod(void)
{
    struct err err = ERR_INIT;
    if (enter(&err) < 0) {
        fprintf(stderr, "%s\n", err.message);
        _exit(1);
    }
    int fd;
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(2222)};
    inet_pton(AF_INET, "10.244.1.1", &address.sin_addr);
    if (node_space_socket(space, AF_INET, SOCK_STREAM, 0, &fd, &err) < 0)
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

static int survive(void)
{
    int first = run_child(first_control_dies);
    if (!WIFSIGNALED(first))
        return fprintf(stderr, "the first control process failed: %x\n", first), 1;
    int second = run_child(second_control_finds_the_pod);
    if (second != 0)
        return fprintf(stderr, "the second control process found nothing: %x\n", second), 1;
    /* `down` comes from outside the cluster's namespaces. */
    struct err err = ERR_INIT;
    _cleanup_free_ char *holder = mem_printf("%s/run/holder", state_dir);
    int pidfd;
    pid_t pid;
    if (node_space_destroy(state_dir, &err) < 0)
        return fprintf(stderr, "%s\n", err.message), 1;
    if (process_lock_holder(holder, &pidfd, &pid, NULL) == 0)
        return fprintf(stderr, "the holder lives on\n"), 1;
    return 0;
}

static void run_sandbox_tests(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(exit_codes_and_signals),
        cmocka_unit_test(what_cannot_start_says_why),
        cmocka_unit_test(the_machine_is_read_only_and_hidden),
        cmocka_unit_test(volumes_lie_where_they_are_mounted),
        cmocka_unit_test(run_as_user),
        cmocka_unit_test(two_pods_on_one_port),
        cmocka_unit_test(containers_share_the_pod),
        cmocka_unit_test(ending_with_grace),
        cmocka_unit_test(what_is_too_long_is_named),
        cmocka_unit_test(restarts_keep_the_log_before),
        cmocka_unit_test(a_killed_supervisor_takes_its_pod_along),
        cmocka_unit_test(a_pause_goes_on_by_policy),
    };
    struct err err = ERR_INIT;
    if (enter(&err) < 0) {
        printf("skipped: %s\n", err.message);
        exit(SKIPPED);
    }
    exit(cmocka_run_group_tests(tests, NULL, NULL));
}

/* The build may lie where an ordinary user cannot read. */
static int become_ordinary(void)
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
    if (argc > 2 && geteuid() == 0 && become_ordinary() < 0)
        return 2;
    int status = run_child(run_sandbox_tests);
    int code = WIFEXITED(status) ? WEXITSTATUS(status) : 1;
    node_space_destroy(state_dir, NULL);
    if (code == 0)
        code = survive();
    file_remove_tree(scratch, NULL);
    return code;
}

/* Tests probes and hooks as the supervisor runs them, without any API: the effect of their results
 * on a container, their order, and the events. test_probe.c tests the kubelet's delays and periods.
 * Here tries follow each other at once. */
#include "sandbox_pod.h"

#include "base/buf.h"
#include "base/system/file.h"
#include "node/process/table.h"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { AT_ONCE_MS = 10, NEVER_MS = 10 * DEADLINE_MS };

#define SERVE "echo up; while :; do sleep 0.01; done"
/* A probe may run before the container's shell has set its traps, so it waits for them. */
#define TRAPS_SET   "touch /v/up; "
#define AWAIT_TRAPS "until test -e /v/up; do sleep 0.01; done; "

static void set_script(struct pod *pod, struct pod_handler *handler, const char *script)
{
    const char *const words[] = {"/bin/sh", "-c", script};
    handler->kind = HANDLER_EXEC;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(pod->arena, &handler->words, words[i]);
}

static struct probe_settings *add_probe(struct pod_container *container, enum probe_kind kind,
                                        int64_t failure_threshold)
{
    container->life.settings[kind] = (struct probe_settings){.given = true,
                                                             .period_ms = AT_ONCE_MS,
                                                             .timeout_ms = DEADLINE_MS,
                                                             .success_threshold = 1,
                                                             .failure_threshold = failure_threshold,
                                                             .grace_ms = -1};
    return &container->life.settings[kind];
}

static void probe_by_script(struct pod *pod, enum probe_kind kind, int64_t failure_threshold,
                            const char *script)
{
    add_probe(pod->main, kind, failure_threshold);
    set_script(pod, &pod->main->life.probes[kind], script);
}

static const struct container_state *main_container(const struct pod *pod)
{
    return pod_state_find(pod_state_now(pod), "main");
}

static bool is_ready(const struct pod *pod)
{
    return main_container(pod) && main_container(pod)->ready;
}

static bool is_unready(const struct pod *pod)
{
    return main_container(pod) && !main_container(pod)->ready;
}

/* A container that was killed after a failed liveness or startup probe has failed, even if it exits
 * with 0. */
void failed_probe_restarts_the_container(void **state)
{
    static const struct {
        enum probe_kind kind;
        const char *failed, *told;
    } CASES[] = {
        {PROBE_LIVENESS, "Liveness probe failed: not well\n",
         "Container main failed liveness probe, will be restarted"},
        {PROBE_STARTUP, "Startup probe failed: not well\n",
         "Container main failed startup probe, will be restarted"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        struct pod pod = pod_make("unwell", "10.244.1.1",
                                  "test -e /v/again && exit 0\n"
                                  "trap 'touch /v/again; exit 0' TERM; " TRAPS_SET SERVE);
        pod_add_kept(&pod);
        probe_by_script(&pod, CASES[i].kind, 3,
                        AWAIT_TRAPS
                        "test -e /v/again && exit 0; echo >>/v/tries; echo not well; exit 1");
        pod.spec.restart = RESTART_ON_FAILURE;
        pod.spec.grace_ms = NEVER_MS;
        pod_start(&pod);
        assert_int_equal(pod_finish(&pod)->exit_code, 0);
        assert_int_equal(main_container(&pod)->restarts, 1);
        assert_int_equal(main_container(&pod)->last.exit_code, 0);
        assert_string_equal(pod_kept(&pod, "tries"), "\n\n\n");
        assert_int_equal(pod_count_events(&pod, "Unhealthy", CASES[i].failed), 3);
        assert_int_equal(pod_count_events(&pod, "Killing", CASES[i].told), 1);
        pod_drop(&pod);
    }
}

/* A probe has its own grace period. With restart policy Never the container does not restart. */
void failed_probe_without_restart_ends_the_container(void **state)
{
    struct pod pod = pod_make("unwell", "10.244.1.1", "trap '' TERM; " TRAPS_SET SERVE);
    pod_add_kept(&pod);
    probe_by_script(&pod, PROBE_LIVENESS, 1, AWAIT_TRAPS "exit 1");
    pod.main->life.settings[PROBE_LIVENESS].grace_ms = 1;
    pod.spec.grace_ms = NEVER_MS;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->signal, SIGKILL);
    assert_int_equal(main_container(&pod)->restarts, 0);
    assert_int_equal(pod_count_events(&pod, "Killing", "Container main failed liveness probe"), 1);
    pod_drop(&pod);
}

void probe_timeout_is_a_failure(void **state)
{
    struct pod pod = pod_make("hanging", "10.244.1.1", "exec sleep 1000");
    probe_by_script(&pod, PROBE_LIVENESS, 1, "exec sleep 1000");
    pod.main->life.settings[PROBE_LIVENESS].timeout_ms = 1;
    pod.spec.grace_ms = NEVER_MS;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->signal, SIGTERM);
    assert_int_equal(pod_count_events(&pod, "Unhealthy",
                                      "Liveness probe failed: command timed out: \"/bin/sh -c exec "
                                      "sleep 1000\" timed out after 0s"),
                     1);
    pod_drop(&pod);
}

static bool is_running(const struct pod *pod)
{
    return main_container(pod) && main_container(pod)->phase == CONTAINER_RUNNING;
}

/* Returns a process that the container's program has started, or 0 if there is none yet. */
static pid_t find_grandchild(pid_t init)
{
    _cleanup_(process_table_release) struct process_table table = {0};
    process_table_read(&table);
    for (size_t i = 0; i < table.all.count; i++) {
        const struct process_entry *entry = &table.all.items[i],
                                   *child = process_table_climb(&table, entry, &init, 1);
        if (child && child != entry)
            return entry->pid;
    }
    return 0;
}

/* Traces the process, so that it stays a zombie until we detach. */
static void trace_process(struct pod *pod, pid_t pid)
{
    if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) == 0)
        return;
    pod_drop(pod);
    skip(); /* ptrace is not allowed on this machine */
}

/* Starts a pod whose program waits, and ends with 0 when it may go on. It restarts if it fails. Its
 * liveness probe fails it at the first failure. */
static struct pod start_waiting_pod(const char *script, const char *probe)
{
    struct pod pod = pod_make("done", "10.244.1.1", script);
    pod_add_kept(&pod);
    assert_int_equal(mkfifo(pod_kept_path(&pod, "go"), 0666), 0);
    probe_by_script(&pod, PROBE_LIVENESS, 1, probe);
    pod.spec.restart = RESTART_ON_FAILURE;
    pod.spec.grace_ms = NEVER_MS;
    pod_start(&pod);
    pod_await(&pod, is_running);
    return pod;
}

static void release_program(const struct pod *pod)
{
    close(open(pod_kept_path(pod, "go"), O_WRONLY | O_CLOEXEC));
}

/* A container that has exited is not failed by a probe that runs or starts while the kernel removes
 * the sandbox. The removal takes until the slowest process is gone, which is a traced process here.
 */
void probe_does_not_fail_an_exited_container(void **state)
{
    struct pod pod = start_waiting_pod("sleep 1000 & read go </v/go; exit 0", "touch /v/tried");
    pod_await_kept(&pod, "tried", "");
    pid_t slow;
    while (!(slow = find_grandchild((pid_t)main_container(&pod)->pid)))
        poll(NULL, 0, AT_ONCE_MS);
    trace_process(&pod, slow);
    release_program(&pod);
    siginfo_t end;
    assert_int_equal(waitid(P_PID, (id_t)slow, &end, WEXITED | WNOWAIT), 0);
    poll(NULL, 0, 20 * AT_ONCE_MS); /* time for several tries */
    assert_int_equal(pod_count_events(&pod, "Unhealthy", NULL), 0);
    assert_int_equal(waitpid(slow, NULL, 0), slow);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    assert_int_equal(main_container(&pod)->restarts, 0);
    assert_int_equal(pod_count_events(&pod, "Unhealthy", NULL), 0);
    pod_drop(&pod);
}

static bool is_being_killed(const struct pod *pod)
{
    return pod_count_events(pod, "Killing", NULL) > 0;
}

/* Whether the container's program has ended, and its first process has not reaped it yet. */
static bool has_dead_child(pid_t init)
{
    _cleanup_(process_table_release) struct process_table table = {0};
    process_table_read(&table);
    for (size_t i = 0; i < table.all.count; i++)
        if (table.all.items[i].parent == init && table.all.items[i].is_dead)
            return true;
    return false;
}

/* A probe finds that the program is gone before the first process has reported its end. The first
 * process is traced, so that it stands still. */
void container_that_exited_before_sigterm_succeeds(void **state)
{
    struct pod pod =
        start_waiting_pod("touch /v/alive /v/begun; read go </v/go; rm /v/alive; exit 0",
                          "! test -e /v/begun || test -e /v/alive");
    pid_t init = (pid_t)main_container(&pod)->pid;
    trace_process(&pod, init);
    assert_int_equal(ptrace(PTRACE_INTERRUPT, init, NULL, NULL), 0);
    assert_int_equal(waitpid(init, NULL, __WALL), init);
    release_program(&pod);
    pod_await(&pod, is_being_killed);
    while (!has_dead_child(init))
        poll(NULL, 0, AT_ONCE_MS);
    assert_int_equal(ptrace(PTRACE_DETACH, init, NULL, NULL), 0);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    assert_int_equal(main_container(&pod)->restarts, 0);
    pod_drop(&pod);
}

void startup_probe_delays_the_other_probes(void **state)
{
    struct pod pod = pod_make("slow", "10.244.1.1", SERVE);
    pod_add_kept(&pod);
    probe_by_script(&pod, PROBE_STARTUP, 100000, "echo >>/v/tries; test -e /v/go");
    probe_by_script(&pod, PROBE_LIVENESS, 1, "touch /v/asked");
    probe_by_script(&pod, PROBE_READINESS, 1, "touch /v/asked");
    pod_start(&pod);
    pod_await_kept(&pod, "tries", "\n\n\n");
    assert_false(main_container(&pod)->started);
    assert_false(main_container(&pod)->ready);
    assert_string_equal(pod_kept(&pod, "asked"), "nothing");
    pod_keep(&pod, "go");
    pod_await(&pod, is_ready);
    assert_true(main_container(&pod)->started);
    /* The startup probe has succeeded, and does not run again. */
    pod_await_kept(&pod, "asked", "");
    size_t tries = strlen(pod_kept(&pod, "tries"));
    node_pod_end(pod.directory, pod.spec.plain, 0, NULL);
    assert_int_equal(strlen(pod_kept(&pod, "tries")), tries);
    assert_int_equal(main_container(&pod)->restarts, 0);
    pod_drop(&pod);
}

void readiness_follows_the_probe(void **state)
{
    struct pod pod = pod_make("moody", "10.244.1.1", SERVE);
    pod_add_kept(&pod);
    probe_by_script(&pod, PROBE_READINESS, 2, "echo >>/v/tries; test -e /v/ready");
    pod_start(&pod);
    pod_await_kept(&pod, "tries", "\n\n\n");
    assert_true(main_container(&pod)->started);
    assert_false(main_container(&pod)->ready);
    char *mark = pod_keep(&pod, "ready");
    pod_await(&pod, is_ready);
    assert_int_equal(unlink(mark), 0);
    pod_await(&pod, is_unready);
    assert_int_equal(main_container(&pod)->phase, CONTAINER_RUNNING);
    assert_int_equal(main_container(&pod)->restarts, 0);
    node_pod_end(pod.directory, pod.spec.plain, 0, NULL);
    pod_drop(&pod);
}

/* A TCP probe succeeds if it can connect. An HTTP probe depends on the status of the response. A
 * hook needs only a response. */
void probes_and_hooks_use_tcp_and_http(void **state)
{
    struct pod pod = pod_make("server", "10.244.1.1",
                              "exec python3 -c 'from http.server import *\n"
                              "class Sick(BaseHTTPRequestHandler):\n"
                              "  def do_GET(self):\n"
                              "    open(\"/v/asked\", \"a\").write(self.path + \"\\n\")\n"
                              "    self.send_error(500)\n"
                              "HTTPServer((\"\", 8080), Sick).serve_forever()'");
    const struct pod_handler connect = {.kind = HANDLER_TCP, .host = "127.0.0.1", .port = 8080};
    struct pod_handler ask = {.kind = HANDLER_HTTP, .host = "127.0.0.1", .port = 8080};
    pod_add_kept(&pod);
    add_probe(pod.main, PROBE_STARTUP, 100000);
    pod.main->life.probes[PROBE_STARTUP] = connect;
    add_probe(pod.main, PROBE_LIVENESS, 1);
    ask.path = "/probe";
    pod.main->life.probes[PROBE_LIVENESS] = ask;
    ask.path = "/hook";
    pod.main->life.pre_stop = ask;
    pod.spec.grace_ms = NEVER_MS;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->signal, SIGTERM);
    assert_string_equal(pod_kept(&pod, "asked"), "/probe\n/hook\n");
    assert_int_equal(pod_count_events(&pod, "Unhealthy",
                                      "Liveness probe failed: HTTP probe failed with statuscode: "
                                      "500"),
                     1);
    assert_int_equal(pod_count_events(&pod, "FailedPreStopHook", NULL), 0);
    pod_drop(&pod);
}

/* The next container starts after the hook of the container before it. */
void next_container_waits_for_the_post_start_hook(void **state)
{
    struct pod pod = pod_make("hooked", "10.244.1.1", "exec sleep 1000");
    pod_add_kept(&pod);
    pod_add_container(&pod, "second", "touch /v/second");
    set_script(&pod, &pod.spec.containers[0].life.post_start,
               "touch /v/hooked; until test -e /v/go; do sleep 0.01; done");
    pod.spec.containers[1].life = (struct pod_life){0};
    pod_start(&pod);
    pod_await_kept(&pod, "hooked", "");
    assert_int_equal(main_container(&pod)->phase, CONTAINER_WAITING);
    assert_int_equal(pod_state_find(pod_state_now(&pod), "second")->pid, 0);
    assert_string_equal(pod_kept(&pod, "second"), "nothing");
    pod_keep(&pod, "go");
    pod_await_kept(&pod, "second", "");
    pod_await(&pod, is_ready);
    node_pod_end(pod.directory, pod.spec.plain, 0, NULL);
    pod_drop(&pod);
}

void failed_post_start_hook_ends_the_container(void **state)
{
    struct pod pod = pod_make("hooked", "10.244.1.1", "exec sleep 1000");
    set_script(&pod, &pod.main->life.post_start, "exit 1");
    pod.spec.grace_ms = NEVER_MS;
    pod_start(&pod);
    assert_int_equal(pod_finish(&pod)->signal, SIGTERM);
    assert_int_equal(pod_count_events(&pod, "FailedPostStartHook", "PostStartHook failed"), 1);
    assert_int_equal(pod_count_events(&pod, "Killing", "FailedPostStartHook"), 1);
    pod_drop(&pod);
}

/* Ends a pod whose container records SIGTERM, and whose preStop hook is this script. */
static struct pod end_with_hook(const char *script, int64_t grace_ms)
{
    struct pod pod =
        pod_make("leaving", "10.244.1.1", "trap 'echo term >>/v/order; exit 0' TERM; " SERVE);
    pod_add_kept(&pod);
    set_script(&pod, &pod.main->life.pre_stop, script);
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    pod_await(&pod, is_ready);
    pod_request_stop(&pod, &(struct pod_stop){.grace_ms = grace_ms});
    pod_finish(&pod);
    return pod;
}

void pre_stop_hook_runs_before_sigterm(void **state)
{
    struct pod pod = end_with_hook("echo hook >>/v/order", DEADLINE_MS);
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    assert_string_equal(pod_kept(&pod, "order"), "hook\nterm\n");
    assert_int_equal(pod_count_events(&pod, "FailedPreStopHook", NULL), 0);
    pod_drop(&pod);

    pod = end_with_hook("echo hook >>/v/order; exit 1", DEADLINE_MS);
    assert_string_equal(pod_kept(&pod, "order"), "hook\nterm\n");
    assert_int_equal(pod_count_events(&pod, "FailedPreStopHook", "PreStopHook failed"), 1);
    pod_drop(&pod);

    /* A hook that takes too long is killed, and its container still gets SIGTERM before SIGKILL. It
     * has two seconds then. A busy machine may not schedule it in that time, so the test tries
     * again. */
    bool was_told = false;
    for (int tries = 0; tries < 10 && !was_told; tries++) {
        pod = end_with_hook("exec sleep 1000", 1);
        was_told = str_eq(pod_kept(&pod, "order"), "term\n");
        pod_drop(&pod);
    }
    assert_true(was_told);

    /* A forced end runs no hook. */
    pod = end_with_hook("echo hook >>/v/order", 0);
    assert_int_equal(pod_finish(&pod)->signal, SIGKILL);
    assert_string_equal(pod_kept(&pod, "order"), "nothing");
    pod_drop(&pod);
}

void sleep_hook_is_supported(void **state)
{
    struct pod pod = pod_make("sleeping", "10.244.1.1", "exec sleep 1000");
    pod.main->life.post_start = (struct pod_handler){.kind = HANDLER_SLEEP, .sleep_ms = AT_ONCE_MS};
    pod_start(&pod);
    pod_await(&pod, is_ready);
    node_pod_end(pod.directory, pod.spec.plain, 0, NULL);
    assert_int_equal(pod_count_events(&pod, "FailedPostStartHook", NULL), 0);
    pod_drop(&pod);
}

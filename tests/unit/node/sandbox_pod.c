/* Pods for the tests of sandboxes; see sandbox_pod.h. */
#include "sandbox_pod.h"

#include "base/moment.h"
#include "base/system/file.h"
#include "node/log/read.h"
#include "node/process/lock.h"

#include <poll.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { LOG_MAX = 1024 * 1024 };

char scratch[] = "/tmp/trainyard-sandbox.XXXXXX";
char *state_dir, *step_path;
struct node_namespaces *space;

int sandbox_enter(struct err *err)
{
    static const char *const names[] = {"node", NULL};
    const struct node_options options = {
        .state_dir = state_dir, .node_names = names, .step_path = step_path};
    return node_namespaces_enter(&options, &space, err);
}

/* ---- A pod under test ---- */

struct pod pod_make(const char *name, const char *address, const char *script)
{
    struct pod pod = {.arena = arena_new()};
    pod.directory = arena_printf(pod.arena, "%s/pods/%s", state_dir, name);
    /* Removes the pod of a test that failed. */
    node_pod_end(pod.directory, false, 0, NULL);
    file_remove_tree(pod.directory, NULL);
    file_make_dirs(pod.directory, 0700, NULL);
    pod.spec = (struct pod_spec){
        .hostname = name,
        .network = arena_strdup(pod.arena, node_namespaces_holder_lock(space)),
        .address = address,
        .nested = node_namespaces_are_nested(space),
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
    pod.main->layer = arena_printf(pod.arena, "%s/layers/main", pod.directory);
    return pod;
}

struct pod_container *pod_add_container(struct pod *pod, const char *name, const char *script)
{
    struct pod_container like = *pod->main;
    struct pod_container *added = pod_spec_add_container(pod->arena, &pod->spec, name);
    *added = like;
    added->name = name;
    added->layer = arena_printf(pod->arena, "%s/layers/%s", pod->directory, name);
    added->arguments = (struct pod_strings){0};
    const char *const words[] = {"/bin/sh", "-c", script};
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(pod->arena, &added->arguments, words[i]);
    return added;
}

int pod_try_supervisor(const struct pod *pod)
{
    pid_t pid = fork();
    if (pid == 0) {
        execl(step_path, step_path, "pod", pod->directory, (char *)NULL);
        _exit(127);
    }
    int status;
    waitpid(pid, &status, 0);
    return status;
}

void pod_start_supervisor(const struct pod *pod)
{
    if (pod_try_supervisor(pod) != 0)
        fail_msg("the supervisor of %s did not start", pod->directory);
}

void pod_write_spec(const struct pod *pod)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", pod->directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    pod_spec_write(&pod->spec, &text);
    assert_int_equal(file_write_atomic(path, text.data, text.size, 0600, NULL), 0);
}

void pod_start(const struct pod *pod)
{
    pod_write_spec(pod);
    pod_start_supervisor(pod);
}

int pod_find_supervisor(const struct pod *pod)
{
    _cleanup_free_ char *lock = mem_printf("%s/lock", pod->directory);
    int pidfd;
    pid_t pid;
    return process_lock_holder(lock, &pidfd, &pid, NULL) == 0 ? pidfd : -1;
}

void pod_request_stop(const struct pod *pod, const struct pod_stop *stop)
{
    int pidfd = pod_find_supervisor(pod);
    assert_int_equal(pod_stop_store(pod->directory, stop, NULL), 0);
    pod_stop_tell(pidfd);
    close(pidfd);
}

struct pod_state *pod_state_now(const struct pod *pod)
{
    static struct pod_state state;
    pod_state_release(&state);
    (void)pod_state_load(pod->directory, &state, NULL);
    return &state;
}

/* Waits for the end of the supervisor. Returns how the main container ended. */
struct container_end *pod_finish(const struct pod *pod)
{
    int pidfd = pod_find_supervisor(pod);
    if (pidfd >= 0) {
        if (!process_wait_end(pidfd, DEADLINE_MS))
            fail_msg("%s does not end", pod->directory);
        close(pidfd);
    }
    struct pod_state *state = pod_state_now(pod);
    assert_true(state->finished);
    return &state->containers[state->count - 1].end;
}

char *pod_log(const struct pod *pod, int64_t run)
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

/* Waits until the pod has written the word. The deadline is reached only by a defect. */
void pod_wait_for_run(const struct pod *pod, int64_t run, const char *word)
{
    int64_t deadline = moment_wall_ms() + DEADLINE_MS;
    _cleanup_free_ char *path = pod_log_path(pod->directory, "main", run);
    while (!file_exists(path) || !strstr(pod_log(pod, run), word)) {
        if (moment_wall_ms() > deadline)
            fail_msg("%s does not say '%s': %s", pod->directory, word,
                     file_exists(path) ? pod_log(pod, run) : "nothing");
        poll(NULL, 0, 5);
    }
}

void pod_wait_for_word(const struct pod *pod, const char *word)
{
    pod_wait_for_run(pod, 0, word);
}

void pod_expect_log(const struct pod *pod, const char *expected)
{
    assert_string_equal(pod_log(pod, 0), expected);
}

void pod_await(const struct pod *pod, bool (*is_so)(const struct pod *pod))
{
    int64_t deadline = moment_wall_ms() + DEADLINE_MS;
    while (!is_so(pod)) {
        if (moment_wall_ms() > deadline)
            fail_msg("%s does not become as it should", pod->directory);
        poll(NULL, 0, 5);
    }
}

static bool was_restarted_twice(const struct pod *pod)
{
    const struct pod_state *state = pod_state_now(pod);
    return state->count > 0 && state->containers[0].restarts >= 2;
}

void pod_expect_silent_restarts(struct pod *pod)
{
    pod->spec.restart = RESTART_ALWAYS;
    pod_start(pod);
    pod_await(pod, was_restarted_twice);
    node_pod_end(pod->directory, pod->spec.plain, 0, NULL);
    assert_string_equal(pod_log(pod, 1), "");
    pod_drop(pod);
}

int pod_count_events(const struct pod *pod, const char *reason, const char *message)
{
    const struct pod_state *state = pod_state_now(pod);
    int count = 0;
    const struct pod_event *event;
    for (int64_t number = state->last_event; (event = pod_state_event(state, number)); number--)
        count += str_eq(event->reason, reason) && (!message || str_eq(event->message, message));
    return count;
}

char *pod_kept_path(const struct pod *pod, const char *name)
{
    return arena_printf(pod->arena, "%s/kept/%s", pod->directory, name);
}

void pod_add_kept(struct pod *pod)
{
    char *directory = pod_kept_path(pod, ".");
    file_make_dirs(directory, 0777, NULL);
    chmod(directory, 0777);
    pod_container_add_mount(pod->arena, pod->main, "/v", directory);
}

char *pod_keep(const struct pod *pod, const char *name)
{
    char *path = pod_kept_path(pod, name);
    assert_int_equal(file_write_atomic(path, "", 0, 0666, NULL), 0);
    return path;
}

const char *pod_kept(const struct pod *pod, const char *name)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, LOG_MAX);
    if (file_read(pod_kept_path(pod, name), &text, NULL) < 0)
        return "nothing";
    return arena_strndup(pod->arena, text.data, text.size);
}

void pod_await_kept(const struct pod *pod, const char *name, const char *start)
{
    int64_t deadline = moment_wall_ms() + DEADLINE_MS;
    while (!file_exists(pod_kept_path(pod, name)) || !str_has_prefix(pod_kept(pod, name), start)) {
        if (moment_wall_ms() > deadline)
            fail_msg("%s/%s: %s", pod->directory, name, pod_kept(pod, name));
        poll(NULL, 0, 5);
    }
}

void pod_drop(struct pod *pod)
{
    node_pod_end(pod->directory, pod->spec.plain, 0, NULL);
    file_remove_tree(pod->directory, NULL);
    arena_free(pod->arena);
}

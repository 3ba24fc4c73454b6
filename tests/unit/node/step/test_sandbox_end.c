/* Tests how pods end when they are stopped, and how the next supervisor continues: with a grace
 * period, at a deadline, for a pause of the cluster, by eviction, by deletion, and on a full disk,
 * where neither the stop request nor the last state can be written. */
#include "sandbox_pod.h"

#include "base/moment.h"
#include "base/str.h"
#include "base/system/file.h"
#include "loop/loop.h"
#include "node/pod/supervisor.h"
#include "node/process/lock.h"

#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <sys/pidfd.h>
#include <sys/stat.h>
#include <unistd.h>

void pod_ends_within_its_grace_period(void **state)
{
    struct pod pod =
        pod_make("polite", "10.244.1.1",
                 "trap 'echo bye; exit 5' TERM; echo up; while :; do sleep 0.01; done");
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    assert_int_equal(node_pod_end(pod.directory, pod.spec.plain, DEADLINE_MS, NULL), 0);
    assert_int_equal(pod_finish(&pod)->exit_code, 5);
    pod_expect_log(&pod, "up\nbye\n");
    pod_drop(&pod);

    /* The program has no handler. PID 1 of the sandbox is ours, so the signal has its default
     * effect. */
    pod = pod_make("plain", "10.244.1.1", "echo up; exec sleep 1000");
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    assert_int_equal(node_pod_end(pod.directory, pod.spec.plain, DEADLINE_MS, NULL), 0);
    assert_int_equal(pod_finish(&pod)->signal, SIGTERM);
    pod_drop(&pod);

    pod = pod_make("stubborn", "10.244.1.1", "trap '' TERM; echo up; while :; do sleep 0.01; done");
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    assert_int_equal(node_pod_end(pod.directory, pod.spec.plain, 1, NULL), 0);
    assert_int_equal(pod_finish(&pod)->exit_code, 137);
    pod_drop(&pod);
}

/* Control does this when activeDeadlineSeconds was changed. */
void earlier_deadline_ends_the_pod(void **state)
{
    struct pod pod = pod_make("hurried", "10.244.1.1", "echo up; exec sleep 1000");
    pod.spec.deadline_ms = moment_wall_ms() + 1000 * 1000;
    pod.spec.grace_ms = DEADLINE_MS;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    int pidfd = pod_find_supervisor(&pod);
    assert_int_equal(pod_deadline_store(pod.directory, moment_wall_ms(), NULL), 0);
    pidfd_send_signal(pidfd, SIGHUP, NULL, 0);
    close(pidfd);
    assert_int_equal(pod_finish(&pod)->exit_code, 128 + SIGTERM);
    assert_string_equal(pod_state_now(&pod)->reason, "DeadlineExceeded");
    pod_drop(&pod);
}

/* Makes writing a stop request fail, like a full disk. */
static void block_stop_requests(const struct pod *pod)
{
    _cleanup_free_ char *path = mem_printf("%s/stop", pod->directory);
    assert_int_equal(mkdir(path, 0700), 0);
}

static void send_stop_requests(const struct pod *pod, const struct pod_stop *stops, size_t count)
{
    int pidfd = pod_find_supervisor(pod);
    for (size_t i = 0; i < count; i++) {
        (void)pod_stop_store(pod->directory, &stops[i], NULL);
        pod_stop_tell(pidfd);
    }
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(pidfd);
}

static void send_stop_request(const struct pod *pod, const struct pod_stop *stop)
{
    send_stop_requests(pod, stop, 1);
}

void paused_pod_resumes_with_any_restart_policy(void **state)
{
    static const struct pod_stop PAUSE = {.grace_ms = DEADLINE_MS, .pause = true};
    for (int blocked = 0; blocked < 2; blocked++) {
        struct pod pod = pod_make("pause", "10.244.1.1", "echo up; exec sleep 1000");
        pod.spec.restart = RESTART_NEVER;
        pod.spec.grace_ms = DEADLINE_MS;
        pod_start(&pod);
        pod_wait_for_word(&pod, "up");
        if (blocked)
            block_stop_requests(&pod);
        send_stop_request(&pod, &PAUSE);
        assert_false(pod_state_now(&pod)->finished);
        assert_int_equal(pod_state_now(&pod)->containers[0].phase, CONTAINER_WAITING);
        assert_int_equal(pod_state_now(&pod)->containers[0].last.signal, SIGTERM);
        assert_int_equal(pod_state_now(&pod)->containers[0].level, 0); /* a pause is no failure */
        pod_drop(&pod);
    }
}

/* The deletion comes while the containers still have time to end for the pause. */
void deletion_ends_a_pod_that_is_being_paused(void **state)
{
    static const struct pod_stop STOPS[] = {{.grace_ms = DEADLINE_MS, .pause = true},
                                            {.grace_ms = 1, .deleted = true}};
    struct pod pod = pod_make("pause", "10.244.1.1",
                              "trap 'echo told' TERM; echo up; while :; do sleep 0.01; done");
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    pod_request_stop(&pod, &STOPS[0]);
    pod_wait_for_word(&pod, "told");
    send_stop_request(&pod, &STOPS[1]);
    assert_int_equal(pod_finish(&pod)->exit_code, 128 + SIGKILL);
    pod_drop(&pod);
}

static void kill_and_restart(const struct pod *pod)
{
    _cleanup_free_ char *order = mem_printf("%s/stop", pod->directory);
    int pidfd = pod_find_supervisor(pod);
    pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(pidfd);
    unlink(order); /* as control does */
    pod_start_supervisor(pod);
}

/* The supervisor was killed before it could write how the pod ended. */
void interrupted_pause_resumes(void **state)
{
    static const struct pod_stop PAUSE = {.grace_ms = DEADLINE_MS, .pause = true};
    struct pod pod = pod_make("cut", "10.244.1.1", "echo up; exec sleep 1000");
    _cleanup_free_ char *mark = mem_printf("%s/paused", pod.directory);
    pod.spec.restart = RESTART_NEVER;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    assert_int_equal(pod_stop_store(pod.directory, &PAUSE, NULL), 0);
    kill_and_restart(&pod);
    pod_wait_for_run(&pod, 1, "up");
    /* The pod runs again. A kill after this is no pause. */
    while (file_exists(mark))
        poll(NULL, 0, 5);
    kill_and_restart(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 128 + SIGKILL);
    pod_drop(&pod);
}

void interrupted_eviction_is_completed(void **state)
{
    static const struct pod_stop EVICTION = {.grace_ms = DEADLINE_MS, .reason = "Evicted"};
    struct pod pod = pod_make("cut", "10.244.1.1", "echo up; exec sleep 1000");
    pod.spec.restart = RESTART_ALWAYS;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    assert_int_equal(pod_stop_store(pod.directory, &EVICTION, NULL), 0);
    kill_and_restart(&pod);
    assert_int_equal(pod_finish(&pod)->exit_code, 128 + SIGKILL);
    assert_string_equal(pod_state_now(&pod)->reason, "Evicted");
    pod_drop(&pod);
}

/* When a machine shuts down, every process gets SIGTERM, and no supervisor learns why. */
static void shut_down_machine(enum restart_policy policy, bool comes_back)
{
    struct pod pod = pod_make("down", "10.244.1.1", "echo up; exec sleep 1000");
    pod.spec.restart = policy;
    pod.spec.grace_ms = DEADLINE_MS;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    int pidfd = pod_find_supervisor(&pod);
    pidfd_send_signal(pidfd, SIGTERM, NULL, 0);
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(pidfd);
    const struct pod_state *ended = pod_state_now(&pod);
    const struct container_state *container = &ended->containers[0];
    assert_int_equal(ended->finished, !comes_back);
    assert_int_equal(container->phase, comes_back ? CONTAINER_WAITING : CONTAINER_TERMINATED);
    assert_int_equal((comes_back ? &container->last : &container->end)->signal, SIGTERM);
    assert_int_equal(container->restarts, comes_back);
    assert_int_equal(container->level, 0);
    pod_drop(&pod);
}

void machine_shutdown_pauses_restartable_pods(void **state)
{
    shut_down_machine(RESTART_ALWAYS, true);
    shut_down_machine(RESTART_ON_FAILURE, true);
    shut_down_machine(RESTART_NEVER, false);
}

/* An evicted pod has failed and does not run again, with any restart policy. */
void evicted_pod_never_restarts(void **state)
{
    const struct pod_stop stop = {
        .grace_ms = DEADLINE_MS, .reason = "Evicted", .message = "Usage of \"x\". "};
    for (int blocked = 0; blocked < 2; blocked++) {
        struct pod pod = pod_make("evicted", "10.244.1.1",
                                  "trap 'exit 0' TERM; echo up; while :; do sleep 0.05; done");
        pod.spec.restart = RESTART_ALWAYS;
        pod.spec.grace_ms = DEADLINE_MS;
        pod_start(&pod);
        pod_wait_for_word(&pod, "up");
        if (blocked)
            block_stop_requests(&pod);
        send_stop_request(&pod, &stop);
        const struct pod_state *ended = pod_state_now(&pod);
        const char *message = blocked ? "The pod exceeded a disk limit. The exceeded limit could "
                                        "not be recorded, because the disk was full. "
                                      : stop.message;
        assert_true(ended->finished);
        assert_string_equal(ended->reason, "Evicted");
        assert_string_equal(ended->message, message);
        assert_int_equal(ended->containers[0].end.exit_code, 0);
        bool told = false;
        const struct pod_event *event;
        for (int64_t number = ended->last_event; (event = pod_state_event(ended, number)); number--)
            told = told || (event->is_warning && str_eq(event->reason, "Evicted") &&
                            str_eq(event->message, message));
        assert_true(told);
        pod_drop(&pod);
    }
}

/* On a full disk the end of a pod cannot be described. The pod then ends by its own grace period,
 * and the caller gets an error. */
void unwritable_stop_request_is_reported(void **state)
{
    static const struct supervisor_events DEAF = {0};
    struct err err = ERR_INIT;
    struct loop *loop;
    struct pod pod = pod_make("undescribed", "10.244.1.1",
                              "trap '' TERM; echo up; while :; do sleep 0.05; done");
    pod.spec.grace_ms = 0;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    _cleanup_free_ char *in_the_way = mem_printf("%s/stop", pod.directory);
    block_stop_requests(&pod);
    assert_int_equal(loop_new(&loop, &err), 0);
    struct supervisor_link *link = supervisor_link_new(loop, pod.directory, step_path, &DEAF, NULL);
    assert_int_equal(supervisor_link_attach(link, &err), 0);
    const struct pod_stop stop = {.grace_ms = DEADLINE_MS};
    assert_true(supervisor_link_stop(link, &stop, &err) < 0);
    assert_non_null(strstr(err.message, in_the_way));
    assert_int_equal(pod_finish(&pod)->signal, SIGKILL);
    supervisor_link_free(link);
    loop_free(loop);
    pod_drop(&pod);
}

/* Makes writing the state fail, like a full disk. */
static void block_state(const struct pod *pod)
{
    _cleanup_free_ char *path = mem_printf("%s/state", pod->directory);
    _cleanup_free_ char *aside = mem_printf("%s/state-before", pod->directory);
    assert_int_equal(rename(path, aside), 0);
    assert_int_equal(mkdir(path, 0700), 0);
}

/* On a full disk the last state of a pod cannot be written. The supervisor waits for room unless
 * the pod is deleted. */
void deletion_does_not_wait_for_the_last_state(void **state)
{
    static const struct pod_stop STOPS[] = {{.grace_ms = DEADLINE_MS, .reason = "Evicted"},
                                            {.grace_ms = DEADLINE_MS, .deleted = true}};
    struct pod pod = pod_make("full", "10.244.1.1", "echo up; exec sleep 1000");
    pod.spec.grace_ms = DEADLINE_MS;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    block_state(&pod);
    block_stop_requests(&pod);
    send_stop_requests(&pod, STOPS, ARRAY_SIZE(STOPS));
    pod_drop(&pod);
}

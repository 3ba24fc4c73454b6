/* Tests which containers of a pod run when: sidecars beside the others, back-off between two runs,
 * and ends that outlive the death of a supervisor. */
#include "sandbox_pod.h"

#include "base/moment.h"
#include "base/system/file.h"
#include "node/process/lock.h"

#include <signal.h>
#include <sys/pidfd.h>
#include <unistd.h>

enum { NEVER_MS = 10 * DEADLINE_MS };

#define REFUSE "trap '' TERM; echo up; while :; do sleep 0.01; done"

static const struct container_state *state_of(const struct pod *pod, const char *name)
{
    return pod_state_find(pod_state_now(pod), name);
}

/* Makes a pod with a sidecar before the main container, which runs this script. */
static struct pod make_with_sidecar(const char *script)
{
    struct pod pod = pod_make("beside", "10.244.1.1",
                              "trap 'echo side >>/v/order; exit 0' TERM\n"
                              "touch /v/beside; while :; do sleep 0.01; done");
    pod_add_kept(&pod);
    pod_add_container(&pod, "work", script);
    struct pod_container *side = &pod.spec.containers[0];
    side->init = side->sidecar = true;
    side->restart = RESTART_ALWAYS;
    pod.main = side;
    pod.spec.grace_ms = DEADLINE_MS;
    return pod;
}

/* A sidecar runs before the others start until they have ended. Then it ends and does not
 * restart. */
void sidecars_run_beside_other_containers(void **state)
{
    struct pod pod = make_with_sidecar("echo work >>/v/order; test -e /v/beside");
    struct pod_life *life = &pod.spec.containers[0].life;
    const char *const words[] = {"/bin/sh", "-c", "echo >>/v/tries; test -e /v/go"};
    life->settings[PROBE_STARTUP] = (struct probe_settings){.given = true,
                                                            .period_ms = 10,
                                                            .timeout_ms = DEADLINE_MS,
                                                            .success_threshold = 1,
                                                            .failure_threshold = 100000,
                                                            .grace_ms = -1};
    life->probes[PROBE_STARTUP].kind = HANDLER_EXEC;
    for (size_t i = 0; i < ARRAY_SIZE(words); i++)
        pod_strings_add(pod.arena, &life->probes[PROBE_STARTUP].words, words[i]);
    pod_start(&pod);
    pod_await_kept(&pod, "tries", "\n\n");
    assert_int_equal(state_of(&pod, "work")->pid, 0);
    assert_string_equal(pod_kept(&pod, "order"), "nothing");
    pod_await_kept(&pod, "beside", ""); /* its probe may run before it has written the file */
    pod_keep(&pod, "go");
    assert_int_equal(pod_finish(&pod)->exit_code, 0);
    assert_string_equal(pod_kept(&pod, "order"), "work\nside\n");
    assert_int_equal(state_of(&pod, "main")->restarts, 0);
    assert_int_equal(state_of(&pod, "main")->phase, CONTAINER_TERMINATED);
    pod_drop(&pod);
}

void sidecars_end_last(void **state)
{
    struct pod pod = make_with_sidecar("trap 'sleep 0.2; echo work >>/v/order; exit 0' TERM\n"
                                       "touch /v/working; while :; do sleep 0.01; done");
    pod_start(&pod);
    pod_await_kept(&pod, "working", "");
    pod_await_kept(&pod, "beside", "");
    assert_int_equal(node_pod_end(pod.directory, pod.spec.plain, DEADLINE_MS, NULL), 0);
    assert_string_equal(pod_kept(&pod, "order"), "work\nside\n");
    pod_drop(&pod);
}

/* A sidecar does not keep a pod alive whose init container has failed. */
void failed_init_container_ends_the_pod(void **state)
{
    struct pod pod = make_with_sidecar("exit 3");
    pod.spec.containers[1].init = true;
    pod_add_container(&pod, "last", "touch /v/last")->restart = -1;
    struct pod_container *last = &pod.spec.containers[2];
    last->init = last->sidecar = false;
    pod_start(&pod);
    pod_finish(&pod);
    assert_int_equal(state_of(&pod, "work")->end.exit_code, 3);
    assert_string_equal(pod_kept(&pod, "last"), "nothing");
    assert_int_equal(state_of(&pod, "main")->phase, CONTAINER_TERMINATED);
    pod_drop(&pod);
}

static bool is_in_backoff(const struct pod *pod)
{
    const struct container_state *main = state_of(pod, "main");
    return main && str_eq(main->reason, "CrashLoopBackOff");
}

void second_failure_causes_backoff(void **state)
{
    struct pod pod = pod_make("crashing", "10.244.1.1", "exit 1");
    pod.spec.restart = RESTART_ALWAYS;
    pod_start(&pod);
    pod_await(&pod, is_in_backoff);
    const struct container_state *main = state_of(&pod, "main");
    assert_int_equal(main->restarts, 2); /* the first restart was at once */
    assert_int_equal(main->next_start_ms - main->last.finished_ms, RESTART_BACKOFF_FIRST_MS);
    assert_string_equal(main->message,
                        "back-off 10s restarting failed container=main pod=crashing");
    assert_int_equal(pod_count_events(&pod, "BackOff",
                                      "Back-off restarting failed container main in pod crashing"),
                     1);
    node_pod_end(pod.directory, pod.spec.plain, 0, NULL);
    pod_drop(&pod);
}

static bool is_past_its_deadline(const struct pod *pod)
{
    return str_eq(pod_state_now(pod)->reason, "DeadlineExceeded");
}

/* Starts a pod that is past its deadline and ignores SIGTERM. */
static struct pod start_overdue(void)
{
    struct pod pod = pod_make("overdue", "10.244.1.1", REFUSE);
    pod.spec.restart = RESTART_ALWAYS;
    pod.spec.deadline_ms = moment_wall_ms() + NEVER_MS;
    pod.spec.grace_ms = NEVER_MS;
    pod_start(&pod);
    pod_wait_for_word(&pod, "up");
    int pidfd = pod_find_supervisor(&pod);
    assert_int_equal(pod_deadline_store(pod.directory, moment_wall_ms(), NULL), 0);
    pidfd_send_signal(pidfd, SIGHUP, NULL, 0);
    pod_await(&pod, is_past_its_deadline);
    close(pidfd);
    return pod;
}

void deadline_survives_a_new_supervisor(void **state)
{
    /* The next supervisor does not give more time. */
    struct pod pod = start_overdue();
    int pidfd = pod_find_supervisor(&pod);
    pidfd_send_signal(pidfd, SIGKILL, NULL, 0);
    assert_true(process_wait_end(pidfd, DEADLINE_MS));
    close(pidfd);
    pod_start_supervisor(&pod);
    assert_int_equal(pod_finish(&pod)->signal, SIGKILL);
    assert_string_equal(pod_state_now(&pod)->reason, "DeadlineExceeded");
    pod_drop(&pod);

    /* A restart of the cluster does not give more time either. A shorter grace period replaces a
     * longer one. */
    pod = start_overdue();
    pod_request_stop(&pod, &(struct pod_stop){.grace_ms = 1, .pause = true});
    assert_int_equal(pod_finish(&pod)->signal, SIGKILL);
    assert_true(is_past_its_deadline(&pod));
    pod_drop(&pod);
}

void stored_deadline_never_moves_later(void **state)
{
    struct pod pod = pod_make("hurried", "10.244.1.1", "exec sleep 1000");
    assert_int_equal(pod_deadline_store(pod.directory, moment_wall_ms() + NEVER_MS, NULL), 0);
    pod.spec.deadline_ms = moment_wall_ms();
    pod.spec.grace_ms = NEVER_MS;
    pod_start(&pod);
    pod_finish(&pod);
    assert_true(is_past_its_deadline(&pod));
    pod_drop(&pod);
}

/* Creates runners and runs their state machine; see pod/runner.h. */
#include "node/pod/runner_internal.h"

#include "node/limits/cgroup.h"
#include "node/limits/usage.h"
#include "node/pod/cpu_time.h"
#include "node/pod/peers.h"
#include "node/pod/status.h"
#include "node/pod/sweeper.h"
#include "node/pod/tokens.h"

#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/boot.h"
#include "kube/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    /* How long to wait before the next supervisor is started. Doubles each time until a container
     * runs. */
    RESPAWN_FIRST_MS = 100,
    RESPAWN_MAX_MS = 60 * 1000,
    ATTACH_RETRY_MS = 5000, /* pause if it is not known whether a supervisor runs */
};

static const struct state_row RUNNER_ROWS[] = {
    [RUNNER_WAITING] = {"waiting",
                        STATE_BIT(RUNNER_STARTING) | STATE_BIT(RUNNER_RUNNING) |
                            STATE_BIT(RUNNER_ENDED),
                        true},
    [RUNNER_STARTING] = {"starting",
                         STATE_BIT(RUNNER_WAITING) | STATE_BIT(RUNNER_RUNNING) |
                             STATE_BIT(RUNNER_ENDED),
                         true},
    [RUNNER_RUNNING] = {"running", STATE_BIT(RUNNER_WAITING) | STATE_BIT(RUNNER_ENDED), true},
    [RUNNER_ENDED] = {"ended", 0, true},
};

static const char *runner_invariant(const struct state_machine *machine)
{
    const struct pod_runner *runner = CONTAINER_OF(machine, struct pod_runner, machine);
    bool must_be_alone = machine->state == RUNNER_WAITING || machine->state == RUNNER_ENDED;
    if (runner->preparation && machine->state != RUNNER_STARTING)
        return "the pod is still being prepared";
    if (machine->state == RUNNER_RUNNING && !supervisor_link_pid(runner->link))
        return "no supervisor is running";
    if (must_be_alone && supervisor_link_is_busy(runner->link))
        return "a supervisor is running or starting";
    return NULL;
}

enum runner_state pod_runner_state(const struct pod_runner *runner)
{
    return (enum runner_state)runner->machine.state;
}

void pod_runner_move(struct pod_runner *runner, enum runner_state state)
{
    runner->host->starting -= pod_runner_state(runner) == RUNNER_STARTING;
    state_machine_move(&runner->machine, (int)state);
    runner->host->starting += state == RUNNER_STARTING;
}

const struct container_state *pod_runner_container(const struct pod_runner *runner,
                                                   const char *name)
{
    return pod_state_find(&runner->state, name);
}

bool pod_runner_is_running(const struct pod_runner *runner)
{
    return pod_runner_state(runner) == RUNNER_RUNNING;
}

const char *pod_runner_directory(const struct pod_runner *runner)
{
    return runner->directory;
}

void pod_runner_collect_usage(const struct pod_runner *runner, struct usage_sample *sample)
{
    if (!pod_runner_is_running(runner))
        return; /* the PIDs in an old state may belong to other processes now */
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct cgroup_trees groups;
    (void)cgroup_trees_load(arena, runner->directory, &groups, NULL);
    for (size_t i = 0; i < runner->state.count; i++) {
        struct container_state *container = &runner->state.containers[i];
        if (container->phase != CONTAINER_RUNNING)
            continue;
        struct usage_row row = {
            .uid = runner->uid,
            .name = container->name,
            .mark = runner->host->plain
                        ? arena_printf(arena, "%s/%s", runner->directory, container->name)
                        : NULL,
            .run = container->restarts,
            .pid = container->pid,
            .supervisor = supervisor_link_pid(runner->link),
        };
        row.is_counted = cgroup_usage(&groups, container->name, &row.usage);
        if (!row.is_counted)
            row.usage.cpu_ns =
                pod_cpu_time_load(runner->directory, container->name, container->restarts);
        usage_sample_add(sample, &row);
    }
}

const char *pod_runner_peers(const struct pod_runner *runner)
{
    return runner->peers;
}

void pod_runner_keep_peers(struct pod_runner *runner, const char *name)
{
    free(runner->peers);
    runner->peers = name ? mem_strdup(name) : NULL;
}

bool pod_runner_is_unwanted(const struct pod_runner *runner)
{
    return runner->forgotten || kube_meta_is_deleting(runner_pod(runner));
}

/* ---- Events of the supervisor ---- */

void pod_runner_tell(struct pod_runner *runner, const char *container, bool is_warning,
                     const char *reason, const char *message)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod = runner_pod(runner);
    kube_event_at(runner->host->client, pod, pod_container_path(arena, pod, container),
                  POD_RUNNER_COMPONENT, is_warning ? "Warning" : "Normal", reason, "%s", message);
}

/* Sends to the API those events of `fresh` that the previous state did not contain. An event that
 * newer ones have replaced is not sent. */
static void runner_tell_events(struct pod_runner *runner, const struct pod_state *fresh)
{
    const struct pod_event *event;
    int64_t number = runner->state.last_event + 1;
    if (number <= fresh->last_event - POD_EVENTS_MAX)
        number = fresh->last_event - POD_EVENTS_MAX + 1;
    for (; number <= fresh->last_event; number++)
        if ((event = pod_state_event(fresh, number)))
            pod_runner_tell(runner, event->container, event->is_warning, event->reason,
                            event->message);
}

bool pod_runner_load_state(struct pod_runner *runner, bool tell)
{
    struct pod_state fresh;
    if (pod_state_load(runner->directory, &fresh, NULL) < 0)
        return runner->has_state;
    if (tell)
        runner_tell_events(runner, &fresh);
    pod_state_release(&runner->state);
    runner->state = fresh;
    runner->has_state = true;
    return true;
}

/* Called when no process of the pod runs, and none is to be started. */
static void runner_end(struct pod_runner *runner)
{
    pod_runner_move(runner, RUNNER_ENDED);
    loop_timer_stop(&runner->retry);
    addresses_give_back(&runner->host->addresses, runner->address);
}

static void on_supervisor_alive(void *context)
{
    struct pod_runner *runner = context;
    pod_runner_move(runner, RUNNER_RUNNING);
    pod_runner_load_state(runner, true);
    pod_runner_tell_deadline(runner);
    if (!runner->host->plain && plan_uses_host_network(runner_pod(runner)))
        /* The names may have changed since the pod's hosts file was written. */
        host_names_changed(runner->host->host_names);
    pod_runner_work(runner);
}

static void on_supervisor_changed(void *context)
{
    struct pod_runner *runner = context;
    pod_runner_load_state(runner, true);
    for (size_t i = 0; i < runner->state.count; i++)
        if (runner->state.containers[i].phase == CONTAINER_RUNNING)
            runner->respawn_ms = RESPAWN_FIRST_MS;
    pod_runner_work(runner);
}

static void on_supervisor_gone(void *context, const struct err *err)
{
    struct pod_runner *runner = context;
    if (pod_runner_load_state(runner, true) && runner->state.finished) {
        runner_end(runner);
    } else {
        pod_runner_move(runner, RUNNER_WAITING);
        if (err)
            pod_runner_refuse_sandbox(runner, err);
        loop_timer_start(&runner->retry, runner->respawn_ms);
        runner->respawn_ms =
            runner->respawn_ms * 2 < RESPAWN_MAX_MS ? runner->respawn_ms * 2 : RESPAWN_MAX_MS;
    }
    pod_runner_work(runner);
}

static const struct supervisor_events RUNNER_EVENTS = {on_supervisor_alive, on_supervisor_changed,
                                                       on_supervisor_gone};

/* ---- The next step ---- */

/* Ends a waiting pod that must not start. If a supervisor of an earlier control process runs, tells
 * it to end the pod. If it is not known whether one runs, tries again later. */
static void runner_end_unwanted(struct pod_runner *runner)
{
    struct err err = ERR_INIT;
    int result = pod_runner_attach(runner, &err);
    if (result == 0) {
        pod_runner_stop_deleted(runner);
    } else if (result == -ERR_NOT_FOUND) {
        runner_end(runner);
    } else {
        pod_runner_tell(runner, "", true, "FailedKillPod", err.message);
        loop_timer_start(&runner->retry, ATTACH_RETRY_MS);
    }
}

void pod_runner_work(struct pod_runner *runner)
{
    bool unwanted = pod_runner_is_unwanted(runner);
    if (pod_runner_state(runner) == RUNNER_WAITING && unwanted)
        runner_end_unwanted(runner);
    else if (pod_runner_state(runner) == RUNNER_RUNNING && unwanted)
        pod_runner_stop_deleted(runner);
    else if (runner->node == POD_NODE_AWAY)
        pod_runner_wait_for_node(runner);
    else if (pod_runner_state(runner) == RUNNER_WAITING && !runner->retry.running)
        pod_runner_start(runner);
    else if (pod_runner_state(runner) == RUNNER_RUNNING)
        pod_runner_begin_measuring(runner);

    if (runner->call)
        return; /* the answer calls this function again */
    bool ended = pod_runner_state(runner) == RUNNER_ENDED;
    if (runner->forgotten) {
        if (ended) {
            pod_sweeper_add(runner->host->sweeper, runner->uid, runner->directory,
                            POD_REMAINS_FILES);
            runner->host->done(runner->host->context, runner->uid);
        }
        return;
    }
    if (!pod_runner_publish(runner) && ended && unwanted && !runner->deleted)
        pod_runner_confirm_deletion(runner);
}

static void on_runner_retry(struct loop_timer *timer)
{
    pod_runner_work(CONTAINER_OF(timer, struct pod_runner, retry));
}

void pod_runner_retry(struct pod_runner *runner)
{
    if (pod_runner_state(runner) == RUNNER_WAITING && runner->retry.running)
        loop_timer_start(
            &runner->retry,
            0); /* pod_runner_work() must not run now: the caller iterates over all runners */
}

static bool runner_has_shares(const struct pod_spec *spec, const char *const *shares)
{
    size_t count = 0;
    for (; shares && shares[count]; count++)
        if (count == spec->shares.count || !str_eq(spec->shares.items[count], shares[count]))
            return false;
    return count == spec->shares.count;
}

/* Takes over the spec that an earlier control process wrote. Leaves has_spec false, so that the pod
 * is planned again, in three cases: if the machine was rebooted, because the volumes were written
 * without fsync; if 'trainyard up' now shares other directories; if pods now have namespaces and
 * had none, or the reverse. */
static void runner_restore_spec(struct pod_runner *runner)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    char boot[BOOT_ID_MAX] = "";
    if (pod_spec_load(arena, runner->directory, &spec, NULL) < 0)
        return;
    (void)boot_id(boot, NULL);
    bool is_same_kind = spec.plain == (runner->host->plain != NULL);
    runner->has_spec = is_same_kind && str_eq(spec.boot, boot) &&
                       (spec.plain || runner_has_shares(&spec, runner->host->shares));
    runner->deadline_ms = spec.deadline_ms;
    if (spec.address && is_same_kind)
        str_copy(runner->address, sizeof(runner->address), spec.address);
    pod_runner_keep_peers(runner, peers_of_spec(runner->host->state_dir, &spec));
}

static void runner_restore(struct pod_runner *runner)
{
    const struct json *pod = runner_pod(runner);
    const char *since = json_get_string(json_get(pod, "status"), "startTime", "");
    if (moment_parse(since, &runner->started_ms, NULL) < 0)
        runner->started_ms = loop_wall_ms(runner->host->loop);
    runner_restore_spec(runner);
    pod_runner_load_state(runner, false);
    if (supervisor_link_attach(runner->link, NULL) == 0)
        pod_runner_move(runner, RUNNER_RUNNING);
    else if (runner->has_state ? runner->state.finished : pod_phase_is_final(pod))
        /* Not runner_end(), which would give back an address that another pod may have by now. */
        pod_runner_move(runner, RUNNER_ENDED);
    /* Reads the state again, because changes before supervisor_link_attach() were not watched. */
    pod_runner_load_state(runner, false);
    pod_runner_tell_deadline(runner);
}

struct pod_runner *pod_runner_new(struct pod_host *host, struct kube_object *pod, int node,
                                  const char *node_address)
{
    struct pod_runner *runner = mem_zalloc(sizeof(*runner));
    runner->host = host;
    runner->object = kube_object_ref(pod);
    runner->uid = mem_strdup(pod->uid);
    runner->directory = mem_printf("%s/pods/%s", host->state_dir, pod->uid);
    runner->node = node;
    runner->node_address = mem_strdup(node_address);
    runner->respawn_ms = RESPAWN_FIRST_MS;
    runner->stopped_with_ms = -1;
    state_machine_init(&runner->machine, "pod", RUNNER_ROWS, (int)ARRAY_SIZE(RUNNER_ROWS),
                       RUNNER_WAITING);
    state_machine_set_invariant(&runner->machine, runner_invariant);
    loop_timer_init(host->loop, &runner->retry, on_runner_retry);
    loop_timer_init(host->loop, &runner->measure, pod_runner_on_measure);
    runner->link =
        supervisor_link_new(host->loop, runner->directory, host->step_path, &RUNNER_EVENTS, runner);
    runner_restore(runner);
    /* The pod is started by the timer and not in this call: the caller may create a thousand
     * runners, and each start takes many system calls. */
    loop_timer_start(&runner->retry, 0);
    return runner;
}

struct pod_runner *pod_runner_free(struct pod_runner *runner)
{
    if (!runner)
        return NULL;
    loop_timer_stop(&runner->retry);
    pod_runner_end_measuring(runner);
    runner->host->starting -= pod_runner_state(runner) == RUNNER_STARTING;
    plan_preparation_abandon(runner->preparation);
    supervisor_link_free(runner->link);
    if (runner->call)
        runner->call->runner = NULL;
    if (runner->token_call)
        runner->token_call->runner = NULL;
    pod_tokens_release(&runner->tokens);
    kube_object_unref(runner->object);
    pod_state_release(&runner->state);
    free(runner->uid);
    free(runner->directory);
    free(runner->peers);
    free(runner->node_address);
    free(runner->published);
    free(runner);
    return NULL;
}

void pod_runner_update(struct pod_runner *runner, struct kube_object *pod)
{
    struct kube_object *before = kube_object_ref(runner->object);
    pod_runner_see(runner, pod);
    pod_runner_refresh_own(runner, before->json);
    pod_runner_tell_deadline(runner);
    kube_object_unref(before);
    pod_runner_work(runner);
}

void pod_runner_forget(struct pod_runner *runner)
{
    runner->forgotten = true;
    pod_runner_work(runner);
}

/* One pod of this machine; see pod/runner.h. */
#include "node/pod/runner_internal.h"

#include "node/limits/cgroup_base.h"
#include "node/limits/usage.h"
#include "node/network/port_event.h"
#include "node/plan/gaps.h"
#include "node/plan/limits.h"
#include "node/plan/plan.h"
#include "node/pod/peers.h"
#include "node/pod/spent.h"
#include "node/pod/status.h"
#include "node/pod/sweeper.h"
#include "node/pod/tokens.h"
#include "node/process/descriptors.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "base/system/boot.h"
#include "base/system/file.h"
#include "kube/object.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define COMPONENT "kubelet" /* as clusters everywhere call who runs pods */

enum {
    REFUSED_RETRY_MS = 2 * 1000, /* what is missing may have come */
    STOP_RETRY_MS = 2 * 1000,    /* how it is to end could not be stored */
    RESPAWN_FIRST_MS = 100,      /* after a supervisor was killed, doubling */
    RESPAWN_MAX_MS = 60 * 1000,
    GRACE_DEFAULT_S = 30,
    HOSTS_MAX = 4 * 1024 * 1024, /* some list all that they block */
};

enum runner_state { WAITING, STARTING, RUNNING, ENDED };

static const struct state_row ROWS[] = {
    [WAITING] = {"waiting", STATE_BIT(STARTING) | STATE_BIT(RUNNING) | STATE_BIT(ENDED), true},
    [STARTING] = {"starting", STATE_BIT(WAITING) | STATE_BIT(RUNNING) | STATE_BIT(ENDED), true},
    [RUNNING] = {"running", STATE_BIT(WAITING) | STATE_BIT(ENDED), true},
    [ENDED] = {"ended", 0, true},
};

const struct container_state *pod_runner_container(const struct pod_runner *runner,
                                                   const char *name)
{
    return pod_state_find(&runner->state, name);
}

bool pod_runner_is_running(const struct pod_runner *runner)
{
    return runner->machine.state == RUNNING;
}

const char *pod_runner_directory(const struct pod_runner *runner)
{
    return runner->directory;
}

void pod_runner_collect_usage(const struct pod_runner *runner, struct usage_sample *sample)
{
    if (!pod_runner_is_running(runner))
        return; /* what the state says was so when it was written: its PIDs are anybody's now */
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
                pod_spent_load(runner->directory, container->name, container->restarts);
        usage_sample_add(sample, &row);
    }
}

const char *pod_runner_peers(const struct pod_runner *runner)
{
    return runner->peers;
}

static void keep_peers(struct pod_runner *runner, const char *name)
{
    free(runner->peers);
    runner->peers = name ? mem_strdup(name) : NULL;
}

static bool is_unwanted(const struct pod_runner *runner)
{
    return runner->forgotten || kube_meta_is_deleting(runner_pod(runner));
}

/* ---- What the supervisor wrote ---- */

static void tell_of_container(struct pod_runner *runner, const char *container, bool is_warning,
                              const char *reason, const char *message)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct json *pod = runner_pod(runner);
    kube_event_at(runner->host->client, pod, pod_container_path(arena, pod, container), COMPONENT,
                  is_warning ? "Warning" : "Normal", reason, "%s", message);
}

/* Tell what happened since the state we know. */
static void announce(struct pod_runner *runner, const struct pod_state *fresh)
{
    const struct pod_news *news;
    int64_t number = runner->state.told + 1;
    if (number <= fresh->told - POD_NEWS_MAX)
        number = fresh->told - POD_NEWS_MAX + 1;
    for (; number <= fresh->told; number++)
        if ((news = pod_state_news(fresh, number)))
            tell_of_container(runner, news->container, news->is_warning, news->reason,
                              news->message);
}

/* Read the state again; true if there is one. */
static bool load_state(struct pod_runner *runner, bool tell)
{
    struct pod_state fresh;
    if (pod_state_load(runner->directory, &fresh, NULL) < 0)
        return runner->has_state;
    if (tell)
        announce(runner, &fresh);
    pod_state_release(&runner->state);
    runner->state = fresh;
    runner->has_state = true;
    return true;
}

static void end(struct pod_runner *runner)
{
    state_machine_move(&runner->machine, ENDED);
    loop_timer_stop(&runner->retry);
    addresses_give_back(&runner->host->addresses, runner->address);
}

/* ---- Starting ---- */

/* In the kubelet's words. Volumes are the pod's, whichever container wants them. */
static void tell_refusal(struct pod_runner *runner, const struct pod_plan_refusal *refusal,
                         const struct err *err)
{
    char message[sizeof("Error: ") + sizeof(err->message)];
    if (!refusal->container || str_eq(refusal->reason, "FailedMount")) {
        tell_of_container(runner, "", true, refusal->reason, err->message);
        return;
    }
    snprintf(message, sizeof(message), "Error: %s", err->message);
    tell_of_container(runner, refusal->container, true, "Failed", message);
}

void pod_runner_refuse(struct pod_runner *runner, const struct pod_plan_refusal *refusal,
                       const struct err *err)
{
    bool is_news = !str_eq(runner->refusal_message, err->message);
    str_copy(runner->refusal_reason, sizeof(runner->refusal_reason), refusal->reason);
    str_copy(runner->refusal_message, sizeof(runner->refusal_message), err->message);
    str_copy(runner->refusal_container, sizeof(runner->refusal_container),
             refusal->container ? refusal->container : "");
    if (is_news)
        tell_refusal(runner, refusal, err);
    loop_timer_start(&runner->retry, REFUSED_RETRY_MS);
}

static int take_address(struct pod_runner *runner, struct err *err)
{
    if (runner->host->plain || pod_uses_host_network(runner_pod(runner))) {
        str_copy(runner->address, sizeof(runner->address), runner->node_address);
        return 0;
    }
    return runner->address[0]
               ? 0
               : addresses_take(&runner->host->addresses, runner->node, runner->address, err);
}

/* What a manifest asks for and does not get is said on the object. */
static void announce_limits(struct pod_runner *runner)
{
    const struct json *pod = runner_pod(runner);
    const struct cgroup_base *groups = runner->host->groups;
    const char *not_held = pod_limits_not_held(pod, cgroup_controllers(&groups->trees));
    if (not_held)
        kube_event(runner->host->client, pod, COMPONENT, "Warning", "LimitsNotEnforced",
                   "limits of %s are not enforced here: %s", not_held, cgroup_base_advice(groups));
}

void pod_runner_warn(struct pod_runner *runner, const char *reason, const char *message)
{
    kube_event(runner->host->client, runner_pod(runner), COMPONENT, "Warning", reason, "%s",
               message);
}

static void tell_gap(void *context, const char *reason, const char *message)
{
    pod_runner_warn(context, reason, message);
}

static void tell_gaps(struct pod_runner *runner)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf hosts;
    buf_init(&hosts, HOSTS_MAX);
    if (runner->host->plain) /* a machine without the file knows no name by it */
        (void)file_read("/etc/hosts", &hosts, NULL);
    const struct pod_gaps_machine machine = {
        .nested = runner->host->nested,
        .plain = runner->host->plain != NULL,
        .hosts = hosts.data,
    };
    pod_gaps_tell(arena, runner_pod(runner), &machine, &runner->host->objects, tell_gap, runner);
}

static void forget_refusal(struct pod_runner *runner)
{
    runner->refusal_reason[0] = runner->refusal_message[0] = runner->refusal_container[0] = '\0';
}

static void refuse_sandbox(struct pod_runner *runner, const struct err *err)
{
    const struct pod_plan_refusal refusal = {.reason = "FailedCreatePodSandBox"};
    pod_runner_refuse(runner, &refusal, err);
}

/* It is planned: say what the plan leaves out. */
static void note_plan(struct pod_runner *runner, const struct pod_prepared *prepared)
{
    runner->has_spec = true;
    runner->deadline_ms = prepared->deadline_ms;
    announce_limits(runner);
    tell_gaps(runner);
    if (runner->host->plain)
        port_event_check_pod(runner->host->client, runner_pod(runner), runner->address);
    pod_tokens_release(&runner->tokens);
    pod_runner_refresh_own(runner, prepared->pod->json); /* what has changed since */
    if (prepared->is_stale)
        pod_runner_refresh_all(runner);
}

static void on_prepared(void *context, struct pod_prepared *prepared)
{
    struct pod_runner *runner = context;
    runner->preparation = NULL;
    pod_tokens_release(&runner->tokens);
    runner->tokens = prepared->tokens;
    map_init(&prepared->tokens);
    bool is_failed = prepared->err.code != 0;
    if (is_failed || prepared->is_up || is_unwanted(runner)) {
        runner->host->starting--;
        state_machine_move(&runner->machine, WAITING);
        if (is_failed && !is_unwanted(runner))
            pod_runner_refuse(runner, &prepared->refusal, &prepared->err);
        pod_runner_work(runner); /* which attaches to a supervisor that is up */
        return;
    }
    if (!runner->has_spec)
        note_plan(runner, prepared);
    bool was_refused = runner->refusal_reason[0] != '\0';
    forget_refusal(runner);
    runner->stopped_with_ms = -1;
    runner->was_stop_lost = runner->was_deletion_told = false;
    supervisor_link_start(runner->link);
    if (was_refused)
        pod_runner_work(runner); /* its status says so no more */
}

/* Finds a supervisor that was on its way when the last control process died. */
static bool attach(struct pod_runner *runner)
{
    if (!supervisor_link_attach(runner->link))
        return false;
    forget_refusal(runner);
    state_machine_move(&runner->machine, RUNNING);
    load_state(runner, true);
    return true;
}

static void start(struct pod_runner *runner)
{
    struct err err = ERR_INIT;
    if (attach(runner))
        return;
    if (!runner->has_spec && !pod_runner_has_tokens(runner))
        return;
    if (node_descriptors_check(runner->host->starting, &err) < 0 ||
        (!runner->has_spec && take_address(runner, &err) < 0)) {
        refuse_sandbox(runner, &err);
        return;
    }
    /* Before it is planned: what was made for a plan that fails is to be removed as well. */
    if (!runner->has_spec) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        keep_peers(runner, peers_name(arena, runner_pod(runner)));
    }
    const struct pod_preparation_order order = {
        .pod = runner->object,
        .directory = runner->directory,
        .address = runner->address,
        .node_address = runner->node_address,
        .started_ms = runner->started_ms,
        .tokens = &runner->tokens,
        .is_planned = runner->has_spec,
    };
    state_machine_move(&runner->machine, STARTING);
    runner->host->starting++;
    runner->preparation = pod_preparation_start(runner->host, &order, on_prepared, runner);
}

static void on_alive(void *context)
{
    struct pod_runner *runner = context;
    runner->host->starting--;
    state_machine_move(&runner->machine, RUNNING);
    load_state(runner, true);
    pod_runner_tell_deadline(runner);
    if (!runner->host->plain && pod_uses_host_network(runner_pod(runner)))
        host_names_changed(runner->host->host_names); /* since its file was made */
    pod_runner_work(runner);
}

static void on_changed(void *context)
{
    struct pod_runner *runner = context;
    load_state(runner, true);
    for (size_t i = 0; i < runner->state.count; i++)
        if (runner->state.containers[i].phase == CONTAINER_RUNNING)
            runner->respawn_ms = RESPAWN_FIRST_MS;
    pod_runner_work(runner);
}

static void on_gone(void *context, const struct err *err)
{
    struct pod_runner *runner = context;
    if (runner->machine.state == STARTING)
        runner->host->starting--;
    if (load_state(runner, true) && runner->state.finished) {
        end(runner);
    } else {
        state_machine_move(&runner->machine, WAITING);
        if (err)
            refuse_sandbox(runner, err);
        loop_timer_start(&runner->retry, runner->respawn_ms);
        runner->respawn_ms =
            runner->respawn_ms * 2 < RESPAWN_MAX_MS ? runner->respawn_ms * 2 : RESPAWN_MAX_MS;
    }
    pod_runner_work(runner);
}

static const struct supervisor_events EVENTS = {on_alive, on_changed, on_gone};

/* ---- Ending ---- */

static void tell_to_end(struct pod_runner *runner, const struct pod_stop *stop)
{
    bool is_known = runner->was_deletion_told || !stop->deleted;
    if (is_known && runner->stopped_with_ms >= 0 && runner->stopped_with_ms <= stop->grace_ms)
        return;
    struct err err = ERR_INIT;
    runner->was_deletion_told = runner->was_deletion_told || stop->deleted;
    if (supervisor_link_stop(runner->link, stop, &err) == 0) {
        runner->stopped_with_ms = stop->grace_ms;
        return;
    }
    if (!runner->was_stop_lost) /* once: a log, too, needs room on the disk */
        log_warning(runner->directory,
                    "the pod ends with its own grace period until that can be written: %s",
                    err.message);
    runner->was_stop_lost = true;
    loop_timer_start(&runner->retry, STOP_RETRY_MS);
}

void pod_runner_stop(struct pod_runner *runner, int64_t grace_ms, const char *reason,
                     const char *message)
{
    struct pod_stop stop = {.grace_ms = grace_ms};
    str_copy(stop.reason, sizeof(stop.reason), reason);
    str_copy(stop.message, sizeof(stop.message), message);
    tell_to_end(runner, &stop);
}

static void stop_deleted_pod(struct pod_runner *runner)
{
    int64_t grace_s = json_get_int(json_get(runner_pod(runner), "metadata"),
                                   "deletionGracePeriodSeconds", GRACE_DEFAULT_S);
    const struct pod_stop stop = {
        .grace_ms = runner->forgotten ? 0 : grace_s * 1000,
        .deleted = true,
    };
    tell_to_end(runner, &stop);
}

/* Its node is away: nobody is to run it, and it says so. A supervisor that outlived the last
 * control process leaves to the next one what is not done. */
static void wait_for_node(struct pod_runner *runner)
{
    const struct json *spec = json_get(runner_pod(runner), "spec");
    if (runner->machine.state == RUNNING) {
        int64_t grace_s = json_get_int(spec, "terminationGracePeriodSeconds", GRACE_DEFAULT_S);
        const struct pod_stop pause = {.grace_ms = grace_s * 1000, .pause = true};
        tell_to_end(runner, &pause);
    } else if (runner->machine.state == WAITING && !runner->refusal_reason[0]) {
        const struct pod_plan_refusal refusal = {.reason = "NodeNotReady"};
        struct err err = ERR_INIT;
        err_set(&err, ERR_UNAVAILABLE,
                "the cluster was started without node '%s'. Start it with the node again "
                "('trainyard up --nodes'), and the pod goes on with what it has; or delete the pod",
                json_get_string(spec, "nodeName", ""));
        pod_runner_refuse(runner, &refusal, &err);
    }
}

/* ---- What is to be done now ---- */

void pod_runner_work(struct pod_runner *runner)
{
    bool unwanted = is_unwanted(runner);
    if (runner->machine.state == WAITING && unwanted && !attach(runner))
        end(runner);
    else if (runner->machine.state == RUNNING && unwanted)
        stop_deleted_pod(runner);
    else if (runner->node == POD_NODE_AWAY)
        wait_for_node(runner);
    else if (runner->machine.state == WAITING && !runner->retry.running)
        start(runner);
    else if (runner->machine.state == RUNNING)
        pod_runner_begin_measuring(runner);

    if (runner->call)
        return; /* its answer brings us back */
    bool ended = runner->machine.state == ENDED;
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

static void on_retry(struct loop_timer *timer)
{
    pod_runner_work(CONTAINER_OF(timer, struct pod_runner, retry));
}

void pod_runner_retry(struct pod_runner *runner)
{
    if (runner->machine.state == WAITING && runner->retry.running)
        loop_timer_start(&runner->retry, 0); /* not here: who calls goes through all runners */
}

static bool has_shares(const struct pod_spec *spec, const char *const *shares)
{
    size_t count = 0;
    for (; shares && shares[count]; count++)
        if (count == spec->shares.count || !str_eq(spec->shares.items[count], shares[count]))
            return false;
    return count == spec->shares.count;
}

/* Takes over the spec that an earlier control process wrote. The pod is planned again if the
 * machine was started again since, because its volumes were written without fsync, or if `up`
 * shares other directories now. */
static void restore_spec(struct pod_runner *runner)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct pod_spec spec;
    char boot[BOOT_ID_MAX] = "";
    if (pod_spec_load(arena, runner->directory, &spec, NULL) < 0)
        return;
    (void)boot_id(boot, NULL);
    bool is_same_kind = spec.plain == (runner->host->plain != NULL);
    runner->has_spec = is_same_kind && str_eq(spec.boot, boot) &&
                       (spec.plain || has_shares(&spec, runner->host->shares));
    runner->deadline_ms = spec.deadline_ms;
    if (spec.address && is_same_kind)
        str_copy(runner->address, sizeof(runner->address), spec.address);
    keep_peers(runner, peers_of_spec(runner->host->state_dir, &spec));
}

static void restore(struct pod_runner *runner)
{
    const struct json *pod = runner_pod(runner);
    const char *since = json_get_string(json_get(pod, "status"), "startTime", "");
    if (moment_parse(since, &runner->started_ms, NULL) < 0)
        runner->started_ms = loop_wall_ms(runner->host->loop);
    restore_spec(runner);
    load_state(runner, false);
    if (supervisor_link_attach(runner->link))
        state_machine_move(&runner->machine, RUNNING);
    else if (runner->has_state ? runner->state.finished : pod_phase_is_final(pod))
        state_machine_move(&runner->machine, ENDED); /* its address was given back before */
    load_state(runner, false);                       /* once more, now that changes are watched */
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
    state_machine_init(&runner->machine, "pod", ROWS, (int)ARRAY_SIZE(ROWS), WAITING);
    loop_timer_init(host->loop, &runner->retry, on_retry);
    loop_timer_init(host->loop, &runner->measure, pod_runner_on_measure);
    runner->link =
        supervisor_link_new(host->loop, runner->directory, host->step_path, &EVENTS, runner);
    restore(runner);
    /* Not here: the caller may have a thousand pods to make, and starting one takes many calls. */
    loop_timer_start(&runner->retry, 0);
    return runner;
}

struct pod_runner *pod_runner_free(struct pod_runner *runner)
{
    if (!runner)
        return NULL;
    loop_timer_stop(&runner->retry);
    pod_runner_end_measuring(runner);
    if (runner->machine.state == STARTING)
        runner->host->starting--;
    pod_preparation_abandon(runner->preparation);
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

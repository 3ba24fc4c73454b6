/* One pod of this machine; see pod_runner.h. */
#include "node/pod_runner.h"

#include "node/image_table.h"
#include "node/pod_plan.h"
#include "node/pod_status.h"
#include "node/supervisor.h"

#include "base/file.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/state_machine.h"
#include "base/str.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

#define COMPONENT "trainyard-node"

enum {
    REFUSED_RETRY_MS = 2 * 1000, /* what is missing may have come */
    API_RETRY_MS = 1000,         /* the server did not take our word */
    RESPAWN_FIRST_MS = 100,      /* after a supervisor was killed, doubling */
    RESPAWN_MAX_MS = 60 * 1000,
    GRACE_DEFAULT_S = 30,
};

enum runner_state { WAITING, STARTING, RUNNING, ENDED };

static const struct state_row ROWS[] = {
    [WAITING] = {"waiting", STATE_BIT(STARTING) | STATE_BIT(RUNNING) | STATE_BIT(ENDED), true},
    [STARTING] = {"starting", STATE_BIT(WAITING) | STATE_BIT(RUNNING) | STATE_BIT(ENDED), true},
    [RUNNING] = {"running", STATE_BIT(WAITING) | STATE_BIT(ENDED), true},
    [ENDED] = {"ended", 0, true},
};

/* A request to the API under way: it may outlive the runner. */
struct runner_call {
    struct pod_runner *runner; /* NULL: freed meanwhile */
};

struct pod_runner {
    struct pod_host *host;
    struct kube_object *object; /* the newest seen */
    bool forgotten;             /* gone from the API */
    char *uid, *directory;
    int node;
    char *node_address;
    char address[INET_ADDRSTRLEN]; /* "" until one is taken */
    int64_t started_ms;
    struct state_machine machine;
    struct supervisor_link *link;
    struct pod_state state;
    bool has_state;
    char refusal_reason[POD_REASON_MAX], refusal_message[POD_MESSAGE_MAX], refusal_container[64];
    struct loop_timer retry;
    int64_t respawn_ms;
    int64_t stopped_with_ms; /* the shortest grace the supervisor was told, or -1 */
    struct runner_call *call;
    char *published; /* the status last accepted by the API */
    bool deleted;    /* we have confirmed the deletion */
};

static void work(struct pod_runner *runner);

static const struct json *pod_of(const struct pod_runner *runner)
{
    return runner->object->json;
}

const struct container_state *pod_runner_container(const struct pod_runner *runner,
                                                   const char *name)
{
    return runner->has_state ? pod_state_find((struct pod_state *)&runner->state, name) : NULL;
}

const char *pod_runner_directory(const struct pod_runner *runner)
{
    return runner->directory;
}

/* ---- What the supervisor wrote ---- */

static void announce_container(struct pod_runner *runner, const struct container_state *old,
                               const struct container_state *now)
{
    struct kube_client *client = runner->host->client;
    const struct json *pod = pod_of(runner);
    bool was_running = old && old->phase == CONTAINER_RUNNING && old->restarts == now->restarts;
    if (now->phase == CONTAINER_RUNNING && !was_running)
        kube_event(client, pod, COMPONENT, "Normal", "Started", "Started container %s", now->name);
    bool was_ended = old && old->phase == CONTAINER_TERMINATED;
    const struct container_end *end = now->phase == CONTAINER_TERMINATED ? &now->end : &now->last;
    if (str_eq(end->reason, "StartError") &&
        !(was_ended ||
          (old && old->restarts == now->restarts && now->phase != CONTAINER_TERMINATED)))
        kube_event(client, pod, COMPONENT, "Warning", "Failed", "Error: %s", end->message);
    if (str_eq(now->reason, "CrashLoopBackOff") && (!old || old->restarts != now->restarts))
        kube_event(client, pod, COMPONENT, "Warning", "BackOff",
                   "Back-off restarting failed container %s in pod %s", now->name,
                   kube_meta_name(pod));
}

/* Read the state again; true if there is one. */
static bool load_state(struct pod_runner *runner, bool announce)
{
    static struct pod_state fresh; /* too large for the stack; the loop's thread is the only one */
    if (pod_state_load(runner->directory, &fresh, NULL) < 0)
        return runner->has_state;
    for (size_t i = 0; announce && i < fresh.count; i++)
        announce_container(runner, pod_runner_container(runner, fresh.containers[i].name),
                           &fresh.containers[i]);
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

static void refuse(struct pod_runner *runner, const struct pod_plan_refusal *refusal,
                   const struct err *err)
{
    bool is_news = !str_eq(runner->refusal_message, err->message);
    str_copy(runner->refusal_reason, sizeof(runner->refusal_reason), refusal->reason);
    str_copy(runner->refusal_message, sizeof(runner->refusal_message), err->message);
    str_copy(runner->refusal_container, sizeof(runner->refusal_container),
             refusal->container ? refusal->container : "");
    if (is_news)
        kube_event(runner->host->client, pod_of(runner), COMPONENT, "Warning",
                   str_eq(refusal->reason, "FailedMount") ? "FailedMount" : "Failed", "%s",
                   err->message);
    loop_timer_start(&runner->retry, REFUSED_RETRY_MS);
}

static int take_address(struct pod_runner *runner, struct err *err)
{
    if (pod_uses_host_network(pod_of(runner))) {
        str_copy(runner->address, sizeof(runner->address), runner->node_address);
        return 0;
    }
    return runner->address[0]
               ? 0
               : addresses_take(&runner->host->addresses, runner->node, runner->address, err);
}

static int write_spec(struct pod_runner *runner, const struct pod_spec *spec, struct err *err)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", runner->directory);
    _cleanup_buf_ struct buf text;
    buf_init(&text, POD_SPEC_MAX);
    pod_spec_write(spec, &text);
    if (text.overflowed)
        return err_set(err, ERR_TOO_LARGE,
                       "arguments and environment of the pod are larger than %d bytes",
                       POD_SPEC_MAX);
    return file_write_atomic(path, text.data, text.size, 0600, err);
}

static int plan(struct pod_runner *runner, struct pod_plan_refusal *refusal, struct err *err)
{
    const struct pod_host *host = runner->host;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *images;
    struct pod_spec spec;
    *refusal = (struct pod_plan_refusal){.reason = "FailedCreatePodSandBox"};
    int result;
    if ((result = take_address(runner, err)) < 0 ||
        (result = file_make_dirs(runner->directory, 0700, err)) < 0 ||
        (result = image_table_load(arena, host->state_dir, &images, err)) < 0)
        return result;
    const struct pod_plan_input input = {
        .pod = pod_of(runner),
        .state_dir = host->state_dir,
        .pod_dir = runner->directory,
        .network = host->network,
        .nested = host->nested,
        .address = runner->address,
        .host_address = runner->node_address,
        .trainer_path = host->trainer_path,
        .home = host->home,
        .machine_resolv_conf = host->resolv_conf,
        .images = images,
        .objects = &host->objects,
    };
    result = pod_plan(arena, &input, &spec, refusal, err);
    return result < 0 ? result : write_spec(runner, &spec, err);
}

/* What a manifest asks for and does not get is said on the object. */
static void announce_limits(struct pod_runner *runner)
{
    static const char *const PROBES[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    const struct json *pod = pod_of(runner);
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL))
        for (size_t i = 0; i < ARRAY_SIZE(PROBES); i++)
            if (json_get(container, PROBES[i]))
                kube_event(runner->host->client, pod, COMPONENT, "Warning", "Unsupported",
                           "%s of container %s is not run on this machine: a container is ready "
                           "while it runs",
                           PROBES[i], json_get_string(container, "name", ""));
}

static bool has_spec(const struct pod_runner *runner)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", runner->directory);
    return file_exists(path);
}

static void start(struct pod_runner *runner)
{
    struct err err = ERR_INIT;
    struct pod_plan_refusal refusal;
    if (!has_spec(runner)) {
        if (plan(runner, &refusal, &err) < 0) {
            refuse(runner, &refusal, &err);
            return;
        }
        announce_limits(runner);
    }
    runner->refusal_reason[0] = runner->refusal_message[0] = runner->refusal_container[0] = '\0';
    runner->stopped_with_ms = -1;
    state_machine_move(&runner->machine, STARTING);
    supervisor_link_start(runner->link);
}

static void on_alive(void *context)
{
    struct pod_runner *runner = context;
    state_machine_move(&runner->machine, RUNNING);
    load_state(runner, true);
    work(runner);
}

static void on_changed(void *context)
{
    struct pod_runner *runner = context;
    load_state(runner, true);
    for (size_t i = 0; i < runner->state.count; i++)
        if (runner->state.containers[i].phase == CONTAINER_RUNNING)
            runner->respawn_ms = RESPAWN_FIRST_MS;
    work(runner);
}

static void on_gone(void *context, const struct err *err)
{
    struct pod_runner *runner = context;
    if (load_state(runner, true) && runner->state.finished) {
        end(runner);
    } else {
        state_machine_move(&runner->machine, WAITING);
        if (err) {
            const struct pod_plan_refusal refusal = {.reason = "FailedCreatePodSandBox"};
            refuse(runner, &refusal, err);
        }
        loop_timer_start(&runner->retry, runner->respawn_ms);
        runner->respawn_ms =
            runner->respawn_ms * 2 < RESPAWN_MAX_MS ? runner->respawn_ms * 2 : RESPAWN_MAX_MS;
    }
    work(runner);
}

static const struct supervisor_events EVENTS = {on_alive, on_changed, on_gone};

/* ---- Telling the API ---- */

static struct runner_call *begin_call(struct pod_runner *runner)
{
    runner->call = mem_zalloc(sizeof(*runner->call));
    runner->call->runner = runner;
    return runner->call;
}

/* The runner the answer is for, or NULL. */
static struct pod_runner *end_call(struct runner_call *call)
{
    struct pod_runner *runner = call->runner;
    if (runner)
        runner->call = NULL;
    free(call);
    return runner;
}

static int64_t version_of(const struct json *object)
{
    return strtoll(kube_meta_resource_version(object), NULL, 10);
}

/* Take over a newer version; an informer may lag behind the answers to our own writes. */
static void see(struct pod_runner *runner, struct kube_object *object)
{
    if (object != runner->object && version_of(object->json) >= version_of(pod_of(runner))) {
        kube_object_unref(runner->object);
        runner->object = kube_object_ref(object);
    }
}

static void retry_later(struct pod_runner *runner, const struct err *err)
{
    /* What is not found any more is deleted, which the informer says in its time. */
    if (err->code != ERR_NOT_FOUND)
        loop_timer_start(&runner->retry, API_RETRY_MS);
}

static void on_published(void *context, struct json *object, const struct err *err)
{
    struct pod_runner *runner = end_call(context);
    if (!runner)
        return;
    if (err) {
        free(TAKE(runner->published));
        retry_later(runner, err);
        return;
    }
    struct kube_object *seen = kube_object_new(object);
    see(runner, seen);
    kube_object_unref(seen);
    work(runner);
}

static bool is_current(const struct json *pod, const struct json *status)
{
    JSON_EACH (member, status) {
        if (!json_equal(member, json_at(pod, "status", member->name, NULL)))
            return false;
    }
    return true;
}

/* Write the status if it says something new; true if a call is under way for it. */
static bool publish(struct pod_runner *runner)
{
    if (!runner->has_state &&
        (kube_meta_is_deleting(pod_of(runner)) || pod_phase_is_final(pod_of(runner))))
        return false; /* we know less than the API */
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    bool is_refused = runner->refusal_reason[0] != '\0';
    const struct pod_status_input input = {
        .pod = pod_of(runner),
        .state = runner->has_state ? &runner->state : NULL,
        .address = runner->address[0] && !is_refused ? runner->address : NULL,
        .host_address = runner->node_address,
        .started_ms = runner->started_ms,
        .now_ms = loop_wall_ms(runner->host->loop),
        .refusal_reason = is_refused ? runner->refusal_reason : NULL,
        .refusal_message = runner->refusal_message,
        .refusal_container = runner->refusal_container[0] ? runner->refusal_container : NULL,
    };
    struct json *status = pod_status_build(arena, &input);
    char *text = json_to_string(arena, status);
    if (str_eq(text, runner->published) || is_current(pod_of(runner), status))
        return false;
    free(runner->published);
    runner->published = mem_strdup(text);
    struct json *patch = json_object(arena);
    json_set(arena, patch, "status", status);
    kube_patch(runner->host->client, &KUBE_PODS, runner->object->namespace_, runner->object->name,
               "status", patch, on_published, begin_call(runner));
    return true;
}

static void on_deleted(void *context, struct json *object, const struct err *err)
{
    struct pod_runner *runner = end_call(context);
    if (!runner)
        return;
    if (err && err->code != ERR_NOT_FOUND && err->code != ERR_CONFLICT) {
        runner->deleted = false;
        retry_later(runner, err);
    }
    work(runner);
}

static void confirm_deletion(struct pod_runner *runner)
{
    const struct kube_delete_options options = {.grace_period_seconds = 0, .uid = runner->uid};
    runner->deleted = true;
    kube_delete(runner->host->client, &KUBE_PODS, runner->object->namespace_, runner->object->name,
                &options, on_deleted, begin_call(runner));
}

/* ---- Ending ---- */

static void stop(struct pod_runner *runner, int64_t grace_ms)
{
    if (runner->stopped_with_ms >= 0 && runner->stopped_with_ms <= grace_ms)
        return;
    if (runner->stopped_with_ms < 0 && !runner->forgotten)
        for (size_t i = 0; i < runner->state.count; i++)
            if (runner->state.containers[i].phase == CONTAINER_RUNNING)
                kube_event(runner->host->client, pod_of(runner), COMPONENT, "Normal", "Killing",
                           "Stopping container %s", runner->state.containers[i].name);
    runner->stopped_with_ms = grace_ms;
    supervisor_link_stop(runner->link, grace_ms);
}

/* ---- What is to be done now ---- */

static void work(struct pod_runner *runner)
{
    const struct json *pod = pod_of(runner);
    bool unwanted = runner->forgotten || kube_meta_is_deleting(pod);
    int64_t grace_s =
        json_get_int(json_get(pod, "metadata"), "deletionGracePeriodSeconds", GRACE_DEFAULT_S);
    if (runner->machine.state == WAITING && unwanted)
        end(runner);
    else if (runner->machine.state == WAITING && !runner->retry.running)
        start(runner);
    else if (runner->machine.state == RUNNING && unwanted)
        stop(runner, runner->forgotten ? 0 : grace_s * 1000);

    if (runner->call)
        return; /* its answer brings us back */
    bool ended = runner->machine.state == ENDED;
    if (runner->forgotten) {
        if (ended) {
            (void)file_remove_tree(runner->directory, NULL);
            runner->host->done(runner->host->context, runner->uid);
        }
        return;
    }
    if (!publish(runner) && ended && unwanted && !runner->deleted)
        confirm_deletion(runner);
}

static void on_retry(struct loop_timer *timer)
{
    work(CONTAINER_OF(timer, struct pod_runner, retry));
}

/* The address an earlier control process gave the pod. */
static void restore_address(struct pod_runner *runner)
{
    _cleanup_free_ char *path = mem_printf("%s/spec", runner->directory);
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    _cleanup_buf_ struct buf text;
    struct pod_spec spec;
    buf_init(&text, POD_SPEC_MAX);
    if (file_read(path, &text, NULL) == 0 &&
        pod_spec_parse(arena, text.data, text.size, &spec, NULL) == 0 && spec.address)
        str_copy(runner->address, sizeof(runner->address), spec.address);
}

static void restore(struct pod_runner *runner)
{
    const struct json *pod = pod_of(runner);
    const char *since = json_get_string(json_get(pod, "status"), "startTime", "");
    if (moment_parse(since, &runner->started_ms, NULL) < 0)
        runner->started_ms = loop_wall_ms(runner->host->loop);
    restore_address(runner);
    load_state(runner, false);
    if (supervisor_link_attach(runner->link))
        state_machine_move(&runner->machine, RUNNING);
    else if (runner->has_state ? runner->state.finished : pod_phase_is_final(pod))
        state_machine_move(&runner->machine, ENDED); /* its address was given back before */
    load_state(runner, false);                       /* once more, now that changes are watched */
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
    runner->link =
        supervisor_link_new(host->loop, runner->directory, host->step_path, &EVENTS, runner);
    restore(runner);
    work(runner);
    return runner;
}

struct pod_runner *pod_runner_free(struct pod_runner *runner)
{
    if (!runner)
        return NULL;
    loop_timer_stop(&runner->retry);
    supervisor_link_free(runner->link);
    if (runner->call)
        runner->call->runner = NULL;
    kube_object_unref(runner->object);
    free(runner->uid);
    free(runner->directory);
    free(runner->node_address);
    free(runner->published);
    free(runner);
    return NULL;
}

void pod_runner_update(struct pod_runner *runner, struct kube_object *pod)
{
    see(runner, pod);
    work(runner);
}

void pod_runner_forget(struct pod_runner *runner)
{
    runner->forgotten = true;
    work(runner);
}

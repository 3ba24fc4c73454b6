/* The fixture of the operator's tests; see job_fixture.h. */
#include "job_fixture.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/conditions.h"
#include "operator/reconcile/pod_template.h"

#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"
#include "kube/patch/patch.h"
#include "kube/types/types.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

static struct json *short_specs(struct arena *arena, const struct training_kind *kind,
                                const char *text)
{
    struct json *specs = json_object(arena);
    size_t count;
    char **parts = str_split(arena, text, ',', &count);

    for (size_t i = 0; i < count; i++) {
        char type[32], policy[32] = "";
        int replicas;
        struct json *spec = read_json(
            arena, arena_printf(arena,
                                "{'template': {'spec': {'containers': [{'name': '%s', 'image': "
                                "'tf'}]}}}",
                                kind->container));

        if (sscanf(parts[i], " %31s %d %31s", type, &replicas, policy) < 2)
            fail_msg("the test's replicas are wrong: %s", parts[i]);
        json_set_int(arena, spec, "replicas", replicas);
        if (policy[0])
            json_set_string(arena, spec, "restartPolicy", policy);
        json_set(arena, specs, type, spec);
    }
    return specs;
}

void fixture_init(struct job_fixture *fixture, const char *spec, const char *run_policy)
{
    fixture_init_kind(fixture, &TRAINING_TFJOB, spec, run_policy);
}

void fixture_init_kind(struct job_fixture *fixture, const struct training_kind *kind,
                       const char *spec, const char *run_policy)
{
    struct arena *arena = arena_new();
    struct json *specs;

    *fixture = (struct job_fixture){.arena = arena, .kind = kind};
    if (moment_parse("2026-11-15T02:00:00Z", &fixture->now_ms, NULL) < 0)
        fail();
    fixture->job = read_json(
        arena, "{'apiVersion': 'kubeflow.org/v1', 'kind': '', 'metadata': {'name': 'mnist', "
               "'namespace': 'default', 'uid': 'job-uid', 'resourceVersion': '1'}}");
    json_set_string(arena, fixture->job, "kind", kind->row->id.kind);
    if (spec[0] == '{') {
        json_set(arena, fixture->job, "spec", read_json(arena, spec));
    } else {
        specs = json_ensure_object(arena, fixture->job, "spec");
        json_set(arena, specs, kind->specs, short_specs(arena, kind, spec));
    }
    if (run_policy)
        json_set(arena, json_get(fixture->job, "spec"), "runPolicy", read_json(arena, run_policy));
}

void fixture_init_gang(struct job_fixture *fixture, const char *scheduler, const char *spec,
                       const char *run_policy)
{
    fixture_init(fixture, spec, run_policy);
    training_gang_init(&fixture->gang, scheduler);
}

void fixture_set_phase(struct job_fixture *fixture, const char *phase)
{
    json_set_string(fixture->arena, json_ensure_object(fixture->arena, fixture->group, "status"),
                    "phase", phase);
}

void fixture_set_replicas(struct job_fixture *fixture, const char *type, int replicas)
{
    json_set_int(fixture->arena, json_at(fixture->job, "spec", "tfReplicaSpecs", type, NULL),
                 "replicas", replicas);
}

void fixture_set_suspend(struct job_fixture *fixture, bool suspend)
{
    struct json *policy =
        json_ensure_object(fixture->arena, json_get(fixture->job, "spec"), "runPolicy");

    json_set_bool(fixture->arena, policy, "suspend", suspend);
}

bool fixture_has_event(struct job_fixture *fixture, const char *text)
{
    return strstr(fixture_events(fixture), text) != NULL;
}

void fixture_set_spec(struct job_fixture *fixture, const char *members)
{
    JSON_EACH (member, members ? read_json(fixture->arena, members) : NULL)
        json_set(fixture->arena, json_get(fixture->job, "spec"), member->name,
                 json_clone(fixture->arena, member));
}

void fixture_release(struct job_fixture *fixture)
{
    arena_free(fixture->arena);
}

struct pod_text {
    char type[16], phase[16];
    int index, exit_code, restarts;
    bool deleting, foreign, orphan;
};

static struct pod_text parse_pod(const char *text)
{
    struct pod_text pod = {.exit_code = -1};
    int length = 0;

    if (sscanf(text, "%15[a-z]-%d=%15[A-Za-z]%n", pod.type, &pod.index, pod.phase, &length) < 3)
        fail_msg("the test's pod is wrong: %s", text);
    for (text += length; *text; text += length) {
        length = 1;
        if (*text == '(')
            sscanf(text, "(%d)%n", &pod.exit_code, &length);
        else if (*text == '*')
            sscanf(text, "*%d%n", &pod.restarts, &length);
        else if (*text == '!')
            pod.deleting = true;
        else if (*text == '?')
            pod.foreign = true;
        else if (*text == '~')
            pod.orphan = true;
        else
            fail_msg("the test's pod is wrong: %s", text);
    }
    return pod;
}

static void set_status(struct job_fixture *fixture, struct json *pod, const struct pod_text *text)
{
    struct arena *arena = fixture->arena;
    struct json *status = json_set(arena, pod, "status", json_object(arena));
    struct json *container = json_object(arena);
    char now[MOMENT_TEXT_MAX];

    json_set_string(arena, status, "phase", text->phase);
    json_set_string(arena, container, "name", fixture->kind->container);
    json_set_int(arena, container, "restartCount", text->restarts);
    if (text->exit_code >= 0) {
        struct json *state = json_ensure_object(arena, container, "state");
        json_set_int(arena, json_ensure_object(arena, state, "terminated"), "exitCode",
                     text->exit_code);
    }
    json_append(json_ensure_array(arena, status, "containerStatuses"), container);
    if (text->deleting) {
        moment_format(fixture->now_ms + 30 * 1000, now);
        json_set_string(arena, json_get(pod, "metadata"), "deletionTimestamp", now);
    }
}

static struct json *find(struct json **list, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++) {
        if (str_eq(kube_meta_name(list[i]), name))
            return list[i];
    }
    return NULL;
}

static void remove_object(struct json **list, size_t *count, const char *name)
{
    for (size_t i = 0; i < *count; i++) {
        if (str_eq(kube_meta_name(list[i]), name)) {
            list[i] = list[--*count];
            return;
        }
    }
}

static struct json *put_object(struct job_fixture *fixture, struct json **list, size_t *count,
                               const struct json *object)
{
    struct json *copy = json_clone(fixture->arena, object);

    assert_true(*count < JOB_OBJECTS_MAX);
    assert_null(find(list, *count, kube_meta_name(object)));
    json_set(fixture->arena, json_get(copy, "metadata"), "uid",
             json_stringf(fixture->arena, "uid-%d", ++fixture->created));
    list[(*count)++] = copy;
    return copy;
}

static void set_owner(struct job_fixture *fixture, struct json *object, bool none)
{
    struct json *metadata = json_get(object, "metadata");

    if (none)
        json_remove(metadata, "ownerReferences");
    else
        json_set_string(fixture->arena, json_element(json_get(metadata, "ownerReferences"), 0),
                        "uid", "another-uid");
}

static void add_pod(struct job_fixture *fixture, const char *text, bool gone)
{
    struct pod_text parsed = parse_pod(text);
    enum training_replica_type type;
    struct training_job job;
    struct json *pod, *service = NULL;

    training_job_read(fixture->kind, fixture->job, &job);
    assert_true(training_replica_type_parse(fixture->kind, parsed.type, &type));
    pod = training_pod_new(fixture->arena, &job, type, parsed.index, NULL);
    if (gone) {
        pod = put_object(fixture, fixture->gone, &fixture->gone_count, pod);
    } else {
        service = training_service_new(fixture->arena, &job, type, parsed.index);
        service = put_object(fixture, fixture->services, &fixture->service_count, service);
        pod = put_object(fixture, fixture->pods, &fixture->pod_count, pod);
    }
    set_status(fixture, pod, &parsed);
    if (parsed.foreign || parsed.orphan)
        set_owner(fixture, pod, parsed.orphan);
    if (service && parsed.orphan)
        set_owner(fixture, service, true);
}

static void add_pods(struct job_fixture *fixture, const char *text, bool gone)
{
    size_t count;
    char **parts = str_split(fixture->arena, text, ' ', &count);

    for (size_t i = 0; i < count; i++) {
        if (parts[i][0])
            add_pod(fixture, parts[i], gone);
    }
}

void fixture_pods(struct job_fixture *fixture, const char *text)
{
    add_pods(fixture, text, false);
}

void fixture_gone_pods(struct job_fixture *fixture, const char *text)
{
    add_pods(fixture, text, true);
}

void fixture_change(struct job_fixture *fixture, const char *text)
{
    size_t count;
    char **parts = str_split(fixture->arena, text, ' ', &count);

    for (size_t i = 0; i < count; i++) {
        struct pod_text parsed = parse_pod(parts[i]);
        struct json *pod =
            find(fixture->pods, fixture->pod_count,
                 arena_printf(fixture->arena, "mnist-%s-%d", parsed.type, parsed.index));

        if (!pod)
            fail_msg("no such pod: %s", parts[i]);
        set_status(fixture, pod, &parsed);
    }
}

void fixture_reconcile(struct job_fixture *fixture)
{
    struct training_observed observed = {
        .kind = fixture->kind,
        .job = fixture->job,
        .pods = (const struct json *const *)fixture->pods,
        .pod_count = fixture->pod_count,
        .unmatched = (const struct json *const *)fixture->unmatched,
        .unmatched_count = fixture->unmatched_count,
        .gone = (const struct json *const *)fixture->gone,
        .gone_count = fixture->gone_count,
        .services = (const struct json *const *)fixture->services,
        .service_count = fixture->service_count,
        .now_ms = fixture->now_ms,
        .cluster_domain = fixture->cluster_domain,
        .host_ports = fixture->host_ports,
        .shared_address = fixture->shared_address,
        .rejection = fixture->rejection,
        .gang = fixture->gang.scheduler ? &fixture->gang : NULL,
        .pod_group = fixture->group,
    };
    struct err err = ERR_INIT;

    if (training_reconcile(&observed, fixture->arena, &fixture->plan, &err) < 0)
        fail_msg("reconcile: %s", err.message);
}

/* Patches like the server, with the uid as a precondition. */
static void patch_in(struct job_fixture *fixture, struct json **list, size_t count,
                     const struct training_action *action, const struct schema_object *type)
{
    struct err err = ERR_INIT;

    for (size_t i = 0; i < count; i++) {
        if (!str_eq(kube_meta_name(list[i]), action->name))
            continue;
        assert_string_equal(kube_meta_uid(list[i]), action->uid);
        assert_string_equal(kube_meta_uid(action->object), action->uid);
        if (kube_patch_strategic(fixture->arena, list[i], action->object, type, &list[i], &err) < 0)
            fail_msg("%s", err.message);
        return;
    }
    fail_msg("no such object: %s", action->name);
}

static void apply_action(struct job_fixture *fixture, const struct training_action *action)
{
    switch (action->type) {
    case TRAINING_CREATE_SERVICE:
        put_object(fixture, fixture->services, &fixture->service_count,
                   training_plan_object(&fixture->plan, action, fixture->arena));
        break;
    case TRAINING_CREATE_POD:
        put_object(fixture, fixture->pods, &fixture->pod_count,
                   training_plan_object(&fixture->plan, action, fixture->arena));
        break;
    case TRAINING_DELETE_POD:
        remove_object(fixture->pods, &fixture->pod_count, action->name);
        break;
    case TRAINING_DELETE_SERVICE:
        remove_object(fixture->services, &fixture->service_count, action->name);
        break;
    case TRAINING_DELETE_JOB:
        break;
    case TRAINING_CREATE_POD_GROUP:
        assert_null(fixture->group);
        fixture->group = json_clone(fixture->arena, action->object);
        json_set(fixture->arena, json_get(fixture->group, "metadata"), "uid",
                 json_stringf(fixture->arena, "uid-%d", ++fixture->created));
        break;
    case TRAINING_UPDATE_POD_GROUP:
        fixture->group = kube_patch_merge(fixture->arena, fixture->group, action->object);
        break;
    case TRAINING_DELETE_POD_GROUP:
        fixture->group = NULL;
        break;
    case TRAINING_ADOPT_POD:
        patch_in(fixture, fixture->pods, fixture->pod_count, action, &TYPE_POD);
        break;
    case TRAINING_ADOPT_SERVICE:
        patch_in(fixture, fixture->services, fixture->service_count, action, &TYPE_SERVICE);
        break;
    case TRAINING_ADOPT_POD_GROUP:
        fixture->group = kube_patch_merge(fixture->arena, fixture->group, action->object);
        break;
    case TRAINING_RELEASE_POD:
        patch_in(fixture, fixture->unmatched, fixture->unmatched_count, action, &TYPE_POD);
        break;
    }
}

void fixture_apply(struct job_fixture *fixture)
{
    const struct training_plan *plan = &fixture->plan;

    JSON_EACH (annotation, plan->annotations)
        kube_meta_set_annotation(fixture->arena, fixture->job, annotation->name,
                                 json_text(annotation));
    for (size_t i = 0; i < plan->action_count; i++)
        apply_action(fixture, &plan->actions[i]);
    if (plan->status)
        json_set(fixture->arena, fixture->job, "status", json_clone(fixture->arena, plan->status));
    fixture->gone_count = 0;
}

void fixture_settle(struct job_fixture *fixture)
{
    for (int i = 0; i < 20; i++) {
        fixture_reconcile(fixture);
        if (fixture->plan.action_count == 0 && !fixture->plan.status && !fixture->plan.annotations)
            return;
        fixture_apply(fixture);
    }
    fail_msg("the reconcile does not come to rest");
}

static char *finish_text(struct job_fixture *fixture, struct buf *buf)
{
    char *text = arena_strdup(fixture->arena, buf->data);

    buf_release(buf);
    return text;
}

char *fixture_actions(struct job_fixture *fixture)
{
    static const char *const names[] = {"+svc",      "+pod",      "-pod",        "-svc",
                                        "-job",      "+group",    "~group",      "-group",
                                        "adopt pod", "adopt svc", "adopt group", "release pod"};
    struct buf buf;

    buf_init(&buf, 1 << 20);
    for (size_t i = 0; i < fixture->plan.action_count; i++) {
        const struct training_action *action = &fixture->plan.actions[i];

        buf_printf(&buf, "%s%s %s%s", i ? ", " : "", names[action->type], action->name,
                   action->force ? "!" : "");
    }
    return finish_text(fixture, &buf);
}

static const struct json *new_status(struct job_fixture *fixture)
{
    return fixture->plan.status ? fixture->plan.status : json_get(fixture->job, "status");
}

char *fixture_conditions(struct job_fixture *fixture)
{
    struct buf buf;

    buf_init(&buf, 1 << 20);
    JSON_EACH (condition, json_get(new_status(fixture), "conditions")) {
        const char *status = json_get_string(condition, "status", "");

        buf_printf(&buf, "%s%s%s%s", buf.size ? " " : "", json_get_string(condition, "type", ""),
                   str_eq(status, "True") ? "" : "=", str_eq(status, "True") ? "" : status);
    }
    return finish_text(fixture, &buf);
}

char *fixture_counts(struct job_fixture *fixture)
{
    struct buf buf;

    buf_init(&buf, 1 << 20);
    for (int type = 0; type < TRAINING_REPLICA_TYPES; type++) {
        const char *name = training_replica_type_name((enum training_replica_type)type);
        const struct json *counts = json_at(new_status(fixture), "replicaStatuses", name, NULL);

        if (counts)
            buf_printf(&buf, "%s%s %d/%d/%d", buf.size ? " " : "", name,
                       (int)json_get_int(counts, "active", 0),
                       (int)json_get_int(counts, "succeeded", 0),
                       (int)json_get_int(counts, "failed", 0));
    }
    return finish_text(fixture, &buf);
}

char *fixture_events(struct job_fixture *fixture)
{
    struct buf buf;

    buf_init(&buf, 1 << 20);
    for (size_t i = 0; i < fixture->plan.event_count; i++) {
        const struct training_event *event = &fixture->plan.events[i];

        buf_printf(&buf, "%s%s %s: %s", i ? "\n" : "", event->warning ? "Warning" : "Normal",
                   event->reason, event->message);
    }
    return finish_text(fixture, &buf);
}

const char *fixture_message(struct job_fixture *fixture, const char *condition)
{
    return json_get_string(training_condition_get(new_status(fixture), condition), "message", NULL);
}

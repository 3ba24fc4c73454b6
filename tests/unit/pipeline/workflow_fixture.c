/* A workflow in a test; see workflow_fixture.h. */
#include "workflow_fixture.h"

#include "pipeline/reconcile/node.h"
#include "pipeline/spec/workflow.h"

#include "base/json/yaml.h"
#include "base/mem.h"
#include "base/moment.h"
#include "base/str.h"
#include "kube/object.h"
#include "pipeline/spec/workflow_kind.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

struct json *fixture_workflow(struct arena *arena, const char *spec)
{
    struct json *workflow = kube_object_make(arena, &WORKFLOWS_RESOURCE, "default", "wf");
    struct json *documents = NULL;
    struct err err = ERR_INIT;

    if (yaml_parse(arena, &(struct source){"spec", spec, strlen(spec), false}, NULL, &documents,
                   &err) < 0)
        fail_msg("%s", err.message);
    json_set(arena, workflow, "spec", json_clone(arena, json_first(documents)));
    json_set_string(arena, json_get(workflow, "metadata"), "uid", "wf-uid");
    return workflow;
}

void fixture_init(struct workflow_fixture *fixture, const char *spec)
{
    *fixture = (struct workflow_fixture){.arena = arena_new()};
    fixture->workflow = fixture_workflow(fixture->arena, spec);
    assert_int_equal(moment_parse("2026-11-15T02:00:00Z", &fixture->now_ms, NULL), 0);
    fixture_settle(fixture);
}

void fixture_release(struct workflow_fixture *fixture)
{
    arena_free(fixture->arena);
}

static size_t find_pod(struct workflow_fixture *fixture, const char *name)
{
    for (size_t i = 0; i < fixture->pod_count; i++)
        if (str_eq(kube_meta_name(fixture->pods[i]), name))
            return i;
    return SIZE_MAX;
}

static void create_pod(struct workflow_fixture *fixture, const struct workflow_action *action)
{
    if (find_pod(fixture, action->name) != SIZE_MAX)
        return;
    assert_true(fixture->pod_count < FIXTURE_PODS_MAX);
    struct json *pod = json_clone(fixture->arena, action->object);
    json_set(fixture->arena, json_get(pod, "metadata"), "uid",
             json_stringf(fixture->arena, "pod-%zu", fixture->created++));
    json_set_string(fixture->arena, json_ensure_object(fixture->arena, pod, "status"), "phase",
                    "Pending");
    fixture->pods[fixture->pod_count++] = pod;
}

static void delete_pod(struct workflow_fixture *fixture, const char *name)
{
    size_t position = find_pod(fixture, name);

    if (position == SIZE_MAX)
        return;
    fixture->gone[fixture->gone_count++] = fixture->pods[position];
    fixture->pods[position] = fixture->pods[--fixture->pod_count];
}

/* Returns true if another pass must see the effect. */
static bool act(struct workflow_fixture *fixture, const struct workflow_action *action)
{
    switch (action->type) {
    case WORKFLOW_CREATE_POD:
        create_pod(fixture, action);
        return true;
    case WORKFLOW_DELETE_POD:
        delete_pod(fixture, action->name);
        return true;
    case WORKFLOW_LABEL_POD:
        kube_meta_set_label(fixture->arena, fixture->pods[find_pod(fixture, action->name)],
                            WORKFLOW_COMPLETED_LABEL, "true");
        return true;
    case WORKFLOW_CREATE_RESOURCE:
    case WORKFLOW_APPLY_RESOURCE:
    case WORKFLOW_PATCH_RESOURCE:
    case WORKFLOW_DELETE_RESOURCE:
        assert_true(fixture->result_count < FIXTURE_RESULTS_MAX);
        fixture->results[fixture->result_count++] =
            (struct workflow_result){.node_id = action->node_id, .object = action->object};
        return true;
    default:
        return false;
    }
}

static bool reconcile(struct workflow_fixture *fixture)
{
    struct workflow_observed observed = {
        .workflow = fixture->workflow,
        .pods = (const struct json *const *)fixture->pods,
        .pod_count = fixture->pod_count,
        .gone = (const struct json *const *)fixture->gone,
        .gone_count = fixture->gone_count,
        .results = fixture->results,
        .result_count = fixture->result_count,
        .now_ms = fixture->now_ms,
    };
    struct err err = ERR_INIT;

    if (workflow_reconcile(&observed, fixture->arena, &fixture->plan, &err) < 0)
        fail_msg("%s", err.message);
    fixture->gone_count = fixture->result_count = 0;
    bool changed = fixture->plan.status != NULL;
    if (changed)
        json_set(fixture->arena, fixture->workflow, "status",
                 json_clone(fixture->arena, fixture->plan.status));
    for (size_t i = 0; i < fixture->plan.action_count; i++)
        changed = act(fixture, &fixture->plan.actions[i]) || changed;
    return changed;
}

void fixture_settle(struct workflow_fixture *fixture)
{
    int passes = 0;

    while (reconcile(fixture))
        assert_true(++passes < 100);
}

static const char *node_id(struct workflow_fixture *fixture, const char *node)
{
    return workflow_node_id(fixture->arena, "wf",
                            *node == '\0'  ? "wf"
                            : *node == '[' ? arena_printf(fixture->arena, "wf%s", node)
                                           : arena_printf(fixture->arena, "wf.%s", node));
}

struct json *fixture_find_pod(struct workflow_fixture *fixture, const char *node)
{
    size_t position = find_pod(fixture, node_id(fixture, node));

    if (position == SIZE_MAX)
        fail_msg("there is no pod of '%s'; nodes: %s", node, fixture_nodes(fixture));
    return fixture->pods[position];
}

void fixture_pod(struct workflow_fixture *fixture, const char *node, const char *phase,
                 int exit_code, const char *message)
{
    struct arena *arena = fixture->arena;
    struct json *pod = fixture_find_pod(fixture, node);
    struct json *status = json_object(arena), *container = json_object(arena), *end;

    json_set_string(arena, json_get(pod, "spec"), "nodeName", "node-1");
    json_set(arena, pod, "status", status);
    json_set_string(arena, status, "phase", phase);
    json_set_string(arena, container, "name", "main");
    if (!str_eq(phase, "Running")) {
        end =
            json_ensure_object(arena, json_ensure_object(arena, container, "state"), "terminated");
        json_set_int(arena, end, "exitCode", exit_code);
        json_set_string(arena, end, "reason", exit_code ? "Error" : "Completed");
        if (message)
            json_set_string(arena, end, "message", message);
    }
    json_append(json_ensure_array(arena, status, "containerStatuses"), container);
    fixture_settle(fixture);
}

void fixture_vanish(struct workflow_fixture *fixture, const char *node)
{
    delete_pod(fixture, kube_meta_name(fixture_find_pod(fixture, node)));
    fixture_settle(fixture);
}

const char *fixture_phase(struct workflow_fixture *fixture)
{
    return json_get_string(json_get(fixture->workflow, "status"), "phase", "");
}

const struct json *fixture_node(struct workflow_fixture *fixture, const char *name)
{
    return json_get(json_at(fixture->workflow, "status", "nodes", NULL), node_id(fixture, name));
}

static int compare(const void *a, const void *b)
{
    return strcmp(*(const char *const *)a, *(const char *const *)b);
}

char *fixture_nodes(struct workflow_fixture *fixture)
{
    const struct json *nodes = json_at(fixture->workflow, "status", "nodes", NULL);
    const char **texts = ARENA_ARRAY(fixture->arena, const char *, json_count(nodes) + 1);
    size_t count = 0;
    char *all = arena_strdup(fixture->arena, "");

    JSON_EACH (node, nodes) {
        const char *name = workflow_node_name(node) + strlen("wf");

        if (*name)
            texts[count++] = arena_printf(fixture->arena, "%s=%s", name + (*name == '.'),
                                          json_get_string(node, "phase", ""));
    }
    qsort(texts, count, sizeof(*texts), compare);
    for (size_t i = 0; i < count; i++)
        all = arena_printf(fixture->arena, "%s%s%s", all, i ? " " : "", texts[i]);
    return all;
}

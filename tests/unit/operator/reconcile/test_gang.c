/* Tests PodGroups: their requests, when these are patched, and the labels of their members.
 * test_gang_life.c tests their lives. */
#include "job_fixture.h"

#include "operator/reconcile/pod_amounts.h"
#include "operator/reconcile/restarts.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#define PLUGINS "scheduler-plugins-scheduler"

/* ---- Requests of a group --------------------------------------------------------------------- */

#define REPLICA(count, resources)                                                                  \
    "{'replicas': " count ", 'template': {'spec': {'containers': [{'name': 'tensorflow', 'image':" \
    " 'tf', 'resources': " resources "}]}}}"
#define CHIEF_WORKERS_PS                                                                           \
    "'tfReplicaSpecs': {'Worker': " REPLICA(                                                       \
        "3",                                                                                       \
        "{'requests': {'cpu': '500m', 'memory': "                                                  \
        "'1Gi'}}") ", 'PS': " REPLICA("2",                                                         \
                                      "{'limits': {'cpu': 2, 'nvidia.com/gpu': 1}}") ", "          \
                                                                                     "'Chief':"    \
                                                                                     " " REPLICA(  \
                                                                                         "1",      \
                                                                                         "{'"      \
                                                                                         "request" \
                                                                                         "s"       \
                                                                                         "': "     \
                                                                                         "{'cpu'"  \
                                                                                         ": "      \
                                                                                         "'250m'}" \
                                                                                         "}") "}"

struct group_row {
    const char *rule;
    const char *scheduler;
    const char *spec, *run_policy;
    const char *group; /* the spec of the PodGroup */
};

static const struct group_row GROUP_ROWS[] = {
    {"all replicas, and nothing asked of the nodes", PLUGINS, "Worker 4, PS 2", NULL,
     "{'minMember': 6}"},
    {"volcano: the default queue", "volcano", "Worker 4, PS 2", NULL,
     "{'minMember': 6, 'queue': 'default'}"},
    {"the sum of requests, and of limits where no request is", PLUGINS, "{" CHIEF_WORKERS_PS "}",
     NULL,
     "{'minMember': 6, 'minResources': {'cpu': '5750m', 'memory': '3Gi', 'nvidia.com/gpu': '2'}}"},
    {"minAvailable: the first in the order chief, worker, ps", PLUGINS, "{" CHIEF_WORKERS_PS "}",
     "{'schedulingPolicy': {'minAvailable': 3}}",
     "{'minMember': 3, 'minResources': {'cpu': '1250m', 'memory': '2Gi'}}"},
    {"minAvailable: more than there are", PLUGINS, "{" CHIEF_WORKERS_PS "}",
     "{'schedulingPolicy': {'minAvailable': 10}}",
     "{'minMember': 10, 'minResources': {'cpu': '5750m', 'memory': '3Gi', 'nvidia.com/gpu': '2'}}"},
    {"minAvailable: none is one", PLUGINS, "Worker 4", "{'schedulingPolicy': {'minAvailable': 0}}",
     "{'minMember': 1}"},
    {"dynamic workers: one of them, and all others", PLUGINS,
     "{'enableDynamicWorker': true, " CHIEF_WORKERS_PS "}", NULL,
     "{'minMember': 4, 'minResources': {'cpu': '4750m', 'memory': '1Gi', 'nvidia.com/gpu': '2'}}"},
    {"dynamic workers: minAvailable is minAvailable", PLUGINS,
     "{'enableDynamicWorker': true, " CHIEF_WORKERS_PS "}",
     "{'schedulingPolicy': {'minAvailable': 5}}",
     "{'minMember': 5, 'minResources': {'cpu': '5250m', 'memory': '2Gi', 'nvidia.com/gpu': '2'}}"},
    {"what is asked for is not computed", PLUGINS, "{" CHIEF_WORKERS_PS "}",
     "{'schedulingPolicy': {'minResources': {'cpu': '7'}, 'scheduleTimeoutSeconds': 30, 'queue': "
     "'q', 'priorityClass': 'high'}}",
     "{'minMember': 6, 'minResources': {'cpu': '7'}, 'scheduleTimeoutSeconds': 30}"},
    {"volcano: queue and priority, no timeout", "volcano", "Worker 1",
     "{'schedulingPolicy': {'scheduleTimeoutSeconds': 30, 'queue': 'q', 'priorityClass': 'high'}}",
     "{'minMember': 1, 'queue': 'q', 'priorityClassName': 'high'}"},
};

static void test_group_row(void **state)
{
    const struct group_row *row = *state;
    struct job_fixture fixture;

    fixture_init_gang(&fixture, row->scheduler, row->spec, row->run_policy);
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    assert_non_null(fixture.group);
    if (!json_equal(json_get(fixture.group, "spec"), read_json(fixture.arena, row->group)))
        fail_msg("%s", json_to_string(fixture.arena, json_get(fixture.group, "spec")));
    /* The created group already has the wanted spec. */
    fixture_reconcile(&fixture);
    assert_null(strstr(fixture_actions(&fixture), "group"));
    fixture_release(&fixture);
}

/* An elastic job starts with as many workers as its rendezvous needs. */
static void test_elastic_job_needs_its_min_replicas(void **state)
{
    struct job_fixture fixture;

    fixture_init_kind(&fixture, &TRAINING_PYTORCHJOB, "Worker 4", NULL);
    training_gang_init(&fixture.gang, PLUGINS);
    struct json *elastic = json_set(fixture.arena, json_get(fixture.job, "spec"), "elasticPolicy",
                                    json_object(fixture.arena));
    json_set_int(fixture.arena, elastic, "minReplicas", 2);
    json_set_int(fixture.arena, elastic, "maxReplicas", 8);
    fixture_settle(&fixture);
    assert_int_equal(json_get_int(json_get(fixture.group, "spec"), "minMember", 0), 2);
    assert_int_equal(fixture.pod_count, 4);
    fixture_release(&fixture);
}

static void test_resources_of_a_pod(void **state)
{
    static const struct {
        const char *containers, *init, *amounts;
    } rows[] = {
        {"[{}]", "[]", "{}"},
        {"[{'resources': {'requests': {'cpu': '1'}, 'limits': {'cpu': '2', 'memory': '1Mi'}}}, "
         "{'resources': {'requests': {'cpu': '100m'}}}]",
         "[]", "{'cpu': '1100m', 'memory': '1Mi'}"},
        {"[{'resources': {'requests': {'cpu': '1'}}}]",
         "[{'resources': {'requests': {'cpu': '500m'}}}, {'resources': {'requests': {'cpu': '3', "
         "'memory': '1k'}}}]",
         "{'cpu': '3', 'memory': '1k'}"},
        /* A sidecar runs at the same time as the containers, and as the init containers after
         * it. */
        {"[{'resources': {'requests': {'cpu': '1'}}}]",
         "[{'resources': {'requests': {'cpu': '2'}}}, {'restartPolicy': 'Always', 'resources': "
         "{'requests': {'cpu': '1'}}}, {'resources': {'requests': {'cpu': '2'}}}]",
         "{'cpu': '3'}"},
        {"[{'resources': {'requests': {'cpu': 'much'}}}]", "[]", "{}"},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct json *spec = json_object(arena);
        struct training_amounts amounts;

        json_set(arena, spec, "containers", read_json(arena, rows[i].containers));
        json_set(arena, spec, "initContainers", read_json(arena, rows[i].init));
        amounts = training_pod_amounts(arena, spec);
        if (!json_equal(training_amounts_to_json(arena, &amounts),
                        read_json(arena, rows[i].amounts)))
            fail_msg("row %zu: %s", i,
                     json_to_string(arena, training_amounts_to_json(arena, &amounts)));
    }
}

static void test_pod_group_is_owned_by_the_job(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, "volcano", "Worker 2", NULL);
    kube_meta_set_annotation(fixture.arena, fixture.job, "volcano.sh/wish", "yes");
    kube_meta_set_annotation(fixture.arena, fixture.job,
                             "kubectl.kubernetes.io/last-applied-configuration", "{}");
    kube_meta_set_annotation(fixture.arena, fixture.job, TRAINING_RESTARTS_ANNOTATION,
                             "{\"worker-0\":{\"count\":1,\"uid\":\"x\"}}");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    assert_string_equal(json_get_string(fixture.group, "apiVersion", ""),
                        "scheduling.volcano.sh/v1beta1");
    assert_string_equal(json_get_string(fixture.group, "kind", ""), "PodGroup");
    assert_string_equal(kube_meta_name(fixture.group), "mnist");
    assert_true(kube_meta_is_controlled_by(fixture.group, "job-uid"));
    assert_string_equal(kube_meta_label(fixture.group, TRAINING_NAME_LABEL), "mnist");
    assert_int_equal(json_count(json_at(fixture.group, "metadata", "annotations", NULL)), 1);
    assert_string_equal(kube_meta_annotation(fixture.group, "volcano.sh/wish"), "yes");
    fixture_release(&fixture);

    fixture_init_gang(&fixture, PLUGINS, "Worker 2", NULL);
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    assert_string_equal(json_get_string(fixture.group, "apiVersion", ""),
                        "scheduling.x-k8s.io/v1alpha1");
    fixture_release(&fixture);
}

static void test_only_changed_fields_are_patched(void **state)
{
    struct job_fixture fixture;
    const struct json *spec;

    fixture_init_gang(&fixture, "volcano", "{" CHIEF_WORKERS_PS "}", NULL);
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    /* Equal amounts in another notation, and fields that others have set, are not patched. */
    json_set(fixture.arena, json_get(fixture.group, "spec"), "minResources",
             read_json(fixture.arena, "{'cpu': '5.75', 'memory': '3072Mi', 'nvidia.com/gpu': 2}"));
    json_set_string(fixture.arena, json_get(fixture.group, "spec"), "queue", "moved");
    json_set_string(fixture.arena, json_get(fixture.group, "spec"), "networkTopology", "kept");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");

    fixture_set_replicas(&fixture, "PS", 0);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "~group mnist");
    assert_string_equal(
        json_to_string(fixture.arena, fixture.plan.actions[0].object),
        "{\"metadata\":{\"name\":\"mnist\",\"uid\":\"uid-1\"},\"spec\":{\"minMember\":4,"
        "\"minResources\":{\"cpu\":\"1750m\",\"memory\":\"3Gi\",\"nvidia.com/gpu\":null}}}");
    fixture_apply(&fixture);
    spec = json_get(fixture.group, "spec");
    assert_int_equal(json_get_int(spec, "minMember", 0), 4);
    assert_string_equal(json_get_string(spec, "queue", ""), "moved");
    assert_string_equal(json_get_string(spec, "networkTopology", ""), "kept");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "");
    fixture_release(&fixture);
}

/* ---- Members of a group ---------------------------------------------------------------------- */

static void test_scheduler_plugins_label_the_pods(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 1", NULL);
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture),
                        "+group mnist, +svc mnist-worker-0, +pod mnist-worker-0");
    fixture_apply(&fixture);
    assert_string_equal(kube_meta_label(fixture.pods[0], "scheduling.x-k8s.io/pod-group"), "mnist");
    assert_string_equal(json_get_string(json_get(fixture.pods[0], "spec"), "schedulerName", ""),
                        PLUGINS);
    assert_null(json_at(fixture.pods[0], "metadata", "annotations", NULL));
    assert_false(fixture_has_event(&fixture, "SetPodTemplateSchedulerName"));
    fixture_release(&fixture);
}

static void test_scheduler_of_the_template_is_kept(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, "volcano", "Worker 2", NULL);
    json_set_string(
        fixture.arena,
        json_at(fixture.job, "spec", "tfReplicaSpecs", "Worker", "template", "spec", NULL),
        "schedulerName", "mine");
    fixture_reconcile(&fixture);
    fixture_apply(&fixture);
    fixture_set_phase(&fixture, "Inqueue");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_events(&fixture),
                        "Warning SetPodTemplateSchedulerName: Another scheduler is specified when "
                        "gang-scheduling is enabled and it will not be overwritten");
    assert_true(fixture.plan.events[0].once);
    fixture_apply(&fixture);
    assert_int_equal(fixture.pod_count, 2);
    assert_string_equal(json_get_string(json_get(fixture.pods[1], "spec"), "schedulerName", ""),
                        "mine");
    assert_string_equal(kube_meta_annotation(fixture.pods[1], "scheduling.k8s.io/group-name"),
                        "mnist");
    assert_string_equal(kube_meta_annotation(fixture.pods[1], "volcano.sh/task-spec"), "worker");
    fixture_release(&fixture);
}

static void test_no_pod_group_without_a_gang_scheduler(void **state)
{
    struct job_fixture fixture;

    fixture_init(&fixture, "Worker 1", "{'schedulingPolicy': {'minAvailable': 1}}");
    fixture_reconcile(&fixture);
    assert_string_equal(fixture_actions(&fixture), "+svc mnist-worker-0, +pod mnist-worker-0");
    fixture_apply(&fixture);
    assert_null(json_get(json_get(fixture.pods[0], "spec"), "schedulerName"));
    fixture_release(&fixture);
}

/* Pods without the label never become members, so a replaced pod must not wait for them. */
static void test_running_job_without_a_group_gets_none(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 2 OnFailure", NULL);
    fixture_pods(&fixture, "worker-0=Failed(1) worker-1=Running");
    fixture_settle(&fixture);
    assert_null(fixture.group);
    assert_int_equal(fixture.pod_count, 2);
    for (size_t i = 0; i < fixture.pod_count; i++)
        assert_null(kube_meta_label(fixture.pods[i], "scheduling.x-k8s.io/pod-group"));
    fixture_release(&fixture);
}

static const char *group_of_pod(const struct json *pod)
{
    const char *label = kube_meta_label(pod, "scheduling.x-k8s.io/pod-group");

    return label ? label : kube_meta_annotation(pod, TRAINING_VOLCANO_GROUP_ANNOTATION);
}

/* The operator was restarted with another setting while the job ran. New pods beside the old ones
 * join the old group. A job that starts again follows the new setting. */
static void test_changed_scheduler_setting(void **state)
{
    static const struct {
        const char *before, *after;
        bool follows, keeps; /* whether new pods follow the old scheduler with a warning, and the
                                group is kept */
    } rows[] = {
        {PLUGINS, PLUGINS, false, true},     {PLUGINS, NULL, true, false},
        {PLUGINS, "volcano", true, false},   {PLUGINS, "other", true, true},
        {"volcano", "volcano", false, true}, {"volcano", NULL, true, false},
        {"volcano", PLUGINS, true, false},
    };

    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct job_fixture fixture;
        struct json *group;

        fixture_init_gang(&fixture, rows[i].before, "Worker 2 OnFailure", "{}");
        fixture_reconcile(&fixture);
        fixture_apply(&fixture);
        fixture_set_phase(&fixture, "Running");
        fixture_settle(&fixture);
        fixture_change(&fixture, "worker-0=Running worker-1=Failed(1)");
        group = fixture.group;
        fixture.gang = (struct training_gang){0};
        if (rows[i].after)
            training_gang_init(&fixture.gang, rows[i].after);
        if (!rows[i].keeps)
            fixture.group = NULL; /* the group is not watched */
        fixture_reconcile(&fixture);
        assert_int_equal(
            fixture_has_event(&fixture, "Warning GangSchedulerChanged: the scheduler "),
            rows[i].follows);
        if (rows[i].follows)
            assert_true(fixture_has_event(
                &fixture, arena_printf(fixture.arena, "the operator with --gang-scheduler-name %s",
                                       rows[i].before)));
        fixture_settle(&fixture);
        assert_int_equal(fixture.pod_count, 2);
        for (size_t k = 0; k < 2; k++) {
            assert_string_equal(group_of_pod(fixture.pods[k]), "mnist");
            assert_string_equal(
                json_get_string(json_get(fixture.pods[k], "spec"), "schedulerName", ""),
                rows[i].before);
        }
        assert_ptr_equal(fixture.group, rows[i].keeps ? group : NULL);

        json_set_bool(fixture.arena, json_at(fixture.job, "spec", "runPolicy", NULL), "suspend",
                      true);
        fixture_settle(&fixture);
        json_set_bool(fixture.arena, json_at(fixture.job, "spec", "runPolicy", NULL), "suspend",
                      false);
        fixture_reconcile(&fixture);
        fixture_apply(&fixture);
        if (fixture.group)
            fixture_set_phase(&fixture, "Running");
        fixture_settle(&fixture);
        assert_int_equal(fixture.pod_count, 2);
        for (size_t k = 0; k < 2; k++)
            assert_string_equal(
                json_get_string(json_get(fixture.pods[k], "spec"), "schedulerName", "none"),
                rows[i].after ? rows[i].after : "none");
        assert_false(fixture_has_event(&fixture, "GangSchedulerChanged"));
        fixture_release(&fixture);
    }
}

/* If only some pods are in a group, new pods do not join it, and an event says so. */
static void test_pods_do_not_join_a_partial_group(void **state)
{
    struct job_fixture fixture;

    fixture_init_gang(&fixture, PLUGINS, "Worker 3 OnFailure", NULL);
    fixture_settle(&fixture);
    fixture_change(&fixture, "worker-0=Running worker-1=Pending worker-2=Failed(1)");
    json_remove(json_get(json_get(fixture.pods[0], "metadata"), "labels"),
                "scheduling.x-k8s.io/pod-group");
    fixture.gang = (struct training_gang){0};
    fixture.group = NULL;
    fixture_settle(&fixture);
    assert_true(fixture_has_event(&fixture, "new pods do not join the PodGroup"));
    assert_int_equal(fixture.pod_count, 3);
    assert_null(group_of_pod(fixture.pods[2]));
    fixture_release(&fixture);
}

int main(void)
{
    static const struct CMUnitTest more[] = {
        cmocka_unit_test(test_elastic_job_needs_its_min_replicas),
        cmocka_unit_test(test_resources_of_a_pod),
        cmocka_unit_test(test_pod_group_is_owned_by_the_job),
        cmocka_unit_test(test_only_changed_fields_are_patched),
        cmocka_unit_test(test_scheduler_plugins_label_the_pods),
        cmocka_unit_test(test_scheduler_of_the_template_is_kept),
        cmocka_unit_test(test_no_pod_group_without_a_gang_scheduler),
        cmocka_unit_test(test_running_job_without_a_group_gets_none),
        cmocka_unit_test(test_changed_scheduler_setting),
        cmocka_unit_test(test_pods_do_not_join_a_partial_group),
    };
    struct CMUnitTest tests[ARRAY_SIZE(GROUP_ROWS) + ARRAY_SIZE(more)];

    for (size_t i = 0; i < ARRAY_SIZE(GROUP_ROWS); i++)
        tests[i] = (struct CMUnitTest){.name = GROUP_ROWS[i].rule,
                                       .test_func = test_group_row,
                                       .initial_state = (void *)&GROUP_ROWS[i]};
    for (size_t i = 0; i < ARRAY_SIZE(more); i++)
        tests[ARRAY_SIZE(GROUP_ROWS) + i] = more[i];
    return cmocka_run_group_tests(tests, NULL, NULL);
}

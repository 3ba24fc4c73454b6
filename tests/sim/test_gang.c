/* Gang scheduling in virtual time: the controller against the API server and a substitute for
 * Volcano, one scenario per test. */
#include "sim_cluster.h"
#include "sim_volcano.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/engine.h"
#include "fault_transport.h"
#include "kube/client/informer.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/controller/controller.h"
#include "operator/kind/training_job.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/conditions.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { MINUTE_MS = 60 * 1000 };

#define PLUGINS "scheduler-plugins-scheduler"

struct story {
    struct sim_cluster cluster;
    struct arena *arena;
    struct training_controller *controller;
    struct sim_volcano *volcano;
    struct http_transport *filtered;
    int groups_answer; /* the status that `filtered` answers about PodGroups; 0: serves them */
    struct kube_informer *jobs, *pods, *services, *events, *groups, *volcano_groups;
    size_t pods_made, groups_made, job_writes;
};

static void on_pod(void *context, struct kube_object *old, struct kube_object *new_)
{
    ((struct story *)context)->pods_made += !old;
}

static void on_group(void *context, struct kube_object *old, struct kube_object *new_)
{
    ((struct story *)context)->groups_made += !old;
}

static void on_job(void *context, struct kube_object *old, struct kube_object *new_)
{
    ((struct story *)context)->job_writes += new_ != NULL;
}

static void on_any(void *context, struct kube_object *old, struct kube_object *new_)
{
}

/* Answers like kube-apiserver for a resource without a definition. */
static void handle(struct http_exchange *exchange, void *context)
{
    static const char text[] = "404 page not found\n";
    struct story *story = context;

    if (story->groups_answer && strstr(exchange->request->path, "/podgroups"))
        http_respond(exchange, story->groups_answer, "text/plain; charset=utf-8", text,
                     strlen(text));
    else
        engine_handle(exchange, story->cluster.engine);
}

static int setup(void **state)
{
    struct story *story = mem_zalloc(sizeof(*story));
    struct kube_client *client;

    sim_cluster_init(&story->cluster, 1);
    sim_node_set_failures(story->cluster.node, 0);
    client = story->cluster.client;
    story->arena = arena_new();
    story->filtered = http_local_new(story->cluster.loop, handle, story, "simulated");
    story->jobs = kube_informer_new(client, &TFJOB_RESOURCE, NULL, NULL, on_job, story);
    story->pods = kube_informer_new(client, &KUBE_PODS, NULL, NULL, on_pod, story);
    story->services =
        kube_informer_new(client, &KUBE_SERVICES, NULL, TRAINING_TFJOB.selector, on_any, story);
    story->events = kube_informer_new(client, &KUBE_EVENTS, NULL, NULL, on_any, story);
    story->groups = kube_informer_new(client, &KUBE_PODGROUPS, NULL, NULL, on_group, story);
    story->volcano_groups =
        kube_informer_new(client, &KUBE_VOLCANO_PODGROUPS, NULL, NULL, on_group, story);
    *state = story;
    return 0;
}

static int teardown(void **state)
{
    struct story *story = *state;

    training_controller_free(story->controller);
    sim_volcano_free(story->volcano);
    http_transport_free(story->filtered);
    kube_informer_free(story->jobs);
    kube_informer_free(story->pods);
    kube_informer_free(story->services);
    kube_informer_free(story->events);
    kube_informer_free(story->groups);
    kube_informer_free(story->volcano_groups);
    arena_free(story->arena);
    sim_cluster_release(&story->cluster);
    free(story);
    return 0;
}

static void start_operator(struct story *story, struct http_transport *transport,
                           const char *scheduler)
{
    struct training_controller_options options = {.gang_scheduler = scheduler};

    training_controller_free(story->controller);
    story->controller =
        training_controller_new(story->cluster.loop, transport, &TRAINING_TFJOB, &options);
}

#define TEMPLATE                                                                                   \
    "'template': {'spec': {'schedulerName': 'default-scheduler', 'containers': [{'name': "         \
    "'tensorflow', 'image': 'simulated'}]}}"

/* Creates a job whose pods the cluster's own scheduler places, after any scheduler has admitted
 * them. */
static void submit_replicas(struct story *story, const char *name, const char *replicas)
{
    struct json *job = kube_object_make(story->arena, &TFJOB_RESOURCE, "default", name);

    json_set(story->arena, job, "spec",
             read_json(story->arena,
                       arena_printf(story->arena,
                                    "{'successPolicy': 'AllWorkers', 'tfReplicaSpecs': {%s}}",
                                    replicas)));
    kube_create(story->cluster.client, &TFJOB_RESOURCE, "default", job, sim_must_succeed, NULL);
}

static void submit(struct story *story, const char *name)
{
    submit_replicas(story, name, "'Worker': {'replicas': 2, " TEMPLATE "}");
}

static const struct json *status_of(struct story *story, const char *name)
{
    struct kube_object *job = kube_informer_get(story->jobs, "default", name);

    return job ? json_get(job->json, "status") : NULL;
}

static bool has_succeeded(struct story *story, const char *name)
{
    return training_condition_is_true(status_of(story, name), TRAINING_SUCCEEDED);
}

static size_t count(struct kube_informer *informer)
{
    size_t number = 0, position = 0;

    while (kube_informer_next(informer, NULL, &position))
        number++;
    return number;
}

/* Returns the number of events about the job with this reason and message. `message` may be a
 * prefix. */
static int64_t count_events(struct story *story, const char *job, const char *reason,
                            const char *message)
{
    struct kube_object *event;
    int64_t times = 0;

    for (size_t i = 0; (event = kube_informer_next(story->events, NULL, &i));) {
        const struct json *about = json_get(event->json, "involvedObject");

        if (str_eq(json_get_string(about, "name", ""), job) &&
            str_eq(json_get_string(event->json, "reason", ""), reason) &&
            strstr(json_get_string(event->json, "message", ""), message))
            times += json_get_int(event->json, "count", 1);
    }
    return times;
}

static void test_volcano_admits_one_group_at_a_time(void **state)
{
    struct story *story = *state;

    story->volcano = sim_volcano_new(story->cluster.loop, story->cluster.transport, 0);
    start_operator(story, story->cluster.transport, "volcano");
    submit(story, "first");
    submit(story, "second");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(count(story->volcano_groups), 2);
    assert_int_equal(count(story->groups), 0);
    assert_int_equal(story->pods_made, 0);
    assert_null(json_get(status_of(story, "first"), "startTime"));
    assert_int_equal(count_events(story, "first", "WaitingForPodGroup", "phase is Pending"), 1);

    /* While a group waits, the job is not written, whatever else changes. */
    size_t writes = story->job_writes;
    sim_loop_run_for(story->cluster.loop, 60 * MINUTE_MS);
    assert_int_equal(story->job_writes, writes);
    assert_int_equal(count_events(story, "first", "WaitingForPodGroup", ""), 2);

    /* The groups run one after the other: the end of the first makes room for the second. */
    sim_volcano_set_room(story->volcano, 1);
    sim_loop_run_for(story->cluster.loop, 2 * 1000);
    assert_int_equal(story->pods_made, 2);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(has_succeeded(story, "first") && has_succeeded(story, "second"));
    assert_int_equal(story->pods_made, 4);
    assert_int_equal(story->groups_made, 2);
    assert_int_equal(count(story->volcano_groups), 0);
    assert_int_equal(count_events(story, "second", "SuccessfulCreatePodGroup", "PodGroup: second"),
                     1);
    assert_int_equal(
        count_events(story, "second", "SuccessfulDeletePodGroup", "Deleted PodGroup: second"), 1);
    assert_int_equal(count_events(story, "second", "JobTerminated",
                                  "Job has been terminated. Deleting PodGroup"),
                     1);
    assert_int_equal(count_events(story, "second", "SetPodTemplateSchedulerName", "Another"), 1);
}

static void test_missing_pod_group_resource_is_reported(void **state)
{
    struct story *story = *state;

    story->groups_answer = 404;
    start_operator(story, story->filtered, PLUGINS);
    submit(story, "mnist");
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_int_equal(story->pods_made, 0);
    assert_int_equal(
        count_events(story, "mnist", "PodGroupsMissing",
                     "but the server does not know podgroups.scheduling.x-k8s.io "
                     "(v1alpha1); install them with the scheduler, or run the operator "
                     "without a gang scheduler"),
        1);
    /* The server knows PodGroups from now on, but does not allow the operator to read them. */
    story->groups_answer = 403;
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_int_equal(
        count_events(story, "mnist", "PodGroupsMissing",
                     "but the operator is not allowed to read podgroups.scheduling.x-k8s.io"),
        1);
    /* PodGroups are served from now on. */
    story->groups_answer = 0;
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_true(has_succeeded(story, "mnist"));
    assert_int_equal(story->groups_made, 1);
    /* The events are for a server that answered 404 or 403. A server that does not answer is
     * waited for without an event. */
    assert_int_equal(count_events(story, "mnist", "PodGroupsMissing", ""), 2);
}

static void test_pod_group_of_another_owner_is_reported(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = -1};
    struct json *group = kube_object_make(story->arena, &KUBE_PODGROUPS, "default", "mnist");

    json_set(story->arena, group, "spec", read_json(story->arena, "{'minMember': 7}"));
    kube_create(story->cluster.client, &KUBE_PODGROUPS, "default", group, sim_must_succeed, NULL);
    start_operator(story, story->cluster.transport, PLUGINS);
    submit(story, "mnist");
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_int_equal(story->pods_made + count(story->services), 0);
    assert_int_equal(
        count_events(story, "mnist", "FailedCreatePodGroup",
                     "Error creating: PodGroup \"mnist\" exists and does not belong to "
                     "this job; delete it, or give the job another name"),
        1);
    kube_delete(story->cluster.client, &KUBE_PODGROUPS, "default", "mnist", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, 2 * MINUTE_MS);
    assert_true(has_succeeded(story, "mnist"));
}

/* A group that another operator created without labels is found by its owner. */
static void test_pod_group_without_labels_is_adopted(void **state)
{
    struct story *story = *state;
    struct json *group = kube_object_make(story->arena, &KUBE_PODGROUPS, "default", "mnist");

    submit(story, "mnist");
    sim_loop_run_for(story->cluster.loop, 1000);
    struct kube_object *job = kube_informer_get(story->jobs, "default", "mnist");
    json_set(story->arena, group, "spec", read_json(story->arena, "{'minMember': 7}"));
    kube_meta_add_owner(story->arena, group,
                        kube_owner_reference_new(story->arena, job->json, true));
    kube_create(story->cluster.client, &KUBE_PODGROUPS, "default", group, sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, 1000);
    start_operator(story, story->cluster.transport, PLUGINS);
    sim_loop_run_for(story->cluster.loop, 100);
    struct kube_object *adopted = kube_informer_get(story->groups, "default", "mnist");
    assert_non_null(adopted);
    assert_string_equal(kube_meta_label(adopted->json, TRAINING_NAME_LABEL), "mnist");
    assert_int_equal(json_get_int(json_get(adopted->json, "spec"), "minMember", 0), 2);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(has_succeeded(story, "mnist"));
    assert_int_equal(story->groups_made, 1);
    assert_int_equal(count(story->groups), 0);
}

/* The controller remembers that a pod was a member, so its replacement is a member, too. */
static void test_replacement_of_a_member_joins_the_group(void **state)
{
    static const char *const schedulers[] = {"volcano", PLUGINS};
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = 0};

    story->volcano = sim_volcano_new(story->cluster.loop, story->cluster.transport, 2);
    for (size_t i = 0; i < ARRAY_SIZE(schedulers); i++) {
        const char *name = i == 0 ? "admitted" : "labelled";
        const char *pod_name = arena_printf(story->arena, "%s-ps-0", name);

        start_operator(story, story->cluster.transport, schedulers[i]);
        submit_replicas(story, name,
                        "'PS': {'replicas': 2, 'restartPolicy': 'OnFailure', " TEMPLATE "}");
        sim_loop_run_for(story->cluster.loop, MINUTE_MS);
        struct kube_object *pod = kube_informer_get(story->pods, "default", pod_name);
        assert_non_null(pod);
        char *old = arena_strdup(story->arena, pod->uid);
        kube_delete(story->cluster.client, &KUBE_PODS, "default", pod_name, &options,
                    sim_must_succeed, NULL);
        sim_loop_run_for(story->cluster.loop, MINUTE_MS);
        pod = kube_informer_get(story->pods, "default", pod_name);
        assert_non_null(pod);
        assert_string_not_equal(pod->uid, old);
        assert_string_equal(i == 0 ? kube_meta_annotation(pod->json, "scheduling.k8s.io/group-name")
                                   : kube_meta_label(pod->json, "scheduling.x-k8s.io/pod-group"),
                            name);
    }
}

/* The operator restarts without the option while a job runs. The replacement of a member is still a
 * member, until the job is suspended and resumed. */
static void test_replacement_joins_the_group_without_the_option(void **state)
{
    struct story *story = *state;
    struct kube_delete_options options = {.grace_period_seconds = 0};

    start_operator(story, story->cluster.transport, PLUGINS);
    submit_replicas(story, "kept",
                    "'PS': {'replicas': 2, 'restartPolicy': 'OnFailure', 'template': {'spec': "
                    "{'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}}");
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->pods_made, 2);
    start_operator(story, story->cluster.transport, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(
        count_events(story, "kept", "GangSchedulerChanged", "new pods join the PodGroup"), 1);
    kube_delete(story->cluster.client, &KUBE_PODS, "default", "kept-ps-1", &options,
                sim_must_succeed, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    struct kube_object *pod = kube_informer_get(story->pods, "default", "kept-ps-1");
    assert_int_equal(story->pods_made, 3);
    assert_string_equal(kube_meta_label(pod->json, "scheduling.x-k8s.io/pod-group"), "kept");
    assert_string_equal(json_get_string(json_get(pod->json, "spec"), "schedulerName", ""), PLUGINS);
}

static void test_lost_answers_create_no_duplicates(void **state)
{
    static const struct fault_rates rates = {.lose = 500};
    struct story *story = *state;
    struct http_transport *faulty = fault_transport_new(
        story->cluster.loop, story->cluster.transport, story->cluster.rand, &rates);

    start_operator(story, faulty, PLUGINS);
    submit(story, "mnist");
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_true(has_succeeded(story, "mnist"));
    assert_int_equal(story->pods_made, 2);
    assert_int_equal(story->groups_made, 1);
    assert_int_equal(count(story->groups), 0);
    story->controller = training_controller_free(story->controller);
    http_transport_free(faulty);
}

static void test_restarted_operator_continues(void **state)
{
    struct story *story = *state;

    story->volcano = sim_volcano_new(story->cluster.loop, story->cluster.transport, 1);
    start_operator(story, story->cluster.transport, "volcano");
    submit(story, "mnist");
    for (int i = 0; i < 100; i++) {
        sim_loop_run_for(story->cluster.loop, 1 + i % 50);
        start_operator(story, story->cluster.transport, "volcano");
    }
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_true(has_succeeded(story, "mnist"));
    assert_int_equal(story->pods_made, 2);
    assert_int_equal(story->groups_made, 1);
    assert_int_equal(count(story->volcano_groups), 0);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_volcano_admits_one_group_at_a_time, setup, teardown),
        cmocka_unit_test_setup_teardown(test_missing_pod_group_resource_is_reported, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_pod_group_of_another_owner_is_reported, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_pod_group_without_labels_is_adopted, setup, teardown),
        cmocka_unit_test_setup_teardown(test_replacement_of_a_member_joins_the_group, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_replacement_joins_the_group_without_the_option, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(test_lost_answers_create_no_duplicates, setup, teardown),
        cmocka_unit_test_setup_teardown(test_restarted_operator_continues, setup, teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

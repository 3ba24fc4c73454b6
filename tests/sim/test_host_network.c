/* Tests the node ports of replicas with hostNetwork in virtual time, one scenario per test. */
#include "training_story.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "operator/kind/training_kind.h"
#include "operator/reconcile/host_network.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static int setup(void **state)
{
    return story_setup(state, &TRAINING_TFJOB);
}

static const char *ports_of(struct story *story, const char *name)
{
    struct kube_object *job = kube_informer_get(story->jobs, "default", name);

    return job ? kube_meta_annotation(job->json, TRAINING_HOST_PORTS_ANNOTATION) : NULL;
}

/* Two jobs on the host network of one node, and an operator that restarts: four ports, four
 * pods. */
static void test_ports_survive_an_operator_restart(void **state)
{
    static const char spec[] =
        "{'tfReplicaSpecs': {'PS': {'replicas': 2, 'template': {'spec': {'hostNetwork': true, "
        "'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}}}, "
        "'runPolicy': {'activeDeadlineSeconds': 600}}";
    struct story *story = *state;
    struct kube_object *pod;

    story_submit(story, spec);
    story_submit_as(story, "second", spec);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->pods_made, 4);
    for (size_t i = 0; (pod = kube_informer_next(story->pods, NULL, &i));)
        assert_string_equal(json_get_string(json_get(pod->json, "status"), "phase", ""), "Running");
    char *before = arena_strdup(story->arena, ports_of(story, "mnist"));
    assert_string_not_equal(before, ports_of(story, "second"));

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, NULL);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_string_equal(ports_of(story, "mnist"), before);
    assert_int_equal(story->pods_made, 4);

    /* The jobs end by their deadline and give back their ports. */
    sim_loop_run_for(story->cluster.loop, 10 * MINUTE_MS);
    assert_null(ports_of(story, "mnist"));
    assert_null(ports_of(story, "second"));
}

/* The ports of a job that has ended are given to another job. */
static void test_job_waits_for_free_host_ports(void **state)
{
    static const char spec[] =
        "{'tfReplicaSpecs': {'Worker': {'replicas': 2, 'template': {'spec': {'hostNetwork': true, "
        "'containers': [{'name': 'tensorflow', 'image': 'simulated'}]}}}}, 'successPolicy': "
        "'AllWorkers'}";
    struct story *story = *state;
    struct host_ports *ports = host_ports_new(7000, 7002);
    struct training_controller_options options = {.host_ports = ports};

    training_controller_free(story->controller);
    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, &options);
    story_submit(story, spec);
    story_submit_as(story, "second", spec);
    story_submit_as(story, "third", spec);
    sim_loop_run_for(story->cluster.loop, 1000);
    assert_int_equal(story->pods_made, 2);
    sim_loop_run_for(story->cluster.loop, 5 * MINUTE_MS);
    assert_int_equal(story->pods_made, 6);
    assert_true(story_has_event(story, "Warning", "HostPortsExhausted",
                                "2 replicas with hostNetwork wait for free ports: too few of the "
                                "ports 7000-7002 are free; the replicas start when other jobs end, "
                                "or when the operator is started with a larger --host-port-range"));
    story->controller = training_controller_free(story->controller);
    host_ports_free(ports);
}

#define ON_THE_NODE                                                                                \
    "'replicas': 2, 'template': {'spec': {'hostNetwork': true, 'containers': [{'name': '%s', "     \
    "'image': 'simulated'}]}}"

/* The controllers of one process share the ports, also ports that were given before it started. */
static void test_job_kinds_share_the_host_ports(void **state)
{
    struct story *story = *state;
    struct host_ports *ports = host_ports_new(7000, 7003);
    struct training_controller_options options = {.host_ports = ports};
    struct json *job = kube_object_make(story->arena, &PYTORCHJOB_RESOURCE, "default", "ddp");
    struct kube_object *pod;
    bool seen[4] = {0};

    training_controller_free(story->controller);
    json_set(
        story->arena, job, "spec",
        read_json(story->arena, arena_printf(story->arena,
                                             "{'pytorchReplicaSpecs': {'Worker': {'restartPolicy': "
                                             "'Always', " ON_THE_NODE "}}}",
                                             "pytorch")));
    kube_create(story->cluster.client, &PYTORCHJOB_RESOURCE, "default", job, sim_must_succeed,
                NULL);
    struct training_controller *other = training_controller_new(
        story->cluster.loop, story->cluster.transport, &TRAINING_PYTORCHJOB, &options);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->pods_made, 2);

    /* Both controllers restart, and there is one more job. */
    training_controller_free(other);
    host_ports_free(ports);
    options.host_ports = ports = host_ports_new(7000, 7003);
    story_submit(story, arena_printf(story->arena,
                                     "{'tfReplicaSpecs': {'Worker': {'restartPolicy': 'Always', "
                                     "" ON_THE_NODE "}}}",
                                     "tensorflow"));
    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, &options);
    other = training_controller_new(story->cluster.loop, story->cluster.transport,
                                    &TRAINING_PYTORCHJOB, &options);
    sim_loop_run_for(story->cluster.loop, MINUTE_MS);
    assert_int_equal(story->pods_made, 4);
    for (size_t i = 0; (pod = kube_informer_next(story->pods, NULL, &i));) {
        const struct json *container = json_first(json_at(pod->json, "spec", "containers", NULL));
        int64_t port = json_get_int(json_first(json_get(container, "ports")), "hostPort", 0);

        assert_in_range(port, 7000, 7003);
        assert_false(seen[port - 7000]);
        seen[port - 7000] = true;
    }
    training_controller_free(other);
    story->controller = training_controller_free(story->controller);
    host_ports_free(ports);
}

/* A kind without an installed definition never syncs. The other kinds must not wait for it
 * forever. */
static void test_missing_kind_does_not_block_host_ports(void **state)
{
    struct story *story = *state;
    struct host_ports *ports = host_ports_new(7000, 7003);
    struct training_controller_options options = {.host_ports = ports};

    training_controller_free(story->controller);
    host_ports_expect_report(ports);
    story->controller = training_controller_new(story->cluster.loop, story->cluster.transport,
                                                &TRAINING_TFJOB, &options);
    story_submit(story, arena_printf(story->arena,
                                     "{'tfReplicaSpecs': {'Worker': {'restartPolicy': 'Always', "
                                     "" ON_THE_NODE "}}}",
                                     "tensorflow"));
    sim_loop_run_for(story->cluster.loop, 5000);
    assert_int_equal(story->pods_made, 0);
    sim_loop_run_for(story->cluster.loop, 10 * 1000);
    assert_int_equal(story->pods_made, 2);
    story->controller = training_controller_free(story->controller);
    host_ports_free(ports);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_ports_survive_an_operator_restart, setup,
                                        story_teardown),
        cmocka_unit_test_setup_teardown(test_job_waits_for_free_host_ports, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_job_kinds_share_the_host_ports, setup, story_teardown),
        cmocka_unit_test_setup_teardown(test_missing_kind_does_not_block_host_ports, setup,
                                        story_teardown),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests replicas with hostNetwork: which replica gets which port, which ports are recorded on the
 * job, and what the pods get as environment. */
#include "job_fixture.h"

#include "operator/kind/training_job.h"
#include "operator/reconcile/host_network.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#define OWNER "tfjob/default/mnist"
#define OTHER "pytorchjob/default/other"

struct world {
    struct job_fixture fixture;
    struct host_ports *ports;
};

static void set_host_network(struct world *world, const char *type)
{
    struct json *spec =
        json_at(world->fixture.job, "spec", "tfReplicaSpecs", type, "template", "spec", NULL);

    json_set_bool(world->fixture.arena, spec, "hostNetwork", true);
}

/* Begins with a job whose `types` ("Worker" or "Worker PS") are on the host network, and a table of
 * `ports` ports from 100 on. */
static void begin_job(struct world *world, const char *spec, const char *types, int ports)
{
    size_t count;

    fixture_init(&world->fixture, spec, NULL);
    for (char **type = str_split(world->fixture.arena, types, ' ', &count); *type; type++) {
        if ((*type)[0])
            set_host_network(world, *type);
    }
    world->ports = host_ports_new(100, 100 + ports - 1);
    world->fixture.host_ports = world->ports;
}

static void end_job(struct world *world)
{
    host_ports_free(world->ports);
    fixture_release(&world->fixture);
}

/* Applies the plan like the controller. */
static void apply_plan(struct world *world)
{
    const struct training_plan *plan = &world->fixture.plan;

    if (plan->host_ports)
        host_ports_set(world->ports, OWNER, plan->host_ports, plan->host_port_count);
    fixture_apply(&world->fixture);
}

static void reconcile_and_apply(struct world *world)
{
    fixture_reconcile(&world->fixture);
    apply_plan(world);
}

static const char *annotated_ports(const struct world *world)
{
    return kube_meta_annotation(world->fixture.job, TRAINING_HOST_PORTS_ANNOTATION);
}

static void set_annotated_ports(struct world *world, const char *text)
{
    struct json *json = read_json(world->fixture.arena, text);

    kube_meta_set_annotation(world->fixture.arena, world->fixture.job,
                             TRAINING_HOST_PORTS_ANNOTATION,
                             json_to_string(world->fixture.arena, json));
}

static const struct json *find_pod(const struct world *world, const char *name)
{
    for (size_t i = 0; i < world->fixture.pod_count; i++) {
        if (str_eq(kube_meta_name(world->fixture.pods[i]), name))
            return world->fixture.pods[i];
    }
    fail_msg("no pod %s", name);
    return NULL;
}

/* Returns the only port of the pod's container. */
static const struct json *port_of(const struct json *pod)
{
    return json_element(
        json_get(training_job_container(&TRAINING_TFJOB, json_get(pod, "spec")), "ports"), 0);
}

static const char *tf_config_of(const struct json *pod)
{
    JSON_EACH (variable,
               json_get(training_job_container(&TRAINING_TFJOB, json_get(pod, "spec")), "env")) {
        if (str_eq(json_get_string(variable, "name", ""), "TF_CONFIG"))
            return json_get_string(variable, "value", "");
    }
    return "";
}

/* Ports 100 and 101 are given in either order, because the first one follows from the job's uid. */
static void test_each_replica_gets_its_own_port(void **state)
{
    struct world world;
    const struct json *pod, *service;
    int ports[2], told;

    begin_job(&world, "Worker 2, PS 1", "Worker", 2);
    reconcile_and_apply(&world);
    assert_int_equal(sscanf(annotated_ports(&world), "{\"worker\":[%d,%d]}", &ports[0], &ports[1]),
                     2);
    assert_int_equal(ports[0] + ports[1], 201);
    assert_string_equal(fixture_actions(&world.fixture),
                        "+svc mnist-worker-0, +svc mnist-worker-1, +svc mnist-ps-0, "
                        "+pod mnist-worker-0, +pod mnist-worker-1, +pod mnist-ps-0");
    for (int i = 0; i < 2; i++) {
        pod = find_pod(&world, i ? "mnist-worker-1" : "mnist-worker-0");
        assert_int_equal(json_get_int(port_of(pod), "containerPort", 0), ports[i]);
        assert_int_equal(json_get_int(port_of(pod), "hostPort", 0), ports[i]);
        assert_string_equal(json_get_string(json_get(pod, "spec"), "dnsPolicy", ""),
                            "ClusterFirstWithHostNet");
        service = world.fixture.services[i];
        assert_int_equal(
            json_get_int(json_element(json_at(service, "spec", "ports", NULL), 0), "port", 0),
            ports[i]);
        assert_null(
            json_at(json_element(json_at(service, "spec", "ports", NULL), 0), "hostPort", NULL));
    }
    pod = find_pod(&world, "mnist-ps-0");
    assert_int_equal(json_get_int(port_of(pod), "containerPort", 0), 2222);
    assert_null(json_get(port_of(pod), "hostPort"));
    assert_null(json_at(pod, "spec", "dnsPolicy", NULL));
    assert_int_equal(sscanf(tf_config_of(pod),
                            "{\"cluster\":{\"ps\":[\"mnist-ps-0.default.svc:2222\"],\"worker\":["
                            "\"mnist-worker-0.default.svc:%d\"",
                            &told),
                     1);
    assert_int_equal(told, ports[0]);
    end_job(&world);
}

static void test_ports_survive_failures_and_restarts(void **state)
{
    struct world world;

    begin_job(&world, "Worker 3 OnFailure", "Worker", 50);
    reconcile_and_apply(&world);
    const char *before = arena_strdup(world.fixture.arena, annotated_ports(&world));

    /* A replica fails, and the operator has lost everything except the job. */
    host_ports_set(world.ports, OWNER, NULL, 0);
    fixture_change(&world.fixture, "worker-0=Running worker-1=Failed(1) worker-2=Running");
    reconcile_and_apply(&world);
    reconcile_and_apply(&world);
    assert_string_equal(annotated_ports(&world), before);
    fixture_change(&world.fixture, "worker-0=Running worker-1=Running worker-2=Running");
    fixture_settle(&world.fixture);
    assert_string_equal(annotated_ports(&world), before);
    end_job(&world);
}

static void test_ports_of_other_jobs_are_not_used(void **state)
{
    struct world world;

    begin_job(&world, "Worker 2", "Worker", 5);
    host_ports_set(world.ports, OTHER, (int[]){100, 102, 104}, 3);
    reconcile_and_apply(&world);
    assert_true(str_eq(annotated_ports(&world), "{\"worker\":[101,103]}") ||
                str_eq(annotated_ports(&world), "{\"worker\":[103,101]}"));
    end_job(&world);
}

static void test_job_waits_if_too_few_ports_are_free(void **state)
{
    struct world world;

    begin_job(&world, "Worker 2, PS 1", "Worker PS", 4);
    host_ports_set(world.ports, OTHER, (int[]){100, 103}, 2);
    reconcile_and_apply(&world);
    assert_string_equal(fixture_actions(&world.fixture), "");
    assert_null(annotated_ports(&world));
    assert_int_equal(world.fixture.plan.host_port_count, 0);
    assert_string_equal(
        fixture_events(&world.fixture),
        "Warning HostPortsExhausted: 3 replicas with hostNetwork wait for free ports: too few of "
        "the ports 100-103 are free; the replicas start when other jobs end, or when the operator "
        "is started with a larger --host-port-range");
    assert_true(world.fixture.plan.requeue_ms > 0);

    host_ports_set(world.ports, OTHER, NULL, 0);
    reconcile_and_apply(&world);
    assert_non_null(annotated_ports(&world));
    assert_int_equal(world.fixture.pod_count, 3);
    end_job(&world);
}

/* The operator has just started and does not know yet which ports other jobs hold. */
static void test_no_ports_are_given_before_all_jobs_are_known(void **state)
{
    struct world world;

    begin_job(&world, "Worker 2", "Worker", 4);
    world.fixture.host_ports = NULL;
    reconcile_and_apply(&world);
    assert_string_equal(fixture_actions(&world.fixture), "");
    assert_null(annotated_ports(&world));
    assert_null(world.fixture.plan.host_ports);
    assert_true(world.fixture.plan.requeue_ms >= 0);
    end_job(&world);
}

static void test_scaling_keeps_the_ports(void **state)
{
    struct world world;
    char before[64];

    begin_job(&world, "Worker 1 OnFailure", "Worker", 50);
    reconcile_and_apply(&world);
    assert_int_equal(sscanf(annotated_ports(&world), "%60[^]]", before), 1);
    fixture_change(&world.fixture, "worker-0=Running");
    struct json *worker = json_at(world.fixture.job, "spec", "tfReplicaSpecs", "Worker", NULL);
    json_set_int(world.fixture.arena, worker, "replicas", 3);
    reconcile_and_apply(&world);
    assert_true(str_has_prefix(annotated_ports(&world), before));
    assert_int_equal(world.fixture.plan.host_port_count, 3);
    json_set_int(world.fixture.arena, worker, "replicas", 1);
    reconcile_and_apply(&world);
    assert_string_equal(annotated_ports(&world), strcat(before, "]}"));
    assert_int_equal(world.fixture.plan.host_port_count, 1);
    end_job(&world);
}

/* The surviving pods of a finished job keep their ports. The other ports are free for other
 * jobs. */
static void test_ports_are_released_with_their_pods(void **state)
{
    struct world world;

    begin_job(&world, "Chief 1, PS 1", "Chief PS", 50);
    reconcile_and_apply(&world);
    int held = (int)json_get_int(port_of(find_pod(&world, "mnist-ps-0")), "hostPort", 0);
    fixture_change(&world.fixture, "chief-0=Succeeded(0) ps-0=Running");
    reconcile_and_apply(&world);
    assert_string_equal(fixture_conditions(&world.fixture), "Created Succeeded");
    reconcile_and_apply(&world);
    assert_string_equal(annotated_ports(&world),
                        arena_printf(world.fixture.arena, "{\"chief\":[0],\"ps\":[%d]}", held));
    assert_int_equal(world.fixture.plan.host_port_count, 1);
    assert_int_equal(world.fixture.plan.host_ports[0], held);
    fixture_change(&world.fixture, "ps-0=Succeeded(0)");
    reconcile_and_apply(&world);
    assert_null(annotated_ports(&world));
    assert_int_equal(world.fixture.plan.host_port_count, 0);
    assert_non_null(world.fixture.plan.host_ports);
    end_job(&world);
}

static void test_suspended_job_holds_no_ports(void **state)
{
    struct world world;
    struct json *policy;

    begin_job(&world, "Worker 2", "Worker", 50);
    reconcile_and_apply(&world);
    fixture_change(&world.fixture, "worker-0=Running worker-1=Running");
    policy =
        json_ensure_object(world.fixture.arena, json_get(world.fixture.job, "spec"), "runPolicy");
    json_set_bool(world.fixture.arena, policy, "suspend", true);
    reconcile_and_apply(&world);
    assert_non_null(annotated_ports(&world));
    reconcile_and_apply(&world);
    assert_null(annotated_ports(&world));
    json_set_bool(world.fixture.arena, policy, "suspend", false);
    reconcile_and_apply(&world);
    assert_non_null(annotated_ports(&world));
    assert_int_equal(world.fixture.pod_count, 2);
    end_job(&world);
}

/* The job was created from the YAML of another job, including the annotations. */
static void test_ports_in_a_copied_annotation_are_replaced(void **state)
{
    struct world world;

    begin_job(&world, "Worker 2", "Worker", 3);
    host_ports_set(world.ports, OTHER, (int[]){101}, 1);
    set_annotated_ports(&world, "{'worker': [101, 102]}");
    reconcile_and_apply(&world);
    assert_string_equal(annotated_ports(&world), "{\"worker\":[100,102]}");

    /* The ports of running pods are not changed. */
    fixture_change(&world.fixture, "worker-0=Running worker-1=Running");
    host_ports_set(world.ports, OTHER, (int[]){100}, 1);
    reconcile_and_apply(&world);
    assert_string_equal(annotated_ports(&world), "{\"worker\":[100,102]}");
    end_job(&world);
}

static void test_invalid_annotations_are_ignored(void **state)
{
    static const char *const texts[] = {
        "",
        "no JSON",
        "[]",
        "17",
        "{\"worker\":7}",
        "{\"worker\":[0,-1]}",
        "{\"worker\":[65536,\"a\"]}",
        "{\"worker\":{\"a\":[[]]}}",
        "{\"worker\":[[[[[1]]]]]}",
        "{\"boss\":[1]}",
    };

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct world world;
        int ports[2];

        begin_job(&world, "Worker 2", "Worker", 2);
        kube_meta_set_annotation(world.fixture.arena, world.fixture.job,
                                 TRAINING_HOST_PORTS_ANNOTATION, texts[i]);
        reconcile_and_apply(&world);
        assert_int_equal(
            sscanf(annotated_ports(&world), "{\"worker\":[%d,%d]}", &ports[0], &ports[1]), 2);
        assert_int_equal(ports[0] + ports[1], 201);
        end_job(&world);
    }
}

/* A user edits the annotation while the pods live: the ports that the pods were created with
 * count. */
static void test_ports_of_running_pods_override_the_annotation(void **state)
{
    static const char *const texts[] = {"{'worker': [101, 100]}", "{'worker': [300, 301]}",
                                        "{'worker': [105, 100]}", "{}"};

    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct world world;

        begin_job(&world, "Worker 2", "Worker", 20);
        reconcile_and_apply(&world);
        fixture_change(&world.fixture, "worker-0=Running worker-1=Running");
        reconcile_and_apply(&world);
        char *before = arena_strdup(world.fixture.arena, annotated_ports(&world));
        set_annotated_ports(&world, texts[i]);
        reconcile_and_apply(&world);
        assert_string_equal(annotated_ports(&world), before);
        end_job(&world);
    }
}

/* A port that is twice in the annotation is given to one replica only. */
static void test_duplicate_port_is_given_to_one_replica(void **state)
{
    struct world world;
    int ports[2];

    begin_job(&world, "Worker 2", "Worker", 2);
    set_annotated_ports(&world, "{'worker': [100, 100]}");
    reconcile_and_apply(&world);
    assert_int_equal(sscanf(annotated_ports(&world), "{\"worker\":[%d,%d]}", &ports[0], &ports[1]),
                     2);
    assert_int_equal(ports[0], 100);
    assert_int_equal(ports[1], 101);
    end_job(&world);
}

/* A host port in the template is used as it is. The user must see to it that the port is free. */
static void test_host_port_of_the_template_is_kept(void **state)
{
    struct world world;
    struct json *container;

    begin_job(&world, "Worker 2", "Worker", 2);
    container =
        training_job_container(&TRAINING_TFJOB, json_at(world.fixture.job, "spec", "tfReplicaSpecs",
                                                        "Worker", "template", "spec", NULL));
    json_set(world.fixture.arena, container, "ports",
             read_json(world.fixture.arena,
                       "[{'name': 'tfjob-port', 'containerPort': 5000, 'hostPort': 5000}]"));
    json_set_string(
        world.fixture.arena,
        json_at(world.fixture.job, "spec", "tfReplicaSpecs", "Worker", "template", "spec", NULL),
        "dnsPolicy", "Default");
    reconcile_and_apply(&world);
    assert_null(annotated_ports(&world));
    assert_int_equal(world.fixture.pod_count, 2);
    assert_int_equal(json_get_int(port_of(find_pod(&world, "mnist-worker-1")), "containerPort", 0),
                     5000);
    assert_string_equal(
        json_get_string(json_get(find_pod(&world, "mnist-worker-1"), "spec"), "dnsPolicy", ""),
        "Default");
    end_job(&world);
}

/* Jobs without hostNetwork get no annotation. */
static void test_jobs_without_host_network_hold_no_ports(void **state)
{
    struct world world;

    begin_job(&world, "Worker 2", "", 2);
    world.fixture.host_ports = NULL;
    reconcile_and_apply(&world);
    assert_null(annotated_ports(&world));
    assert_int_equal(world.fixture.pod_count, 2);
    end_job(&world);
}

/* Without namespaces there are no names and only one port space, regardless of the template. */
static void test_shared_address_uses_host_ports(void **state)
{
    struct world world;

    begin_job(&world, "Worker 2", "", 2);
    world.fixture.shared_address = "127.0.0.1";
    reconcile_and_apply(&world);
    const struct json *pod = find_pod(&world, "mnist-worker-1");
    int64_t port = json_get_int(port_of(pod), "hostPort", 0);
    assert_in_range(port, 100, 101);
    assert_true(json_get_bool(json_get(pod, "spec"), "hostNetwork", false));
    assert_non_null(strstr(tf_config_of(pod), "127.0.0.1:100"));
    assert_non_null(strstr(tf_config_of(pod), "127.0.0.1:101"));
    end_job(&world);
}

int main(void)
{
    static const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_shared_address_uses_host_ports),
        cmocka_unit_test(test_each_replica_gets_its_own_port),
        cmocka_unit_test(test_ports_survive_failures_and_restarts),
        cmocka_unit_test(test_ports_of_other_jobs_are_not_used),
        cmocka_unit_test(test_job_waits_if_too_few_ports_are_free),
        cmocka_unit_test(test_no_ports_are_given_before_all_jobs_are_known),
        cmocka_unit_test(test_scaling_keeps_the_ports),
        cmocka_unit_test(test_ports_are_released_with_their_pods),
        cmocka_unit_test(test_suspended_job_holds_no_ports),
        cmocka_unit_test(test_ports_in_a_copied_annotation_are_replaced),
        cmocka_unit_test(test_invalid_annotations_are_ignored),
        cmocka_unit_test(test_ports_of_running_pods_override_the_annotation),
        cmocka_unit_test(test_duplicate_port_is_given_to_one_replica),
        cmocka_unit_test(test_host_port_of_the_template_is_kept),
        cmocka_unit_test(test_jobs_without_host_network_hold_no_ports),
    };

    return cmocka_run_group_tests(tests, NULL, NULL);
}

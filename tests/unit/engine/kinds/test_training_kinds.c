/* Tests PyTorchJobs, PodGroups of both API groups and Leases through the API: what is stored, what
 * is rejected with which message, which warnings come, and that two kinds of one name are
 * separate. */
#include "api.h"

#include "base/str.h"
#include "read_json.h"
#include "served_kinds.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define TFJOBS  "/apis/kubeflow.org/v1/namespaces/default/tfjobs"
#define TORCH   "/apis/kubeflow.org/v1/namespaces/default/pytorchjobs"
#define GROUPS  "/apis/scheduling.x-k8s.io/v1alpha1/namespaces/default/podgroups"
#define VOLCANO "/apis/scheduling.volcano.sh/v1beta1/namespaces/default/podgroups"
#define LEASES  "/apis/coordination.k8s.io/v1/namespaces/default/leases"
#define MAPS    "/api/v1/namespaces/default/configmaps"

static struct answer post(struct api *api, const char *path, const char *body)
{
    return api_post(api, path, quoted(api->arena, body));
}

static struct answer merge(struct api *api, const char *path, const char *body)
{
    return api_merge(api, path, quoted(api->arena, body));
}

static void test_refusals(void **state)
{
    static const struct {
        const char *path, *spec, *message;
    } rows[] = {
        {TORCH, "null", "PyTorchJob.kubeflow.org \"x\" is invalid: spec: Required value"},
        {TORCH, "{}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.pytorchReplicaSpecs: Required value"},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {'replicas': '2'}}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.pytorchReplicaSpecs.Worker.replicas: "
         "Invalid value: \"string\": spec.pytorchReplicaSpecs.Worker.replicas in body must be of "
         "type integer: \"string\""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {'replicas': -1}}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.pytorchReplicaSpecs.Worker.replicas: "
         "Invalid value: -1: spec.pytorchReplicaSpecs.Worker.replicas in body should be greater "
         "than or equal to 0"},
        {TFJOBS, "{'tfReplicaSpecs': {'PS': {'replicas': 10001}}}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.tfReplicaSpecs.PS.replicas: Invalid value: "
         "10001: spec.tfReplicaSpecs.PS.replicas in body should be less than or equal to 10000"},
        {TFJOBS, "{'tfReplicaSpecs': {'Worker': {'replicas': 10000}, 'Chief': {}}}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.tfReplicaSpecs: Invalid value: 10001: "
         "spec.tfReplicaSpecs in body should have at most 10000 replicas in all"},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'elasticPolicy': {'minReplicas': 0}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.elasticPolicy.minReplicas: Invalid value: "
         "0: spec.elasticPolicy.minReplicas in body should be greater than or equal to 1"},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'elasticPolicy': {'maxReplicas': 10001}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.elasticPolicy.maxReplicas: Invalid value: "
         "10001: spec.elasticPolicy.maxReplicas in body should be less than or equal to 10000"},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'elasticPolicy': {'rdzvPort': 65536}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.elasticPolicy.rdzvPort: Invalid value: "
         "65536: spec.elasticPolicy.rdzvPort in body should be less than or equal to 65535"},
        {TFJOBS, "{'tfReplicaSpecs': {'PS': {}}, 'runPolicy': {'backoffLimit': -1}}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.runPolicy.backoffLimit: Invalid value: -1: "
         "spec.runPolicy.backoffLimit in body should be greater than or equal to 0"},
        {TFJOBS,
         "{'tfReplicaSpecs': {'PS': {}}, 'runPolicy': {'schedulingPolicy': {'minAvailable': -1}}}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.runPolicy.schedulingPolicy.minAvailable: "
         "Invalid value: -1: spec.runPolicy.schedulingPolicy.minAvailable in body should be "
         "greater than or equal to 0"},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {'template': 1}}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.pytorchReplicaSpecs.Worker.template: "
         "Invalid value: \"integer\": spec.pytorchReplicaSpecs.Worker.template in body must be of "
         "type object: \"integer\""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'nprocPerNode': 2}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.nprocPerNode: Invalid value: "
         "\"integer\": spec.nprocPerNode in body must be of type string: \"integer\""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'elasticPolicy': {'minReplicas': 'one'}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.elasticPolicy.minReplicas: Invalid value: "
         "\"string\": spec.elasticPolicy.minReplicas in body must be of type integer: "
         "\"string\""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'runPolicy': {'managedBy': 'me'}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: spec.runPolicy.managedBy: Unsupported value: "
         "\"me\": supported values: \"kubeflow.org/training-operator\", "
         "\"kueue.x-k8s.io/multikueue\""},
        {TFJOBS, "{'tfReplicaSpecs': {'PS': {}}, 'runPolicy': {'cleanPodPolicy': 'all'}}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.runPolicy.cleanPodPolicy: Unsupported value: "
         "\"all\": supported values: \"None\", \"Running\", \"All\""},
        {TFJOBS, "{'tfReplicaSpecs': {'PS': {'restartPolicy': 'Sometimes'}}}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.tfReplicaSpecs.PS.restartPolicy: Unsupported "
         "value: \"Sometimes\": supported values: \"\", \"Always\", \"OnFailure\", \"Never\", "
         "\"ExitCode\""},
        {TFJOBS, "{'tfReplicaSpecs': {'PS': {}}, 'successPolicy': 'AllWorker'}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.successPolicy: Unsupported value: "
         "\"AllWorker\": supported values: \"\", \"AllWorkers\""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {'restartPolicy': 7}}}",
         "PyTorchJob.kubeflow.org \"x\" is invalid: "
         "[spec.pytorchReplicaSpecs.Worker.restartPolicy: Invalid value: \"integer\": "
         "spec.pytorchReplicaSpecs.Worker.restartPolicy in body must be of type string: "
         "\"integer\", spec.pytorchReplicaSpecs.Worker.restartPolicy: Unsupported value: 7: "
         "supported values: \"\", \"Always\", \"OnFailure\", \"Never\", \"ExitCode\"]"},
        {TFJOBS, "{'tfReplicaSpecs': {}}",
         "TFJob.kubeflow.org \"x\" is invalid: spec.tfReplicaSpecs: Invalid value: 1: "
         "spec.tfReplicaSpecs in body should have at least 1 properties"},
        {GROUPS, "{'minMember': -1}",
         "PodGroup.scheduling.x-k8s.io \"x\" is invalid: spec.minMember: Invalid value: -1: must "
         "be a whole number from 0 to 2147483647"},
        {GROUPS, "{'scheduleTimeoutSeconds': 'soon'}",
         "PodGroup.scheduling.x-k8s.io \"x\" is invalid: spec.scheduleTimeoutSeconds: Invalid "
         "value: \"soon\": must be a whole number from 0 to 2147483647"},
        {GROUPS, "7",
         "PodGroup.scheduling.x-k8s.io \"x\" is invalid: spec: Invalid value: 7: spec in body must "
         "be of type object"},
        {LEASES, "{'leaseDurationSeconds': 0}",
         "Lease.coordination.k8s.io \"x\" is invalid: spec.leaseDurationSeconds: Invalid value: 0: "
         "must be greater than 0"},
        {LEASES, "{'leaseTransitions': -1}",
         "Lease.coordination.k8s.io \"x\" is invalid: spec.leaseTransitions: Invalid value: -1: "
         "must be greater than or equal to 0"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer =
            post(api, rows[i].path,
                 arena_printf(api->arena, "{'metadata': {'name': 'x'}, 'spec': %s}", rows[i].spec));
        assert_int_equal(answer.status, 422);
        assert_string_equal(answer_message(&answer), rows[i].message);
    }
    struct answer answer =
        post(api, VOLCANO, "{'metadata': {'name': 'x'}, 'spec': {'minResources': {'cpu': 'x'}}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_at(api, &answer, "details.causes.0.field"),
                        "spec.minResources[cpu]");
}

/* A replica with this container, and further fields of its pod. */
#define POD(container, rest)                                                                       \
    "{'template': {'spec': {'containers': [{'name': 'tensorflow', 'image': 'i'" container          \
    "}]" rest "}}}"
#define CONTAINER "spec.tfReplicaSpecs.Worker.template.spec.containers[0]"
#define IS_NO(type, field, is)                                                                     \
    field ": Invalid value: \"" is "\": " field " in body must be of type " type ": \"" is "\""

/* Templates that Kubernetes' schema rejects in any custom resource, or that are invalid as a pod.
 * test_refusals.c compares many more of the second kind. */
static void test_templates(void **state)
{
    static const struct {
        const char *worker, *causes;
    } rows[] = {
        {POD(", 'command': ['sleep', 2]", ""), IS_NO("string", CONTAINER ".command[1]", "integer")},
        {POD(", 'env': [{'name': 'STEPS', 'value': 100}]", ""),
         IS_NO("string", CONTAINER ".env[0].value", "integer")},
        {POD(", 'env': {'STEPS': '100'}", ""), IS_NO("array", CONTAINER ".env", "object")},
        {POD(", 'tty': 'yes'", ""), IS_NO("boolean", CONTAINER ".tty", "string")},
        {POD(", 'ports': [{'name': 'web'}]", ""),
         CONTAINER ".ports[0].containerPort: Required value"},
        {POD("", ", 'affinity': {'podAffinity': {'requiredDuringSchedulingIgnoredDuringExecution': "
                 "[{'topologyKey': 'k', 'labelSelector': {'matchLabels': {'a': {'x': 'y'}}}}]}}"),
         IS_NO("string",
               "spec.tfReplicaSpecs.Worker.template.spec.affinity.podAffinity."
               "requiredDuringSchedulingIgnoredDuringExecution[0].labelSelector.matchLabels.a",
               "object")},
        {POD(", 'resources': {'limits': {'cpu': 'many'}}", ""),
         CONTAINER ".resources.limits.cpu: Invalid value: \"many\": " CONTAINER
                   ".resources.limits.cpu in body should match "
                   "'^(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))(([KMGTPE]i)|[numkMGTPE]|([eE]"
                   "(\\+|-)?(([0-9]+(\\.[0-9]*)?)|(\\.[0-9]+))))?$'"},
        {POD(", 'resources': {'limits': {'cpu': [1]}}", ""),
         IS_NO("integer,string", CONTAINER ".resources.limits.cpu", "array")},
        {POD("", ", 'priority': 3000000000"),
         "spec.tfReplicaSpecs.Worker.template.spec.priority: Invalid value: 3000000000: "
         "spec.tfReplicaSpecs.Worker.template.spec.priority in body must be of type int32: "
         "3000000000"},
        {POD(", 'volumeMounts': [{'name': 'data', 'mountPath': '/d'}]", ""),
         CONTAINER ".volumeMounts[0].name: Not found: \"data\""},
        {"{'template': {'spec': {'containers': [{'name': 'a', 'image': 'i'}, {'name': 'a', "
         "'image': "
         "'i'}]}}}",
         "spec.tfReplicaSpecs.Worker.template.spec.containers[1].name: Duplicate value: \"a\""},
        {"{'template': {'metadata': {'labels': {'a': 1}}, 'spec': {'containers': [{'name': 'a', "
         "'image': 'i'}]}}}",
         IS_NO("string", "spec.tfReplicaSpecs.Worker.template.metadata.labels.a", "integer")},
        {"{'template': {}}", "spec.tfReplicaSpecs.Worker.template.spec.containers: Required value"},
        {POD(", 'imagePullPolicy': 'Sometimes'", ""),
         CONTAINER ".imagePullPolicy: Unsupported value: \"Sometimes\": supported values: "
                   "\"Always\", \"IfNotPresent\", \"Never\""},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = post(
            api, TFJOBS,
            arena_printf(api->arena,
                         "{'metadata': {'name': 'x'}, 'spec': {'tfReplicaSpecs': {'Worker': %s}}}",
                         rows[i].worker));
        assert_int_equal(answer.status, 422);
        assert_string_equal(
            answer_message(&answer),
            arena_printf(api->arena, "TFJob.kubeflow.org \"x\" is invalid: %s", rows[i].causes));
    }
}

/* The operator sets the restart policy. A null or zero value counts as not set. */
static void test_valid_templates(void **state)
{
    static const char *const workers[] = {
        POD("", ", 'restartPolicy': 'ExitCode'"),
        POD(", 'imagePullPolicy': '', 'command': null, 'resources': {'limits': {'cpu': 0.5}}", ""),
        POD(", 'volumeMounts': [{'name': 'd', 'mountPath': '/d'}]",
            ", 'volumes': [{'name': 'd'}], 'hostNetwork': true, 'securityContext': {}"),
        POD(", 'env': [{'name': 'A', 'value': ''}, {'name': 'A', 'value': 'b'}]", ""),
        ("{'template': {'metadata': {'creationTimestamp': null}, 'spec': {'containers': "
         "[{'name': 'other', 'image': 'i'}]}}}"),
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(workers) / sizeof(workers[0]); i++) {
        struct answer answer =
            post(api, TFJOBS,
                 arena_printf(api->arena,
                              "{'metadata': {'generateName': 'x'}, 'spec': {'tfReplicaSpecs': "
                              "{'Worker': %s}}}",
                              workers[i]));
        assert_string_equal(answer_message(&answer), "");
        assert_int_equal(answer.status, 201);
    }
}

/* A template that was stored before templates were validated can stay. A changed template must be
 * valid. */
static void test_stored_invalid_templates(void **state)
{
    static const char body[] =
        "{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"x\","
        "\"namespace\":\"default\",\"uid\":\"u\"},\"spec\":{\"tfReplicaSpecs\":{\"Worker\":"
        "{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"command\":[1]}]}}}}}}";
    struct api *api = *state;
    struct err err = ERR_INIT;

    assert_int_equal(store_put(api->store, "/tfjobs.kubeflow.org/default/x", body, sizeof(body) - 1,
                               0, NULL, NULL, &err),
                     0);
    assert_int_equal(
        merge(api, TFJOBS "/x", "{'spec': {'tfReplicaSpecs': {'Worker': {'replicas': 2}}}}").status,
        200);
    assert_int_equal(merge(api, TFJOBS "/x",
                           "{'spec': {'tfReplicaSpecs': {'Worker': {'template': {'spec': "
                           "{'nodeName': 'n'}}}}}}")
                         .status,
                     422);
}

/* Only the types of a workflow's fields are checked, because a parameter may fill in any text. */
static void test_workflows(void **state)
{
    static const char path[] = "/apis/argoproj.io/v1alpha1/namespaces/default/workflows";
    static const char workflow[] =
        "{'metadata': {'name': 'x'}, 'spec': {'templates': [{'name': 't', 'container': {'image': "
        "'{{inputs.parameters.i}}', 'imagePullPolicy': '{{inputs.parameters.p}}', 'command': "
        "['sleep', %s]}}]}}";
    struct api *api = *state;
    struct answer answer = post(api, path, arena_printf(api->arena, workflow, "2"));
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "Workflow.argoproj.io \"x\" is invalid: " IS_NO(
                            "string", "spec.templates[0].container.command[1]", "integer"));
    assert_int_equal(post(api, path, arena_printf(api->arena, workflow, "'2'")).status, 201);
}

static void test_immutable_fields(void **state)
{
    struct api *api = *state;

    assert_int_equal(
        post(api, TORCH,
             "{'metadata': {'name': 'x'}, 'spec': {'pytorchReplicaSpecs': {'Worker': {}}, "
             "'runPolicy': {'managedBy': 'kueue.x-k8s.io/multikueue', "
             "'schedulingPolicy': {'queue': 'q'}}}}")
            .status,
        201);
    assert_int_equal(merge(api, TORCH "/x", "{'spec': {'runPolicy': {'suspend': true}}}").status,
                     200);
    struct answer answer = merge(api, TORCH "/x", "{'spec': {'runPolicy': {'managedBy': null}}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_at(api, &answer, "details.causes.0.field"),
                        "spec.runPolicy.managedBy");
    answer =
        merge(api, TORCH "/x", "{'spec': {'runPolicy': {'schedulingPolicy': {'queue': 'other'}}}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "PyTorchJob.kubeflow.org \"x\" is invalid: "
                        "spec.runPolicy.schedulingPolicy.queue: Invalid value: \"other\": field is "
                        "immutable");
}

/* An object that was stored before there was a limit can change its other fields, and can
 * shrink. */
static void test_stored_objects_above_the_limit(void **state)
{
    static const char body[] =
        "{\"apiVersion\":\"kubeflow.org/v1\",\"kind\":\"TFJob\",\"metadata\":{\"name\":\"x\","
        "\"namespace\":\"default\",\"uid\":\"u\"},\"spec\":{\"tfReplicaSpecs\":{\"Worker\":"
        "{\"replicas\":20000},\"PS\":{\"replicas\":-5}},\"runPolicy\":{\"backoffLimit\":-1}}}";
    struct api *api = *state;
    struct err err = ERR_INIT;

    assert_int_equal(store_put(api->store, "/tfjobs.kubeflow.org/default/x", body, sizeof(body) - 1,
                               0, NULL, NULL, &err),
                     0);
    assert_int_equal(merge(api, TFJOBS "/x", "{'metadata': {'labels': {'a': 'b'}}}").status, 200);
    assert_int_equal(
        merge(api, TFJOBS "/x", "{'spec': {'tfReplicaSpecs': {'Worker': {'replicas': 19999}}}}")
            .status,
        422);
    assert_int_equal(
        merge(api, TFJOBS "/x", "{'spec': {'tfReplicaSpecs': {'Worker': {'replicas': 10000}}}}")
            .status,
        200);
}

static void test_warnings(void **state)
{
    static const struct {
        const char *path, *spec, *warning; /* the text after "299" */
    } rows[] = {
        {TORCH,
         "{'pytorchReplicaSpecs': {'Worker': {}}, 'nprocPerNode': '2', 'elasticPolicy': "
         "{'minReplicas': 1,"
         "'maxReplicas': 3, 'rdzvBackend': 'c10d', 'rdzvPort': 1, 'rdzvHost': 'h', 'rdzvId': 'i',"
         "'rdzvConf': [{'key': 'k', 'value': 'v'}], 'standalone': true, 'nProcPerNode': 1,"
         "'maxRestarts': 3}, 'runPolicy': {'suspend': true}}",
         ""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {'replica': 1}}}",
         "unknown field \\\"spec.pytorchReplicaSpecs.Worker.replica\\\""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'elasticPolicy': {'minReplica': 1}}",
         "unknown field \\\"spec.elasticPolicy.minReplica\\\""},
        {TORCH, "{'pytorchReplicaSpecs': {'Worker': {}}, 'elasticPolicy': {'metrics': [{}]}}",
         "spec.elasticPolicy.metrics: not supported here: nothing scales by load: change the "
         "replicas, or use 'kubectl scale'"},
        {TORCH,
         "{'pytorchReplicaSpecs': {'Worker': {}}, 'runPolicy': {'schedulingPolicy': "
         "{'minAvailable': 2,"
         "'minResources': {'cpu': 1}, 'scheduleTimeoutSeconds': 9}}}",
         ""},
        {TORCH,
         "{'pytorchReplicaSpecs': {'Worker': {}}, 'runPolicy': {'schedulingPolicy': {'queue': "
         "'q'}}}",
         "spec.runPolicy.schedulingPolicy.queue: not supported here: there are no queues: a group "
         "starts when there is room for it"},
        {GROUPS, "{'minMember': 2, 'minResources': {'cpu': '1'}, 'scheduleTimeoutSeconds': 3}", ""},
        {GROUPS, "{'minMembers': 2}", "unknown field \\\"spec.minMembers\\\""},
        {VOLCANO,
         "{'minMember': 2, 'minTaskMember': {'w': 1}, 'queue': 'q', 'priorityClassName': 'p',"
         "'minResources': {'cpu': 1}}",
         ""},
        {VOLCANO, "{'scheduleTimeoutSeconds': 2}",
         "unknown field \\\"spec.scheduleTimeoutSeconds\\\""},
        {LEASES,
         "{'holderIdentity': 'h', 'leaseDurationSeconds': 15, 'leaseTransitions': 0,"
         "'acquireTime': '2026-01-02T03:04:05.000006Z', 'renewTime': null}",
         ""},
        {LEASES, "{'holder': 'h'}", "unknown field \\\"spec.holder\\\""},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer =
            post(api, rows[i].path,
                 arena_printf(api->arena, "{'metadata': {'generateName': 'x'}, 'spec': %s}",
                              rows[i].spec));
        assert_int_equal(answer.status, 201);
        const char *warning =
            *rows[i].warning ? arena_printf(api->arena, "299 - \"%s\"", rows[i].warning) : "";
        assert_string_equal(answer.warning, warning);
    }
}

/* The status is written only through its subresource. All other changes increase the generation. */
static void test_status(void **state)
{
    static const char *const paths[][2] = {
        {TORCH, TORCH "/x"}, {GROUPS, GROUPS "/x"}, {VOLCANO, VOLCANO "/x"}};
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(paths) / sizeof(paths[0]); i++) {
        struct answer answer = post(api, paths[i][0],
                                    "{'metadata': {'name': 'x'}, 'spec': {'pytorchReplicaSpecs':"
                                    "{'Worker': {}}}, 'status': {'startTime': 'Mine'}}");
        assert_int_equal(answer.status, 201);
        assert_string_equal(answer_at(api, &answer, "status"), "");
        answer = merge(api, arena_printf(api->arena, "%s/status", paths[i][1]),
                       "{'spec': {'minMember': 9}, 'status': {'startTime': 'Running'}}");
        assert_int_equal(answer.status, 200);
        assert_string_equal(answer_at(api, &answer, "status.startTime"), "Running");
        assert_string_equal(answer_at(api, &answer, "spec.minMember"), "");
        assert_string_equal(answer_at(api, &answer, "metadata.generation"), "1");
        answer =
            merge(api, paths[i][1],
                  "{'spec': {'minMember': 9, 'nprocPerNode': '2'}, 'status': {'startTime': 'x'}}");
        assert_string_equal(answer_at(api, &answer, "status.startTime"), "Running");
        assert_string_equal(answer_at(api, &answer, "metadata.generation"), "2");
    }
}

/* Two candidates write: the one with the older resource version fails. */
static void test_concurrent_lease_writes(void **state)
{
    struct api *api = *state;
    struct answer answer = post(api, LEASES, "{'metadata': {'name': 'leader'}, 'spec': {}}");
    const char *version = answer_at(api, &answer, "metadata.resourceVersion");
#define CLAIM                                                                                      \
    "{'metadata': {'name': 'leader', 'resourceVersion': '%s'}, 'spec': {'holderIdentity': '%s'}}"
    answer = api_put(api, LEASES "/leader",
                     quoted(api->arena, arena_printf(api->arena, CLAIM, version, "one")));
    assert_int_equal(answer.status, 200);
    answer = api_put(api, LEASES "/leader",
                     quoted(api->arena, arena_printf(api->arena, CLAIM, version, "two")));
    assert_int_equal(answer.status, 409);
    answer = api_get(api, LEASES "/leader");
    assert_string_equal(answer_at(api, &answer, "spec.holderIdentity"), "one");
}

/* PodGroups of both API groups may have the same name. Each is deleted with its own owner. */
static void test_two_groups_of_one_name(void **state)
{
    static const char *const paths[] = {GROUPS, VOLCANO};
    struct api *api = *state;
    struct engine_controllers *controllers =
        engine_controllers_new(api->loop, api->transport, SERVED_KINDS);
    for (int i = 0; i < 2; i++) {
        struct answer answer =
            post(api, MAPS, arena_printf(api->arena, "{'metadata': {'name': 'owner%d'}}", i));
        answer = post(api, paths[i],
                      arena_printf(api->arena,
                                   "{'metadata': {'name': 'x', 'ownerReferences': [{'apiVersion':"
                                   "'v1', 'kind': 'ConfigMap', 'name': 'owner%d', 'uid': '%s'}]},"
                                   "'spec': {'minMember': %d}}",
                                   i, answer_at(api, &answer, "metadata.uid"), i + 1));
        assert_int_equal(answer.status, 201);
    }
    api_run(api, 1000);
    struct answer answer = api_get(api, GROUPS "/x");
    assert_string_equal(answer_at(api, &answer, "spec.minMember"), "1");
    api_delete(api, MAPS "/owner1", NULL);
    api_run(api, 1000);
    assert_int_equal(api_get(api, VOLCANO "/x").status, 404);
    assert_int_equal(api_get(api, GROUPS "/x").status, 200);
    api_delete(api, MAPS "/owner0", NULL);
    api_run(api, 1000);
    assert_int_equal(api_get(api, GROUPS "/x").status, 404);
    engine_controllers_free(controllers);
}

/* kubectl uses the first API group that has the given name. */
static void test_discovery(void **state)
{
    struct api *api = *state;
    struct answer answer = api_get(api, "/apis");
    size_t position = 0, ours = 0, volcano = 0;
    JSON_EACH (group, json_get(answer.json, "groups")) {
        position++;
        if (str_eq(json_get_string(group, "name", ""), "scheduling.x-k8s.io"))
            ours = position;
        if (str_eq(json_get_string(group, "name", ""), "scheduling.volcano.sh"))
            volcano = position;
    }
    assert_true(ours > 0 && volcano > ours);
    answer = api_get(api, "/apis/scheduling.x-k8s.io/v1alpha1");
    assert_string_equal(answer_at(api, &answer, "resources.0.name"), "podgroups");
    assert_string_equal(answer_at(api, &answer, "resources.0.shortNames.0"), "pg");
    assert_string_equal(answer_at(api, &answer, "resources.1.name"), "podgroups/status");
    answer = api_get(api, "/apis/scheduling.volcano.sh/v1beta1");
    assert_string_equal(answer_at(api, &answer, "resources.0.name"), "podgroups");
}

static void test_roles(void **state)
{
    static const struct {
        const char *role, *verb, *group, *resource, *sub;
        const char *allowed;
    } rows[] = {
        {"view", "list", "kubeflow.org", "pytorchjobs", "", "true"},
        {"view", "create", "kubeflow.org", "pytorchjobs", "", "false"},
        {"edit", "create", "kubeflow.org", "pytorchjobs", "", "true"},
        {"edit", "patch", "kubeflow.org", "tfjobs", "scale", "true"},
        {"view", "get", "scheduling.x-k8s.io", "podgroups", "status", "true"},
        {"view", "delete", "scheduling.x-k8s.io", "podgroups", "", "false"},
        {"edit", "delete", "scheduling.x-k8s.io", "podgroups", "", "true"},
        {"edit", "update", "scheduling.x-k8s.io", "podgroups", "status", "false"},
        {"admin", "create", "scheduling.volcano.sh", "podgroups", "", "true"},
        {"edit", "update", "coordination.k8s.io", "leases", "", "true"},
        {"view", "get", "coordination.k8s.io", "leases", "", "false"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *account = arena_printf(api->arena, "account-%zu", i);
        post(api, "/api/v1/namespaces/default/serviceaccounts",
             arena_printf(api->arena, "{'metadata': {'name': '%s'}}", account));
        post(api, "/apis/rbac.authorization.k8s.io/v1/namespaces/default/rolebindings",
             arena_printf(api->arena,
                          "{'metadata': {'name': '%s'}, 'roleRef': {'kind': 'ClusterRole', 'name':"
                          "'%s'}, 'subjects': [{'kind': 'ServiceAccount', 'name': '%s',"
                          "'namespace': 'default'}]}",
                          account, rows[i].role, account));
        struct answer answer =
            post(api,
                 arena_printf(api->arena, "/api/v1/namespaces/default/serviceaccounts/%s/token",
                              account),
                 "{'spec': {}}");
        const char *question = arena_printf(
            api->arena,
            "{'spec': {'resourceAttributes': {'namespace': 'default', 'verb': '%s', 'group': '%s',"
            "'resource': '%s', 'subresource': '%s'}}}",
            rows[i].verb, rows[i].group, rows[i].resource, rows[i].sub);
        answer = api_call_as(api, answer_at(api, &answer, "status.token"), "POST",
                             "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                             quoted(api->arena, question));
        assert_int_equal(answer.status, 201);
        if (!str_eq(answer_at(api, &answer, "status.allowed"), rows[i].allowed))
            fail_msg("%s: %s %s/%s", rows[i].role, rows[i].verb, rows[i].resource, rows[i].sub);
    }
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_refusals),
        API_TEST(test_templates),
        API_TEST(test_valid_templates),
        API_TEST(test_stored_invalid_templates),
        API_TEST(test_workflows),
        API_TEST(test_immutable_fields),
        API_TEST(test_stored_objects_above_the_limit),
        API_TEST(test_warnings),
        API_TEST(test_status),
        API_TEST(test_concurrent_lease_writes),
        API_TEST(test_two_groups_of_one_name),
        API_TEST(test_discovery),
        API_TEST(test_roles),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

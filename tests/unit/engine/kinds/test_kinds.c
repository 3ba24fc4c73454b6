/* Tests services, config maps, secrets, claims and TFJobs through the API: their defaults, and what
 * is rejected. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEFAULT "/api/v1/namespaces/default/"

static void test_service(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, DEFAULT "services",
                 "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.clusterIP"), "10.96.0.2");
    assert_string_equal(answer_at(api, &answer, "spec.type"), "ClusterIP");
    assert_string_equal(answer_at(api, &answer, "spec.ports.0.targetPort"), "80");
    assert_string_equal(answer_at(api, &answer, "spec.ports.0.protocol"), "TCP");
    answer = api_post(api, DEFAULT "services",
                      "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"ports\":[{\"port\":1},{\"port\":"
                      "70000,\"name\":\"b\"}]}}");
    assert_string_equal(answer_message(&answer),
                        "Service \"t\" is invalid: [spec.ports[0].name: Required value, "
                        "spec.ports[1].port: Invalid value: 70000: must be between 1 and 65535, "
                        "inclusive, spec.ports[1].targetPort: Invalid value: 70000: must be "
                        "between 1 and 65535, inclusive]");
    answer = api_post(api, DEFAULT "services",
                      "{\"metadata\":{\"name\":\"t\"},\"spec\":{\"clusterIP\":\"10.0.0.1\"}}");
    assert_int_equal(answer.status, 422);
}

static void test_config(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, DEFAULT "configmaps",
                                    "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a/b\":\"1\"}}");
    assert_int_equal(answer.status, 422);
    answer =
        api_post(api, DEFAULT "configmaps", "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":1}}");
    assert_int_equal(answer.status, 400);
    assert_string_equal(answer_message(&answer),
                        "ConfigMap in version \"v1\" cannot be handled as a ConfigMap: data.a must "
                        "be a string, not the number 1; quote it");
    api_post(api, DEFAULT "configmaps",
             "{\"metadata\":{\"name\":\"c\"},\"data\":{\"a\":\"1\"},\"immutable\":true}");
    answer = api_merge(api, DEFAULT "configmaps/c", "{\"data\":{\"a\":\"2\"}}");
    assert_string_equal(answer_message(&answer),
                        "ConfigMap \"c\" is invalid: data: Forbidden: field is immutable when "
                        "`immutable` is set");
    /* The limit counts the decoded bytes, not the base64 text. */
    enum { LIMIT = 1024 * 1024, ENCODED = (LIMIT + 2) / 3 * 4 };
    char *bytes = arena_alloc(api->arena, ENCODED + 1);
    memset(bytes, 'A', ENCODED);
    bytes[ENCODED] = '\0';
    bytes[ENCODED - 2] = bytes[ENCODED - 1] = '='; /* LIMIT is 3n + 1 */
#define BINARY_MAP "{\"metadata\":{\"name\":\"d\"},\"binaryData\":{\"a\":\"%s\""
    answer = api_post(api, DEFAULT "configmaps?dryRun=All",
                      arena_printf(api->arena, BINARY_MAP "}}", bytes));
    assert_int_equal(answer.status, 201);
    answer = api_post(api, DEFAULT "configmaps?dryRun=All",
                      arena_printf(api->arena, BINARY_MAP ",\"b\":\"YQ==\"}}", bytes));
    assert_string_equal(answer_message(&answer),
                        "ConfigMap \"d\" is invalid: []: Too long: may not "
                        "be more than 1048576 bytes");
}

static void test_secret(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, DEFAULT "secrets",
                 "{\"metadata\":{\"name\":\"s\"},\"stringData\":{\"a\":\"secret\"}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "data.a"), "c2VjcmV0");
    assert_string_equal(answer_at(api, &answer, "stringData"), "");
    assert_string_equal(answer_at(api, &answer, "type"), "Opaque");
    answer =
        api_post(api, DEFAULT "secrets", "{\"metadata\":{\"name\":\"t\"},\"data\":{\"a\":\"?\"}}");
    assert_int_equal(answer.status, 400);
    answer = api_merge(api, DEFAULT "secrets/s", "{\"type\":\"other\"}");
    assert_int_equal(answer.status, 422);
    static const struct {
        const char *type, *data, *complaint;
    } rows[] = {
        {"ssh-auth", "\"ssh-privatekey\":\"\"", "data[ssh-privatekey]: Required value"},
        {"dockercfg", "\".dockercfg\":\"W10=\"",
         "data[.dockercfg]: Invalid value: \"<secret contents redacted>\": must be JSON"},
        {"service-account-token", "",
         "metadata.annotations[kubernetes.io/service-account.name]: Required value"},
        {"basic-auth", "\"username\":\"\"", NULL},
        {"dockercfg", "\".dockercfg\":\"e30=\"", NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        answer = api_post(api, DEFAULT "secrets?dryRun=All",
                          arena_printf(api->arena,
                                       "{\"metadata\":{\"name\":\"u\"},\"type\":"
                                       "\"kubernetes.io/%s\",\"data\":{%s}}",
                                       rows[i].type, rows[i].data));
        if (rows[i].complaint ? !strstr(answer_message(&answer), rows[i].complaint)
                              : answer.status != 201)
            fail_msg("%s {%s}: %d, %s", rows[i].type, rows[i].data, answer.status,
                     answer.status > 201 ? answer_message(&answer) : "accepted");
    }
}

static void test_claim(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, DEFAULT "persistentvolumeclaims",
                                    "{\"metadata\":{\"name\":\"c\"},\"spec\":{}}");
    assert_string_equal(answer_message(&answer),
                        "PersistentVolumeClaim \"c\" is invalid: [spec.accessModes: Required "
                        "value: at least 1 access mode is required, spec.resources[storage]: "
                        "Required value]");
    answer =
        api_post(api, DEFAULT "persistentvolumeclaims",
                 "{\"metadata\":{\"name\":\"c\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
                 "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "status.phase"), "Pending");
    answer = api_merge(api, DEFAULT "persistentvolumeclaims/c",
                       "{\"spec\":{\"storageClassName\":\"other\"}}");
    assert_int_equal(answer.status, 422);
    answer = api_merge(api, DEFAULT "persistentvolumeclaims/c",
                       "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}}}");
    assert_string_equal(
        answer_message(&answer),
        "PersistentVolumeClaim \"c\" is invalid: spec: Forbidden: spec is immutable "
        "after creation except resources.requests and volumeAttributesClassName "
        "for bound claims");
    /* A bound claim may grow, but not shrink. */
    api_merge(api, DEFAULT "persistentvolumeclaims/c/status",
              "{\"status\":{\"phase\":\"Bound\",\"capacity\":{\"storage\":\"1Gi\"}}}");
    answer = api_merge(api, DEFAULT "persistentvolumeclaims/c",
                       "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"2Gi\"}}}}");
    assert_int_equal(answer.status, 200);
    answer = api_merge(api, DEFAULT "persistentvolumeclaims/c",
                       "{\"spec\":{\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}");
    assert_string_equal(answer_message(&answer),
                        "PersistentVolumeClaim \"c\" is invalid: spec.resources.requests.storage: "
                        "Forbidden: field can not be less than status.capacity");
}

/* Cases in which a PersistentVolume is rejected, beyond those recorded from a real server. */
static void test_volume(void **state)
{
    static const struct {
        const char *source, *complaint;
    } rows[] = {
        {"\"hostPath\":{\"path\":\"\"}", "spec.hostPath.path: Required value"},
        {"\"hostPath\":{\"path\":\"/a/../b\"}",
         "spec.hostPath.path: Invalid value: \"/a/../b\": must not contain '..'"},
        {"\"hostPath\":{\"path\":\"//.\"},\"persistentVolumeReclaimPolicy\":\"Recycle\"",
         "spec.persistentVolumeReclaimPolicy: Forbidden: may not be 'recycle' for a hostPath mount "
         "of '/'"},
        {"\"local\":{\"path\":\"/a\"}",
         "spec.nodeAffinity: Required value: Local volume requires node affinity"},
        {"\"local\":{\"path\":\"/a/..\"},\"nodeAffinity\":{}",
         "spec.local.path: Invalid value: \"/a/..\": must not contain '..', "
         "spec.nodeAffinity.required: Required value: must specify required node constraints"},
        {"\"csi\":{\"driver\":\"d\"}", "spec.csi.volumeHandle: Required value"},
        {"\"nfs\":{\"server\":\"s\",\"path\":\"/\"},\"hostPath\":{\"path\":\"/a\"}",
         "spec.nfs: Forbidden: may not specify more than 1 volume type"},
        {"\"hostPath\":{\"path\":\"/a\"},\"accessModes\":[\"ReadWriteOncePod\",\"ReadOnlyMany\"]",
         "spec.accessModes: Forbidden: may not use ReadWriteOncePod with other access modes"},
    };
    struct api *api = *state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const char *modes =
            strstr(rows[i].source, "accessModes") ? "" : "\"accessModes\":[\"ReadWriteOnce\"],";
        struct answer answer = api_post(
            api, "/api/v1/persistentvolumes",
            arena_printf(api->arena,
                         "{\"metadata\":{\"name\":\"v\"},\"spec\":{%s\"capacity\":{\"storage\":"
                         "\"1Gi\"},%s}}",
                         modes, rows[i].source));
        if (answer.status != 422 || !strstr(answer_message(&answer), rows[i].complaint))
            fail_msg("%s: %d, %s", rows[i].source, answer.status, answer_message(&answer));
    }
}

static void test_tfjob(void **state)
{
    struct api *api = *state;
    const char *path = "/apis/kubeflow.org/v1/namespaces/default/tfjobs";
    struct answer answer = api_post(api, path, "{\"metadata\":{\"name\":\"j\"},\"spec\":{}}");
    assert_string_equal(answer_message(&answer), "TFJob.kubeflow.org \"j\" is invalid: "
                                                 "spec.tfReplicaSpecs: Required value");
    answer = api_post(api, path,
                      "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"tfReplicaSpecs\":{\"Worker\":"
                      "{\"replicas\":\"2\"}}}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_at(api, &answer, "details.causes.0.field"),
                        "spec.tfReplicaSpecs.Worker.replicas");
    /* An unknown field is dropped with a warning. */
    answer =
        api_post(api, path,
                 "{\"metadata\":{\"name\":\"j\"},\"spec\":{\"tfReplicaSpecs\":{\"PS\":{}},\"x\":"
                 "{\"y\":1.50}},\"status\":{\"startTime\":\"x\"}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.x"), "");
    assert_string_equal(answer.warning, "299 - \"unknown field \\\"spec.x\\\"\"");
    assert_string_equal(answer_at(api, &answer, "status"), "");
}

static void test_self_subject_access_review(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
                 "{\"spec\":{\"resourceAttributes\":{\"verb\":\"create\",\"resource\":\"pods\"}}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "status.allowed"), "true");
    assert_int_equal(api_get(api, "/apis/authorization.k8s.io/v1/selfsubjectaccessreviews").status,
                     405);
}

static void stub_logs(void *context, struct http_exchange *exchange, const struct json *pod,
                      const struct engine_pod_logs *options)
{
    const char *text = arena_printf(exchange->arena, "%s follow=%d tail=%lld", options->container,
                                    options->follow, (long long)options->tail_lines);
    http_respond(exchange, 200, "text/plain", text, strlen(text));
}

static void test_logs(void **state)
{
    struct api *api = *state;
    const struct engine_pod_backend backend = {.logs = stub_logs};
    api_post(api, DEFAULT "pods", POD_X);
    struct answer answer = api_get(api, DEFAULT "pods/x/log");
    assert_int_equal(answer.status, 503);
    engine_set_pod_backend(api->engine, &backend);
    answer = api_get(api, DEFAULT "pods/x/log");
    assert_int_equal(answer.status, 400); /* the pod has no node yet */
    api_post(api, DEFAULT "pods/x/binding", "{\"target\":{\"name\":\"n\"}}");
    api_merge(api, DEFAULT "pods/x/status", "{\"status\":{\"phase\":\"Running\"}}");
    answer = api_get(api, DEFAULT "pods/x/log?follow=true&tailLines=5");
    assert_string_equal(answer.body, "main follow=1 tail=5");
    answer = api_get(api, DEFAULT "pods/x/log?container=other");
    assert_string_equal(answer_message(&answer), "container other is not valid for pod x");
    assert_int_equal(api_get(api, DEFAULT "pods/x/log?tailLines=many").status, 400);
    assert_int_equal(api_get(api, DEFAULT "pods/none/log").status, 404);
}

/* Pods tolerate an unreachable node for a while, unless their own tolerations say otherwise. */
static void test_default_tolerations(void **state)
{
    struct api *api = *state;
    api_post(api, DEFAULT "pods", POD_X);
    assert_string_equal(api_at(api, DEFAULT "pods/x", "spec.tolerations.0.key"),
                        "node.kubernetes.io/not-ready");
    assert_string_equal(api_at(api, DEFAULT "pods/x", "spec.tolerations.1.key"),
                        "node.kubernetes.io/unreachable");
    assert_string_equal(api_at(api, DEFAULT "pods/x", "spec.tolerations.1.operator"), "Exists");
    assert_string_equal(api_at(api, DEFAULT "pods/x", "spec.tolerations.1.effect"), "NoExecute");
    assert_string_equal(api_at(api, DEFAULT "pods/x", "spec.tolerations.1.tolerationSeconds"),
                        "300");
    api_post(api, DEFAULT "pods",
             "{\"metadata\":{\"name\":\"y\"},\"spec\":{\"tolerations\":[{\"key\":"
             "\"node.kubernetes.io/not-ready\",\"operator\":\"Exists\"}],\"containers\":[{"
             "\"name\":\"main\",\"image\":\"i\"}]}}");
    assert_string_equal(api_at(api, DEFAULT "pods/y", "spec.tolerations.1.key"),
                        "node.kubernetes.io/unreachable");
    assert_string_equal(api_at(api, DEFAULT "pods/y", "spec.tolerations.2.key"), "");
    api_post(api, DEFAULT "pods",
             "{\"metadata\":{\"name\":\"z\"},\"spec\":{\"tolerations\":[{\"operator\":\"Exists\"}],"
             "\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}");
    assert_string_equal(api_at(api, DEFAULT "pods/z", "spec.tolerations.1.key"), "");
}

/* Texts that a kind's own rules do not check are checked against the allowed values of its
 * table. */
static void test_unsupported_values(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(
        api, DEFAULT "pods",
        "{\"metadata\":{\"name\":\"y\"},\"spec\":{\"volumes\":[{\"name\":\"v\",\"image\":{"
        "\"reference\":\"i\",\"pullPolicy\":\"Often\"}}],\"containers\":[{\"name\":\"main\","
        "\"image\":\"i\"}]}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(
        answer_message(&answer),
        "Pod \"y\" is invalid: spec.volumes[0].image.pullPolicy: Unsupported value: "
        "\"Often\": supported values: \"Always\", \"IfNotPresent\", \"Never\"");
    answer = api_post(
        api, "/apis/apps/v1/namespaces/default/replicasets",
        "{\"metadata\":{\"name\":\"y\"},\"spec\":{\"selector\":{\"matchLabels\":{\"a\":\"b\"}},"
        "\"template\":{\"metadata\":{\"labels\":{\"a\":\"b\"}},\"spec\":{\"preemptionPolicy\":"
        "\"Now\",\"containers\":[{\"name\":\"main\",\"image\":\"i\"}]}}}}");
    assert_string_equal(answer_message(&answer),
                        "ReplicaSet.apps \"y\" is invalid: spec.template.spec.preemptionPolicy: "
                        "Unsupported value: \"Now\": supported values: \"PreemptLowerPriority\", "
                        "\"Never\"");
}

/* podCIDR is the first of podCIDRs, whichever of the two was written. */
static void test_node_ranges(void **state)
{
    struct api *api = *state;
    static const char node[] = "/api/v1/nodes/n";
    api_post(api, "/api/v1/nodes",
             "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"podCIDRs\":[\"192.0.2.0/24\"]}}");
    assert_string_equal(api_at(api, node, "spec.podCIDR"), "192.0.2.0/24");
    api_post(api, "/api/v1/nodes", "{\"metadata\":{\"name\":\"m\"}}");
    api_merge(api, "/api/v1/nodes/m", "{\"spec\":{\"podCIDR\":\"192.0.2.0/24\"}}");
    assert_string_equal(api_at(api, "/api/v1/nodes/m", "spec.podCIDRs.0"), "192.0.2.0/24");
    struct answer answer = api_merge(api, node, "{\"spec\":{\"podCIDR\":\"192.0.3.0/24\"}}");
    assert_int_equal(answer.status, 422);
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_service),
        API_TEST(test_config),
        API_TEST(test_secret),
        API_TEST(test_claim),
        API_TEST(test_volume),
        API_TEST(test_tfjob),
        API_TEST(test_self_subject_access_review),
        API_TEST(test_logs),
        API_TEST(test_default_tolerations),
        API_TEST(test_node_ranges),
        API_TEST(test_unsupported_values),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

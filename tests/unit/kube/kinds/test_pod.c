/* Tests pods: which defaults are set, and what is rejected with Kubernetes' messages. */
#include "base/str.h"
#include "kube/kinds/pod/pod.h"
#include "kube/schema/decode.h"
#include "kube/schema/default.h"
#include "kube/types/types.h"
#include "tree.h"

static int complete(struct json *pod, struct err *err)
{
    int r = schema_decode(arena, &TYPE_POD, SCHEMA_FORM_TYPED, pod, NULL, err);
    if (r < 0)
        return r;
    schema_default(arena, &TYPE_POD, pod);
    kube_pod_defaults(arena, pod);
    return 0;
}

/* Returns the errors of a pod with this spec, after defaulting; "": none. */
static const char *errors_of_spec(const char *spec)
{
    struct field_errors errors;
    struct err err = ERR_INIT;
    struct json *pod = tree(arena_printf(arena, "{\"spec\":%s}", spec));
    field_errors_init(&errors, arena);
    if (complete(pod, &err) < 0)
        return arena_strdup(arena, err.message);
    kube_pod_validate(&errors, pod, NULL);
    return field_errors_text(&errors);
}

#define MAIN "\"name\":\"m\",\"image\":\"i\""

static void test_refused(void **state)
{
    static const struct {
        const char *spec, *complaint;
    } rows[] = {
        {"null", "spec.containers: Required value"},
        {"5", "spec must be an object, not the number 5"},
        {"{\"containers\":[{" MAIN "}],\"hostNetwork\":\"yes\"}",
         "spec.hostNetwork must be true or false, not the string \"yes\""},
        {"{\"containers\":[{" MAIN "}],\"subdomain\":7}",
         "spec.subdomain must be a string, not the number 7; quote it"},
        {"{\"containers\":[{" MAIN "}],\"hostname\":\"A_B\"}",
         "spec.hostname: Invalid value: \"A_B\": a lowercase RFC 1123 label must consist of lower "
         "case alphanumeric characters or '-', and must start and end with an alphanumeric "
         "character (e.g. 'my-name',  or '123-abc', regex used for validation is "
         "'[a-z0-9]([-a-z0-9]*[a-z0-9])?')"},
        {"{}", "spec.containers: Required value"},
        {"{\"containers\":[]}", "spec.containers: Required value"},
        {"{\"containers\":[{}]}", "[spec.containers[0].name: Required value, "
                                  "spec.containers[0].image: Required value]"},
        {"{\"containers\":[{" MAIN "},{" MAIN "}]}",
         "spec.containers[1].name: Duplicate value: \"m\""},
        {"{\"initContainers\":[{" MAIN "}],\"containers\":[{" MAIN "}]}",
         "spec.initContainers[0].name: Duplicate value: \"m\""},
        {"{\"containers\":[{" MAIN ",\"restartPolicy\":\"Sometimes\"}]}",
         "spec.containers[0].restartPolicy: Unsupported value: \"Sometimes\": supported values: "
         "\"Always\", \"OnFailure\", \"Never\""},
        {"{\"containers\":[{" MAIN ",\"restartPolicyRules\":[{\"action\":\"Restart\","
         "\"exitCodes\":{\"operator\":\"In\",\"values\":[1]}}]}]}",
         "spec.containers[0].restartPolicy: Required value: must specify restartPolicy when "
         "restart rules are used"},
        {"{\"containers\":[{" MAIN ",\"restartPolicy\":\"Never\",\"restartPolicyRules\":[{"
         "\"action\":\"Stop\"},{\"action\":\"Restart\",\"exitCodes\":{\"operator\":"
         "\"Near\"}}]}]}",
         "[spec.containers[0].restartPolicyRules[0].action: Unsupported value: \"Stop\": supported "
         "values: \"Restart\", spec.containers[0].restartPolicyRules[0].exitCodes: Required "
         "value: must be specified, spec.containers[0].restartPolicyRules[1].exitCodes.operator: "
         "Unsupported value: \"Near\": supported values: \"In\", \"NotIn\", "
         "spec.containers[0].restartPolicyRules[1].exitCodes.values: Required value: must specify "
         "at least one value]"},
        {"{\"containers\":[{" MAIN "}],\"restartPolicy\":\"Sometimes\"}",
         "spec.restartPolicy: Unsupported value: \"Sometimes\": supported values: \"Always\", "
         "\"OnFailure\", \"Never\""},
        {"{\"containers\":[{" MAIN ",\"ports\":[{\"containerPort\":0}]}]}",
         "spec.containers[0].ports[0].containerPort: Required value"},
        {"{\"containers\":[{" MAIN ",\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}]}]}",
         "spec.containers[0].volumeMounts[0].name: Not found: \"v\""},
        {"{\"containers\":[{" MAIN ",\"env\":[{\"name\":\"\"}]}]}",
         "spec.containers[0].env[0].name: Required value"},
        {"{\"containers\":[{" MAIN ",\"env\":[{\"name\":\"A\",\"value\":1}]}]}",
         "spec.containers[0].env[0].value must be a string, not the number 1; quote it"},
        {"{\"containers\":[{" MAIN ",\"command\":[\"a\",true]}]}",
         "spec.containers[0].command[1] must be a string, not a boolean; quote it"},
        {"{\"containers\":{}}", "spec.containers must be a list, not an object"},
        {"{\"containers\":[{" MAIN ",\"resources\":{\"limits\":{\"cpu\":\"-1\"}}}]}",
         "[spec.containers[0].resources.limits[cpu]: Invalid value: \"-1\": must be greater than "
         "or equal to 0, spec.containers[0].resources.requests[cpu]: Invalid value: \"-1\": must "
         "be greater than or equal to 0]"},
        {"{\"containers\":[{" MAIN "}],\"volumes\":[{\"name\":\"v\"},{\"name\":\"v\"}]}",
         "spec.volumes[1].name: Duplicate value: \"v\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
        assert_string_equal(errors_of_spec(rows[i].spec), rows[i].complaint);
}

/* Paths of files in volumes must stay below the volume, and must not be names that the node uses
 * itself. */
static void test_paths_of_files(void **state)
{
#define ITEM(path) "{\"items\":[{\"key\":\"k\",\"path\":\"" path "\"}],"
#define FIELD(path)                                                                                \
    "{\"items\":[{\"path\":\"" path "\",\"fieldRef\":{\"fieldPath\":\"metadata.name\"}}]}"
    static const struct {
        const char *volume, *complaint;
    } rows[] = {
        {"\"configMap\":" ITEM("/p") "\"name\":\"m\"}",
         "configMap.items[0].path: Invalid value: \"/p\": must be a relative path"},
        {"\"configMap\":" ITEM("..p") "\"name\":\"m\"}",
         "configMap.items[0].path: Invalid value: \"..p\": must not start with '..'"},
        {"\"secret\":" ITEM("a/../b") "\"secretName\":\"m\"}",
         "secret.items[0].path: Invalid value: \"a/../b\": must not contain '..'"},
        {"\"downwardAPI\":" FIELD("../p"),
         "downwardAPI.path: Invalid value: \"../p\": must not contain '..'"},
        {"\"projected\":{\"sources\":[{\"configMap\":" ITEM("../p") "\"name\":\"m\"}}]}",
         "projected.sources[0].configMap.items[0].path: Invalid value: \"../p\": must not contain "
         "'..'"},
        {"\"projected\":{\"sources\":[{\"secret\":" ITEM("/p") "\"name\":\"m\"}}]}",
         "projected.sources[0].secret.items[0].path: Invalid value: \"/p\": must be a relative "
         "path"},
        {"\"projected\":{\"sources\":[{\"downwardAPI\":" FIELD("../p") "}]}",
         "projected.sources[0].downwardAPI.path: Invalid value: \"../p\": must not contain '..'"},
        {"\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"path\":\"../t\"}}]}",
         "projected.sources[0].serviceAccountToken.path: Invalid value: \"../t\": must not contain "
         "'..'"},
        {"\"projected\":{\"sources\":[{\"serviceAccountToken\":{\"path\":\"t\","
         "\"expirationSeconds\":1}}]}",
         "projected.sources[0].serviceAccountToken.expirationSeconds: Invalid value: 1: may not "
         "specify a duration less than 10 minutes"},
        {"\"projected\":{\"sources\":[{\"configMap\":{}}]}",
         "projected.sources[0].configMap.name: Required value"},
        {"\"projected\":{\"defaultMode\":1000,\"sources\":[]}",
         "projected.defaultMode: Invalid value: 1000: must be a number between 0 and 0777 (octal), "
         "both inclusive"},
        {"\"projected\":{\"sources\":[{\"configMap\":" ITEM("p") "\"name\":\"m\"},"
                                                                 "\"secret\":" ITEM(
                                                                     "q") "\"name\":\"s\"}}]}",
         "projected.sources[0].configMap: Forbidden: may not specify more than 1 volume type"},
        {"\"projected\":{\"sources\":[{\"configMap\":" ITEM("p") "\"name\":\"m\"}},"
                                                                 "{\"secret\":" ITEM(
                                                                     "p") "\"name\":\"s\"}}]}",
         "projected: Invalid value: \"s\": conflicting duplicate paths"},
        {"\"projected\":{\"sources\":[{\"configMap\":" ITEM(
             "p") "\"name\":\"m\"}},"
                  "{\"downwardAPI\":" FIELD("q") "},{\"serviceAccountToken\":{\"path\":\"t\"}}]}",
         NULL},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        const char *said = errors_of_spec(
            arena_printf(arena, "{\"containers\":[{" MAIN "}],\"volumes\":[{\"name\":\"v\",%s}]}",
                         rows[i].volume));
        const char *expected =
            rows[i].complaint ? arena_printf(arena, "spec.volumes[0].%s", rows[i].complaint) : "";
        assert_string_equal(said, expected);
    }
}

static void test_accepted(void **state)
{
    assert_string_equal(errors_of_spec("{\"containers\":[{" MAIN "}]}"), "");
    assert_string_equal(
        errors_of_spec(
            "{\"containers\":[{" MAIN ",\"ports\":[{\"name\":\"http\",\"containerPort\":80}],"
            "\"env\":[{\"name\":\"A\",\"valueFrom\":{\"fieldRef\":{\"fieldPath\":"
            "\"metadata.name\"}}}],\"volumeMounts\":[{\"name\":\"v\",\"mountPath\":\"/v\"}],"
            "\"resources\":{\"limits\":{\"cpu\":2,\"memory\":\"1Gi\"}}}],\"volumes\":[{"
            "\"name\":\"v\"}],\"nodeSelector\":{\"a\":\"b\"}}"),
        "");
}

static void test_defaults(void **state)
{
    struct json *pod =
        tree("{\"spec\":{\"hostNetwork\":true,\"containers\":[{" MAIN ",\"ports\":"
             "[{\"containerPort\":80}],\"readinessProbe\":{\"httpGet\":{\"port\":80}}"
             ",\"resources\":{\"limits\":{\"cpu\":\"1\"}}},{\"name\":\"s\",\"image\":"
             "\"r.io:5000/x:v2\"}],\"volumes\":[{\"name\":\"v\"},{\"name\":\"c\","
             "\"configMap\":{\"name\":\"c\"}}]}}");
    assert_int_equal(complete(pod, NULL), 0);
    kube_pod_prepare_new(arena, pod);
    struct json *spec = json_get(pod, "spec");
    struct json *first = json_first(json_get(spec, "containers"));
    assert_string_equal(json_get_string(first, "imagePullPolicy", ""), "Always");
    assert_string_equal(json_get_string(first->next, "imagePullPolicy", ""), "IfNotPresent");
    struct json *port = json_first(json_get(first, "ports"));
    assert_string_equal(json_get_string(port, "protocol", ""), "TCP");
    assert_int_equal(json_get_int(port, "hostPort", 0), 80);
    assert_int_equal(json_get_int(json_get(first, "readinessProbe"), "periodSeconds", 0), 10);
    assert_string_equal(
        json_get_string(json_at(first, "readinessProbe", "httpGet", NULL), "path", ""), "/");
    assert_string_equal(json_get_string(json_at(first, "resources", "requests", NULL), "cpu", ""),
                        "1");
    struct json *volume = json_first(json_get(spec, "volumes"));
    assert_non_null(json_get(volume, "emptyDir"));
    assert_int_equal(json_get_int(json_get(volume->next, "configMap"), "defaultMode", 0), 0644);
    assert_string_equal(json_get_string(json_get(pod, "status"), "qosClass", ""), "Burstable");
    /* Setting the defaults twice changes nothing. */
    struct json *again = json_clone(arena, pod);
    kube_pod_defaults(arena, again);
    assert_true(json_equal(again, pod));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_refused),
        cmocka_unit_test(test_paths_of_files),
        cmocka_unit_test(test_accepted),
        cmocka_unit_test(test_defaults),
    };
    return cmocka_run_group_tests(tests, setup, teardown);
}

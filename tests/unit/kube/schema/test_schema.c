/* Tests objects that are read by the tables of their kinds: which fields are dropped, reported,
 * rejected, normalized, and filled in. */
#include "test_arena.h"

#include "base/json/json.h"
#include "base/str.h"
#include "kube/schema/decode.h"
#include "kube/schema/default.h"
#include "kube/types/types.h"
#include "operator/kind/training_types.h"

#include <string.h>

static struct json *tree(const char *text)
{
    struct json *json;
    struct err err = ERR_INIT;
    char *quoted = arena_strdup(arena, text);
    for (char *c = quoted; *c; c++)
        if (*c == '\'')
            *c = '"';
    if (json_parse(arena, quoted, strlen(quoted), NULL, &json, &err) < 0)
        fail_msg("%s: %s", text, err.message);
    return json;
}

static void expect(const struct json *json, const char *wanted)
{
    if (!json_equal(json, tree(wanted)))
        fail_msg("%s, not %s", json_to_string(arena, json), wanted);
}

struct row {
    const char *given, *wanted;
};

#define META "'metadata':{'creationTimestamp':null}"

static void test_normal_form(void **state)
{
    static const struct row pods[] = {
        /* Fields that are always present, and fields that are left out if they are empty. */
        {"{}", "{" META ",'spec':{'containers':null},'status':{}}"},
        {"{'spec':{'hostNetwork':false,'nodeName':'','containers':[],'volumes':null}}",
         "{" META ",'spec':{'containers':[]},'status':{}}"},
        {"{'metadata':{'labels':{},'name':'x','annotations':{'a':''}}}",
         "{'metadata':{'name':'x','annotations':{'a':''},'creationTimestamp':null},'spec':{"
         "'containers':null},'status':{}}"},
        /* A zero value is kept where an absent field means something else. */
        {"{'spec':{'terminationGracePeriodSeconds':0,'enableServiceLinks':false,'containers':[]}}",
         "{" META ",'spec':{'terminationGracePeriodSeconds':0,'enableServiceLinks':false,"
         "'containers':[]},'status':{}}"},
        {"{'spec':{'containers':[{'name':'m','command':[],'env':[{'name':'A','value':''}],"
         "'resources':{'limits':{'cpu':0.5,'memory':'1024Mi'},'requests':{}}}]}}",
         "{" META ",'spec':{'containers':[{'name':'m','env':[{'name':'A'}],'resources':{'limits':"
         "{'cpu':'500m','memory':'1Gi'}}}]},'status':{}}"},
        {"{'spec':{'containers':[],'volumes':[{'name':'v','emptyDir':{}}]}}",
         "{" META ",'spec':{'containers':[],'volumes':[{'name':'v','emptyDir':{}}]},'status':{}}"},
        {"{'metadata':{'creationTimestamp':'2026-01-31T12:00:00.5+02:00'}}",
         "{'metadata':{'creationTimestamp':'2026-01-31T10:00:00Z'},'spec':{'containers':null},"
         "'status':{}}"},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        struct json *pod = tree(pods[i].given);
        struct err err = ERR_INIT;
        if (schema_decode(arena, &TYPE_POD, SCHEMA_FORM_TYPED, pod, NULL, &err) < 0)
            fail_msg("%s: %s", pods[i].given, err.message);
        expect(pod, pods[i].wanted);
        /* Decoding the result again changes nothing. */
        assert_int_equal(schema_decode(arena, &TYPE_POD, SCHEMA_FORM_TYPED, pod, NULL, NULL), 0);
        expect(pod, pods[i].wanted);
    }
}

static void test_wrong_types(void **state)
{
    static const struct row pods[] = {
        {"{'spec':[]}", "spec must be an object, not an array"},
        {"{'spec':{'containers':{}}}", "spec.containers must be a list, not an object"},
        {"{'spec':{'containers':['m']}}",
         "spec.containers[0] must be an object, not the string \"m\""},
        {"{'spec':{'containers':[{'name':1}]}}",
         "spec.containers[0].name must be a string, not the number 1; quote it"},
        {"{'spec':{'containers':[{'args':['a',true]}]}}",
         "spec.containers[0].args[1] must be a string, not a boolean; quote it"},
        {"{'spec':{'hostNetwork':'no'}}",
         "spec.hostNetwork must be true or false, not the string \"no\""},
        {"{'spec':{'priority':2147483648}}",
         "spec.priority must be between -2147483648 and 2147483647, not 2147483648"},
        {"{'spec':{'priority':1.5}}", "spec.priority must be an integer, not a number"},
        {"{'spec':{'nodeSelector':{'a':1}}}",
         "spec.nodeSelector.a must be a string, not the number 1; quote it"},
        {"{'spec':{'containers':[{'resources':{'limits':{'cpu':'much'}}}]}}",
         "spec.containers[0].resources.limits.cpu: "},
        {"{'metadata':{'creationTimestamp':'today'}}", "metadata.creationTimestamp: "},
    };
    (void)state;
    for (size_t i = 0; i < sizeof(pods) / sizeof(pods[0]); i++) {
        struct err err = ERR_INIT;
        assert_true(schema_decode(arena, &TYPE_POD, SCHEMA_FORM_TYPED, tree(pods[i].given), NULL,
                                  &err) < 0);
        assert_int_equal(err.code, ERR_BAD_REQUEST);
        if (!str_has_prefix(err.message, pods[i].wanted))
            fail_msg("'%s', not '%s'", err.message, pods[i].wanted);
    }
    struct err err = ERR_INIT;
    assert_true(schema_decode(arena, &TYPE_SECRET, SCHEMA_FORM_TYPED, tree("{'data':{'a':'?'}}"),
                              NULL, &err) < 0);
    assert_string_equal(err.message, "data.a is not valid base64");
}

/* Custom kinds: known fields stay as they were written, with any value. The server normalizes only
 * metadata. */
static void test_custom_kinds_keep_written_values(void **state)
{
    (void)state;
    struct schema_report report;
    struct json *job = tree("{'metadata':{'labels':{}},'spec':{'runPolicy':{'backoffLimit':'3',"
                            "'suspend':null,'x':1},'tfReplicaSpecs':{'Worker':{'replicas':0,"
                            "'template':{'spec':{'containers':[{'resources':{'limits':{'cpu':"
                            "0.5}}}]}}}}}}");
    assert_int_equal(schema_decode(arena, &TFJOB_TYPE, SCHEMA_FORM_WRITTEN, job, &report, NULL), 0);
    expect(job, "{" META ",'spec':{'runPolicy':{'backoffLimit':'3'},'tfReplicaSpecs':{'Worker':{"
                "'replicas':0,'template':{'spec':{'containers':[{'resources':{'limits':{'cpu':0.5}"
                "}}]}}}}}}");
    assert_int_equal(report.unknown_count, 1);
    assert_string_equal(report.unknown[0].path, "spec.runPolicy.x");
    assert_null(report.unknown[0].meant);
    struct err err = ERR_INIT;
    assert_true(schema_decode(arena, &TFJOB_TYPE, SCHEMA_FORM_WRITTEN,
                              tree("{'metadata':{'labels':{'a':1}}}"), NULL, &err) < 0);
    assert_string_equal(err.message,
                        "metadata.labels.a must be a string, not the number 1; quote it");
}

/* A schema of a definition: null stays where it is allowed, and so do unknown fields. */
static void test_schema_of_a_definition(void **state)
{
    static const struct schema_field fields[] = {
        {.name = "a", .value.type = SCHEMA_STRING, .fallback = "\"x\""},
        {.name = "b", .value.type = SCHEMA_STRING},
        {.name = "c", .value = {.type = SCHEMA_STRING, .nullable = true}, .fallback = "\"x\""},
        {0},
    };
    static const struct schema_object closed = {.fields = fields};
    static const struct schema_object open = {.fields = fields, .preserve = true};
    (void)state;
    struct json *object = tree("{'a':null,'b':null,'c':null,'d':1}");
    assert_int_equal(schema_decode(arena, &closed, SCHEMA_FORM_STRUCTURAL, object, NULL, NULL), 0);
    expect(object, "{'c':null}");
    schema_default(arena, &closed, object);
    expect(object, "{'a':'x','c':null}");
    struct schema_report report;
    object = tree("{'d':1}");
    assert_int_equal(schema_decode(arena, &open, SCHEMA_FORM_STRUCTURAL, object, &report, NULL), 0);
    expect(object, "{'d':1}");
    assert_int_equal(report.unknown_count, 0);
}

static void test_report_is_bounded(void **state)
{
    (void)state;
    struct json *pod = json_object(arena);
    for (int i = 0; i < 3 * SCHEMA_MESSAGES_MAX; i++)
        json_set_int(arena, pod, arena_printf(arena, "u%d", i), i);
    struct schema_report report;
    assert_int_equal(schema_decode(arena, &TYPE_POD, SCHEMA_FORM_TYPED, pod, &report, NULL), 0);
    assert_int_equal(report.unknown_count, SCHEMA_MESSAGES_MAX);
    expect(pod, "{" META ",'spec':{'containers':null},'status':{}}");
}

static void test_defaults(void **state)
{
    (void)state;
    struct json *service = tree("{'spec':{'type':'','ports':[{'port':80},{'protocol':'UDP'}]}}");
    schema_default(arena, &TYPE_SERVICE, service);
    expect(service, "{'spec':{'type':'ClusterIP','ports':[{'port':80,'protocol':'TCP'},"
                    "{'protocol':'UDP'}],'sessionAffinity':'None'}}");
    /* Absent objects are not created for the sake of their defaults. A zero value that has a
     * meaning stays. */
    struct json *pod = tree("{'spec':{'terminationGracePeriodSeconds':0,'containers':[{"
                            "'livenessProbe':{'timeoutSeconds':0}}]}}");
    schema_default(arena, &TYPE_POD, pod);
    const struct json *container = json_first(json_at(pod, "spec", "containers", NULL));
    assert_int_equal(json_get_int(json_get(pod, "spec"), "terminationGracePeriodSeconds", 9), 0);
    assert_int_equal(json_get_int(json_get(container, "livenessProbe"), "timeoutSeconds", 9), 1);
    assert_null(json_get(container, "readinessProbe"));
    assert_null(json_get(pod, "status"));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(test_normal_form),
        TEST(test_wrong_types),
        TEST(test_custom_kinds_keep_written_values),
        TEST(test_schema_of_a_definition),
        TEST(test_report_is_bounded),
        TEST(test_defaults),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

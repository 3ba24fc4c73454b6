/* Tests the life of a custom resource: defined, served in two versions, scaled, shown, and deleted
 * with its definition. */
#include "api.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/schema/compile.h"
#include "read_json.h"

#define DEFINITIONS "/apis/apiextensions.k8s.io/v1/customresourcedefinitions"
#define DEFINITION  DEFINITIONS "/trains.yard.example"
#define TRAINS      "/apis/yard.example/v1/namespaces/default/trains"
#define OLD_TRAINS  "/apis/yard.example/v1beta1/namespaces/default/trains"
#define TABLE       "application/json;as=Table;v=v1;g=meta.k8s.io"

static const char TRAIN_DEFINITION[] =
    "{'apiVersion':'apiextensions.k8s.io/v1','kind':'CustomResourceDefinition',"
    "'metadata':{'name':'trains.yard.example'},'spec':{'group':'yard.example','scope':'Namespaced',"
    "'names':{'plural':'trains','kind':'Train','shortNames':['tr'],'categories':['all']},"
    "'versions':[{'name':'v1','served':true,'storage':true,"
    "'subresources':{'status':{},'scale':{'specReplicasPath':'.spec.cars',"
    "'statusReplicasPath':'.status.cars','labelSelectorPath':'.status.selector'}},"
    "'additionalPrinterColumns':[{'name':'Cars','type':'integer','jsonPath':'.spec.cars'},"
    "{'name':'Ready','type':'string','jsonPath':"
    "'.status.conditions[?(@.type==\\u0022Ready\\u0022)].status'},"
    "{'name':'Line','type':'string','jsonPath':'.spec.line','priority':1},"
    "{'name':'Age','type':'date','jsonPath':'.metadata.creationTimestamp'}],"
    "'schema':{'openAPIV3Schema':{'type':'object','properties':{"
    "'spec':{'type':'object','properties':{'cars':{'type':'integer','minimum':0,'maximum':10,"
    "'default':1},'line':{'type':'string'}}},"
    "'status':{'type':'object','properties':{'cars':{'type':'integer'},'selector':{'type':'string'}"
    ","
    "'conditions':{'type':'array','items':{'type':'object','properties':{'type':{'type':'string'},"
    "'status':{'type':'string'}}}}}}}}}},"
    "{'name':'v1beta1','served':true,'storage':false,'deprecated':true,"
    "'schema':{'openAPIV3Schema':{'type':'object','properties':{"
    "'spec':{'type':'object','properties':{'cars':{'type':'integer'},'line':{'type':'string'}}},"
    "'status':{'type':'object','x-kubernetes-preserve-unknown-fields':true}}}}}]}}";

static struct answer post(struct api *api, const char *path, const char *text)
{
    return api_post(api, path, quoted(api->arena, text));
}

static struct answer merge(struct api *api, const char *path, const char *text)
{
    return api_merge(api, path, quoted(api->arena, text));
}

static void define(struct api *api)
{
    struct answer answer = post(api, DEFINITIONS, TRAIN_DEFINITION);
    if (answer.status != 201)
        fail_msg("%d %s", answer.status, answer_message(&answer));
    assert_string_equal(answer_at(api, &answer, "status.conditions.0.type"), "NamesAccepted");
    assert_string_equal(answer_at(api, &answer, "status.conditions.1.type"), "Established");
    assert_string_equal(answer_at(api, &answer, "status.conditions.1.status"), "True");
    assert_string_equal(answer_at(api, &answer, "status.storedVersions.0"), "v1");
    assert_string_equal(answer_at(api, &answer, "spec.names.listKind"), "TrainList");
}

static void test_discovery(void **state)
{
    struct api *api = *state;
    define(api);
    struct answer answer = api_get(api, "/apis/yard.example");
    assert_string_equal(answer_at(api, &answer, "preferredVersion.version"), "v1");
    assert_string_equal(answer_at(api, &answer, "versions.1.version"), "v1beta1");
    answer = api_get(api, "/apis/yard.example/v1");
    assert_string_equal(answer_at(api, &answer, "resources.0.name"), "trains");
    assert_string_equal(answer_at(api, &answer, "resources.0.shortNames.0"), "tr");
    assert_string_equal(answer_at(api, &answer, "resources.1.name"), "trains/scale");
    assert_string_equal(answer_at(api, &answer, "resources.2.name"), "trains/status");
}

static void test_write(void **state)
{
    struct api *api = *state;
    define(api);
    struct answer answer =
        post(api, TRAINS, "{'metadata':{'name':'a'},'spec':{'bogus':1},'status':{'cars':7}}");
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.warning, "unknown field \\\"spec.bogus\\\""));
    assert_string_equal(answer_at(api, &answer, "spec"), "{\"cars\":1}");
    assert_string_equal(answer_at(api, &answer, "status"), "");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "yard.example/v1");
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "1");

    answer = merge(api, TRAINS "/a", "{'spec':{'cars':11}}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "Train.yard.example \"a\" is invalid: spec.cars: Invalid value: 11: "
                        "spec.cars in body should be less than or equal to 10");
    answer = merge(api, TRAINS "/a", "{'spec':{'cars':2},'status':{'cars':9}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "2");
    assert_string_equal(answer_at(api, &answer, "status"), "");

    answer = merge(api, TRAINS "/a/status", "{'spec':{'cars':5},'status':{'cars':2}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "spec.cars"), "2");
    assert_string_equal(answer_at(api, &answer, "status.cars"), "2");
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "2");
    answer = merge(api, TRAINS "/a/status", "{'status':{'cars':'two'}}");
    assert_int_equal(answer.status, 422);
    assert_int_equal(
        post(api, TRAINS "?fieldValidation=Strict", "{'metadata':{'name':'b'},'spec':{'bogus':1}}")
            .status,
        400);
}

static void test_versions(void **state)
{
    struct api *api = *state;
    define(api);
    struct stream *watch = stream_open(api, OLD_TRAINS "?watch=true", NULL);
    struct answer answer =
        post(api, OLD_TRAINS, "{'metadata':{'name':'a'},'spec':{'cars':12},'status':{'x':1}}");
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.warning, "yard.example/v1beta1 Train is deprecated"));
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "yard.example/v1beta1");
    /* This version has no status subresource. */
    assert_string_equal(answer_at(api, &answer, "status.x"), "1");
    answer = api_get(api, TRAINS "/a");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "yard.example/v1");
    assert_string_equal(answer.warning, "");
    answer = api_get(api, OLD_TRAINS);
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "yard.example/v1beta1");
    assert_string_equal(answer_at(api, &answer, "items.0.apiVersion"), "yard.example/v1beta1");
    answer = merge(api, OLD_TRAINS "/a", "{'status':{'x':2}}");
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "2");
    const struct json *seen = json_get(stream_event(watch, 1), "object");
    assert_string_equal(json_get_string(seen, "apiVersion", ""), "yard.example/v1beta1");

    /* An object that is stored in one version is also served in a later storage version. */
    answer = merge(api, DEFINITION,
                   "{'spec':{'versions':[{'name':'v2','served':true,'storage':true,"
                   "'schema':{'openAPIV3Schema':{'type':'object',"
                   "'x-kubernetes-preserve-unknown-fields':true}}},"
                   "{'name':'v1','served':false,'storage':false,'schema':{"
                   "'openAPIV3Schema':{'type':'object'}}}]}}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "status.storedVersions"), "[\"v1\",\"v2\"]");
    assert_int_equal(api_get(api, TRAINS "/a").status, 404);
    answer = api_get(api, "/apis/yard.example/v2/namespaces/default/trains/a");
    assert_string_equal(answer_at(api, &answer, "apiVersion"), "yard.example/v2");
    assert_string_equal(answer_at(api, &answer, "spec.cars"), "12");
    stream_close(watch);
}

static void test_scale(void **state)
{
    struct api *api = *state;
    define(api);
    post(api, TRAINS, "{'metadata':{'name':'a'}}");
    struct answer answer = api_get(api, TRAINS "/a/scale");
    /* 0 is left out, as Go does */
    assert_string_equal(answer_at(api, &answer, "spec.replicas"), "");
    answer = merge(api, TRAINS "/a/scale", "{'spec':{'replicas':4}}");
    assert_int_equal(answer.status, 200);
    merge(api, TRAINS "/a/status", "{'status':{'cars':3,'selector':'a=b'}}");
    answer = api_get(api, TRAINS "/a/scale");
    assert_string_equal(answer_at(api, &answer, "spec.replicas"), "4");
    assert_string_equal(answer_at(api, &answer, "status.replicas"), "3");
    assert_string_equal(answer_at(api, &answer, "status.selector"), "a=b");
    assert_string_equal(api_at(api, TRAINS "/a", "spec.cars"), "4");
    answer = merge(api, TRAINS "/a/scale", "{'spec':{'replicas':40}}");
    assert_int_equal(answer.status, 422);
}

/* Besides its schema, the value that a Scale shows must be a valid number of replicas. */
static void test_scale_of_invalid_values(void **state)
{
    static const struct {
        const char *object, *complaint;
    } rows[] = {
        {"{'metadata':{'name':'a'},'spec':{'cars':-1}}",
         ".spec.cars: Invalid value: -1: should be a non-negative integer"},
        {"{'metadata':{'name':'a'},'spec':{'cars':2147483648}}",
         ".spec.cars: Invalid value: 2147483648: should be less than or equal to 2147483647"},
        {"{'metadata':{'name':'a'},'spec':{'cars':'many'}}",
         ".spec.cars: Invalid value: 0: .spec.cars accessor error: many is of the type string, "
         "expected int64"},
        {"{'metadata':{'name':'a'},'spec':{'cars':{'of':['wood',null,true]}}}",
         ".spec.cars: Invalid value: 0: .spec.cars accessor error: map[of:[wood <nil> true]] is of "
         "the type map[string]interface {}, expected int64"},
        {"{'metadata':{'name':'a'},'spec':1.5}",
         ".spec.cars: Invalid value: 0: .spec.cars accessor error: 1.5 is of the type float64, "
         "expected map[string]interface{}"},
    };
    struct api *api = *state;
    define(api);
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct answer answer = post(api, TRAINS, rows[i].object);
        assert_int_equal(answer.status, 422);
        if (!strstr(answer_at(api, &answer, "message"), rows[i].complaint))
            fail_msg("'%s' is not in '%s'", rows[i].complaint, answer_at(api, &answer, "message"));
    }
    post(api, TRAINS, "{'metadata':{'name':'a'}}");
    struct answer answer = merge(api, TRAINS "/a/status", "{'status':{'cars':-1}}");
    assert_int_equal(answer.status, 422);
}

static void test_table(void **state)
{
    struct api *api = *state;
    define(api);
    post(api, TRAINS, "{'metadata':{'name':'a'},'spec':{'cars':3,'line':'red'}}");
    merge(api, TRAINS "/a/status",
          "{'status':{'conditions':[{'type':'Done','status':'False'},"
          "{'type':'Ready','status':'True'}]}}");
    post(api, TRAINS, "{'metadata':{'name':'b'}}");
    struct answer answer = api_call(api, "GET", TRAINS, NULL, TABLE, NULL);
    assert_string_equal(answer_at(api, &answer, "columnDefinitions.0.name"), "Name");
    assert_string_equal(answer_at(api, &answer, "columnDefinitions.1.name"), "Cars");
    assert_string_equal(answer_at(api, &answer, "columnDefinitions.3.priority"), "1");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.0"), "a");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.1"), "3");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.2"), "True");
    assert_string_equal(answer_at(api, &answer, "rows.0.cells.3"), "red");
    assert_non_null(strchr(answer_at(api, &answer, "rows.0.cells.4"), 's'));
    assert_string_equal(answer_at(api, &answer, "rows.1.cells.2"), "null");
    answer = api_call(api, "GET", OLD_TRAINS, NULL, TABLE, NULL);
    assert_string_equal(answer_at(api, &answer, "columnDefinitions.1.name"), "Age");
}

/* Another server on the same store serves the resource before the first request. */
static void test_restart(void **state)
{
    struct api *api = *state;
    define(api);
    post(api, TRAINS, "{'metadata':{'name':'a'},'spec':{'cars':3}}");
    api_restart(api, NULL);
    assert_string_equal(api_at(api, TRAINS "/a", "spec.cars"), "3");
    assert_int_equal(merge(api, TRAINS "/a", "{'spec':{'cars':11}}").status, 422);
}

static void test_update_changes_the_schema(void **state)
{
    struct api *api = *state;
    define(api);
    post(api, TRAINS, "{'metadata':{'name':'a'}}");
    struct stream *watch = stream_open(api, TRAINS "?watch=true", NULL);
    struct answer answer = api_get(api, DEFINITION);
    struct json *limit =
        json_at(json_element(json_at(answer.json, "spec", "versions", NULL), 0), "schema",
                "openAPIV3Schema", "properties", "spec", "properties", "cars", NULL);
    json_set_int(api->arena, limit, "maximum", 20);
    answer = api_put(api, DEFINITION, json_to_string(api->arena, answer.json));
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "metadata.generation"), "2");
    assert_int_equal(merge(api, TRAINS "/a", "{'spec':{'cars':11}}").status, 200);
    assert_string_equal(stream_text(watch, 0), "ADDED a, MODIFIED a");
    stream_close(watch);
}

static void test_deletion(void **state)
{
    struct api *api = *state;
    define(api);
    post(api, TRAINS, "{'metadata':{'name':'a'}}");
    post(api, TRAINS, "{'metadata':{'name':'b','finalizers':['yard.example/wait']}}");
    struct stream *watch = stream_open(api, TRAINS "?watch=true", NULL);
    api_run(api, 1000);
    struct answer answer = api_delete(api, DEFINITION, NULL);
    assert_int_equal(answer.status, 200);
    api_run(api, 3000);
    answer = api_get(api, DEFINITION);
    assert_string_equal(answer_at(api, &answer, "status.conditions.2.type"), "Terminating");
    assert_int_equal(api_get(api, TRAINS "/a").status, 404);
    assert_int_equal(api_get(api, TRAINS "/b").status, 200);
    assert_int_equal(post(api, TRAINS, "{'metadata':{'name':'c'}}").status, 405);
    assert_false(stream_ended(watch));

    merge(api, TRAINS "/b", "{'metadata':{'finalizers':null}}");
    api_run(api, 3000);
    assert_int_equal(api_get(api, DEFINITION).status, 404);
    assert_int_equal(api_get(api, TRAINS).status, 404);
    assert_true(stream_ended(watch));
    stream_close(watch);
    define(api);
    answer = api_get(api, TRAINS);
    assert_string_equal(answer_at(api, &answer, "items"), "[]");
}

/* Custom resources of any version are garbage collected, deleted with their namespace, and can own
 * other objects. */
static void test_garbage(void **state)
{
    struct api *api = *state;
    define(api);
    api_run(api, 1000);
    struct answer answer = post(api, TRAINS, "{'metadata':{'name':'owner'}}");
    static const char OWNED[] = "{'metadata':{'name':'%s','ownerReferences':[{'apiVersion':'%s',"
                                "'kind':'%s','name':'%s','uid':'%s'}]}}";
    post(api, "/api/v1/namespaces/default/configmaps",
         arena_printf(api->arena, OWNED, "m", "yard.example/v1beta1", "Train", "owner",
                      answer_at(api, &answer, "metadata.uid")));
    answer = api_get(api, "/api/v1/namespaces/default/configmaps/m");
    assert_int_equal(answer.status, 200);
    post(api, TRAINS,
         arena_printf(api->arena, OWNED, "owned", "v1", "ConfigMap", "m",
                      answer_at(api, &answer, "metadata.uid")));
    api_run(api, 1000);
    assert_int_equal(api_get(api, TRAINS "/owned").status, 200);
    api_delete(api, TRAINS "/owner", NULL);
    api_run(api, 3000);
    assert_int_equal(api_get(api, "/api/v1/namespaces/default/configmaps/m").status, 404);
    assert_int_equal(api_get(api, TRAINS "/owned").status, 404);

    post(api, "/api/v1/namespaces", "{'metadata':{'name':'depot'}}");
    post(api, "/apis/yard.example/v1/namespaces/depot/trains", "{'metadata':{'name':'x'}}");
    api_delete(api, "/api/v1/namespaces/depot", NULL);
    api_run(api, 5000);
    assert_int_equal(api_get(api, "/api/v1/namespaces/depot").status, 404);
    answer = api_get(api, "/apis/yard.example/v1/trains");
    assert_string_equal(answer_at(api, &answer, "items"), "[]");
}

/* Objects that no version serves any more are still deleted with their definition, and the
 * definition waits for them. So a later definition of the same name starts without objects. */
static void test_deleted_when_not_served(void **state)
{
    static const char UNSERVED[] =
        "{'spec':{'versions':[{'name':'v1','served':false,'storage':true,"
        "'schema':{'openAPIV3Schema':{'type':'object','properties':{'spec':{'type':'object',"
        "'x-kubernetes-preserve-unknown-fields':true}}}}}]}}";
    struct api *api = *state;
    define(api);
    assert_int_equal(post(api, TRAINS, "{'metadata':{'name':'a'}}").status, 201);
    assert_int_equal(post(api, "/apis/yard.example/v1/namespaces/kube-system/trains",
                          "{'metadata':{'name':'b','finalizers':['yard.example/stay']}}")
                         .status,
                     201);
    assert_int_equal(merge(api, DEFINITION, UNSERVED).status, 200);
    api_run(api, 1000);
    assert_int_equal(api_get(api, TRAINS).status, 404);
    assert_int_equal(api_delete(api, DEFINITION, NULL).status, 200);
    api_run(api, 5000);
    /* One object still has a finalizer. Its owner must be able to remove that. */
    assert_int_equal(api_get(api, DEFINITION).status, 200);
    assert_int_equal(api_get(api, TRAINS "/a").status, 404);
    assert_int_equal(post(api, TRAINS, "{'metadata':{'name':'c'}}").status, 405);
    assert_int_equal(merge(api, "/apis/yard.example/v1/namespaces/kube-system/trains/b",
                           "{'metadata':{'finalizers':null}}")
                         .status,
                     200);
    api_run(api, 5000);
    assert_int_equal(api_get(api, DEFINITION).status, 404);
    assert_int_equal(api_get(api, TRAINS).status, 404);

    define(api);
    struct answer answer = api_get(api, "/apis/yard.example/v1/trains");
    assert_string_equal(answer_at(api, &answer, "items"), "[]");
}

/* A name that becomes free goes to the definition that waits for it. */
static void test_waiting_for_a_name(void **state)
{
    static const char OTHER[] =
        "{'metadata':{'name':'wagons.yard.example'},'spec':{'group':'yard.example',"
        "'scope':'Cluster','names':{'plural':'wagons','kind':'Train'},'versions':[{'name':'v1',"
        "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}";
    struct api *api = *state;
    define(api);
    assert_int_equal(post(api, DEFINITIONS, OTHER).status, 201);
    assert_int_equal(api_get(api, "/apis/yard.example/v1/wagons").status, 404);
    api_delete(api, DEFINITION, NULL);
    api_run(api, 5000);
    assert_int_equal(api_get(api, "/apis/yard.example/v1/wagons").status, 200);
    assert_int_equal(post(api, "/apis/yard.example/v1/wagons", "{'metadata':{'name':'w'}}").status,
                     201);
}

/* Kubeflow's own manifests can be applied. */
static void test_kubeflow_manifests_are_accepted(void **state)
{
    static const char TFJOBS[] =
        "{'metadata':{'name':'tfjobs.kubeflow.org'},'spec':{'group':'kubeflow.org',"
        "'scope':'Namespaced','names':{'plural':'tfjobs','kind':'TFJob'},'versions':[{'name':'v1',"
        "'served':true,'storage':true,'schema':{'openAPIV3Schema':{'type':'object'}}}]}}";
    struct api *api = *state;
    struct answer answer = post(api, DEFINITIONS, TFJOBS);
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.warning, "tfjobs.kubeflow.org is built in"));
    assert_string_equal(answer_at(api, &answer, "status.conditions.1.status"), "True");
    assert_int_equal(
        post(api, "/apis/kubeflow.org/v1/namespaces/default/tfjobs",
             "{'metadata':{'name':'j'},'spec':{'tfReplicaSpecs':{'Worker':{'template':{'spec':"
             "{'containers':[{'name':'tensorflow','image':'i'}]}}}}}}")
            .status,
        201);
    assert_int_equal(api_delete(api, DEFINITIONS "/tfjobs.kubeflow.org", NULL).status, 200);
    api_run(api, 2000);
    assert_int_equal(api_get(api, DEFINITIONS "/tfjobs.kubeflow.org").status, 404);
    assert_int_equal(api_get(api, "/apis/kubeflow.org/v1/namespaces/default/tfjobs/j").status, 200);
}

static void test_warnings(void **state)
{
    static const char CEL[] =
        "{'metadata':{'name':'cels.yard.example'},'spec':{'group':'yard.example',"
        "'scope':'Cluster','names':{'plural':'cels','kind':'Cel'},'conversion':{'strategy':"
        "'Webhook','webhook':{'conversionReviewVersions':['v1'],'clientConfig':{'url':'https://a'"
        "}}},'versions':[{'name':'v1','served':true,'storage':true,'schema':{'openAPIV3Schema':"
        "{'type':'object','properties':{'spec':{'type':'object','x-kubernetes-validations':"
        "[{'rule':'self.a > 1'}],'properties':{'a':{'type':'integer'}}}}}}}%s]}}";
    struct api *api = *state;
    struct answer answer = post(api, DEFINITIONS, arena_printf(api->arena, CEL, ""));
    assert_int_equal(answer.status, 201);
    assert_non_null(strstr(answer.warning, "not evaluated"));
    assert_string_equal(
        answer_at(api, &answer,
                  "spec.versions.0.schema.openAPIV3Schema.properties.spec.x-kubernetes-validations."
                  "0.rule"),
        "self.a > 1");
    answer = api_put(
        api, DEFINITIONS "/cels.yard.example",
        quoted(api->arena, arena_printf(api->arena, CEL,
                                        ",{'name':'v2','served':true,'storage':false,'schema':"
                                        "{'openAPIV3Schema':{'type':'object'}}}")));
    assert_int_equal(answer.status, 422);
    assert_non_null(strstr(answer_message(&answer), "this server calls no conversion webhooks"));
}

/* One part too many, and nesting deeper than the limit of JSON. */
static void test_limits(void **state)
{
    static const char HEAD[] =
        "{'metadata':{'name':'bigs.yard.example'},'spec':{'group':'yard.example','scope':'Cluster',"
        "'names':{'plural':'bigs','kind':'Big'},'versions':[{'name':'v1','served':true,"
        "'storage':true,'schema':{'openAPIV3Schema':";
    struct api *api = *state;
    _cleanup_buf_ struct buf text;
    buf_init(&text, 16 << 20);
    buf_append_str(&text, quoted(api->arena, HEAD));
    buf_append_str(&text, "{\"type\":\"object\",\"allOf\":[{}");
    for (int i = 1; i < SCHEMA_NODES_MAX; i++)
        buf_append_str(&text, ",{}");
    buf_append_str(&text, "]}}}]}}");
    struct answer answer = api_post(api, DEFINITIONS, text.data);
    assert_int_equal(answer.status, 422);
    assert_non_null(strstr(answer_message(&answer), "must not have more than 100000 schemas"));

    buf_clear(&text);
    buf_append_str(&text, quoted(api->arena, HEAD));
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_append_str(&text, "{\"type\":\"array\",\"items\":");
    buf_append_str(&text, "{}");
    for (int i = 0; i < JSON_DEPTH_MAX; i++)
        buf_append_char(&text, '}');
    buf_append_str(&text, "}}]}}");
    assert_int_equal(api_post(api, DEFINITIONS, text.data).status, 400);
}

int main(void)
{
#define PLAIN(test_) cmocka_unit_test_setup_teardown(test_, api_setup, api_teardown)
#define CONTROL(test_)                                                                             \
    cmocka_unit_test_setup_teardown(test_, api_controlled_setup, api_controlled_teardown)
    const struct CMUnitTest tests[] = {
        PLAIN(test_discovery),
        PLAIN(test_write),
        PLAIN(test_versions),
        PLAIN(test_scale),
        PLAIN(test_scale_of_invalid_values),
        PLAIN(test_table),
        PLAIN(test_restart),
        PLAIN(test_update_changes_the_schema),
        CONTROL(test_deletion),
        CONTROL(test_garbage),
        CONTROL(test_deleted_when_not_served),
        CONTROL(test_waiting_for_a_name),
        CONTROL(test_kubeflow_manifests_are_accepted),
        PLAIN(test_warnings),
        PLAIN(test_limits),
    };
    int failed = 0;
    for (api_seed = 1; api_seed <= API_SEEDS && failed == 0; api_seed++)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}

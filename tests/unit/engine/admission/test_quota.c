/* Tests quotas: what counts, what is rejected and with which message, and that concurrent writes
 * cannot exceed them. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/admission/quota.h"
#include "kube/client/client.h"
#include "kube/object.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define CORE "/api/v1/namespaces/default/"

static int setup(void **state)
{
    api_controlled_setup(state);
    api_run(*state, 1000);
    return 0;
}

static struct answer make(struct api *api, const char *plural, const char *body)
{
    return api_post(api, arena_printf(api->arena, CORE "%s", plural), quoted(api->arena, body));
}

static void expect_created(struct answer answer)
{
    if (answer.status != 201)
        fail_msg("%s", answer.body);
}

static void make_quota(struct api *api, const char *spec)
{
    expect_created(make(api, "resourcequotas",
                        arena_printf(api->arena, "{'metadata':{'name':'q'},'spec':%s}", spec)));
}

static struct answer make_pod(struct api *api, const char *name, const char *more)
{
    return make(api, "pods",
                arena_printf(api->arena,
                             "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'m','image':"
                             "'i'%s}]}}",
                             name, more));
}

/* Returns status.used of the quota, as {"name":"amount"}. */
static const char *used(struct api *api)
{
    return json_to_string(
        api->arena, json_at(api_get(api, CORE "resourcequotas/q").json, "status", "used", NULL));
}

/* ---- Usage of an object ---------------------------------------------------------------------- */

static void test_usage(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *group, *plural, *object, *usage;
    } rows[] = {
        {"", "pods", "{'spec':{'containers':[{'name':'a'}]}}", "{'count/pods':'1','pods':'1'}"},
        {"", "pods", "{'status':{'phase':'Failed'},'spec':{'containers':[{'name':'a'}]}}",
         "{'count/pods':'1'}"},
        {"", "pods",
         "{'spec':{'initContainers':[{'resources':{'requests':{'cpu':'3','memory':'1Gi'}}}],"
         "'containers':[{'resources':{'requests':{'cpu':'1','x.org/y':'2'},'limits':{'cpu':'2',"
         "'x.org/y':'2'}}},{'resources':{'requests':{'cpu':'500m','memory':'3Gi'}}}]}}",
         "{'count/pods':'1','pods':'1','requests.cpu':'3','cpu':'3','requests.x.org/y':'2',"
         "'limits.cpu':'2','requests.memory':'3Gi','memory':'3Gi'}"},
        /* A sidecar runs beside all later containers. */
        {"", "pods",
         "{'spec':{'initContainers':[{'resources':{'requests':{'cpu':'2'}}},{'restartPolicy':"
         "'Always','resources':{'requests':{'cpu':'3'}}},{'resources':{'requests':{'cpu':'5'}}}],"
         "'containers':[{'resources':{'requests':{'cpu':'4'}}}]}}",
         "{'count/pods':'1','pods':'1','requests.cpu':'8','cpu':'8'}"},
        {"", "pods",
         "{'spec':{'initContainers':[{'restartPolicy':'Always','resources':{'requests':{'cpu':'3'}}"
         "}],'containers':[{'resources':{'requests':{'cpu':'4'}}}]}}",
         "{'count/pods':'1','pods':'1','requests.cpu':'7','cpu':'7'}"},
        {"", "services", "{'spec':{'type':'ClusterIP','ports':[{},{}]}}",
         "{'count/services':'1','services':'1'}"},
        {"", "services", "{'spec':{'type':'NodePort','ports':[{},{}]}}",
         "{'count/services':'1','services':'1','services.nodeports':'2'}"},
        {"", "services",
         "{'spec':{'type':'LoadBalancer','allocateLoadBalancerNodePorts':false,"
         "'ports':[{'nodePort':30000},{}]}}",
         "{'count/services':'1','services':'1','services.loadbalancers':'1',"
         "'services.nodeports':'1'}"},
        {"", "persistentvolumeclaims",
         "{'spec':{'storageClassName':'s','resources':{'requests':{'storage':'2Gi'}}}}",
         "{'count/persistentvolumeclaims':'1','persistentvolumeclaims':'1',"
         "'requests.storage':'2Gi','s.storageclass.storage.k8s.io/persistentvolumeclaims':'1',"
         "'s.storageclass.storage.k8s.io/requests.storage':'2Gi'}"},
        {"", "configmaps", "{}", "{'count/configmaps':'1','configmaps':'1'}"},
        {"batch", "jobs", "{}", "{'count/jobs.batch':'1'}"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct kube_resource id = {.group = rows[i].group, .plural = rows[i].plural};
        assert_string_equal(
            json_to_string(api->arena,
                           quota_usage(api->arena, &id, read_json(api->arena, rows[i].object))),
            quoted(api->arena, rows[i].usage));
    }
}

static void test_scopes(void **state)
{
    struct api *api = *state;
#define CLASS(operator_, values)                                                                   \
    "{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'" operator_    \
    "','values':[" values "]}]}}"
    static const struct {
        const char *quota, *pod;
        bool covers;
    } rows[] = {
        {"{}", "{}", true},
        {"{'scopes':['Terminating']}", "{}", false},
        {"{'scopes':['Terminating']}", "{'activeDeadlineSeconds':5}", true},
        {"{'scopes':['NotTerminating']}", "{'activeDeadlineSeconds':5}", false},
        {"{'scopes':['BestEffort']}", "{'containers':[{}]}", true},
        {"{'scopes':['BestEffort']}", "{'containers':[{'resources':{'limits':{'cpu':1}}}]}", false},
        {"{'scopes':['NotBestEffort']}", "{'containers':[{'resources':{'requests':{'cpu':1}}}]}",
         true},
        {CLASS("In", "'high'"), "{'priorityClassName':'high'}", true},
        {CLASS("In", "'high'"), "{}", false},
        {CLASS("NotIn", "'high'"), "{'priorityClassName':'low'}", true},
        {CLASS("Exists", ""), "{}", false},
        {CLASS("DoesNotExist", ""), "{}", true},
        {"{'scopes':['NotTerminating','BestEffort']}", "{'containers':[{}]}", true},
    };
    const struct kube_resource pods = {.group = "", .plural = "pods"},
                               maps = {.group = "", .plural = "configmaps"};
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct json *quota =
            read_json(api->arena, arena_printf(api->arena, "{'spec':%s}", rows[i].quota));
        struct json *pod =
            read_json(api->arena, arena_printf(api->arena, "{'spec':%s}", rows[i].pod));
        if (quota_covers(quota, &pods, pod) != rows[i].covers)
            fail_msg("%s, %s", rows[i].quota, rows[i].pod);
        assert_int_equal(quota_covers(quota, &maps, pod), i == 0);
    }
}

static void test_limited_kinds(void **state)
{
    struct api *api = *state;
    static const struct {
        const char *name, *plural;
        bool limits;
    } rows[] = {
        {"pods", "pods", true},
        {"cpu", "pods", true},
        {"requests.x.org/y", "pods", true},
        {"hugepages-2Mi", "pods", true},
        {"requests.hugepages-2Mi", "pods", true},
        {"ephemeral-storage", "pods", true},
        {"requests.storage", "pods", false},
        {"requests.storage", "persistentvolumeclaims", true},
        {"hugepages-2Mi", "services", false},
        {"services.nodeports", "services", true},
        {"count/configmaps", "configmaps", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct kube_resource id = {.group = "", .plural = rows[i].plural};
        const struct json *quota = read_json(
            api->arena, arena_printf(api->arena, "{'spec':{'hard':{'%s':'1'}}}", rows[i].name));
        if (quota_limits_kind(quota, &id) != rows[i].limits)
            fail_msg("%s, %s", rows[i].name, rows[i].plural);
    }
}

/* ---- On the API ------------------------------------------------------------------------------ */

static void test_rejected_objects(void **state)
{
    struct api *api = *state;
    make_quota(api, "{'hard':{'pods':'2','requests.cpu':'1','limits.memory':'1Gi',"
                    "'count/configmaps':'2','services.nodeports':'1'}}");
#define ASKS(cpu) ",'resources':{'requests':{'cpu':'" cpu "'},'limits':{'memory':'256Mi'}}"
    struct answer answer = make_pod(api, "a", "");
    assert_int_equal(answer.status, 403);
    assert_string_equal(answer_message(&answer),
                        "pods \"a\" is forbidden: failed quota: q: must specify limits.memory for: "
                        "m; requests.cpu for: m");
    expect_created(make_pod(api, "a", ASKS("600m")));
    answer = make_pod(api, "b", ASKS("600m"));
    assert_string_equal(answer_message(&answer),
                        "pods \"b\" is forbidden: exceeded quota: q, requested: requests.cpu=600m, "
                        "used: requests.cpu=600m, limited: requests.cpu=1");
    expect_created(make_pod(api, "b", ASKS("100m")));
    answer = make_pod(api, "c", ASKS("900m"));
    assert_string_equal(
        answer_message(&answer),
        "pods \"c\" is forbidden: exceeded quota: q, requested: pods=1,requests.cpu=900m, used: "
        "pods=2,requests.cpu=700m, limited: pods=2,requests.cpu=1");
    /* Without a certificate authority the namespace has no kube-root-ca.crt, so it has no config
     * maps at first. */
    expect_created(make(api, "configmaps", "{'metadata':{'name':'x'}}"));
    api_run(api, 1000);
    assert_string_equal(used(api),
                        quoted(api->arena, "{'pods':'2','requests.cpu':'700m',"
                                           "'limits.memory':'512Mi','count/configmaps':'1',"
                                           "'services.nodeports':'0'}"));
    expect_created(
        make(api, "services",
             "{'metadata':{'name':'s'},'spec':{'type':'NodePort','ports':[{'port':1}]}}"));
    answer = api_merge(api, CORE "services/s",
                       quoted(api->arena, "{'spec':{'ports':[{'name':'a','port':1},{'name':'b',"
                                          "'port':2}]}}"));
    assert_int_equal(answer.status, 403);
    /* A pod that has ended or is deleted no longer counts. A client cannot write the usage. */
    api_merge(api, CORE "pods/a/status", "{\"status\":{\"phase\":\"Succeeded\"}}");
    api_merge(api, CORE "resourcequotas/q/status",
              quoted(api->arena, "{'status':{'used':{'pods':'99'}}}"));
    api_run(api, 1000);
    expect_created(make_pod(api, "c", ASKS("900m")));
    api_delete(api, CORE "pods/b", "{\"gracePeriodSeconds\":0}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, CORE "resourcequotas/q", "status.used.pods"), "1");
}

static void count_answer(void *context, struct json *object, const struct err *err)
{
    int *counts = context;
    counts[err ? err->code == ERR_FORBIDDEN : 2]++;
}

/* Sends a hundred creates at once, without waiting for responses. Ten are allowed. */
static void test_concurrent_creates(void **state)
{
    struct api *api = *state;
    struct kube_client *client = kube_client_new(api->loop, api->transport, "crowd");
    int counts[3] = {0}; /* other failures, rejections, successes */
    make_quota(api, "{'hard':{'configmaps':'10'}}");
    for (int i = 0; i < 100; i++) {
        const char *name = arena_printf(api->arena, "m%d", i);
        kube_create(client, &KUBE_CONFIGMAPS, "default",
                    kube_object_make(api->arena, &KUBE_CONFIGMAPS, "default", name), count_answer,
                    counts);
    }
    api_run(api, 5000);
    kube_client_free(client);
    assert_int_equal(counts[0], 0);
    assert_int_equal(counts[1], 90);
    assert_int_equal(counts[2], 10);
    assert_string_equal(used(api), "{\"configmaps\":\"10\"}");
    struct answer answer = api_call(api, "POST", CORE "configmaps?dryRun=All", "application/json",
                                    NULL, "{\"metadata\":{\"name\":\"dry\"}}");
    assert_int_equal(answer.status, 403);
}

/* A new quota counts the objects that exist. */
static void test_quota_counts_existing_objects(void **state)
{
    struct api *api = *state;
    expect_created(make_pod(api, "a", ""));
    expect_created(make_pod(api, "b", ""));
    make_quota(api, "{'hard':{'pods':'1'}}");
    assert_string_equal(used(api), "{\"pods\":\"2\"}");
    assert_int_equal(make_pod(api, "c", "").status, 403);
    api_merge(api, CORE "resourcequotas/q", "{\"spec\":{\"hard\":{\"pods\":\"3\"}}}");
    expect_created(make_pod(api, "c", ""));
    assert_string_equal(api_at(api, CORE "resourcequotas/q", "status.hard.pods"), "3");
    /* Objects of another namespace do not count. */
    struct answer elsewhere = api_post(api, "/api/v1/namespaces/kube-system/configmaps",
                                       "{\"metadata\":{\"name\":\"x\"}}");
    assert_int_equal(elsewhere.status, 201);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(test_usage, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_scopes, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_limited_kinds, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_rejected_objects, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_concurrent_creates, setup, api_controlled_teardown),
        cmocka_unit_test_setup_teardown(test_quota_counts_existing_objects, setup,
                                        api_controlled_teardown),
    };
    int failed = 0;
    for (api_seed = 1; api_seed <= API_SEEDS && failed == 0; api_seed++)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}

/* Tests LimitRanges and ResourceQuotas through the API: what they set in pods and claims, what they
 * reject, and which of them are rejected, beyond the cases that were recorded from a real
 * server. */
#include "api.h"

#include "base/mem.h"
#include "base/str.h"
#include "read_json.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEFAULT "/api/v1/namespaces/default/"

static struct answer make(struct api *api, const char *plural, const char *text)
{
    return api_post(api, arena_printf(api->arena, DEFAULT "%s", plural), quoted(api->arena, text));
}

static struct answer make_range(struct api *api, const char *name, const char *limits)
{
    return make(api, "limitranges",
                arena_printf(api->arena, "{'metadata':{'name':'%s'},'spec':{'limits':[%s]}}", name,
                             limits));
}

static struct answer make_pod(struct api *api, const char *name, const char *resources)
{
    return make(api, "pods",
                arena_printf(api->arena,
                             "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':'c','image':"
                             "'i','resources':%s}],'initContainers':[{'name':'d','image':'i',"
                             "'resources':%s}]}}",
                             name, resources, resources));
}

static void assert_message(const struct answer *answer, int status, const char *message)
{
    if (answer->status != status || !str_eq(answer_message(answer), message))
        fail_msg("%d: %s", answer->status, answer_message(answer));
}

static void limit_ranges_set_defaults(void **state)
{
    struct api *api = *state;
    struct answer answer = make_range(api, "a",
                                      "{'type':'Container','max':{'cpu':'2'},'min':{'cpu':'100m',"
                                      "'memory':'1Mi'},'default':{'memory':'1Gi'}}");
    assert_int_equal(answer.status, 201);
    /* The defaults of the range itself: the default limit is the maximum. The default request is
     * the default limit, or else the minimum. */
    assert_string_equal(answer_at(api, &answer, "spec.limits.0.default.cpu"), "2");
    assert_string_equal(answer_at(api, &answer, "spec.limits.0.defaultRequest.cpu"), "2");
    assert_string_equal(answer_at(api, &answer, "spec.limits.0.defaultRequest.memory"), "1Gi");
    answer = make_pod(api, "p", "{'requests':{'cpu':'200m'}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "spec.containers.0.resources.requests.cpu"),
                        "200m");
    assert_string_equal(answer_at(api, &answer, "spec.containers.0.resources.requests.memory"),
                        "1Gi");
    assert_string_equal(answer_at(api, &answer, "spec.containers.0.resources.limits.cpu"), "2");
    assert_string_equal(answer_at(api, &answer, "spec.initContainers.0.resources.limits.memory"),
                        "1Gi");
    const struct json *annotations = json_at(answer.json, "metadata", "annotations", NULL);
    assert_string_equal(
        json_get_string(annotations, "kubernetes.io/limit-ranger", ""),
        "LimitRanger plugin set: memory request for container c; cpu, memory limit for container "
        "c; memory request for init container d; cpu, memory limit for init container d");
    /* Other namespaces have their own ranges. */
    answer = api_post(api, "/api/v1/namespaces/kube-public/pods",
                      quoted(api->arena, "{'metadata':{'name':'p'},'spec':{'containers':[{'name':"
                                         "'c','image':'i'}]}}"));
    assert_string_equal(answer_at(api, &answer, "spec.containers.0.resources.limits"), "");
}

static void limit_ranges_reject_pods(void **state)
{
    struct api *api = *state;
    make_range(api, "a", "{'type':'Container','max':{'cpu':'1'},'min':{'cpu':'100m'}}");
    struct answer answer = make_pod(api, "p", "{'limits':{'cpu':'50m'}}");
    assert_message(
        &answer, 403,
        "pods \"p\" is forbidden: [minimum cpu usage per Container is 100m, but request is "
        "50m, minimum cpu usage per Container is 100m, but request is 50m]");
    answer = make_pod(api, "p", "{'requests':{'cpu':'100m'},'limits':{'cpu':'1500m'}}");
    assert_message(&answer, 403,
                   "pods \"p\" is forbidden: [maximum cpu usage per Container is 1, but limit is "
                   "1500m, maximum cpu usage per Container is 1, but limit is 1500m]");
    /* A default limit below the request. */
    answer = make_pod(api, "p", "{'requests':{'cpu':'1500m'}}");
    assert_int_not_equal(answer.status, 201);
    api_delete(api, DEFAULT "limitranges/a", NULL);

    make_range(api, "b", "{'type':'Pod','max':{'memory':'1Gi'}}");
    answer = make_pod(api, "p", "{}");
    assert_message(&answer, 403,
                   "pods \"p\" is forbidden: maximum memory usage per Pod is 1Gi.  No limit is "
                   "specified");
    answer = make_pod(api, "p", "{'limits':{'memory':'2Gi'},'requests':{'memory':'1Mi'}}");
    assert_message(
        &answer, 403,
        "pods \"p\" is forbidden: maximum memory usage per Pod is 1Gi, but limit is 2Gi");
    assert_int_equal(make_pod(api, "p", "{'limits':{'memory':'1Gi'}}").status, 201);
    api_delete(api, DEFAULT "limitranges/b", NULL);

    make_range(api, "c", "{'type':'Pod','maxLimitRequestRatio':{'cpu':'2'}}");
    answer = make_pod(api, "q", "{'requests':{'cpu':'100m'},'limits':{'cpu':'250m'}}");
    assert_message(&answer, 403,
                   "pods \"q\" is forbidden: cpu max limit to request ratio per Pod is 2, but "
                   "provided ratio is 2.500000");
    answer = make_pod(api, "q", "{'limits':{'memory':'1Mi'}}");
    assert_message(&answer, 403,
                   "pods \"q\" is forbidden: cpu max limit to request ratio per Pod is 2, but no "
                   "request is specified or request is 0");
}

static void limit_ranges_reject_claims(void **state)
{
    struct api *api = *state;
    make_range(api, "a",
               "{'type':'PersistentVolumeClaim','max':{'storage':'2Gi'},'min':{'storage':'1Gi'}}");
#define CLAIM(size)                                                                                \
    "{'metadata':{'name':'c'},'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{"   \
    "'storage':'" size "'}}}}"
    struct answer answer = make(api, "persistentvolumeclaims", CLAIM("1Mi"));
    assert_message(&answer, 403,
                   "persistentvolumeclaims \"c\" is forbidden: minimum storage usage per "
                   "PersistentVolumeClaim is 1Gi, but request is 1Mi");
    answer = make(api, "persistentvolumeclaims", CLAIM("3Gi"));
    assert_message(&answer, 403,
                   "persistentvolumeclaims \"c\" is forbidden: maximum storage usage per "
                   "PersistentVolumeClaim is 2Gi, but request is 3Gi");
    assert_int_equal(make(api, "persistentvolumeclaims", CLAIM("2Gi")).status, 201);
}

static void invalid_limit_ranges_are_rejected(void **state)
{
    static const struct {
        const char *limits, *complaint;
    } rows[] = {
        {"{'type':'Container','min':{'cpu':'2'},'max':{'cpu':'1'},'default':{'cpu':'2'},"
         "'defaultRequest':{'cpu':'2'}}",
         "spec.limits[0].min[cpu]: Invalid value: \"2\": min value 2 is greater than max value 1"},
        {"{'type':'Container','maxLimitRequestRatio':{'cpu':'500m'}}",
         "spec.limits[0].maxLimitRequestRatio[cpu]: Invalid value: \"500m\": ratio 500m is less "
         "than 1"},
        {"{'type':'Pod','min':{'cpu':'1'},'max':{'cpu':'2'},'maxLimitRequestRatio':{'cpu':'3'}}",
         "ratio 3 is greater than max/min = 2.000000"},
        {"{'type':'Pod','default':{'cpu':'1'}}",
         "spec.limits[0].default: Forbidden: may not be specified when `type` is 'Pod'"},
        {"{'type':'Pod'},{'type':'Pod'}", "spec.limits[1].type: Duplicate value: \"Pod\""},
    };
    struct api *api = *state;
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct answer answer = make_range(api, "a", rows[i].limits);
        if (answer.status != 422 || !strstr(answer_message(&answer), rows[i].complaint))
            fail_msg("%s: %d, %s", rows[i].limits, answer.status, answer_message(&answer));
    }
}

static void quotas_are_validated(void **state)
{
    struct api *api = *state;
    struct answer answer = make(api, "resourcequotas",
                                "{'metadata':{'name':'q'},'spec':{'hard':{'pods':'2',"
                                "'requests.cpu':'1','limits.cpu':'2','count/jobs.batch':'3'}}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer.warning, "");
    answer = api_merge(api, DEFAULT "resourcequotas/q",
                       quoted(api->arena, "{'spec':{'scopes':['BestEffort']}}"));
    assert_int_equal(answer.status, 422);
    static const struct {
        const char *spec, *complaint;
    } rows[] = {
        {"{'scopeSelector':{'matchExpressions':[{'scopeName':'PriorityClass','operator':'In'}]}}",
         "spec.scopeSelector.matchExpressions.values: Required value: must be at least one value "
         "when `operator` is 'In' or 'NotIn' for scope selector"},
        {"{'scopeSelector':{'matchExpressions':[{'scopeName':'BestEffort','operator':'In','values':"
         "['a']}]}}",
         "must be 'Exists' when scope is any of"},
        {"{'scopes':['NotBestEffort'],'hard':{'services':'1'}}",
         "unsupported scope applied to resource"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        answer =
            make(api, "resourcequotas",
                 arena_printf(api->arena, "{'metadata':{'name':'r'},'spec':%s}", rows[i].spec));
        if (answer.status != 422 || !strstr(answer_message(&answer), rows[i].complaint))
            fail_msg("%s: %d, %s", rows[i].spec, answer.status, answer_message(&answer));
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        TEST(limit_ranges_set_defaults),  TEST(limit_ranges_reject_pods),
        TEST(limit_ranges_reject_claims), TEST(invalid_limit_ranges_are_rejected),
        TEST(quotas_are_validated),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests DELETE: at once, with a grace period, with finalizers, with preconditions, and of
 * collections. */
#include "api.h"

#include "base/moment.h"
#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define PODS "/api/v1/namespaces/default/pods"
#define MAPS "/api/v1/namespaces/default/configmaps"

static void bind_pod(struct api *api)
{
    api_post(api, PODS, POD_X);
    assert_int_equal(api_post(api, PODS "/x/binding", "{\"target\":{\"name\":\"n1\"}}").status,
                     201);
}

static void test_immediate_deletion(void **state)
{
    struct api *api = *state;
    struct answer made = api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    struct answer answer = api_delete(api, MAPS "/c", "{\"propagationPolicy\":\"Background\"}");
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "status"), "Success");
    assert_string_equal(answer_at(api, &answer, "details.uid"),
                        answer_at(api, &made, "metadata.uid"));
    assert_int_equal(api_get(api, MAPS "/c").status, 404);
    assert_int_equal(api_delete(api, MAPS "/c", NULL).status, 404);
    /* A pod that no node runs has no processes to end. */
    api_post(api, PODS, POD_X);
    api_delete(api, PODS "/x", NULL);
    assert_int_equal(api_get(api, PODS "/x").status, 404);
}

static void test_grace(void **state)
{
    struct api *api = *state;
    bind_pod(api);
    struct answer answer = api_delete(api, PODS "/x", NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "kind"), "Pod");
    assert_string_equal(answer_at(api, &answer, "metadata.deletionGracePeriodSeconds"), "30");
    const char *first = answer_at(api, &answer, "metadata.deletionTimestamp");
    assert_string_not_equal(first, "");
    /* A second request keeps the grace period. A shorter period replaces it. The node confirms the
     * end with a period of 0. */
    answer = api_delete(api, PODS "/x", NULL);
    assert_string_equal(answer_at(api, &answer, "metadata.deletionTimestamp"), first);
    answer = api_delete(api, PODS "/x", "{\"gracePeriodSeconds\":60}");
    assert_string_equal(answer_at(api, &answer, "metadata.deletionGracePeriodSeconds"), "30");
    answer = api_delete(api, PODS "/x", "{\"gracePeriodSeconds\":5}");
    assert_string_equal(answer_at(api, &answer, "metadata.deletionGracePeriodSeconds"), "5");
    assert_string_not_equal(answer_at(api, &answer, "metadata.deletionTimestamp"), first);
    /* A status write does not remove the deletion timestamp. */
    assert_int_equal(
        api_merge(api, PODS "/x/status", "{\"status\":{\"phase\":\"Running\"}}").status, 200);
    answer = api_delete(api, PODS "/x", "{\"gracePeriodSeconds\":0}");
    assert_string_equal(answer_at(api, &answer, "status"), "Success");
    assert_int_equal(api_get(api, PODS "/x").status, 404);
}

/* The longest possible grace period: the deletion is far in the future, and can still be moved
 * forward. */
static void test_grace_without_end(void **state)
{
    struct api *api = *state;
    bind_pod(api);
    struct answer answer =
        api_delete(api, PODS "/x", "{\"gracePeriodSeconds\":9223372036854775807}");
    assert_int_equal(answer.status, 200);
    const char *later = answer_at(api, &answer, "metadata.deletionTimestamp");
    answer = api_delete(api, PODS "/x", "{\"gracePeriodSeconds\":5}");
    const char *soon = answer_at(api, &answer, "metadata.deletionTimestamp");
    int64_t later_ms, soon_ms;
    assert_int_equal(moment_parse(later, &later_ms, NULL), 0);
    assert_int_equal(moment_parse(soon, &soon_ms, NULL), 0);
    assert_string_equal(answer_at(api, &answer, "metadata.deletionGracePeriodSeconds"), "5");
    assert_true(later_ms > soon_ms);
    assert_in_range(soon_ms - loop_wall_ms(api->loop), 0, 5000);
}

static void test_ended_pod_is_deleted_at_once(void **state)
{
    struct api *api = *state;
    bind_pod(api);
    api_merge(api, PODS "/x/status", "{\"status\":{\"phase\":\"Succeeded\"}}");
    api_delete(api, PODS "/x", NULL);
    assert_int_equal(api_get(api, PODS "/x").status, 404);
}

static void test_finalizers(void **state)
{
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\",\"finalizers\":[\"example.org/wait\"]}}");
    struct answer answer = api_delete(api, MAPS "/c", NULL);
    assert_string_equal(answer_at(api, &answer, "kind"), "ConfigMap");
    assert_string_not_equal(answer_at(api, &answer, "metadata.deletionTimestamp"), "");
    answer =
        api_merge(api, MAPS "/c",
                  "{\"metadata\":{\"finalizers\":[\"example.org/wait\",\"example.org/more\"]}}");
    assert_int_equal(answer.status, 422);
    answer = api_merge(api, MAPS "/c", "{\"metadata\":{\"finalizers\":null}}");
    assert_int_equal(answer.status, 200);
    assert_int_equal(api_get(api, MAPS "/c").status, 404);
}

static void test_propagation(void **state)
{
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    struct answer answer = api_delete(api, MAPS "/c", "{\"propagationPolicy\":\"Foreground\"}");
    assert_string_equal(answer_at(api, &answer, "metadata.finalizers.0"), "foregroundDeletion");
    answer = api_delete(api, MAPS "/c", "{\"propagationPolicy\":\"Orphan\"}");
    assert_string_equal(answer_at(api, &answer, "metadata.finalizers.0"), "orphan");
    answer = api_delete(api, MAPS "/c?propagationPolicy=Background", NULL);
    assert_string_equal(answer_at(api, &answer, "status"), "Success");
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    answer = api_delete(api, MAPS "/c", "{\"propagationPolicy\":\"Sideways\"}");
    assert_int_equal(answer.status, 422);
    assert_string_equal(answer_message(&answer),
                        "DeleteOptions.meta.k8s.io \"\" is invalid: propagationPolicy: Unsupported "
                        "value: \"Sideways\": supported values: \"Foreground\", \"Background\", "
                        "\"Orphan\", \"nil\"");
    assert_string_equal(answer_at(api, &answer, "details.causes.0.field"), "propagationPolicy");
    answer =
        api_delete(api, MAPS "/c", "{\"propagationPolicy\":\"Orphan\",\"orphanDependents\":true}");
    assert_int_equal(answer.status, 422);
    assert_int_equal(api_delete(api, MAPS "/c", "{\"gracePeriodSeconds\":\"0\"}").status, 400);
    assert_int_equal(api_delete(api, MAPS "/c", "{\"gracePeriodSeconds\":-1}").status, 200);
}

static void test_preconditions(void **state)
{
    struct api *api = *state;
    struct answer made = api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    struct answer answer = api_delete(api, MAPS "/c", "{\"preconditions\":{\"uid\":\"other\"}}");
    assert_int_equal(answer.status, 409);
    assert_string_equal(
        answer_message(&answer),
        arena_printf(
            api->arena,
            "Operation cannot be fulfilled on ConfigMap \"c\": the UID in the precondition "
            "(other) does not match the UID in record (%s). The object might have been "
            "deleted and then recreated",
            answer_at(api, &made, "metadata.uid")));
    assert_string_equal(answer_at(api, &answer, "details.kind"), "ConfigMap");
    answer = api_delete(api, MAPS "/c", "{\"preconditions\":{\"resourceVersion\":\"0\"}}");
    assert_int_equal(answer.status, 409);
    answer = api_delete(api, MAPS "/c",
                        arena_printf(api->arena, "{\"preconditions\":{\"uid\":\"%s\"}}",
                                     answer_at(api, &made, "metadata.uid")));
    assert_int_equal(answer.status, 200);
}

static void test_dry_run(void **state)
{
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    assert_int_equal(api_delete(api, MAPS "/c?dryRun=All", NULL).status, 200);
    assert_int_equal(api_delete(api, MAPS "/c", "{\"dryRun\":[\"All\"]}").status, 200);
    assert_int_equal(api_get(api, MAPS "/c").status, 200);
}

static void test_collection(void **state)
{
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"a\",\"labels\":{\"t\":\"1\"}}}");
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"b\",\"labels\":{\"t\":\"1\"}}}");
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"c\"}}");
    /* The response is the list of the deleted objects. */
    struct answer answer = api_delete(api, MAPS "?labelSelector=t%3D1", NULL);
    assert_int_equal(answer.status, 200);
    assert_string_equal(answer_at(api, &answer, "kind"), "ConfigMapList");
    assert_string_equal(answer_at(api, &answer, "items.1.metadata.name"), "b");
    assert_string_equal(answer_at(api, &answer, "items.1.kind"), "");
    assert_string_equal(answer_at(api, &answer, "items.1.metadata.deletionTimestamp"), "");
    assert_string_equal(answer_at(api, &answer, "items.2"), "");
    assert_int_equal(api_get(api, MAPS "/a").status, 404);
    assert_int_equal(api_get(api, MAPS "/b").status, 404);
    assert_int_equal(api_get(api, MAPS "/c").status, 200);
    assert_int_equal(api_delete(api, MAPS, NULL).status, 200);
    assert_int_equal(api_get(api, MAPS "/c").status, 404);
    assert_int_equal(api_delete(api, MAPS, NULL).status, 200);
}

static void test_namespace(void **state)
{
    struct api *api = *state;
    api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}");
    struct answer answer = api_delete(api, "/api/v1/namespaces/team", NULL);
    assert_string_equal(answer_at(api, &answer, "status.phase"), "Terminating");
    answer = api_put(api, "/api/v1/namespaces/team/finalize",
                     "{\"metadata\":{\"name\":\"team\"},\"spec\":{\"finalizers\":[]}}");
    assert_int_equal(answer.status, 200);
    assert_int_equal(api_get(api, "/api/v1/namespaces/team").status, 404);
}

int main(void)
{
#define API_TEST(function) cmocka_unit_test_setup_teardown(function, api_setup, api_teardown)
    const struct CMUnitTest tests[] = {
        API_TEST(test_immediate_deletion), API_TEST(test_grace),
        API_TEST(test_grace_without_end),  API_TEST(test_ended_pod_is_deleted_at_once),
        API_TEST(test_finalizers),         API_TEST(test_propagation),
        API_TEST(test_preconditions),      API_TEST(test_dry_run),
        API_TEST(test_collection),         API_TEST(test_namespace),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

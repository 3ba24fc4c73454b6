/* Tests ephemeral volumes: the claim that is created and deleted with a pod, in virtual time. */
#include "api.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "read_json.h"

#define PODS   "/api/v1/namespaces/default/pods"
#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"
#define EVENTS "/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedBinding"
#define SPEC   "'spec':{'accessModes':['ReadWriteOnce'],'resources':{'requests':{'storage':'1Gi'}}}"

static int setup(void **state)
{
    api_controlled_setup(state);
    api_run(*state, 1000);
    struct api *api = *state;
    struct answer answer =
        api_post(api, "/api/v1/nodes",
                 quoted(api->arena, "{'metadata':{'name':'n1'},'status':{'conditions':[{'type':"
                                    "'Ready','status':'True'}]}}"));
    assert_int_equal(answer.status, 201);
    return 0;
}

/* Creates a pod whose volume "v" has this template. */
static struct answer make_named_pod(struct api *api, const char *name, const char *template_)
{
    return api_post(
        api, PODS,
        quoted(api->arena, arena_printf(api->arena,
                                        "{'metadata':{'name':'%s'},'spec':{'containers':[{'name':"
                                        "'m','image':'i'}],'volumes':[{'name':'other','emptyDir':"
                                        "{}},{'name':'v','ephemeral':{%s}}]}}",
                                        name, template_)));
}

static struct answer make_pod(struct api *api, const char *template_)
{
    return make_named_pod(api, "p", template_);
}

#define TEMPLATE                                                                                   \
    "'volumeClaimTemplate':{'metadata':{'labels':{'a':'b'},'annotations':{'c':'d'}}," SPEC "}"

static void test_claim_is_created_and_deleted_with_its_pod(void **state)
{
    struct api *api = *state;
    assert_int_equal(make_pod(api, TEMPLATE).status, 201);
    api_run(api, 1000);
    const char *pod_uid = api_at(api, PODS "/p", "metadata.uid");
    struct answer claim = api_get(api, CLAIMS "/p-v");
    assert_int_equal(claim.status, 200);
    static const char *const expected[][2] = {
        {"metadata.labels.a", "b"},
        {"metadata.annotations.c", "d"},
        {"metadata.ownerReferences.0.apiVersion", "v1"},
        {"metadata.ownerReferences.0.kind", "Pod"},
        {"metadata.ownerReferences.0.name", "p"},
        {"metadata.ownerReferences.0.controller", "true"},
        {"metadata.ownerReferences.0.blockOwnerDeletion", "true"},
        {"spec.resources.requests.storage", "1Gi"},
        {"status.phase", "Bound"},
    };
    for (size_t i = 0; i < sizeof(expected) / sizeof(expected[0]); i++)
        assert_string_equal(answer_at(api, &claim, expected[i][0]), expected[i][1]);
    assert_string_equal(answer_at(api, &claim, "metadata.ownerReferences.0.uid"), pod_uid);
    assert_int_equal(api_get(api, CLAIMS "/p-other").status, 404);
    /* The claim stays as long as the pod exists. */
    api_delete(api, CLAIMS "/p-v", NULL);
    api_run(api, 1000);
    assert_string_not_equal(api_at(api, CLAIMS "/p-v", "metadata.deletionTimestamp"), "");
    const char *volume = arena_printf(api->arena, "/api/v1/persistentvolumes/%s",
                                      answer_at(api, &claim, "spec.volumeName"));
    assert_int_equal(api_get(api, volume).status, 200);
    api_delete(api, PODS "/p", "{\"gracePeriodSeconds\":0}");
    api_run(api, 1000);
    assert_int_equal(api_get(api, CLAIMS "/p-v").status, 404);
    assert_int_equal(api_get(api, volume).status, 404);
}

/* A pod that is deleted in the foreground waits for its claim. The claim waits until the pod has
 * ended, but not until the pod is removed. */
static void test_foreground(void **state)
{
    struct api *api = *state;
    assert_int_equal(make_pod(api, TEMPLATE).status, 201);
    api_run(api, 1000);
    assert_int_equal(api_get(api, CLAIMS "/p-v").status, 200);
    api_delete(api, PODS "/p", "{\"gracePeriodSeconds\":0,\"propagationPolicy\":\"Foreground\"}");
    api_run(api, 5000);
    assert_int_equal(api_get(api, CLAIMS "/p-v").status, 404);
    assert_int_equal(api_get(api, PODS "/p").status, 404);
}

/* An existing claim with the name is not used. The pod gets its own claim after the existing one is
 * gone. */
static void test_claim_of_another_owner(void **state)
{
    struct api *api = *state;
    struct answer made =
        api_post(api, CLAIMS, quoted(api->arena, "{'metadata':{'name':'p-v'}," SPEC "}"));
    assert_int_equal(made.status, 201);
    api_run(api, 1000);
    assert_int_equal(make_pod(api, TEMPLATE).status, 201);
    api_run(api, 1000);
    struct answer events = api_get(api, EVENTS);
    assert_string_equal(answer_at(api, &events, "items.0.involvedObject.name"), "p");
    assert_string_equal(answer_at(api, &events, "items.0.message"),
                        "ephemeral volume v: PVC default/p-v was not created for pod default/p "
                        "(pod is not owner)");
    api_delete(api, CLAIMS "/p-v", NULL);
    api_run(api, 1000);
    assert_string_equal(api_at(api, CLAIMS "/p-v", "metadata.ownerReferences.0.name"), "p");
}

static void test_class_that_waits_for_first_consumer(void **state)
{
    struct api *api = *state;
    api_post(api, "/apis/storage.k8s.io/v1/storageclasses",
             "{\"metadata\":{\"name\":\"late\"},\"provisioner\":\"trainyard.dev/directory\","
             "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
    struct answer answer =
        make_pod(api, "'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce'],"
                      "'storageClassName':'late','resources':{'requests':{'storage':'1Gi'}}}}");
    assert_int_equal(answer.status, 201);
    api_run(api, 1000);
    assert_string_equal(api_at(api, PODS "/p", "spec.nodeName"), "n1");
    assert_string_equal(api_at(api, CLAIMS "/p-v", "status.phase"), "Bound");
}

static void test_refused(void **state)
{
    struct api *api = *state;
#define AT "spec.volumes[1].ephemeral.volumeClaimTemplate"
    static const char *const rows[][2] = {
        {"", AT ": Required value"},
        {"'volumeClaimTemplate':{'spec':{'resources':{'requests':{'storage':'1Gi'}}}}",
         AT ".spec.accessModes: Required value: at least 1 access mode is required"},
        {"'volumeClaimTemplate':{'spec':{'accessModes':['ReadWriteOnce']}}",
         AT ".spec.resources[storage]: Required value"},
        {"'volumeClaimTemplate':{'metadata':{'name':'mine'}," SPEC "}",
         AT ".metadata.name: Forbidden: cannot be set for an ephemeral volume"},
        {"'volumeClaimTemplate':{'metadata':{'labels':{'a b':'c'}}," SPEC "}",
         AT ".metadata.labels: Invalid value: \"a b\""},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        struct answer answer = make_pod(api, rows[i][0]);
        assert_int_equal(answer.status, 422);
        if (!strstr(answer_message(&answer), rows[i][1]))
            fail_msg("'%s' is not in '%s'", rows[i][1], answer_message(&answer));
    }
}

/* The claim's name is made of the names of the pod and the volume. It must not be too long. */
static void test_claim_name_is_too_long(void **state)
{
    struct api *api = *state;
    char name[253 + 1];
    memset(name, 'p', sizeof(name) - 1);
    name[252] = '\0';
    struct answer answer = make_named_pod(api, name, TEMPLATE);
    assert_int_equal(answer.status, 422);
    const char *expected =
        arena_printf(api->arena,
                     "spec.volumes[1].name: Invalid value: \"v\": PVC name \"%s-v\": must be no "
                     "more than 253 characters",
                     name);
    if (!strstr(answer_message(&answer), expected))
        fail_msg("'%s' is not in '%s'", expected, answer_message(&answer));
    name[251] = '\0';
    assert_int_equal(make_named_pod(api, name, TEMPLATE).status, 201);
}

int main(void)
{
#define FIXTURE_TEST(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, setup, api_controlled_teardown)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_claim_is_created_and_deleted_with_its_pod),
        FIXTURE_TEST(test_foreground),
        FIXTURE_TEST(test_claim_of_another_owner),
        FIXTURE_TEST(test_class_that_waits_for_first_consumer),
        FIXTURE_TEST(test_refused),
        FIXTURE_TEST(test_claim_name_is_too_long),
    };
    int failed = 0;
    for (api_seed = 1; api_seed <= API_SEEDS && failed == 0; api_seed++)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}

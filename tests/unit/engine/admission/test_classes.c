/* Tests priority classes and storage classes, what pods and claims get from them, and eviction. */
#include "api.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

#define DEFAULT    "/api/v1/namespaces/default/"
#define PRIORITIES "/apis/scheduling.k8s.io/v1/priorityclasses"
#define CLASSES    "/apis/storage.k8s.io/v1/storageclasses"
#define CLAIMS     DEFAULT "persistentvolumeclaims"

#define POD_OF(name, more)                                                                         \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" more                                        \
    "\"containers\":[{\"name\":\"main\",\"image\":\"busybox\"}]}}"
#define CLAIM_OF(name, more)                                                                       \
    "{\"metadata\":{\"name\":\"" name "\"},\"spec\":{" more                                        \
    "\"accessModes\":[\"ReadWriteOnce\"],\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}"

static void assert_message(struct answer answer, int status, const char *message)
{
    assert_string_equal(answer_message(&answer), message);
    assert_int_equal(answer.status, status);
}

static void pods_get_the_priority_of_their_class(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, DEFAULT "pods", POD_OF("plain", ""));
    assert_string_equal(answer_at(api, &answer, "spec.priority"), "0");
    assert_string_equal(answer_at(api, &answer, "spec.preemptionPolicy"), "PreemptLowerPriority");
    assert_string_equal(answer_at(api, &answer, "spec.priorityClassName"), "");

    answer = api_post(api, DEFAULT "pods",
                      POD_OF("critical", "\"priorityClassName\":\"system-node-critical\","));
    assert_string_equal(answer_at(api, &answer, "spec.priority"), "2000001000");

    assert_message(api_post(api, DEFAULT "pods", POD_OF("x", "\"priorityClassName\":\"nope\",")),
                   403, "pods \"x\" is forbidden: no PriorityClass with name nope was found");
    assert_message(api_post(api, DEFAULT "pods", POD_OF("x", "\"priority\":7,")), 403,
                   "pods \"x\" is forbidden: the integer value of priority (7) must not be "
                   "provided in pod spec; priority admission controller computed 0 from the given "
                   "PriorityClass name");
}

static void a_negative_grace_period_becomes_one_second(void **state)
{
    struct api *api = *state;
    struct answer answer =
        api_post(api, DEFAULT "pods", POD_OF("hasty", "\"terminationGracePeriodSeconds\":-5,"));
    assert_string_equal(answer_at(api, &answer, "spec.terminationGracePeriodSeconds"), "1");
}

static void pods_get_the_default_priority_class(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, PRIORITIES,
                                    "{\"metadata\":{\"name\":\"usual\"},\"value\":5,"
                                    "\"globalDefault\":true,\"preemptionPolicy\":\"Never\"}");
    assert_int_equal(answer.status, 201);
    answer = api_post(api, DEFAULT "pods", POD_OF("a", ""));
    assert_string_equal(answer_at(api, &answer, "spec.priority"), "5");
    assert_string_equal(answer_at(api, &answer, "spec.preemptionPolicy"), "Never");
    assert_string_equal(answer_at(api, &answer, "spec.priorityClassName"), "usual");
    assert_message(api_post(api, PRIORITIES,
                            "{\"metadata\":{\"name\":\"other\"},\"value\":6,"
                            "\"globalDefault\":true}"),
                   403,
                   "priorityclasses.scheduling.k8s.io \"other\" is forbidden: PriorityClass usual "
                   "is already marked as default. Only one default can exist");
    /* An update of the default class is accepted. */
    assert_int_equal(api_merge(api, PRIORITIES "/usual", "{\"description\":\"d\"}").status, 200);
}

static void invalid_priority_classes_are_rejected(void **state)
{
    struct api *api = *state;
    assert_message(
        api_post(api, PRIORITIES, "{\"metadata\":{\"name\":\"high\"},\"value\":1000000001}"), 422,
        "PriorityClass.scheduling.k8s.io \"high\" is invalid: value: Forbidden: maximum allowed "
        "value of a user "
        "defined priority is 1000000000");
    assert_message(api_post(api, PRIORITIES, "{\"metadata\":{\"name\":\"system-x\"},\"value\":1}"),
                   422,
                   "PriorityClass.scheduling.k8s.io \"system-x\" is invalid: metadata.name: "
                   "Forbidden: priority "
                   "class names with 'system-' prefix are reserved for system use only. error: "
                   "system-x is not a known system priority class");
    api_post(api, PRIORITIES, "{\"metadata\":{\"name\":\"high\"},\"value\":10}");
    assert_message(api_merge(api, PRIORITIES "/high", "{\"value\":11}"), 422,
                   "PriorityClass.scheduling.k8s.io \"high\" is invalid: value: Forbidden: may not "
                   "be changed in an "
                   "update.");
}

static void claims_get_the_default_storage_class(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(api, CLAIMS, CLAIM_OF("a", ""));
    assert_string_equal(answer_at(api, &answer, "spec.storageClassName"), "standard");
    answer = api_post(api, CLAIMS, CLAIM_OF("b", "\"storageClassName\":\"\","));
    assert_string_equal(answer_at(api, &answer, "spec.storageClassName"), "");
    answer = api_post(api, CLAIMS, CLAIM_OF("c", "\"storageClassName\":\"fast\","));
    assert_string_equal(answer_at(api, &answer, "spec.storageClassName"), "fast");
    /* Without a default class, the claim stays without a class. */
    api_merge(api, CLASSES "/standard",
              "{\"metadata\":{\"annotations\":{\"storageclass.kubernetes.io/is-default-class\":"
              "\"false\"}}}");
    answer = api_post(api, CLAIMS, CLAIM_OF("d", ""));
    assert_string_equal(answer_at(api, &answer, "spec.storageClassName"), "");
}

static void invalid_storage_classes_are_rejected(void **state)
{
    struct api *api = *state;
    assert_message(api_post(api, CLASSES, "{\"metadata\":{\"name\":\"c\"}}"), 422,
                   "StorageClass.storage.k8s.io \"c\" is invalid: provisioner: Required value");
    api_post(api, CLASSES, "{\"metadata\":{\"name\":\"c\"},\"provisioner\":\"p.example/x\"}");
    assert_message(api_merge(api, CLASSES "/c", "{\"provisioner\":\"p.example/y\"}"), 422,
                   "StorageClass.storage.k8s.io \"c\" is invalid: provisioner: Forbidden: updates "
                   "to provisioner "
                   "are forbidden.");
    assert_message(
        api_merge(api, CLASSES "/c", "{\"reclaimPolicy\":\"Retain\"}"), 422,
        "StorageClass.storage.k8s.io \"c\" is invalid: reclaimPolicy: Forbidden: updates to "
        "reclaimPolicy are forbidden.");
}

/* Volumes get the reclaim policy of their class. A claim of another provisioner's class waits for
 * that provisioner. */
static void claims_are_bound_by_class(void **state)
{
    struct api *api = *state;
    api_post(api, CLASSES,
             "{\"metadata\":{\"name\":\"keep\"},\"provisioner\":\"trainyard.dev/directory\","
             "\"reclaimPolicy\":\"Retain\"}");
    api_post(api, CLASSES, "{\"metadata\":{\"name\":\"far\"},\"provisioner\":\"p.example/x\"}");
    api_run(api, 1000);
    api_post(api, CLAIMS, CLAIM_OF("kept", "\"storageClassName\":\"keep\","));
    api_post(api, CLAIMS, CLAIM_OF("away", "\"storageClassName\":\"far\","));
    assert_string_equal(api_at(api, CLAIMS "/kept", "status.phase"), "Bound");
    assert_string_equal(api_at(api, CLAIMS "/away", "status.phase"), "Pending");
    api_post(api, CLAIMS, CLAIM_OF("any", "\"storageClassName\":\"nfs\","));
    assert_string_equal(api_at(api, CLAIMS "/any", "status.phase"), "Pending");
    api_run(api, 5000);
    assert_string_equal(api_at(api, CLAIMS "/any", "status.phase"), "Bound");
    assert_string_equal(api_at(api, CLAIMS "/away", "status.phase"), "Bound");
    const char *volume = api_at(api, CLAIMS "/kept", "spec.volumeName");
    const char *path = arena_printf(api->arena, "/api/v1/persistentvolumes/%s", volume);
    assert_string_equal(api_at(api, path, "spec.persistentVolumeReclaimPolicy"), "Retain");
    api_delete(api, CLAIMS "/kept", NULL);
    api_run(api, 5000);
    assert_string_equal(api_at(api, path, "status.phase"), "Released");
}

/* A claim takes a matching volume that a user created, and each volume is bound to one claim. */
static void claims_are_bound_to_existing_volumes(void **state)
{
    struct api *api = *state;
    /* A class without a provisioner, whose volumes users create. */
    api_post(api, CLASSES,
             "{\"metadata\":{\"name\":\"manual\"},\"provisioner\":"
             "\"kubernetes.io/no-provisioner\"}");
    api_post(api, CLAIMS, CLAIM_OF("a", "\"storageClassName\":\"manual\","));
    api_post(api, CLAIMS, CLAIM_OF("b", "\"storageClassName\":\"manual\","));
    api_run(api, 5000);
    api_post(api, "/api/v1/persistentvolumes",
             "{\"metadata\":{\"name\":\"v\"},\"spec\":{\"storageClassName\":\"manual\","
             "\"capacity\":{\"storage\":\"5Gi\"},\"accessModes\":[\"ReadWriteOnce\"],"
             "\"hostPath\":{\"path\":\"/tmp\"}}}");
    api_run(api, 5000);
    const char *a = api_at(api, CLAIMS "/a", "status.phase");
    const char *b = api_at(api, CLAIMS "/b", "status.phase");
    bool first = str_eq(a, "Bound");
    assert_string_equal(first ? b : a, "Pending");
    assert_string_equal(api_at(api, first ? CLAIMS "/a" : CLAIMS "/b", "spec.volumeName"), "v");
    assert_string_equal(api_at(api, first ? CLAIMS "/a" : CLAIMS "/b", "status.capacity.storage"),
                        "5Gi");
    assert_string_equal(api_at(api, "/api/v1/persistentvolumes/v", "status.phase"), "Bound");
    /* A bound volume cannot be deleted. */
    api_delete(api, "/api/v1/persistentvolumes/v", NULL);
    api_run(api, 5000);
    assert_string_equal(api_at(api, "/api/v1/persistentvolumes/v", "status.phase"), "Bound");
    api_delete(api, first ? CLAIMS "/a" : CLAIMS "/b", NULL);
    api_run(api, 5000);
    assert_int_equal(api_get(api, "/api/v1/persistentvolumes/v").status, 404);
}

#define EVICTION DEFAULT "pods/x/eviction"

static void pods_are_evicted(void **state)
{
    struct api *api = *state;
    api_post(api, DEFAULT "pods", POD_X);
    /* The pod is on a node, which must confirm its end. */
    api_post(api, DEFAULT "pods/x/binding", "{\"target\":{\"name\":\"n\"}}");
    assert_message(api_post(api, EVICTION, "{\"metadata\":{\"name\":\"y\"}}"), 400,
                   "name in URL does not match name in Eviction object");
    struct answer answer = api_post(api, EVICTION "?dryRun=All",
                                    "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\","
                                    "\"metadata\":{\"name\":\"x\"}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(api_at(api, DEFAULT "pods/x", "metadata.deletionTimestamp"), "");
    answer = api_post(api, EVICTION,
                      "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":"
                      "\"x\"},\"deleteOptions\":{\"gracePeriodSeconds\":7}}");
    assert_int_equal(answer.status, 201);
    assert_string_equal(answer_at(api, &answer, "status"), "Success");
    assert_string_equal(api_at(api, DEFAULT "pods/x", "metadata.deletionGracePeriodSeconds"), "7");
    answer = api_get(api, DEFAULT "pods/x");
    assert_non_null(strstr(answer.body, "EvictionByEvictionAPI"));
    assert_message(api_post(api, DEFAULT "pods/none/eviction", "{}"), 404,
                   "pods \"none\" not found");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(pods_get_the_priority_of_their_class, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(a_negative_grace_period_becomes_one_second, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(pods_get_the_default_priority_class, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(invalid_priority_classes_are_rejected, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(claims_get_the_default_storage_class, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(invalid_storage_classes_are_rejected, api_setup,
                                        api_teardown),
        cmocka_unit_test_setup_teardown(claims_are_bound_by_class, api_controlled_setup,
                                        api_controlled_teardown),
        cmocka_unit_test_setup_teardown(claims_are_bound_to_existing_volumes, api_controlled_setup,
                                        api_controlled_teardown),
        cmocka_unit_test_setup_teardown(pods_are_evicted, api_setup, api_teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

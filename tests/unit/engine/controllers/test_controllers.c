/* Tests the built-in controllers on a whole API, in virtual time. */
#include "api.h"

#include "base/str.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define PODS "/api/v1/namespaces/default/pods"
#define MAPS "/api/v1/namespaces/default/configmaps"

static int setup(void **state)
{
    api_controlled_setup(state);
    api_run(*state, 1000);
    return 0;
}

static void make_node(struct api *api, const char *name)
{
    struct answer answer = api_post(
        api, "/api/v1/nodes",
        arena_printf(api->arena,
                     "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"n\":\"%s\"}},\"status\":"
                     "{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}",
                     name, name));
    assert_int_equal(answer.status, 201);
}

static void make_pod(struct api *api, const char *name, const char *spec_more)
{
    struct answer answer = api_post(
        api, PODS,
        arena_printf(api->arena,
                     "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"a\"}},\"spec\":{"
                     "\"containers\":[{\"name\":\"m\",\"image\":\"i\"}]%s}}",
                     name, spec_more));
    assert_int_equal(answer.status, 201);
}

static void test_pod_is_scheduled(void **state)
{
    struct api *api = *state;
    make_node(api, "n1");
    make_node(api, "n2");
    make_pod(api, "a", "");
    make_pod(api, "b", "");
    make_pod(api, "c", "");
    make_pod(api, "d", ",\"nodeSelector\":{\"n\":\"n2\"}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, PODS "/a", "spec.nodeName"), "n1");
    assert_string_equal(api_at(api, PODS "/b", "spec.nodeName"), "n2");
    assert_string_equal(api_at(api, PODS "/c", "spec.nodeName"), "n1");
    assert_string_equal(api_at(api, PODS "/d", "spec.nodeName"), "n2");
    assert_string_equal(api_at(api, PODS "/a", "status.conditions.0.status"), "True");
    struct answer events =
        api_get(api, "/api/v1/namespaces/default/events?fieldSelector=involvedObject.name%3Da");
    assert_string_equal(answer_at(api, &events, "items.0.reason"), "Scheduled");
    assert_string_equal(answer_at(api, &events, "items.0.message"),
                        "Successfully assigned default/a to n1");
}

static void test_unschedulable_pod_has_a_reason(void **state)
{
    struct api *api = *state;
    make_node(api, "n1");
    make_pod(api, "a", ",\"nodeSelector\":{\"n\":\"n2\"}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, PODS "/a", "status.conditions.0.reason"), "Unschedulable");
    assert_string_equal(api_at(api, PODS "/a", "status.conditions.0.message"),
                        "0/1 nodes are available: 1 node(s) didn't match Pod's node "
                        "affinity/selector (the pod wants n=n2). preemption: 0/1 nodes are "
                        "available: 1 Preemption is "
                        "not helpful for scheduling.");
    struct answer events =
        api_get(api, "/api/v1/namespaces/default/events?fieldSelector=reason%3DFailedScheduling");
    assert_string_equal(answer_at(api, &events, "items.0.type"), "Warning");
    /* The missing node is created. */
    make_node(api, "n2");
    api_run(api, 1000);
    assert_string_equal(api_at(api, PODS "/a", "spec.nodeName"), "n2");
    assert_string_equal(api_at(api, PODS "/a", "status.conditions.0.status"), "True");
}

/* One pod fills the node. The other pod is scheduled when the first has ended. */
static void test_pod_waits_for_free_resources(void **state)
{
    struct api *api = *state;
    api_post(api, "/api/v1/nodes",
             "{\"metadata\":{\"name\":\"n\"},\"status\":{\"allocatable\":{\"cpu\":\"1\"},"
             "\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    const char *spec = "{\"containers\":[{\"name\":\"m\",\"image\":\"i\",\"resources\":{"
                       "\"requests\":{\"cpu\":\"1\"}}}]}";
    api_post(api, PODS,
             arena_printf(api->arena, "{\"metadata\":{\"name\":\"a\"},\"spec\":%s}", spec));
    api_post(api, PODS,
             arena_printf(api->arena, "{\"metadata\":{\"name\":\"b\"},\"spec\":%s}", spec));
    api_run(api, 1000);
    assert_string_equal(api_at(api, PODS "/a", "spec.nodeName"), "n");
    assert_string_equal(api_at(api, PODS "/b", "status.conditions.0.message"),
                        "0/1 nodes are available: 1 Insufficient cpu. preemption: 0/1 nodes are "
                        "available: 1 No preemption victims found for incoming pod.");
    api_merge(api, PODS "/a/status", "{\"status\":{\"phase\":\"Succeeded\"}}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, PODS "/b", "spec.nodeName"), "n");
}

/* A new node has a taint that rejects pods, and loses it when it reports that it is ready. A
 * cordoned node has a taint, too. Taints that users set stay. */
static void test_node_taints(void **state)
{
    static const char node[] = "/api/v1/nodes/n";
    struct api *api = *state;
    api_post(api, "/api/v1/nodes",
             "{\"metadata\":{\"name\":\"n\"},\"spec\":{\"taints\":[{\"key\":\"mine\",\"effect\":"
             "\"PreferNoSchedule\"}]}}");
    make_pod(api, "a", "");
    api_run(api, 5000);
    assert_string_equal(api_at(api, node, "spec.taints.0.key"), "mine");
    assert_string_equal(api_at(api, node, "spec.taints.1.key"), "node.kubernetes.io/not-ready");
    assert_string_equal(api_at(api, node, "spec.taints.1.effect"), "NoSchedule");
    assert_string_equal(api_at(api, PODS "/a", "status.conditions.0.message"),
                        "0/1 nodes are available: 1 node(s) had untolerated taint "
                        "{node.kubernetes.io/not-ready: }. preemption: 0/1 nodes are available: 1 "
                        "Preemption is not helpful for scheduling.");
    api_merge(api, "/api/v1/nodes/n/status",
              "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"True\"}]}}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, node, "spec.taints.0.key"), "mine");
    assert_string_equal(api_at(api, node, "spec.taints.1.key"), "");
    assert_string_equal(api_at(api, PODS "/a", "spec.nodeName"), "n");
    api_merge(api, node, "{\"spec\":{\"unschedulable\":true}}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, node, "spec.taints.1.key"), "node.kubernetes.io/unschedulable");
    api_merge(api, node, "{\"spec\":{\"unschedulable\":null}}");
    api_merge(api, "/api/v1/nodes/n/status",
              "{\"status\":{\"conditions\":[{\"type\":\"Ready\",\"status\":\"Unknown\"}]}}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, node, "spec.taints.1.key"), "node.kubernetes.io/unreachable");
    assert_string_equal(api_at(api, node, "spec.taints.2.key"), "");
}

static void test_deleted_node(void **state)
{
    struct api *api = *state;
    make_node(api, "n1");
    make_pod(api, "a", "");
    api_run(api, 1000);
    api_delete(api, "/api/v1/nodes/n1", NULL);
    api_run(api, 20 * 1000);
    assert_int_equal(api_get(api, PODS "/a").status, 200);
    make_node(api, "n1"); /* the node registers late */
    api_run(api, 60 * 1000);
    assert_int_equal(api_get(api, PODS "/a").status, 200);
    api_delete(api, "/api/v1/nodes/n1", NULL);
    api_run(api, 80 * 1000);
    assert_int_equal(api_get(api, PODS "/a").status, 404);
}

static const char *owned(struct api *api, const char *name, const char *owner_name,
                         const char *owner_uid)
{
    return arena_printf(
        api->arena,
        "{\"metadata\":{\"name\":\"%s\",\"ownerReferences\":[{\"apiVersion\":\"v1\","
        "\"kind\":\"ConfigMap\",\"name\":\"%s\",\"uid\":\"%s\",\"controller\":true,"
        "\"blockOwnerDeletion\":true}]}}",
        name, owner_name, owner_uid);
}

/* owner ← child ← grandchild */
static void make_family(struct api *api)
{
    struct answer answer = api_post(api, MAPS, "{\"metadata\":{\"name\":\"owner\"}}");
    answer =
        api_post(api, MAPS, owned(api, "child", "owner", answer_at(api, &answer, "metadata.uid")));
    assert_int_equal(answer.status, 201);
    answer = api_post(api, MAPS,
                      owned(api, "grandchild", "child", answer_at(api, &answer, "metadata.uid")));
    assert_int_equal(answer.status, 201);
    api_run(api, 1000);
    assert_int_equal(api_get(api, MAPS "/grandchild").status, 200);
}

static void assert_family_is_deleted(struct api *api)
{
    assert_int_equal(api_get(api, MAPS "/owner").status, 404);
    assert_int_equal(api_get(api, MAPS "/child").status, 404);
    assert_int_equal(api_get(api, MAPS "/grandchild").status, 404);
}

static void test_background_deletion(void **state)
{
    struct api *api = *state;
    make_family(api);
    api_delete(api, MAPS "/owner", "{\"propagationPolicy\":\"Background\"}");
    api_run(api, 1000);
    assert_family_is_deleted(api);
}

static void test_foreground_deletion(void **state)
{
    struct api *api = *state;
    make_family(api);
    /* The grandchild blocks all deletions until its own finalizer is removed. */
    api_merge(api, MAPS "/grandchild", "{\"metadata\":{\"finalizers\":[\"example.org/x\"]}}");
    api_delete(api, MAPS "/owner", "{\"propagationPolicy\":\"Foreground\"}");
    api_run(api, 1000);
    assert_int_equal(api_get(api, MAPS "/owner").status, 200);
    assert_int_equal(api_get(api, MAPS "/child").status, 200);
    assert_string_not_equal(api_at(api, MAPS "/grandchild", "metadata.deletionTimestamp"), "");
    api_merge(api, MAPS "/grandchild", "{\"metadata\":{\"finalizers\":null}}");
    api_run(api, 1000);
    assert_family_is_deleted(api);
}

static void test_orphaned_dependents(void **state)
{
    struct api *api = *state;
    make_family(api);
    api_delete(api, MAPS "/owner", "{\"propagationPolicy\":\"Orphan\"}");
    api_run(api, 1000);
    assert_int_equal(api_get(api, MAPS "/owner").status, 404);
    assert_int_equal(api_get(api, MAPS "/child").status, 200);
    assert_string_equal(api_at(api, MAPS "/child", "metadata.ownerReferences"), "");
    assert_int_equal(api_get(api, MAPS "/grandchild").status, 200);
}

/* The owner never existed, has another uid, or is of a kind that is not served. */
static void test_absent_owner(void **state)
{
    struct api *api = *state;
    api_post(api, MAPS, "{\"metadata\":{\"name\":\"owner\"}}");
    api_post(api, MAPS, owned(api, "a", "none", "u1"));
    api_post(api, MAPS, owned(api, "b", "owner", "u2"));
    api_post(api, MAPS,
             "{\"metadata\":{\"name\":\"c\",\"ownerReferences\":[{\"apiVersion\":\"cats.org/v1\","
             "\"kind\":\"Cat\",\"name\":\"tom\",\"uid\":\"u3\"}]}}");
    api_run(api, 1000);
    assert_int_equal(api_get(api, MAPS "/a").status, 404);
    assert_int_equal(api_get(api, MAPS "/b").status, 404);
    assert_int_equal(api_get(api, MAPS "/c").status, 200);
}

/* Whether there is an event with this reason about the object. */
static bool has_event(struct api *api, const char *namespace_, const char *reason, const char *text)
{
    struct answer answer = api_get(
        api, arena_printf(api->arena, "/api/v1/namespaces/%s/events?fieldSelector=reason=%s",
                          namespace_, reason));
    return strstr(answer.body, text) != NULL;
}

/* Owners that own each other do not block each other's deletion. */
static void test_cyclic_owners(void **state)
{
    struct api *api = *state;
    make_family(api);
    const char *closing = json_to_string(
        api->arena, json_at(api_get(api, MAPS "/grandchild").json, "metadata", "uid", NULL));
    closing = arena_printf(
        api->arena,
        "{\"metadata\":{\"ownerReferences\":[{\"apiVersion\":\"v1\",\"kind\":\"ConfigMap\","
        "\"name\":\"grandchild\",\"uid\":%s,\"blockOwnerDeletion\":true}]}}",
        closing);
    assert_int_equal(api_merge(api, MAPS "/owner", closing).status, 200);
    /* This dependent is outside of the cycle and blocks the deletion as usual. */
    api_post(api, MAPS, owned(api, "leaf", "child", api_at(api, MAPS "/child", "metadata.uid")));
    api_merge(api, MAPS "/leaf", "{\"metadata\":{\"finalizers\":[\"example.org/x\"]}}");
    api_run(api, 1000);
    api_delete(api, MAPS "/owner", "{\"propagationPolicy\":\"Foreground\"}");
    if (api_seed % 2)
        api_delete(api, MAPS "/grandchild", "{\"propagationPolicy\":\"Foreground\"}");
    api_run(api, 1000);
    assert_int_equal(api_get(api, MAPS "/child").status, 200);
    api_merge(api, MAPS "/leaf", "{\"metadata\":{\"finalizers\":null}}");
    api_run(api, 2000);
    assert_family_is_deleted(api);
}

/* An owner is looked up in the namespace of its dependent. A cluster-scoped object is never garbage
 * because of an owner in a namespace. */
static void test_owner_in_another_namespace(void **state)
{
    struct api *api = *state;
    api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}");
    api_post(api, "/api/v1/namespaces/team/configmaps", "{\"metadata\":{\"name\":\"far\"}}");
    const char *uid = api_at(api, "/api/v1/namespaces/team/configmaps/far", "metadata.uid");
    api_post(api, MAPS, owned(api, "near", "far", uid));
    api_post(api, "/api/v1/persistentvolumes",
             arena_printf(api->arena,
                          "{\"metadata\":{\"name\":\"wide\",\"ownerReferences\":[{\"apiVersion\":"
                          "\"v1\",\"kind\":\"ConfigMap\",\"name\":\"far\",\"uid\":\"%s\"}]},"
                          "\"spec\":{\"capacity\":{\"storage\":\"1Gi\"},\"accessModes\":"
                          "[\"ReadWriteOnce\"],\"hostPath\":{\"path\":\"/tmp\"}}}",
                          uid));
    api_run(api, 1000);
    assert_int_equal(api_get(api, MAPS "/near").status, 404);
    assert_true(has_event(api, "default", "OwnerRefInvalidNamespace",
                          "ConfigMap 'far' is in namespace 'team', not in 'default'"));
    api_delete(api, "/api/v1/namespaces/team/configmaps/far", NULL);
    api_run(api, 1000);
    assert_int_equal(api_get(api, "/api/v1/persistentvolumes/wide").status, 200);
    assert_true(has_event(api, "default", "OwnerRefInvalidNamespace",
                          "is namespaced, but this object is cluster-scoped"));
}

/* If a namespace's account or certificate was deleted, it is created again, with the content of
 * kube-system. */
static void test_namespace_content_is_created_again(void **state)
{
    static const char account[] = "/api/v1/namespaces/team/serviceaccounts/default";
    static const char map[] = "/api/v1/namespaces/team/configmaps/kube-root-ca.crt";
    struct api *api = *state;
    api_post(api, "/api/v1/namespaces/kube-system/configmaps",
             "{\"metadata\":{\"name\":\"kube-root-ca.crt\"},\"data\":{\"ca.crt\":\"CA\"}}");
    api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}");
    api_run(api, 1000);
    for (int i = 0; i < 2; i++) {
        struct answer answer = api_get(api, map);
        assert_int_equal(answer.status, 200);
        assert_string_equal(json_get_string(json_get(answer.json, "data"), "ca.crt", ""), "CA");
        assert_int_equal(api_get(api, account).status, 200);
        api_delete(api, map, NULL);
        api_delete(api, account, NULL);
        api_run(api, 1000);
    }
}

static void test_namespace(void **state)
{
    struct api *api = *state;
    api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"team\"}}");
    api_run(api, 1000);
    assert_int_equal(api_get(api, "/api/v1/namespaces/team/serviceaccounts/default").status, 200);
    assert_int_equal(api_get(api, "/api/v1/namespaces/default/serviceaccounts/default").status,
                     200);
    api_post(api, "/api/v1/namespaces/team/pods", POD_X);
    api_post(api, "/api/v1/namespaces/team/configmaps",
             "{\"metadata\":{\"name\":\"c\",\"finalizers\":[\"example.org/x\"]}}");
    api_delete(api, "/api/v1/namespaces/team", NULL);
    api_run(api, 1000);
    assert_int_equal(api_get(api, "/api/v1/namespaces/team/pods/x").status, 404);
    assert_string_equal(api_at(api, "/api/v1/namespaces/team", "status.phase"), "Terminating");
    assert_string_equal(api_at(api, "/api/v1/namespaces/team", "status.conditions.0.reason"),
                        "SomeResourcesRemain");
    api_merge(api, "/api/v1/namespaces/team/configmaps/c", "{\"metadata\":{\"finalizers\":null}}");
    api_run(api, 2000);
    assert_int_equal(api_get(api, "/api/v1/namespaces/team").status, 404);
}

static void test_service(void **state)
{
    struct api *api = *state;
    make_node(api, "n1");
    make_pod(api, "a", "");
    api_post(api, "/api/v1/namespaces/default/services",
             "{\"metadata\":{\"name\":\"web\"},\"spec\":{\"selector\":{\"app\":\"a\"},\"ports\":"
             "[{\"port\":80}]}}");
    api_run(api, 1000);
    const char *path = "/api/v1/namespaces/default/endpoints/web";
    assert_int_equal(api_get(api, path).status, 200);
    assert_string_equal(api_at(api, path, "subsets"), "");
    api_merge(api, PODS "/a/status",
              "{\"status\":{\"phase\":\"Running\",\"podIP\":\"10.1.1.1\",\"conditions\":[{\"type\":"
              "\"Ready\",\"status\":\"True\"}]}}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, path, "subsets.0.addresses.0.ip"), "10.1.1.1");
    assert_string_equal(api_at(api, path, "subsets.0.ports.0.port"), "80");
    api_delete(api, "/api/v1/namespaces/default/services/web", NULL);
    api_run(api, 1000);
    assert_int_equal(api_get(api, path).status, 404);
}

static void test_claim(void **state)
{
    struct api *api = *state;
    const char *path = "/api/v1/namespaces/default/persistentvolumeclaims/data";
    api_post(api, "/api/v1/namespaces/default/persistentvolumeclaims",
             "{\"metadata\":{\"name\":\"data\"},\"spec\":{\"accessModes\":[\"ReadWriteOnce\"],"
             "\"resources\":{\"requests\":{\"storage\":\"1Gi\"}}}}");
    api_run(api, 1000);
    assert_string_equal(api_at(api, path, "status.phase"), "Bound");
    assert_string_equal(api_at(api, path, "status.capacity.storage"), "1Gi");
    const char *volume = arena_printf(api->arena, "/api/v1/persistentvolumes/%s",
                                      api_at(api, path, "spec.volumeName"));
    assert_string_equal(api_at(api, volume, "status.phase"), "Bound");
    assert_string_equal(api_at(api, volume, "spec.claimRef.name"), "data");
    /* As long as a pod uses the claim, it stays, and so does its volume. */
    make_node(api, "n1");
    make_pod(api, "user",
             ",\"nodeName\":\"n1\",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{"
             "\"claimName\":\"data\"}}]");
    api_run(api, 1000);
    api_delete(api, path, NULL);
    api_run(api, 1000);
    assert_string_not_equal(api_at(api, path, "metadata.deletionTimestamp"), "");
    assert_string_equal(api_at(api, volume, "status.phase"), "Bound");
    api_delete(api, PODS "/user", "{\"gracePeriodSeconds\":0}");
    api_run(api, 1000);
    assert_int_equal(api_get(api, path).status, 404);
    assert_int_equal(api_get(api, volume).status, 404);
}

/* One class waits for a pod; the other does not exist. */
static void test_claims_of_other_classes(void **state)
{
#define CLAIMS "/api/v1/namespaces/default/persistentvolumeclaims"
    struct api *api = *state;
    static const char *const names[] = {"late", "gp2"};
    make_node(api, "n1");
    api_post(api, "/apis/storage.k8s.io/v1/storageclasses",
             "{\"metadata\":{\"name\":\"late\"},\"provisioner\":\"trainyard.dev/directory\","
             "\"volumeBindingMode\":\"WaitForFirstConsumer\"}");
    for (size_t i = 0; i < 2; i++)
        api_post(api, CLAIMS,
                 arena_printf(api->arena,
                              "{\"metadata\":{\"name\":\"%s\"},\"spec\":{\"accessModes\":["
                              "\"ReadWriteOnce\"],\"storageClassName\":\"%s\",\"resources\":{"
                              "\"requests\":{\"storage\":\"1Gi\"}}}}",
                              names[i], names[i]));
    assert_string_equal(api_at(api, CLAIMS "/gp2", "status.phase"), "Pending");
    api_run(api, 5000);
    assert_string_equal(api_at(api, CLAIMS "/gp2", "status.phase"), "Bound");
    assert_string_equal(api_at(api, CLAIMS "/late", "status.phase"), "Pending");
    make_pod(api, "user",
             ",\"volumes\":[{\"name\":\"v\",\"persistentVolumeClaim\":{\"claimName\":"
             "\"late\"}}]");
    api_run(api, 1000);
    assert_string_equal(api_at(api, PODS "/user", "spec.nodeName"), "n1");
    assert_string_equal(api_at(api, CLAIMS "/late", "status.phase"), "Bound");
}

static void test_old_events_are_deleted(void **state)
{
    struct api *api = *state;
    api_post(api, "/api/v1/namespaces/default/events",
             "{\"metadata\":{\"name\":\"e\"},\"involvedObject\":{}}");
    api_run(api, 50 * 60 * 1000);
    assert_int_equal(api_get(api, "/api/v1/namespaces/default/events/e").status, 200);
    api_run(api, 20 * 60 * 1000);
    assert_int_equal(api_get(api, "/api/v1/namespaces/default/events/e").status, 404);
}

int main(void)
{
#define FIXTURE_TEST(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, setup, api_controlled_teardown)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(test_pod_is_scheduled),
        FIXTURE_TEST(test_unschedulable_pod_has_a_reason),
        FIXTURE_TEST(test_pod_waits_for_free_resources),
        FIXTURE_TEST(test_node_taints),
        FIXTURE_TEST(test_deleted_node),
        FIXTURE_TEST(test_background_deletion),
        FIXTURE_TEST(test_foreground_deletion),
        FIXTURE_TEST(test_orphaned_dependents),
        FIXTURE_TEST(test_absent_owner),
        FIXTURE_TEST(test_cyclic_owners),
        FIXTURE_TEST(test_owner_in_another_namespace),
        FIXTURE_TEST(test_namespace_content_is_created_again),
        FIXTURE_TEST(test_namespace),
        FIXTURE_TEST(test_service),
        FIXTURE_TEST(test_claim),
        FIXTURE_TEST(test_claims_of_other_classes),
        FIXTURE_TEST(test_old_events_are_deleted),
    };
    int failed = 0;
    for (api_seed = 1; api_seed <= API_SEEDS && failed == 0; api_seed++)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}

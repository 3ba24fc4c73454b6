/* Tests Deployments, ReplicaSets and EndpointSlices on a whole API with its controllers, in virtual
 * time. The test plays the nodes: it makes pods ready and ends them. */
#include "api.h"

#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#define APPS        "/apis/apps/v1/namespaces/default/"
#define DEPLOYMENTS APPS "deployments"
#define SETS        APPS "replicasets"
#define CORE        "/api/v1/namespaces/default/"
#define PODS        CORE "pods"
#define SLICES      "/apis/discovery.k8s.io/v1/namespaces/default/endpointslices"

static int setup(void **state)
{
    api_controlled_setup(state);
    struct api *api = *state;
    api_run(api, 1000);
    struct answer answer =
        api_post(api, "/api/v1/nodes",
                 "{\"metadata\":{\"name\":\"n1\"},\"status\":{\"conditions\":[{\"type\":\"Ready\","
                 "\"status\":\"True\"}]}}");
    assert_int_equal(answer.status, 201);
    return 0;
}

__attribute__((format(printf, 2, 3))) static const char *text(struct api *api, const char *format,
                                                              ...)
{
    va_list args;
    va_start(args, format);
    const char *made = arena_vprintf(api->arena, format, args);
    va_end(args);
    return made;
}

static struct json *items(struct api *api, const char *path)
{
    struct answer answer = api_get(api, path);
    assert_int_equal(answer.status, 200);
    return json_get(answer.json, "items");
}

/* ---- The node -------------------------------------------------------------------------------- */

static void make_ready(struct api *api, const struct json *pod, int number)
{
    struct answer answer = api_merge(
        api, text(api, PODS "/%s/status", kube_meta_name(pod)),
        text(api,
             "{\"status\":{\"phase\":\"Running\",\"podIP\":\"10.1.0.%d\",\"conditions\":[{\"type\":"
             "\"Ready\",\"status\":\"True\",\"lastTransitionTime\":\"1970-01-01T00:00:00Z\"}]}}",
             number));
    assert_int_equal(answer.status, 200);
}

/* Ends the pods that are being deleted, and makes up to `most` others ready. */
static void tick(struct api *api, size_t most)
{
    static int addresses;
    api_run(api, 2000);
    JSON_EACH (pod, items(api, PODS)) {
        if (kube_meta_is_deleting(pod)) {
            api_delete(api, text(api, PODS "/%s", kube_meta_name(pod)),
                       "{\"gracePeriodSeconds\":0}");
        } else if (!kube_condition_is_true(pod, "Ready") && most > 0) {
            make_ready(api, pod, 1 + addresses++ % 250);
            most--;
        }
    }
    api_run(api, 2000);
}

static void settle(struct api *api)
{
    for (int i = 0; i < 20; i++)
        tick(api, 100);
}

/* ---- Deployments ----------------------------------------------------------------------------- */

static void deploy(struct api *api, const char *name, int replicas, const char *more)
{
    struct answer answer = api_post(
        api, DEPLOYMENTS,
        text(api,
             "{\"metadata\":{\"name\":\"%s\",\"labels\":{\"app\":\"%s\"}},\"spec\":{%s\"replicas\":"
             "%d,\"selector\":{\"matchLabels\":{\"app\":\"%s\"}},\"template\":{\"metadata\":"
             "{\"labels\":{\"app\":\"%s\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":"
             "\"one\",\"ports\":[{\"containerPort\":80}]}]}}}}",
             name, name, more, replicas, name, name));
    if (answer.status != 201)
        fail_msg("%s", answer.body);
}

static void set_image(struct api *api, const char *name, const char *image)
{
    struct answer answer = api_merge(
        api, text(api, DEPLOYMENTS "/%s", name),
        text(api,
             "{\"spec\":{\"template\":{\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"%s\","
             "\"ports\":[{\"containerPort\":80}]}]}}}}",
             image));
    assert_int_equal(answer.status, 200);
}

static const char *status_of(struct api *api, const char *name, const char *field)
{
    return api_at(api, text(api, DEPLOYMENTS "/%s", name), text(api, "status.%s", field));
}

static const char *condition(struct api *api, const char *name, const char *type)
{
    struct answer answer = api_get(api, text(api, DEPLOYMENTS "/%s", name));
    const struct json *found = kube_condition_get(answer.json, type);
    return text(api, "%s %s: %s", json_get_string(found, "status", ""),
                json_get_string(found, "reason", ""), json_get_string(found, "message", ""));
}

/* Returns the revision and size of each set, the newest revision first: "2=3 1=0". */
static const char *sets(struct api *api)
{
    const char *result = "";
    for (int revision = 20; revision > 0; revision--) {
        JSON_EACH (set, items(api, SETS)) {
            const char *has = kube_meta_annotation(set, "deployment.kubernetes.io/revision");
            if (has && atoi(has) == revision)
                result = text(api, "%s%s%d=%lld", result, result[0] ? " " : "", revision,
                              (long long)json_get_int(json_get(set, "spec"), "replicas", -1));
        }
    }
    return result;
}

static void a_deployment_creates_a_set_and_pods(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 3, "");
    api_run(api, 3000);
    assert_string_equal(sets(api), "1=3");
    const struct json *set = json_element(items(api, SETS), 0);
    const char *hash = kube_meta_label(set, "pod-template-hash");
    assert_non_null(hash);
    assert_string_equal(kube_meta_name(set), text(api, "web-%s", hash));
    assert_string_equal(json_get_string(kube_meta_controller(set), "kind", ""), "Deployment");
    assert_int_equal(json_count(items(api, PODS)), 3);
    const struct json *pod = json_element(items(api, PODS), 0);
    assert_true(str_has_prefix(kube_meta_name(pod), text(api, "web-%s-", hash)));
    assert_string_equal(kube_meta_label(pod, "pod-template-hash"), hash);
    assert_string_equal(status_of(api, "web", "unavailableReplicas"), "3");
    assert_string_equal(condition(api, "web", "Available"),
                        "False MinimumReplicasUnavailable: Deployment does not have minimum "
                        "availability.");
    settle(api);
    assert_string_equal(status_of(api, "web", "readyReplicas"), "3");
    assert_string_equal(status_of(api, "web", "availableReplicas"), "3");
    assert_string_equal(status_of(api, "web", "unavailableReplicas"), "");
    assert_string_equal(condition(api, "web", "Available"),
                        "True MinimumReplicasAvailable: Deployment has minimum availability.");
    assert_string_equal(condition(api, "web", "Progressing"),
                        text(api,
                             "True NewReplicaSetAvailable: ReplicaSet \"web-%s\" has successfully "
                             "progressed.",
                             hash));
    assert_string_equal(
        api_at(api, DEPLOYMENTS "/web", "metadata.annotations.deployment.kubernetes.io/revision"),
        "");
    struct answer answer = api_get(api, DEPLOYMENTS "/web");
    assert_string_equal(kube_meta_annotation(answer.json, "deployment.kubernetes.io/revision"),
                        "1");
    answer = api_get(api, CORE "events");
    assert_non_null(strstr(answer.body, text(api, "Scaled up replica set web-%s to 3", hash)));
    assert_non_null(strstr(answer.body, "SuccessfulCreate"));
}

static void deleted_and_released_pods_are_replaced(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 2, "");
    settle(api);
    const struct json *pod = json_element(items(api, PODS), 0);
    api_delete(api, text(api, PODS "/%s", kube_meta_name(pod)), NULL);
    settle(api);
    assert_int_equal(json_count(items(api, PODS)), 2);
    assert_string_equal(status_of(api, "web", "availableReplicas"), "2");
    /* A pod whose labels no longer match is released and replaced. It is adopted when they match
     * again. */
    pod = json_element(items(api, PODS), 0);
    const char *path = text(api, PODS "/%s", kube_meta_name(pod));
    const char *hash = kube_meta_label(pod, "pod-template-hash");
    api_merge(api, path, "{\"metadata\":{\"labels\":{\"pod-template-hash\":\"other\"}}}");
    settle(api);
    assert_string_equal(api_at(api, path, "metadata.ownerReferences.0.kind"), "");
    assert_int_equal(json_count(items(api, PODS)), 3);
    api_merge(api, path,
              text(api, "{\"metadata\":{\"labels\":{\"pod-template-hash\":\"%s\"}}}", hash));
    settle(api);
    assert_int_equal(json_count(items(api, PODS)), 2);
}

static void a_template_change_is_rolled_out(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 4,
           "\"strategy\":{\"rollingUpdate\":{\"maxSurge\":1,\"maxUnavailable\":1}},");
    settle(api);
    set_image(api, "web", "two");
    for (int i = 0; i < 12; i++) {
        api_run(api, 2000);
        int64_t live = 0, ready = 0;
        JSON_EACH (pod, items(api, PODS)) {
            live += !kube_meta_is_deleting(pod);
            ready += !kube_meta_is_deleting(pod) && kube_condition_is_true(pod, "Ready");
        }
        assert_true(live <= 5);
        assert_true(ready >= 3);
        tick(api, 1);
    }
    settle(api);
    assert_string_equal(sets(api), "2=4 1=0");
    assert_string_equal(status_of(api, "web", "updatedReplicas"), "4");
    JSON_EACH (pod, items(api, PODS)) {
        assert_string_equal(
            json_get_string(json_element(json_at(pod, "spec", "containers", NULL), 0), "image", ""),
            "two");
    }
    /* A rollback: the old set is the newest again, with a new revision. */
    set_image(api, "web", "one");
    settle(api);
    assert_string_equal(sets(api), "3=4 2=0");
    struct answer answer = api_get(api, SETS);
    assert_non_null(strstr(answer.body, "\"deployment.kubernetes.io/revision-history\":\"1\""));
}

static void recreate_replaces_all_pods_at_once(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 3, "\"strategy\":{\"type\":\"Recreate\"},");
    settle(api);
    set_image(api, "web", "two");
    api_run(api, 3000);
    assert_string_equal(sets(api), "1=0"); /* the old pods are still ending */
    settle(api);
    assert_string_equal(sets(api), "2=3 1=0");
    assert_int_equal(json_count(items(api, PODS)), 3);
}

static void a_deployment_can_be_paused_and_scaled(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 2, "");
    settle(api);
    api_merge(api, DEPLOYMENTS "/web", "{\"spec\":{\"paused\":true}}");
    set_image(api, "web", "two");
    settle(api);
    assert_string_equal(sets(api), "1=2");
    assert_string_equal(condition(api, "web", "Progressing"),
                        "Unknown DeploymentPaused: Deployment is paused");
    struct answer answer = api_merge(api, DEPLOYMENTS "/web/scale", "{\"spec\":{\"replicas\":5}}");
    assert_int_equal(answer.status, 200);
    settle(api);
    assert_string_equal(sets(api), "1=5");
    answer = api_get(api, DEPLOYMENTS "/web/scale");
    assert_string_equal(answer_at(api, &answer, "status.replicas"), "5");
    assert_string_equal(answer_at(api, &answer, "status.selector"), "app=web");
    api_merge(api, DEPLOYMENTS "/web", "{\"spec\":{\"paused\":false}}");
    settle(api);
    assert_string_equal(sets(api), "2=5 1=0");
    api_merge(api, DEPLOYMENTS "/web/scale", "{\"spec\":{\"replicas\":0}}");
    settle(api);
    assert_string_equal(sets(api), "2=0 1=0");
    assert_int_equal(json_count(items(api, PODS)), 0);
}

static void old_revisions_are_deleted(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 1, "\"revisionHistoryLimit\":1,");
    settle(api);
    set_image(api, "web", "two");
    settle(api);
    set_image(api, "web", "three");
    settle(api);
    assert_string_equal(sets(api), "3=1 2=0");
}

static void a_stalled_rollout_is_reported(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 1, "\"progressDeadlineSeconds\":30,");
    settle(api);
    set_image(api, "web", "broken");
    api_run(api, 60 * 1000); /* no node makes the pod ready */
    const char *text_ = condition(api, "web", "Progressing");
    assert_true(str_has_prefix(text_, "False ProgressDeadlineExceeded: ReplicaSet \"web-"));
    assert_true(str_has_suffix(text_, "\" has timed out progressing."));
    set_image(api, "web", "one");
    settle(api);
    assert_true(str_has_prefix(condition(api, "web", "Progressing"), "True NewReplicaSetAv"));
}

static void min_ready_seconds_delay_availability(void **state)
{
    struct api *api = *state;
    struct answer answer = api_post(
        api, SETS,
        "{\"metadata\":{\"name\":\"r\"},\"spec\":{\"replicas\":1,\"minReadySeconds\":30,"
        "\"selector\":{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":"
        "{\"a\":\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    assert_int_equal(answer.status, 201);
    api_run(api, 1000);
    const struct json *pod = json_element(items(api, PODS), 0);
    answer = api_get(api, "/api/v1/namespaces/default");
    char *path = arena_strdup(api->arena, text(api, PODS "/%s/status", kube_meta_name(pod)));
    const char *now = json_get_string(json_get(pod, "metadata"), "creationTimestamp", "");
    api_merge(api, path,
              text(api,
                   "{\"status\":{\"phase\":\"Running\",\"conditions\":[{\"type\":\"Ready\","
                   "\"status\":\"True\",\"lastTransitionTime\":\"%s\"}]}}",
                   now));
    api_run(api, 5000);
    assert_string_equal(api_at(api, SETS "/r", "status.readyReplicas"), "1");
    assert_string_equal(api_at(api, SETS "/r", "status.availableReplicas"), "");
    api_run(api, 40 * 1000);
    assert_string_equal(api_at(api, SETS "/r", "status.availableReplicas"), "1");
}

static void pods_that_cannot_be_created_are_reported(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 1, "");
    settle(api);
    api_merge(api, DEPLOYMENTS "/web",
              "{\"spec\":{\"template\":{\"spec\":{\"serviceAccountName\":\"nobody\"}}}}");
    api_run(api, 5000);
    assert_non_null(strstr(condition(api, "web", "ReplicaFailure"), "True FailedCreate: "));
    api_post(api, CORE "serviceaccounts", "{\"metadata\":{\"name\":\"nobody\"}}");
    api_run(api, 60 * 1000);
    settle(api);
    assert_string_equal(condition(api, "web", "ReplicaFailure"), " : ");
    assert_string_equal(status_of(api, "web", "updatedReplicas"), "1");
}

/* ---- Deletion -------------------------------------------------------------------------------- */

static void delete_web(struct api *api, const char *propagation)
{
    deploy(api, "web", 2, "");
    settle(api);
    api_delete(api, DEPLOYMENTS "/web", text(api, "{\"propagationPolicy\":\"%s\"}", propagation));
    api_run(api, 3000);
}

static void background_deletion_deletes_sets_and_pods(void **state)
{
    struct api *api = *state;
    delete_web(api, "Background");
    assert_int_equal(api_get(api, DEPLOYMENTS "/web").status, 404);
    settle(api);
    assert_int_equal(json_count(items(api, SETS)), 0);
    assert_int_equal(json_count(items(api, PODS)), 0);
}

static void foreground_deletion_waits_for_sets_and_pods(void **state)
{
    struct api *api = *state;
    delete_web(api, "Foreground");
    assert_int_equal(api_get(api, DEPLOYMENTS "/web").status, 200); /* its pods are still ending */
    settle(api);
    assert_int_equal(api_get(api, DEPLOYMENTS "/web").status, 404);
    assert_int_equal(json_count(items(api, SETS)), 0);
    assert_int_equal(json_count(items(api, PODS)), 0);
}

static void orphan_deletion_keeps_sets_and_pods(void **state)
{
    struct api *api = *state;
    delete_web(api, "Orphan");
    assert_int_equal(api_get(api, DEPLOYMENTS "/web").status, 404);
    settle(api);
    assert_string_equal(sets(api), "1=2");
    assert_int_equal(json_count(items(api, PODS)), 2);
    const char *name = kube_meta_name(json_element(items(api, SETS), 0));
    /* Another deployment of the same name adopts the set and continues with it. */
    deploy(api, "web", 2, "");
    settle(api);
    assert_int_equal(json_count(items(api, SETS)), 1);
    assert_int_equal(json_count(items(api, PODS)), 2);
    assert_string_equal(api_at(api, text(api, SETS "/%s", name), "metadata.ownerReferences.0.kind"),
                        "Deployment");
}

static void a_deployment_is_deleted_with_its_namespace(void **state)
{
    static const char *const all[] = {
        "/apis/apps/v1/namespaces/away/deployments", "/apis/apps/v1/namespaces/away/replicasets",
        "/apis/discovery.k8s.io/v1/namespaces/away/endpointslices", "/api/v1/namespaces/away/pods"};
    struct api *api = *state;
    api_post(api, "/api/v1/namespaces", "{\"metadata\":{\"name\":\"away\"}}");
    struct answer answer =
        api_post(api, all[0],
                 "{\"metadata\":{\"name\":\"d\"},\"spec\":{\"replicas\":2,\"selector\":"
                 "{\"matchLabels\":{\"a\":\"b\"}},\"template\":{\"metadata\":{\"labels\":{\"a\":"
                 "\"b\"}},\"spec\":{\"containers\":[{\"name\":\"c\",\"image\":\"i\"}]}}}}");
    assert_int_equal(answer.status, 201);
    api_post(api, "/api/v1/namespaces/away/services",
             "{\"metadata\":{\"name\":\"s\"},\"spec\":{\"selector\":{\"a\":\"b\"},\"ports\":"
             "[{\"port\":80}]}}");
    api_run(api, 3000);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        assert_true(json_count(items(api, all[i])) > 0);
    api_delete(api, "/api/v1/namespaces/away", NULL);
    for (int i = 0; i < 10; i++) {
        api_run(api, 2000);
        JSON_EACH (pod, items(api, all[3]))
            api_delete(api, text(api, "%s/%s", all[3], kube_meta_name(pod)),
                       "{\"gracePeriodSeconds\":0}");
    }
    assert_int_equal(api_get(api, "/api/v1/namespaces/away").status, 404);
    for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
        assert_int_equal(json_count(items(api, all[i])), 0);
}

/* ---- EndpointSlices -------------------------------------------------------------------------- */

static void slices_follow_pods(void **state)
{
    struct api *api = *state;
    deploy(api, "web", 2, "");
    settle(api);
    api_post(api, CORE "services",
             "{\"metadata\":{\"name\":\"web\",\"labels\":{\"team\":\"x\"}},\"spec\":{\"selector\":"
             "{\"app\":\"web\"},\"ports\":[{\"port\":8080,\"targetPort\":80}]}}");
    api_run(api, 3000);
    const struct json *list = items(api, SLICES "?labelSelector=kubernetes.io/service-name=web");
    assert_int_equal(json_count(list), 1);
    const struct json *slice = json_element(list, 0);
    assert_true(str_has_prefix(kube_meta_name(slice), "web-"));
    assert_string_equal(kube_meta_label(slice, "endpointslice.kubernetes.io/managed-by"),
                        "endpointslice-controller.k8s.io");
    assert_string_equal(kube_meta_label(slice, "team"), "x");
    assert_string_equal(json_get_string(slice, "addressType", ""), "IPv4");
    assert_int_equal(json_count(json_get(slice, "endpoints")), 2);
    assert_int_equal(json_get_int(json_element(json_get(slice, "ports"), 0), "port", 0), 80);
    const struct json *endpoint = json_element(json_get(slice, "endpoints"), 0);
    assert_true(json_get_bool(json_get(endpoint, "conditions"), "ready", false));
    assert_string_equal(json_get_string(json_get(endpoint, "targetRef"), "kind", ""), "Pod");
    /* An endpoint whose pod is being deleted is still listed, as terminating. */
    const char *name = json_get_string(json_get(endpoint, "targetRef"), "name", "");
    api_delete(api, text(api, PODS "/%s", name), NULL);
    api_run(api, 1000);
    struct answer answer = api_get(api, text(api, SLICES "/%s", kube_meta_name(slice)));
    assert_non_null(strstr(answer.body, "{\"ready\":false,\"serving\":true,\"terminating\":true}"));
    api_merge(api, DEPLOYMENTS "/web/scale", "{\"spec\":{\"replicas\":0}}");
    settle(api);
    answer = api_get(api, text(api, SLICES "/%s", kube_meta_name(slice)));
    assert_int_equal(json_count(json_get(answer.json, "endpoints")), 0);
    api_delete(api, CORE "services/web", NULL);
    api_run(api, 3000);
    assert_int_equal(json_count(items(api, SLICES)), 0);
}

static void slices_mirror_endpoints(void **state)
{
    struct api *api = *state;
    api_post(api, CORE "services",
             "{\"metadata\":{\"name\":\"far\"},\"spec\":{\"ports\":[{\"port\":80}]}}");
    api_post(api, CORE "endpoints",
             "{\"metadata\":{\"name\":\"far\"},\"subsets\":[{\"addresses\":[{\"ip\":\"10.9.0.1\"}],"
             "\"notReadyAddresses\":[{\"ip\":\"10.9.0.2\"}],\"ports\":[{\"port\":80}]}]}");
    api_run(api, 3000);
    const struct json *list = items(api, SLICES "?labelSelector=kubernetes.io/service-name=far");
    assert_int_equal(json_count(list), 1);
    const struct json *slice = json_element(list, 0);
    assert_int_equal(json_count(json_get(slice, "endpoints")), 2);
    assert_string_equal(kube_meta_label(slice, "endpointslice.kubernetes.io/managed-by"),
                        "endpointslicemirroring-controller.k8s.io");
    api_delete(api, CORE "endpoints/far", NULL);
    api_run(api, 3000);
    assert_int_equal(json_count(items(api, SLICES)), 0);
}

int main(void)
{
#define FIXTURE_TEST(function)                                                                     \
    cmocka_unit_test_setup_teardown(function, setup, api_controlled_teardown)
    const struct CMUnitTest tests[] = {
        FIXTURE_TEST(a_deployment_creates_a_set_and_pods),
        FIXTURE_TEST(deleted_and_released_pods_are_replaced),
        FIXTURE_TEST(a_template_change_is_rolled_out),
        FIXTURE_TEST(recreate_replaces_all_pods_at_once),
        FIXTURE_TEST(a_deployment_can_be_paused_and_scaled),
        FIXTURE_TEST(old_revisions_are_deleted),
        FIXTURE_TEST(a_stalled_rollout_is_reported),
        FIXTURE_TEST(min_ready_seconds_delay_availability),
        FIXTURE_TEST(pods_that_cannot_be_created_are_reported),
        FIXTURE_TEST(background_deletion_deletes_sets_and_pods),
        FIXTURE_TEST(foreground_deletion_waits_for_sets_and_pods),
        FIXTURE_TEST(orphan_deletion_keeps_sets_and_pods),
        FIXTURE_TEST(a_deployment_is_deleted_with_its_namespace),
        FIXTURE_TEST(slices_follow_pods),
        FIXTURE_TEST(slices_mirror_endpoints),
    };
    int failed = 0;
    for (api_seed = 1; api_seed <= API_SEEDS && failed == 0; api_seed++)
        failed = cmocka_run_group_tests(tests, NULL, NULL);
    return failed;
}

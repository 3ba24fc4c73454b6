/* Sets the defaults and the first status of pods, as in Kubernetes. The defaults are written into
 * the object, so that every reader sees the same pod. */
#include "kube/kinds/pod/pod.h"

#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/defaults.h"
#include "kube/object.h"

#include <string.h>

/* The default request of a resource is its limit. */
static void resource_defaults(struct arena *arena, struct json *container)
{
    struct json *resources = json_get(container, "resources");
    const struct json *limits = json_get(resources, "limits");
    if (json_count(limits) == 0)
        return;
    struct json *requests = json_ensure_object(arena, resources, "requests");
    _cleanup_json_names_ struct json_names names = {0};
    JSON_EACH (limit, limits) {
        if (json_names_find(&names, requests, limit->name))
            continue;
        struct json *request = json_clone(arena, limit);
        request->name = limit->name;
        json_list_append(requests, request);
    }
}

/* For a pod with hostNetwork, the default host port is the container port. */
static void port_defaults(struct arena *arena, struct json *ports)
{
    JSON_EACH (port, ports)
        default_int(arena, port, "hostPort", json_get_int(port, "containerPort", 0));
}

/* Returns the default of imagePullPolicy. An image without a digest is always pulled if its tag is
 * "latest" or missing. */
static const char *pull_policy(const char *image)
{
    const char *slash = strrchr(image, '/');
    const char *tag = strrchr(slash ? slash : image, ':');
    if (strchr(image, '@'))
        return "IfNotPresent";
    return !tag || str_eq(tag, ":latest") ? "Always" : "IfNotPresent";
}

static void container_defaults(struct arena *arena, struct json *container, bool host_network)
{
    default_string(arena, container, "imagePullPolicy",
                   pull_policy(json_get_string(container, "image", "")));
    if (host_network)
        port_defaults(arena, json_get(container, "ports"));
}

void kube_pod_spec_defaults(struct arena *arena, struct json *spec)
{
    static const char *const lists[] = {"containers", "initContainers", NULL};
    bool host_network = json_get_bool(spec, "hostNetwork", false);
    for (size_t i = 0; lists[i]; i++) {
        JSON_EACH (container, json_get(spec, lists[i]))
            container_defaults(arena, container, host_network);
    }
    /* A volume without a source becomes an emptyDir. */
    JSON_EACH (volume, json_get(spec, "volumes")) {
        if (json_count(volume) == 1)
            json_set(arena, volume, "emptyDir", json_object(arena));
    }
    /* serviceAccount is the deprecated name of serviceAccountName. Both are set for older readers.
     */
    const char *account =
        json_get_string(spec, "serviceAccountName", json_get_string(spec, "serviceAccount", NULL));
    if (account) {
        json_set_string(arena, spec, "serviceAccountName", account);
        json_set_string(arena, spec, "serviceAccount", account);
    }
}

/* Sets the defaults that the schema of a pod lacks. Pod templates get only
 * kube_pod_spec_defaults(). */
void kube_pod_defaults(struct arena *arena, struct json *pod)
{
    static const char *const lists[] = {"containers", "initContainers", NULL};
    struct json *spec = json_get(pod, "spec");
    kube_pod_spec_defaults(arena, spec);
    for (size_t i = 0; lists[i]; i++) {
        JSON_EACH (container, json_get(spec, lists[i]))
            resource_defaults(arena, container);
    }
    default_bool(arena, spec, "enableServiceLinks", true);
}

/* Returns the QoS class. Guaranteed: every container has limits of cpu and memory that equal its
 * requests. BestEffort: no container has requests or limits of cpu or memory. Burstable: all other
 * pods. Unlike in Kubernetes, init containers do not count. */
static const char *quality_of_service(const struct json *pod)
{
    static const char *const needed[] = {"cpu", "memory"};
    bool any = false, all = true;
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        const struct json *resources = json_get(container, "resources");
        for (size_t i = 0; i < ARRAY_SIZE(needed); i++) {
            const struct json *limit = json_at(resources, "limits", needed[i], NULL);
            const struct json *request = json_at(resources, "requests", needed[i], NULL);
            any |= limit || request;
            all &= limit && request && json_equal(limit, request);
        }
    }
    return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

void kube_pod_prepare_new(struct arena *arena, struct json *pod)
{
    struct json *spec = json_get(pod, "spec");
    /* A negative grace period becomes 1, as in Kubernetes. */
    if (json_get_int(spec, "terminationGracePeriodSeconds", 0) < 0)
        json_set_int(arena, spec, "terminationGracePeriodSeconds", 1);
    struct json *status = json_object(arena);
    json_set_string(arena, status, "phase", "Pending");
    json_set_string(arena, status, "qosClass", quality_of_service(pod));
    json_set(arena, pod, "status", status);
}

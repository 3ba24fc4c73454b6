/* What a pod is when it does not say: the defaults of Kubernetes, written into the object so that
 * everybody who reads it sees the same pod. */
#include "engine/kinds.h"

#include "base/str.h"
#include "engine/defaults.h"
#include "kube/object.h"

#include <string.h>

static void probe_defaults(struct arena *arena, struct json *probe)
{
    if (!probe || probe->type != JSON_OBJECT)
        return;
    default_int(arena, probe, "timeoutSeconds", 1);
    default_int(arena, probe, "periodSeconds", 10);
    default_int(arena, probe, "successThreshold", 1);
    default_int(arena, probe, "failureThreshold", 3);
    struct json *http = json_get(probe, "httpGet");
    if (http && http->type == JSON_OBJECT) {
        default_string(arena, http, "path", "/");
        default_string(arena, http, "scheme", "HTTP");
    }
}

/* Asked for is what is allowed at most, where only the latter is said. */
static void resource_defaults(struct arena *arena, struct json *container)
{
    struct json *resources = json_ensure_object(arena, container, "resources");
    const struct json *limits = json_get(resources, "limits");
    if (json_count(limits) == 0)
        return;
    struct json *requests = json_ensure_object(arena, resources, "requests");
    JSON_EACH (limit, limits) {
        if (!json_get(requests, limit->name))
            json_set(arena, requests, limit->name, json_clone(arena, limit));
    }
}

static void port_defaults(struct arena *arena, struct json *ports, bool host_network)
{
    JSON_EACH (port, ports) {
        if (port->type != JSON_OBJECT)
            continue;
        default_string(arena, port, "protocol", "TCP");
        if (host_network)
            default_int(arena, port, "hostPort", json_get_int(port, "containerPort", 0));
    }
}

/* An image without a tag is the newest one, which is always asked for again. */
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
    default_string(arena, container, "terminationMessagePath", "/dev/termination-log");
    default_string(arena, container, "terminationMessagePolicy", "File");
    resource_defaults(arena, container);
    port_defaults(arena, json_get(container, "ports"), host_network);
    probe_defaults(arena, json_get(container, "livenessProbe"));
    probe_defaults(arena, json_get(container, "readinessProbe"));
    probe_defaults(arena, json_get(container, "startupProbe"));
    JSON_EACH (variable, json_get(container, "env")) {
        struct json *field = json_at(variable, "valueFrom", "fieldRef", NULL);
        if (field && field->type == JSON_OBJECT)
            default_string(arena, field, "apiVersion", "v1");
    }
}

static void volume_source_defaults(struct arena *arena, struct json *volume)
{
    static const char *const with_mode[] = {"configMap", "secret", "downwardAPI", "projected",
                                            NULL};
    for (size_t i = 0; with_mode[i]; i++) {
        struct json *source = json_get(volume, with_mode[i]);
        if (source && source->type == JSON_OBJECT)
            default_int(arena, source, "defaultMode", 0644);
    }
    /* A volume that names no source is an empty directory. */
    if (json_count(volume) == 1 && json_get(volume, "name"))
        json_set(arena, volume, "emptyDir", json_object(arena));
}

void kind_pod_defaults(struct arena *arena, struct json *pod)
{
    static const char *const lists[] = {"containers", "initContainers", NULL};
    const struct json *given = json_get(pod, "spec");
    if (given && given->type != JSON_OBJECT)
        return;
    struct json *spec = json_ensure_object(arena, pod, "spec");
    bool host_network = json_get_bool(spec, "hostNetwork", false);
    for (size_t i = 0; lists[i]; i++) {
        JSON_EACH (container, json_get(spec, lists[i])) {
            if (container->type == JSON_OBJECT)
                container_defaults(arena, container, host_network);
        }
    }
    JSON_EACH (volume, json_get(spec, "volumes")) {
        if (volume->type == JSON_OBJECT)
            volume_source_defaults(arena, volume);
    }
    default_string(arena, spec, "restartPolicy", "Always");
    default_int(arena, spec, "terminationGracePeriodSeconds", 30);
    default_string(arena, spec, "dnsPolicy", "ClusterFirst");
    default_string(arena, spec, "schedulerName", "default-scheduler");
    default_bool(arena, spec, "enableServiceLinks", true);
    json_ensure_object(arena, spec, "securityContext");
}

/* Guaranteed: every container limits cpu and memory and asks for as much; BestEffort: none asks for
 * anything. */
static const char *quality_of_service(const struct json *pod)
{
    static const char *const needed[] = {"cpu", "memory"};
    bool any = false, all = true;
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        const struct json *resources = json_get(container, "resources");
        for (size_t i = 0; i < sizeof(needed) / sizeof(needed[0]); i++) {
            const struct json *limit = json_at(resources, "limits", needed[i], NULL);
            const struct json *request = json_at(resources, "requests", needed[i], NULL);
            any |= limit || request;
            all &= limit && request && json_equal(limit, request);
        }
    }
    return !any ? "BestEffort" : all ? "Guaranteed" : "Burstable";
}

void kind_pod_create(struct arena *arena, struct json *pod)
{
    struct json *status = json_object(arena);
    json_set_string(arena, status, "phase", "Pending");
    json_set_string(arena, status, "qosClass", quality_of_service(pod));
    json_set(arena, pod, "status", status);
}

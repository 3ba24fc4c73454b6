/* Computes the Endpoints of a service; see endpoints.h. */
#include "engine/controllers/endpoints.h"

#include "base/str.h"
#include "kube/condition.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

static int compare_pods(const void *a, const void *b)
{
    return strcmp(kube_meta_name(*(const struct json *const *)a),
                  kube_meta_name(*(const struct json *const *)b));
}

/* Returns whether the Endpoints list the pod. A pod that has ended or has no address yet is left
 * out. A pod that is being deleted is left out unless publishNotReadyAddresses is set. */
static bool is_published(const struct json *pod, bool publish_unready)
{
    const struct json *status = json_get(pod, "status");
    const char *phase = json_get_string(status, "phase", "");
    return !str_is_empty(json_get_string(status, "podIP", "")) && !str_eq(phase, "Succeeded") &&
           !str_eq(phase, "Failed") && (publish_unready || !kube_meta_is_deleting(pod));
}

static const struct json *named_port(const struct json *pod, const char *name)
{
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        JSON_EACH (port, json_get(container, "ports")) {
            if (str_eq(json_get_string(port, "name", ""), name))
                return json_get(port, "containerPort");
        }
    }
    return NULL;
}

struct json *endpoints_ports(struct arena *arena, const struct json *service,
                             const struct json *pod)
{
    struct json *ports = json_array(arena);
    JSON_EACH (port, json_at(service, "spec", "ports", NULL)) {
        const struct json *target = json_get(port, "targetPort");
        const struct json *number = target && target->type == JSON_STRING
                                        ? named_port(pod, target->text)
                                        : (target ? target : json_get(port, "port"));
        if (!number || number->type != JSON_INT)
            continue;
        struct json *entry = json_object(arena);
        const char *name = json_get_string(port, "name", "");
        if (name[0])
            json_set_string(arena, entry, "name", name);
        json_set_int(arena, entry, "port", number->integer);
        json_set_string(arena, entry, "protocol", json_get_string(port, "protocol", "TCP"));
        json_append(ports, entry);
    }
    return ports;
}

struct json *endpoints_address(struct arena *arena, const struct json *service,
                               const struct json *pod)
{
    struct json *address = json_object(arena);
    const struct json *spec = json_get(pod, "spec");
    const char *hostname = json_get_string(spec, "hostname", "");
    json_set_string(arena, address, "ip", json_get_string(json_get(pod, "status"), "podIP", ""));
    if (hostname[0] && str_eq(json_get_string(spec, "subdomain", ""), kube_meta_name(service)))
        json_set_string(arena, address, "hostname", hostname);
    json_set_string(arena, address, "nodeName", json_get_string(spec, "nodeName", ""));
    struct json *target = json_ensure_object(arena, address, "targetRef");
    json_set_string(arena, target, "kind", "Pod");
    json_set_string(arena, target, "namespace", kube_meta_namespace(pod));
    json_set_string(arena, target, "name", kube_meta_name(pod));
    json_set_string(arena, target, "uid", kube_meta_uid(pod));
    return address;
}

/* Returns the subset with exactly these ports. Creates the subset if it does not exist. */
static struct json *subset_with(struct arena *arena, struct json *subsets, struct json *ports)
{
    JSON_EACH (subset, subsets) {
        const struct json *has = json_get(subset, "ports");
        if (has ? json_equal(has, ports) : json_count(ports) == 0)
            return subset;
    }
    struct json *subset = json_object(arena);
    if (json_count(ports))
        json_set(arena, subset, "ports", ports);
    json_append(subsets, subset);
    return subset;
}

struct json *endpoints_subsets(struct arena *arena, const struct json *service,
                               const struct json *const *pods, size_t count)
{
    struct json *subsets = json_array(arena);
    bool publish_unready =
        json_get_bool(json_get(service, "spec"), "publishNotReadyAddresses", false);
    const struct json **sorted = ARENA_ARRAY(arena, const struct json *, count + 1);
    for (size_t i = 0; i < count; i++)
        sorted[i] = pods[i];
    qsort(sorted, count, sizeof(*sorted), compare_pods);
    for (size_t i = 0; i < count; i++) {
        const struct json *pod = sorted[i];
        if (!is_published(pod, publish_unready))
            continue;
        struct json *ports = endpoints_ports(arena, service, pod);
        if (json_count(ports) == 0 && json_count(json_at(service, "spec", "ports", NULL)) > 0)
            continue;
        struct json *subset = subset_with(arena, subsets, ports);
        bool ready = publish_unready || kube_condition_is_true(pod, "Ready");
        json_append(json_ensure_array(arena, subset, ready ? "addresses" : "notReadyAddresses"),
                    endpoints_address(arena, service, pod));
    }
    return subsets;
}

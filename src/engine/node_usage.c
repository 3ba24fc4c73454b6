/* Counting what pods take; see node_usage.h. */
#include "engine/node_usage.h"

#include "base/str.h"
#include "kube/quantity.h"

static int64_t amount(const struct json *amounts, const char *name, bool milli)
{
    struct kube_quantity quantity;
    const struct json *value = json_get(amounts, name);
    if (!value || kube_quantity_from_json(value, &quantity, NULL) < 0)
        return 0;
    return milli ? kube_quantity_milli(&quantity) : kube_quantity_value(&quantity);
}

/* What a container asks for. More than any machine has is counted as so much: then 65,536 of them
 * can be added up, and taken off again. */
static int64_t request(const struct json *container, const char *name, bool milli)
{
    static const int64_t most = INT64_MAX >> 16;
    int64_t asked = amount(json_at(container, "resources", "requests", NULL), name, milli);
    return asked < most ? asked : most;
}

static uint32_t port_of(const struct json *port)
{
    const char *protocol = json_get_string(port, "protocol", "TCP");
    uint32_t kind = str_eq(protocol, "UDP") ? 1 : str_eq(protocol, "SCTP") ? 2 : 0;
    return kind << 16 | (uint32_t)json_get_int(port, "hostPort", 0);
}

static int64_t larger(int64_t a, int64_t b)
{
    return a > b ? a : b;
}

void node_usage_of_pod(const struct json *pod, struct node_usage *ret)
{
    const struct json *spec = json_get(pod, "spec");
    struct node_usage usage = {.pods = 1};
    JSON_EACH (container, json_get(spec, "containers")) {
        usage.cpu_milli += request(container, "cpu", true);
        usage.memory_bytes += request(container, "memory", false);
        JSON_EACH (port, json_get(container, "ports")) {
            if (json_get_int(port, "hostPort", 0) > 0)
                vec_push(&usage.ports, port_of(port));
        }
    }
    JSON_EACH (container, json_get(spec, "initContainers")) {
        usage.cpu_milli = larger(usage.cpu_milli, request(container, "cpu", true));
        usage.memory_bytes = larger(usage.memory_bytes, request(container, "memory", false));
    }
    *ret = usage;
}

void node_usage_release(struct node_usage *usage)
{
    vec_release(&usage->ports);
}

void node_usage_add(struct node_usage *total, const struct node_usage *pod)
{
    total->pods += pod->pods;
    total->cpu_milli += pod->cpu_milli;
    total->memory_bytes += pod->memory_bytes;
    for (size_t i = 0; i < pod->ports.count; i++)
        vec_push(&total->ports, pod->ports.items[i]);
}

void node_usage_subtract(struct node_usage *total, const struct node_usage *pod)
{
    total->pods -= pod->pods;
    total->cpu_milli -= pod->cpu_milli;
    total->memory_bytes -= pod->memory_bytes;
    for (size_t i = 0; i < pod->ports.count; i++) {
        for (size_t at = 0; at < total->ports.count; at++) {
            if (total->ports.items[at] == pod->ports.items[i]) {
                vec_remove(&total->ports, at);
                break;
            }
        }
    }
}

static bool port_is_taken(const struct node_usage *used, uint32_t port)
{
    for (size_t i = 0; i < used->ports.count; i++)
        if (used->ports.items[i] == port)
            return true;
    return false;
}

const char *node_usage_shortage(const struct json *node, const struct node_usage *used,
                                const struct node_usage *pod)
{
    const struct json *has = json_at(node, "status", "allocatable", NULL);
    if (json_get(has, "pods") && (int64_t)(used->pods + pod->pods) > amount(has, "pods", false))
        return "Too many pods";
    if (json_get(has, "cpu") && pod->cpu_milli > 0 &&
        used->cpu_milli + pod->cpu_milli > amount(has, "cpu", true))
        return "Insufficient cpu";
    if (json_get(has, "memory") && pod->memory_bytes > 0 &&
        used->memory_bytes + pod->memory_bytes > amount(has, "memory", false))
        return "Insufficient memory";
    for (size_t i = 0; i < pod->ports.count; i++)
        if (port_is_taken(used, pod->ports.items[i]))
            return "node(s) didn't have free ports for the requested pod ports";
    return NULL;
}

void node_usage_left(const struct json *node, const struct node_usage *used, int64_t *ret_cpu_milli,
                     int64_t *ret_memory_bytes)
{
    const struct json *has = json_at(node, "status", "allocatable", NULL);
    *ret_cpu_milli = json_get(has, "cpu") ? amount(has, "cpu", true) - used->cpu_milli : INT64_MAX;
    *ret_memory_bytes =
        json_get(has, "memory") ? amount(has, "memory", false) - used->memory_bytes : INT64_MAX;
}

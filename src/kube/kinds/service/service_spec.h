/* Functions that read the spec of a service: its type, the properties that follow from it, and its
 * node ports. */
#ifndef TRAINYARD_KUBE_KINDS_SERVICE_SERVICE_SPEC_H
#define TRAINYARD_KUBE_KINDS_SERVICE_SERVICE_SPEC_H

#include "base/json/json.h"
#include "base/str.h"

/* The clusterIP of a service that has no address (a headless service). */
#define SERVICE_HEADLESS "None"

static inline bool service_is(const struct json *spec, const char *type)
{
    return str_eq(json_get_string(spec, "type", ""), type);
}

static inline bool service_is_headless(const struct json *spec)
{
    return str_eq(json_text(json_first(json_get(spec, "clusterIPs"))), SERVICE_HEADLESS);
}

static inline bool service_has_node_ports(const struct json *spec)
{
    return service_is(spec, "NodePort") || service_is(spec, "LoadBalancer");
}

/* Returns whether Kubernetes counts the service as accessible from outside of the cluster. This
 * server ignores externalIPs. */
static inline bool service_is_external(const struct json *spec)
{
    return service_has_node_ports(spec) ||
           (service_is(spec, "ClusterIP") && json_count(json_get(spec, "externalIPs")) > 0);
}

/* Returns whether the service has a healthCheckNodePort. A load balancer uses this port to find the
 * nodes that have pods of the service. */
static inline bool service_has_health_port(const struct json *spec)
{
    return service_is(spec, "LoadBalancer") &&
           str_eq(json_get_string(spec, "externalTrafficPolicy", ""), "Local");
}

/* A set of node ports. Numbers outside of the range of node ports are ignored. */
enum { SERVICE_NODE_PORT_FIRST = 30000, SERVICE_NODE_PORT_LAST = 32767 };
struct service_node_ports {
    bool has[SERVICE_NODE_PORT_LAST - SERVICE_NODE_PORT_FIRST + 1];
};

static inline bool service_is_node_port(int64_t number)
{
    return number >= SERVICE_NODE_PORT_FIRST && number <= SERVICE_NODE_PORT_LAST;
}

static inline bool service_node_ports_has(const struct service_node_ports *set, int64_t number)
{
    return service_is_node_port(number) && set->has[number - SERVICE_NODE_PORT_FIRST];
}

static inline void service_node_ports_put(struct service_node_ports *set, int64_t number)
{
    if (service_is_node_port(number))
        set->has[number - SERVICE_NODE_PORT_FIRST] = true;
}

/* Adds the node ports of all ports of the service. */
static inline void service_node_ports_add(struct service_node_ports *set, const struct json *spec)
{
    JSON_EACH (port, json_get(spec, "ports"))
        service_node_ports_put(set, json_get_int(port, "nodePort", 0));
}

#endif

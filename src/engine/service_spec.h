/* What the type of a service says about its other fields, asked of its spec. */
#ifndef TRAINYARD_ENGINE_SERVICE_SPEC_H
#define TRAINYARD_ENGINE_SERVICE_SPEC_H

#include "base/json.h"
#include "base/str.h"

/* A service without an address of its own has this for one. */
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

/* Somebody outside of the cluster is to reach it. */
static inline bool service_is_external(const struct json *spec)
{
    return service_has_node_ports(spec) ||
           (service_is(spec, "ClusterIP") && json_count(json_get(spec, "externalIPs")) > 0);
}

/* A load balancer asks each node whether it has pods of it, at a port for that. */
static inline bool service_has_health_port(const struct json *spec)
{
    return service_is(spec, "LoadBalancer") &&
           str_eq(json_get_string(spec, "externalTrafficPolicy", ""), "Local");
}

#endif

/* Computes the tables of the proxies; see service/service_table.h. */
#include "node/service/service_table.h"

#include "base/str.h"
#include "kube/object.h"
#include "node/network/pod_network.h"
#include "node/node_object.h"
#include "node/plan/plan.h"

#include <arpa/inet.h>
#include <stdlib.h>
#include <string.h>

static bool is_udp(const struct json *port)
{
    return str_eq(json_get_string(port, "protocol", "TCP"), "UDP");
}

/* Returns whether the proxies forward the port's protocol. */
static bool is_forwarded(const struct json *port)
{
    return is_udp(port) || str_eq(json_get_string(port, "protocol", "TCP"), "TCP");
}

static bool make_place(const char *address, int64_t port, struct proxy_place *ret)
{
    *ret = (struct proxy_place){.port = (uint16_t)port};
    return port > 0 && port <= 65535 && inet_pton(AF_INET, address, &ret->address) == 1;
}

/* Adds the ready endpoints of one port of a service as backends. If `from_inside` is set, adds only
 * addresses of the pod network, because the service proxy cannot reach others. */
static void add_places(struct arena *arena, struct proxy_route *route, const struct json *port,
                       const struct json *endpoints, bool from_inside)
{
    const char *name = json_get_string(port, "name", "");
    JSON_EACH (subset, json_get(endpoints, "subsets")) {
        JSON_EACH (target, json_get(subset, "ports")) {
            if (is_udp(target) != is_udp(port) || !is_forwarded(target) ||
                !str_eq(json_get_string(target, "name", ""), name))
                continue;
            JSON_EACH (address, json_get(subset, "addresses")) {
                struct proxy_place place;
                if (make_place(json_get_string(address, "ip", ""), json_get_int(target, "port", 0),
                               &place) &&
                    (!from_inside || pod_network_has(place.address)))
                    proxy_route_add_backend(arena, route, place);
            }
        }
    }
}

static bool is_sticky(const struct json *spec)
{
    return str_eq(json_get_string(spec, "sessionAffinity", ""), "ClientIP");
}

/* Routes and backends are sorted, because informers return objects in no fixed order, and a table
 * counts as changed if its text differs. */
static int compare_places(const void *a, const void *b)
{
    const struct proxy_place *one = a, *two = b;
    uint32_t first = ntohl(one->address.s_addr), second = ntohl(two->address.s_addr);
    if (first != second)
        return first < second ? -1 : 1;
    return (int)one->port - (int)two->port;
}

static int compare_routes(const void *a, const void *b)
{
    const struct proxy_route *one = a, *two = b;
    int order = compare_places(&one->listen, &two->listen);
    return order ? order : (int)one->udp - (int)two->udp;
}

static void service_table_sort(struct proxy_table *table)
{
    if (table->count)
        qsort(table->routes, table->count, sizeof(*table->routes), compare_routes);
    for (size_t i = 0; i < table->count; i++)
        if (table->routes[i].count)
            qsort(table->routes[i].to, table->routes[i].count, sizeof(*table->routes[i].to),
                  compare_places);
}

void service_table_inside(struct arena *arena, const struct service_table_source *source,
                          struct proxy_table *ret)
{
    const struct json *service;
    *ret = (struct proxy_table){0};
    for (size_t at = 0; (service = source->next_service(source->context, &at));) {
        const struct json *spec = json_get(service, "spec");
        const struct json *endpoints = NULL;
        JSON_EACH (port, json_get(spec, "ports")) {
            struct proxy_place listen;
            /* The clusterIP "None" is no address: a headless service has no route. */
            if (!is_forwarded(port) || !make_place(json_get_string(spec, "clusterIP", ""),
                                                   json_get_int(port, "port", 0), &listen))
                continue;
            if (!endpoints)
                endpoints = source->endpoints(source->context, kube_meta_namespace(service),
                                              kube_meta_name(service));
            struct proxy_route *route = proxy_table_add(arena, ret, listen);
            route->udp = is_udp(port);
            route->sticky = is_sticky(spec);
            add_places(arena, route, port, endpoints, true);
        }
    }
    service_table_sort(ret);
}

static void add_node_ports(struct arena *arena, const struct service_table_source *source,
                           const struct json *service, const char *const *node_names,
                           struct proxy_table *ret)
{
    const struct json *spec = json_get(service, "spec");
    const char *type = json_get_string(spec, "type", "");
    if (!str_eq(type, "NodePort") && !str_eq(type, "LoadBalancer"))
        return;
    const struct json *endpoints =
        source->endpoints(source->context, kube_meta_namespace(service), kube_meta_name(service));
    const char *owner =
        arena_printf(arena, "Service/%s/%s", kube_meta_namespace(service), kube_meta_name(service));
    JSON_EACH (port, json_get(spec, "ports")) {
        for (int node = 0; node_names[node] && is_forwarded(port); node++) {
            struct proxy_place listen;
            if (!make_place(node_object_address(arena, node), json_get_int(port, "nodePort", 0),
                            &listen))
                continue;
            struct proxy_route *route = proxy_table_add(arena, ret, listen);
            route->udp = is_udp(port);
            route->owner = owner;
            route->sticky = is_sticky(spec);
            add_places(arena, route, port, endpoints, false);
        }
    }
}

static void add_host_ports(struct arena *arena, const struct json *pod,
                           const char *const *node_names, struct proxy_table *ret)
{
    const struct json *spec = json_get(pod, "spec"), *status = json_get(pod, "status");
    const char *node_name = json_get_string(spec, "nodeName", "");
    int node = 0;
    while (node_names[node] && !str_eq(node_names[node], node_name))
        node++;
    if (!node_names[node] || plan_uses_host_network(pod) ||
        !str_eq(json_get_string(status, "phase", ""), "Running"))
        return;
    JSON_EACH (container, json_get(spec, "containers")) {
        JSON_EACH (port, json_get(container, "ports")) {
            struct proxy_place listen, to;
            if (!is_forwarded(port) ||
                !make_place(node_object_address(arena, node), json_get_int(port, "hostPort", 0),
                            &listen) ||
                !make_place(json_get_string(status, "podIP", ""),
                            json_get_int(port, "containerPort", 0), &to))
                continue;
            struct proxy_route *route = proxy_table_add(arena, ret, listen);
            route->udp = is_udp(port);
            route->owner =
                arena_printf(arena, "Pod/%s/%s", kube_meta_namespace(pod), kube_meta_name(pod));
            proxy_route_add_backend(arena, route, to);
        }
    }
}

bool service_table_concerns(const struct json *pod)
{
    JSON_EACH (container, json_at(pod, "spec", "containers", NULL)) {
        JSON_EACH (port, json_get(container, "ports")) {
            if (json_get_int(port, "hostPort", 0) > 0)
                return true;
        }
    }
    return false;
}

void service_table_outside(struct arena *arena, const struct service_table_source *source,
                           const char *const *node_names, struct proxy_table *ret)
{
    const struct json *object;
    *ret = (struct proxy_table){0};
    for (size_t at = 0; (object = source->next_service(source->context, &at));)
        add_node_ports(arena, source, object, node_names, ret);
    for (size_t at = 0; (object = source->next_pod(source->context, &at));)
        add_host_ports(arena, object, node_names, ret);
    service_table_sort(ret);
}

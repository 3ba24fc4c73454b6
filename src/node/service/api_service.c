/* Creates the Service and Endpoints "kubernetes"; see service/api_service.h. */
#include "node/service/api_service.h"

#include "base/log.h"
#include "base/str.h"
#include "kube/object.h"
#include "node/network/pod_network.h"

#define NAMESPACE "default"
#define NAME      "kubernetes"

static void on_api_service_made(void *context, struct json *object, const struct err *err)
{
    if (err && err->code != ERR_EXISTS)
        log_warning("services", "cannot make service " NAME ": %s", err->message);
}

static struct json *make_port(struct arena *arena, int64_t number)
{
    struct json *port = json_object(arena);
    json_set_string(arena, port, "name", "https");
    json_set_int(arena, port, "port", number);
    json_set_string(arena, port, "protocol", "TCP");
    return port;
}

static struct json *in_array(struct arena *arena, struct json *item)
{
    struct json *array = json_array(arena);
    json_append(array, item);
    return array;
}

static struct json *make_service(struct arena *arena)
{
    struct json *service = kube_object_make(arena, &KUBE_SERVICES, NAMESPACE, NAME);
    struct json *spec = json_ensure_object(arena, service, "spec");
    struct json *port = make_port(arena, 443);
    kube_meta_set_label(arena, service, "component", "apiserver");
    kube_meta_set_label(arena, service, "provider", "kubernetes");
    json_set_string(arena, spec, "clusterIP", POD_NETWORK_API_SERVICE);
    json_set_int(arena, port, "targetPort", POD_NETWORK_API_PORT);
    json_set(arena, spec, "ports", in_array(arena, port));
    return service;
}

static struct json *make_endpoints(struct arena *arena)
{
    struct json *endpoints = kube_object_make(arena, &KUBE_ENDPOINTS, NAMESPACE, NAME);
    struct json *subset = json_object(arena), *address = json_object(arena);
    json_set_string(arena, address, "ip", POD_NETWORK_GATEWAY);
    json_set(arena, subset, "addresses", in_array(arena, address));
    json_set(arena, subset, "ports", in_array(arena, make_port(arena, POD_NETWORK_API_PORT)));
    json_set(arena, endpoints, "subsets", in_array(arena, subset));
    return endpoints;
}

void node_api_service_make(struct kube_client *client)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    kube_create(client, &KUBE_SERVICES, NAMESPACE, make_service(arena), on_api_service_made, NULL);
    kube_create(client, &KUBE_ENDPOINTS, NAMESPACE, make_endpoints(arena), on_api_service_made,
                NULL);
}

bool node_api_service_is(const struct kube_object *object)
{
    return str_eq(object->namespace_, NAMESPACE) && str_eq(object->name, NAME);
}

/* Implements environment_add_services(); see plan/environment.h. As in Kubernetes, each service has
 * variables in two old forms: NAME_SERVICE_HOST, and those of Docker's links, such as
 * NAME_PORT_80_TCP. */
#include "node/plan/environment.h"

#include "base/str.h"
#include "kube/object.h"
#include "node/network/pod_network.h"

#include <ctype.h>
#include <inttypes.h>

/* Converts "my-service" to "MY_SERVICE". */
static char *variable_name(struct arena *arena, const char *name)
{
    char *text = arena_strdup(arena, name);
    for (char *at = text; *at; at++)
        *at = *at == '-' ? '_' : (char)toupper((unsigned char)*at);
    return text;
}

/* `name` is the name of the service in variables, such as "MY_SERVICE". */
static void add_port(struct arena *arena, struct pod_strings *ret, const char *name,
                     const char *address, const struct json *port, bool is_first)
{
    char *number = arena_printf(arena, "%" PRId64, json_get_int(port, "port", 0));
    const char *upper = json_get_string(port, "protocol", "TCP");
    char *lower = arena_strdup(arena, upper);
    for (char *at = lower; *at; at++)
        *at = (char)tolower((unsigned char)*at);
    const char *port_name = json_get_string(port, "name", "");
    char *where = arena_printf(arena, "%s://%s:%s", lower, address, number);
    char *link = arena_printf(arena, "%s_PORT_%s_%s", name, number, upper);
    if (is_first) {
        environment_set(arena, ret, arena_printf(arena, "%s_SERVICE_PORT", name), number);
        environment_set(arena, ret, arena_printf(arena, "%s_PORT", name), where);
    }
    if (port_name[0])
        environment_set(
            arena, ret,
            arena_printf(arena, "%s_SERVICE_PORT_%s", name, variable_name(arena, port_name)),
            number);
    environment_set(arena, ret, link, where);
    environment_set(arena, ret, arena_printf(arena, "%s_PROTO", link), lower);
    environment_set(arena, ret, arena_printf(arena, "%s_PORT", link), number);
    environment_set(arena, ret, arena_printf(arena, "%s_ADDR", link), address);
}

static void add_service(struct arena *arena, struct pod_strings *ret, const struct json *service)
{
    const struct json *spec = json_get(service, "spec");
    const char *address = json_get_string(spec, "clusterIP", "");
    const char *name = variable_name(arena, kube_meta_name(service));
    bool is_first = true;
    if (!address[0] || str_eq(address, "None"))
        return; /* a headless service has no variables */
    environment_set(arena, ret, arena_printf(arena, "%s_SERVICE_HOST", name), address);
    JSON_EACH (port, json_get(spec, "ports")) {
        add_port(arena, ret, name, address, port, is_first);
        is_first = false;
    }
}

/* Adds the variables of the API. They contain the address of its service or, for a pod on the
 * machine's network, 127.0.0.1 and the API's own port. */
static void add_api(struct arena *arena, const struct pod_facts *facts, struct pod_strings *ret)
{
    struct json *port = json_object(arena);
    const char *address = facts->api_port ? "127.0.0.1" : POD_NETWORK_API_SERVICE;
    json_set_string(arena, port, "name", "https");
    json_set_int(arena, port, "port", facts->api_port ? facts->api_port : 443);
    environment_set(arena, ret, "KUBERNETES_SERVICE_HOST", address);
    add_port(arena, ret, "KUBERNETES", address, port, true);
}

void environment_add_services(struct arena *arena, const struct pod_facts *facts,
                              const struct node_objects *objects, struct pod_strings *ret)
{
    const struct json *service;
    if (objects->next_service &&
        json_get_bool(json_get(facts->pod, "spec"), "enableServiceLinks", true))
        for (size_t at = 0; (service = objects->next_service(
                                 objects->context, kube_meta_namespace(facts->pod), &at));)
            add_service(arena, ret, service);
    add_api(arena, facts, ret);
}

/* Services: reached at a cluster address of their own, at a port of every node, or, where clusterIP
 * is "None", at their pods themselves. Addresses and ports are given out by service_addresses.c;
 * types that need somebody outside of this machine are refused. */
#include "engine/kinds.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/defaults.h"
#include "engine/engine.h"
#include "engine/meta.h"
#include "engine/rest.h"
#include "engine/rule.h"
#include "engine/service_addresses.h"

#include <inttypes.h>

static struct json *array_of(struct arena *arena, const char *text)
{
    struct json *array = json_array(arena);
    json_append(array, json_string(arena, text));
    return array;
}

static void default_port(struct arena *arena, struct json *port)
{
    const struct json *number = json_get(port, "port");
    const struct json *target = json_get(port, "targetPort");
    bool zero = target && target->type == JSON_INT && target->integer == 0;
    if (number && (!target || zero))
        json_set(arena, port, "targetPort", json_clone(arena, number));
}

void kind_service_defaults(struct arena *arena, struct json *service)
{
    struct json *spec = json_get(service, "spec");
    default_string(arena, spec, "internalTrafficPolicy", "Cluster");
    if (str_eq(json_get_string(spec, "type", ""), "NodePort"))
        default_string(arena, spec, "externalTrafficPolicy", "Cluster");
    JSON_EACH (port, json_get(spec, "ports"))
        default_port(arena, port);
}

void kind_service_assign(struct engine *engine, struct field_errors *errors, struct json *service,
                         const struct json *old)
{
    struct arena *arena = errors->arena;
    struct json *spec = json_ensure_object(arena, service, "spec");
    default_string(arena, spec, "ipFamilyPolicy", "SingleStack");
    if (default_is_missing(spec, "ipFamilies"))
        json_set(arena, spec, "ipFamilies", array_of(arena, "IPv4"));
    const struct json *before = json_get(old, "spec");
    /* It goes with the type that it was for. */
    if (!str_eq(json_get_string(spec, "type", ""), "NodePort") &&
        rule_same(json_get(spec, "externalTrafficPolicy"),
                  json_get(before, "externalTrafficPolicy")))
        json_remove(spec, "externalTrafficPolicy");
    service_addresses_assign(engine_service_addresses(engine), errors, service, old);
}

void kind_service_create(struct arena *arena, struct json *service)
{
    struct json *status = json_object(arena);
    json_set(arena, status, "loadBalancer", json_object(arena));
    json_set(arena, service, "status", status);
}

static void validate_port(struct field_errors *errors, const struct json *port, const char *field,
                          bool named)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    const struct json *number = json_get(port, "port"), *target = json_get(port, "targetPort");
    rule_port(errors, number, field_path(errors, "%s.port", field));
    rule_port_or_name(errors, target, field_path(errors, "%s.targetPort", field));
    rule_name(errors, port, "name", NAME_LABEL, named, field);
    rule_word(errors, port, "protocol", protocols, field);
}

/* Two ports of one service. */
static void validate_unlike(struct field_errors *errors, const struct json *port,
                            const struct json *other, const char *field)
{
    const char *name = json_get_string(port, "name", "");
    const char *protocol = json_get_string(port, "protocol", "");
    int64_t number = json_get_int(port, "port", 0), on_node = json_get_int(port, "nodePort", 0);
    if (name[0] && str_eq(json_get_string(other, "name", ""), name))
        field_duplicate(errors, field_path(errors, "%s.name", field), name);
    if (!str_eq(json_get_string(other, "protocol", ""), protocol))
        return;
    if (number && json_get_int(other, "port", 0) == number)
        field_duplicate(errors, field, field_path(errors, "%" PRId64 "/%s", number, protocol));
    if (on_node && json_get_int(other, "nodePort", 0) == on_node)
        field_duplicate(errors, field_path(errors, "%s.nodePort", field),
                        field_path(errors, "%" PRId64, on_node));
}

static void validate_ports(struct field_errors *errors, const struct json *ports)
{
    size_t position = 0;
    JSON_EACH (port, ports) {
        const char *field = field_path(errors, "spec.ports[%zu]", position);
        validate_port(errors, port, field, json_count(ports) > 1);
        for (const struct json *other = json_first(ports); other != port; other = other->next)
            validate_unlike(errors, port, other, field);
        position++;
    }
}

static void forbid_node_ports(struct field_errors *errors, const struct json *ports)
{
    size_t position = 0;
    JSON_EACH (port, ports) {
        if (json_get(port, "nodePort"))
            field_forbidden(errors, field_path(errors, "spec.ports[%zu].nodePort", position),
                            "may not be used when `type` is 'ClusterIP'");
        position++;
    }
}

static void validate_type(struct field_errors *errors, const struct json *spec)
{
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                        NULL};
    const struct json *type = json_get(spec, "type");
    const char *text = json_get_string(spec, "type", "");
    if (str_eq(text, "LoadBalancer"))
        field_invalid(errors, "spec.type", type,
                      "there is no load balancer on this machine: use NodePort, which is reached "
                      "at 127.0.0.1");
    else if (str_eq(text, "ExternalName"))
        field_invalid(errors, "spec.type", type,
                      "names outside of the cluster are not answered here: use the name itself");
    else if (!str_eq(text, "ClusterIP") && !str_eq(text, "NodePort"))
        field_unsupported(errors, "spec.type", text, types);
}

static void validate_address(struct field_errors *errors, const struct json *spec,
                             const struct json *old)
{
    const char *address = json_get_string(spec, "clusterIP", "");
    const char *had = json_get_string(json_get(old, "spec"), "clusterIP", address);
    bool headless = str_eq(address, KIND_SERVICE_HEADLESS);
    if (!str_eq(address, had))
        field_invalid(errors, "spec.clusterIPs[0]", json_get(spec, "clusterIPs"),
                      "may not change once set");
    if (headless && str_eq(json_get_string(spec, "type", ""), "NodePort"))
        field_invalid(errors, "spec.clusterIPs[0]", json_get(spec, "clusterIP"),
                      "may not be set to 'None' for NodePort services");
    if (!headless && json_count(json_get(spec, "ports")) == 0)
        field_required(errors, "spec.ports", NULL);
}

void kind_service_validate(struct field_errors *errors, const struct json *service,
                           const struct json *old)
{
    static const char *const affinities[] = {"ClientIP", "None", NULL};
    const struct json *spec = json_get(service, "spec");
    validate_type(errors, spec);
    validate_address(errors, spec, old);
    rule_word(errors, spec, "sessionAffinity", affinities, "spec");
    if (json_get(spec, "externalTrafficPolicy") &&
        !str_eq(json_get_string(spec, "type", ""), "NodePort"))
        field_invalid(errors, "spec.externalTrafficPolicy", json_get(spec, "externalTrafficPolicy"),
                      "may only be set for externally-accessible services");
    if (json_count(json_get(spec, "externalIPs")))
        field_forbidden(errors, "spec.externalIPs",
                        "addresses outside of the cluster are not answered on this machine");
    meta_validate_labels(errors, json_get(spec, "selector"), "spec.selector");
    validate_ports(errors, json_get(spec, "ports"));
    if (str_eq(json_get_string(spec, "type", ""), "ClusterIP"))
        forbid_node_ports(errors, json_get(spec, "ports"));
}

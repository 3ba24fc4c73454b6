/* Services. A service's name resolves to the addresses of its pods themselves, so every service is
 * headless: clusterIP is "None" by default and may be nothing else, and clients reach a pod on its
 * own port (targetPort). Types that need a load balancer or a port of the machine are refused. */
#include "engine/kinds.h"

#include "base/str.h"
#include "engine/defaults.h"
#include "engine/meta.h"

static const char NONE[] = "None";

void kind_service_defaults(struct arena *arena, struct json *service)
{
    struct json *spec = json_ensure_object(arena, service, "spec");
    default_string(arena, spec, "type", "ClusterIP");
    default_string(arena, spec, "sessionAffinity", NONE);
    default_string(arena, spec, "clusterIP", NONE);
    if (!json_get(spec, "clusterIPs")) {
        struct json *addresses = json_array(arena);
        json_append(addresses, json_clone(arena, json_get(spec, "clusterIP")));
        json_set(arena, spec, "clusterIPs", addresses);
    }
    JSON_EACH (port, json_get(spec, "ports")) {
        if (port->type != JSON_OBJECT)
            continue;
        default_string(arena, port, "protocol", "TCP");
        const struct json *number = json_get(port, "port");
        const struct json *target = json_get(port, "targetPort");
        bool zero = target && target->type == JSON_INT && target->integer == 0;
        if (number && (!target || target->type == JSON_NULL || zero))
            json_set(arena, port, "targetPort", json_clone(arena, number));
    }
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
    const char *name = json_get_string(port, "name", "");
    const char *protocol = json_get_string(port, "protocol", "");
    if (!number)
        field_required(errors, field_path(errors, "%s.port", field), NULL);
    else if (number->type != JSON_INT || number->integer < 1 || number->integer > 65535)
        field_invalid(errors, field_path(errors, "%s.port", field), number,
                      "must be between 1 and 65535, inclusive");
    if (target && target->type == JSON_INT && (target->integer < 1 || target->integer > 65535))
        field_invalid(errors, field_path(errors, "%s.targetPort", field), target,
                      "must be between 1 and 65535, inclusive");
    if (named && name[0] == '\0')
        field_required(errors, field_path(errors, "%s.name", field), NULL);
    else if (name[0] != '\0' && meta_name_complaint(NAME_LABEL, name))
        field_invalid(errors, field_path(errors, "%s.name", field), json_get(port, "name"), "%s",
                      meta_name_complaint(NAME_LABEL, name));
    if (!str_eq(protocol, "TCP") && !str_eq(protocol, "UDP") && !str_eq(protocol, "SCTP"))
        field_unsupported(errors, field_path(errors, "%s.protocol", field), protocol, protocols);
}

static void validate_ports(struct field_errors *errors, const struct json *ports)
{
    size_t position = 0;
    if (ports && ports->type != JSON_ARRAY && ports->type != JSON_NULL) {
        field_invalid(errors, "spec.ports", ports, "must be an array");
        return;
    }
    JSON_EACH (port, ports) {
        const char *field = field_path(errors, "spec.ports[%zu]", position);
        if (port->type != JSON_OBJECT)
            field_invalid(errors, field, port, "must be an object");
        else
            validate_port(errors, port, field, json_count(ports) > 1);
        const char *name = json_get_string(port, "name", "");
        for (const struct json *other = json_first(ports); other != port; other = other->next) {
            if (name[0] && str_eq(json_get_string(other, "name", ""), name))
                field_duplicate(errors, field_path(errors, "%s.name", field), name);
        }
        position++;
    }
}

void kind_service_validate(struct field_errors *errors, const struct json *service,
                           const struct json *old)
{
    static const char *const types[] = {"ClusterIP", NULL};
    const struct json *spec = json_get(service, "spec");
    const char *type = json_get_string(spec, "type", "");
    const struct json *address = json_get(spec, "clusterIP");
    if (!str_eq(type, "ClusterIP"))
        field_unsupported(errors, "spec.type", type, types);
    if (!str_eq(json_text(address), NONE))
        field_invalid(errors, "spec.clusterIP", address,
                      "must be \"None\" or left out: a service's name resolves to its pods");
    const struct json *selector = json_get(spec, "selector");
    if (selector && selector->type != JSON_OBJECT && selector->type != JSON_NULL)
        field_invalid(errors, "spec.selector", selector, "must be an object of strings");
    meta_validate_labels(errors, selector, "spec.selector");
    validate_ports(errors, json_get(spec, "ports"));
}

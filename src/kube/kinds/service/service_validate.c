/* Validates services, with Kubernetes' messages; see service_validate.h. */
#include "kube/kinds/service/service_validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/rule.h"
#include "kube/kinds/service/service_spec.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <string.h>

enum { AFFINITY_SECONDS_MAX = 86400 };

/* ---- Addresses ------------------------------------------------------------------------------- */

static bool is_ipv6(const char *text)
{
    return strchr(text, ':') != NULL;
}

static void validate_families(struct field_errors *errors, const struct json *spec)
{
    static const char *const known[] = {"IPv4", "IPv6", NULL};
    static const char *const policies[] = {"PreferDualStack", "RequireDualStack", "SingleStack",
                                           NULL};
    _cleanup_(map_release) struct map texts = {0};
    size_t position = 0;
    JSON_EACH (family, json_get(spec, "ipFamilies")) {
        const char *field = field_path(errors, "spec.ipFamilies[%zu]", position++);
        const char *text = json_text(family) ? json_text(family) : "";
        if (!str_eq(text, "IPv4") && !str_eq(text, "IPv6"))
            field_unsupported(errors, field, text, known);
        if (map_put(&texts, text, family))
            field_duplicate(errors, field, text);
    }
    rule_word(errors, spec, "ipFamilyPolicy", policies, "spec");
}

/* Validates the address at `position` of clusterIPs. `family` is the entry of ipFamilies at the
 * same position. */
static void validate_listed(struct field_errors *errors, const struct json *spec,
                            const struct json *address, const char *family, size_t position)
{
    const char *field = field_path(errors, "spec.clusterIPs[%zu]", position);
    const char *text = json_text(address) ? json_text(address) : "";
    if (!rule_address(errors, address, field))
        return;
    if (str_eq(family, "IPv4") && is_ipv6(text))
        field_invalid(errors, field, address,
                      "expected an IPv4 value as indicated by `ipFamilies[%zu]`", position);
    else if (str_eq(family, "IPv6") && !is_ipv6(text))
        field_invalid(errors, field, address,
                      "expected an IPv6 value as indicated by `ipFamilies[%zu]`", position);
    else if (is_ipv6(text))
        field_invalid(errors, field, json_get(spec, "clusterIPs"),
                      "IPv6 is not configured on this cluster");
}

void kube_service_validate_addresses(struct field_errors *errors, const struct json *spec)
{
    const struct json *list = json_get(spec, "clusterIPs"), *first = json_first(list);
    const char *address = json_get_string(spec, "clusterIP", "");
    size_t position = 0;
    if (address[0] && !str_eq(json_text(first), address))
        field_invalid(errors, "spec.clusterIPs", list, "first value must match `clusterIP`");
    else if (!address[0] && first)
        field_invalid(errors, "spec.clusterIPs", list,
                      "must be empty when `clusterIP` is not specified");
    validate_families(errors, spec);
    if (service_is_headless(spec)) {
        if (json_count(list) > 1)
            field_invalid(errors, "spec.clusterIPs", list,
                          "'None' must be the first and only value");
        return;
    }
    const struct json *family = json_first(json_get(spec, "ipFamilies"));
    JSON_EACH (item, list) {
        validate_listed(errors, spec, item, json_text(family), position++);
        family = family ? family->next : NULL;
    }
    if (json_count(list) > 2)
        field_invalid(errors, "spec.clusterIPs", list, "may only hold up to 2 values");
    else if (json_count(list) == 2 &&
             is_ipv6(json_text(first)) == is_ipv6(json_text(json_element(list, 1))))
        field_invalid(errors, "spec.clusterIPs", list,
                      "may specify no more than one IP for each IP family");
}

static void validate_address_kept(struct field_errors *errors, const struct json *spec,
                                  const struct json *before)
{
    const struct json *list = json_get(spec, "clusterIPs");
    if (service_is(spec, "ExternalName") || service_is(before, "ExternalName"))
        return;
    if (!rule_same(json_first(list), json_first(json_get(before, "clusterIPs"))))
        field_invalid(errors, "spec.clusterIPs[0]", list, "may not change once set");
}

static void validate_external_addresses(struct field_errors *errors, const struct json *addresses)
{
    size_t position = 0;
    JSON_EACH (address, addresses) {
        const char *field = field_path(errors, "spec.externalIPs[%zu]", position++);
        if (rule_address(errors, address, field))
            rule_address_outside(errors, address, field);
    }
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static void validate_port(struct field_errors *errors, const struct json *port, const char *field,
                          bool named)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    const struct json *number = json_get(port, "port"), *target = json_get(port, "targetPort");
    const char *application = json_get_string(port, "appProtocol", NULL);
    rule_port(errors, number, field_path(errors, "%s.port", field));
    rule_port_or_name(errors, target, field_path(errors, "%s.targetPort", field));
    rule_name(errors, port, "name", NAME_LABEL, named, field);
    rule_word(errors, port, "protocol", protocols, field);
    if (application)
        meta_validate_label_name(errors, application, field_path(errors, "%s.appProtocol", field));
}

/* Returns the port with only its number and protocol, for errors about these two fields. */
static const struct json *bare_port(struct arena *arena, const struct json *port)
{
    struct json *bare = json_object(arena);
    json_set_string(arena, bare, "Name", "");
    json_set_string(arena, bare, "Protocol", json_get_string(port, "protocol", ""));
    json_set(arena, bare, "AppProtocol", json_null(arena));
    json_set_int(arena, bare, "Port", json_get_int(port, "port", 0));
    json_set_int(arena, bare, "TargetPort", 0);
    json_set_int(arena, bare, "NodePort", 0);
    return bare;
}

/* The values that must differ between the ports of one service. */
struct taken_ports {
    struct map names, numbers, on_nodes;
};

static void taken_ports_release(struct taken_ports *taken)
{
    map_release(&taken->names);
    map_release(&taken->numbers);
    map_release(&taken->on_nodes);
}

/* Adds errors for values that an earlier port has, too. */
static void validate_distinct(struct field_errors *errors, struct taken_ports *taken,
                              const struct json *port, const char *field)
{
    const char *name = json_get_string(port, "name", "");
    const char *protocol = json_get_string(port, "protocol", "");
    long long number = json_get_int(port, "port", 0), on_node = json_get_int(port, "nodePort", 0);
    if (rule_seen(&taken->names, name))
        field_duplicate(errors, field_path(errors, "%s.name", field), name);
    if (number && rule_seen(&taken->numbers, field_path(errors, "%lld/%s", number, protocol)))
        field_duplicate_value(errors, field, bare_port(errors->arena, port));
    if (on_node && rule_seen(&taken->on_nodes, field_path(errors, "%lld/%s", on_node, protocol)))
        field_duplicate_value(errors, field_path(errors, "%s.nodePort", field),
                              json_get(port, "nodePort"));
}

static void validate_service_ports(struct field_errors *errors, const struct json *spec)
{
    const struct json *ports = json_get(spec, "ports");
    _cleanup_(taken_ports_release) struct taken_ports taken = {0};
    size_t position = 0;
    if (json_count(ports) == 0 && !service_is_headless(spec) && !service_is(spec, "ExternalName"))
        field_required(errors, "spec.ports", NULL);
    JSON_EACH (port, ports) {
        const char *field = field_path(errors, "spec.ports[%zu]", position++);
        validate_port(errors, port, field, json_count(ports) > 1);
        validate_distinct(errors, &taken, port, field);
        if (service_is(spec, "ClusterIP") && json_get_int(port, "nodePort", 0))
            field_forbidden(errors, field_path(errors, "%s.nodePort", field),
                            "may not be used when `type` is 'ClusterIP'");
    }
}

/* ---- Fields of each type --------------------------------------------------------------------- */

static void validate_external_name(struct field_errors *errors, const struct json *spec)
{
    /* The fields that must not be set, and their names in errors. */
    static const char *const none[][2] = {{"clusterIP", "clusterIPs"},
                                          {"clusterIPs", "clusterIPs"},
                                          {"ipFamilies", "ipFamilies"},
                                          {"ipFamilyPolicy", "ipFamilyPolicy"}};
    const char *name = json_get_string(spec, "externalName", "");
    size_t size = strlen(name);
    for (size_t i = 0; i < ARRAY_SIZE(none); i++)
        if (rule_is_set(json_get(spec, none[i][0])))
            field_forbidden(errors, field_path(errors, "spec.%s", none[i][1]),
                            "may not be set for ExternalName services");
    if (size > 0 && name[size - 1] == '.') /* a fully qualified name ends with a dot */
        name = arena_strndup(errors->arena, name, size - 1);
    const char *complaint = meta_name_complaint(NAME_SUBDOMAIN, name);
    if (name[0] == '\0')
        field_required(errors, "spec.externalName", NULL);
    else if (complaint)
        field_invalid(errors, "spec.externalName", json_string(errors->arena, name), "%s",
                      complaint);
}

static void validate_service_type(struct field_errors *errors, const struct json *spec)
{
    static const char *const types[] = {"ClusterIP", "ExternalName", "LoadBalancer", "NodePort",
                                        NULL};
    const char *type = json_get_string(spec, "type", "");
    if (service_is(spec, "ExternalName"))
        validate_external_name(errors, spec);
    else if (service_has_node_ports(spec) && service_is_headless(spec))
        field_invalid(errors, "spec.clusterIPs[0]", json_get(spec, "clusterIP"),
                      "may not be set to 'None' for %s services", type);
    rule_word(errors, spec, "type", types, "spec");
}

/* Returns whether the text is a network such as "10.0.0.0/8", with or without spaces around it. */
static bool is_network(struct arena *arena, const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    while (isspace((unsigned char)*text))
        text++;
    size_t size = strlen(text);
    while (size > 0 && isspace((unsigned char)text[size - 1]))
        size--;
    char *address = arena_strndup(arena, text, size), *bits = strchr(address, '/');
    if (!bits)
        return false;
    *bits++ = '\0';
    int64_t count;
    return str_to_int64(bits, 0, is_ipv6(address) ? 128 : 32, &count, NULL) == 0 &&
           inet_pton(is_ipv6(address) ? AF_INET6 : AF_INET, address, bytes) == 1;
}

static void validate_balancer(struct field_errors *errors, const struct json *spec,
                              const struct json *before)
{
    static const char only[] = "may only be used when `type` is 'LoadBalancer'";
    static const char ranges[] =
        "spec.LoadBalancerSourceRanges"; /* Kubernetes also writes the capital L */
    bool balanced = service_is(spec, "LoadBalancer");
    const char *class_ = json_get_string(spec, "loadBalancerClass", NULL);
    size_t position = 0;
    if (!balanced && json_count(json_get(spec, "loadBalancerSourceRanges")) > 0)
        field_forbidden(errors, ranges, only);
    JSON_EACH (range, json_get(spec, "loadBalancerSourceRanges")) {
        if (!is_network(errors->arena, json_text(range) ? json_text(range) : ""))
            field_invalid(errors, field_path(errors, "%s[%zu]", ranges, position), range,
                          "must be a valid CIDR value, (e.g. 10.9.8.0/24 or 2001:db8::/64)");
        position++;
    }
    if (!balanced && rule_is_set(json_get(spec, "allocateLoadBalancerNodePorts")))
        field_forbidden(errors, "spec.allocateLoadBalancerNodePorts", only);
    if (!balanced && class_)
        field_forbidden(errors, "spec.loadBalancerClass", only);
    else if (class_)
        meta_validate_label_name(errors, class_, "spec.loadBalancerClass");
    if (balanced && service_is(before, "LoadBalancer") &&
        !rule_same(json_get(spec, "loadBalancerClass"), json_get(before, "loadBalancerClass")))
        field_invalid(errors, "spec.loadBalancerClass", json_get(spec, "loadBalancerClass"),
                      "may not change once set");
}

static void validate_traffic(struct field_errors *errors, const struct json *spec,
                             const struct json *before)
{
    static const char *const policies[] = {"Cluster", "Local", NULL};
    static const char *const near[] = {"PreferClose", "PreferSameZone", "PreferSameNode", NULL};
    const struct json *port = json_get(spec, "healthCheckNodePort");
    bool has_port = json_get_int(spec, "healthCheckNodePort", 0) != 0;
    if (service_is_external(spec))
        rule_word(errors, spec, "externalTrafficPolicy", policies, "spec");
    else if (rule_is_set(json_get(spec, "externalTrafficPolicy")))
        field_invalid(errors, "spec.externalTrafficPolicy", json_get(spec, "externalTrafficPolicy"),
                      "may only be set for externally-accessible services");
    if (!service_has_health_port(spec) && has_port)
        field_invalid(errors, "spec.healthCheckNodePort", port,
                      "may only be set when `type` is 'LoadBalancer' and `externalTrafficPolicy` "
                      "is 'Local'");
    else if (service_has_health_port(spec) && service_has_health_port(before) &&
             !rule_same(port, json_get(before, "healthCheckNodePort")))
        field_forbidden(errors, "spec.healthCheckNodePort", "field is immutable");
    rule_word(errors, spec, "internalTrafficPolicy", policies, "spec");
    rule_word(errors, spec, "trafficDistribution", near, "spec");
}

static void validate_affinity(struct field_errors *errors, const struct json *spec)
{
    static const char *const affinities[] = {"ClientIP", "None", NULL};
    const struct json *client = json_at(spec, "sessionAffinityConfig", "clientIP", NULL);
    const struct json *seconds = json_get(client, "timeoutSeconds");
    rule_word(errors, spec, "sessionAffinity", affinities, "spec");
    if (str_eq(json_get_string(spec, "sessionAffinity", ""), "ClientIP") && seconds &&
        (seconds->integer <= 0 || seconds->integer > AFFINITY_SECONDS_MAX))
        field_invalid(errors, "spec.sessionAffinityConfig.clientIP.timeoutSeconds", seconds,
                      "must be greater than 0 and less than %d", AFFINITY_SECONDS_MAX);
}

void kube_service_validate(struct field_errors *errors, const struct json *service,
                           const struct json *old)
{
    const struct json *spec = json_get(service, "spec"), *before = json_get(old, "spec");
    validate_service_type(errors, spec);
    validate_service_ports(errors, spec);
    meta_validate_labels(errors, json_get(spec, "selector"), "spec.selector");
    validate_affinity(errors, spec);
    validate_external_addresses(errors, json_get(spec, "externalIPs"));
    validate_balancer(errors, spec, before);
    validate_traffic(errors, spec, before);
    if (before)
        validate_address_kept(errors, spec, before);
}

/* Services: their row and defaults. service_validate.c validates services. The API server assigns
 * addresses and ports (engine/kinds/service_addresses.h). */
#include "kube/kinds/service/service.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/defaults.h"
#include "kube/kinds/row.h"
#include "kube/kinds/rule.h"
#include "kube/kinds/service/service_spec.h"
#include "kube/kinds/service/service_validate.h"

enum { AFFINITY_SECONDS = 3 * 3600 };

static void default_port(struct arena *arena, struct json *port)
{
    const struct json *number = json_get(port, "port");
    const struct json *target = json_get(port, "targetPort");
    bool zero = target && target->type == JSON_INT && target->integer == 0;
    if (number && (default_is_missing(port, "targetPort") || zero))
        json_set(arena, port, "targetPort", json_clone(arena, number));
}

static void default_affinity(struct arena *arena, struct json *spec)
{
    const char *affinity = json_get_string(spec, "sessionAffinity", "");
    if (str_eq(affinity, "None")) {
        json_remove(spec, "sessionAffinityConfig");
    } else if (str_eq(affinity, "ClientIP")) {
        struct json *config = json_ensure_object(arena, spec, "sessionAffinityConfig");
        default_int(arena, json_ensure_object(arena, config, "clientIP"), "timeoutSeconds",
                    AFFINITY_SECONDS);
    }
}

static void service_defaults(struct arena *arena, struct json *service)
{
    struct json *spec = json_get(service, "spec");
    if (service_is(spec, "ClusterIP") || service_has_node_ports(spec))
        default_string(arena, spec, "internalTrafficPolicy", "Cluster");
    if (service_is_external(spec))
        default_string(arena, spec, "externalTrafficPolicy", "Cluster");
    if (service_is(spec, "LoadBalancer"))
        default_bool(arena, spec, "allocateLoadBalancerNodePorts", true);
    default_affinity(arena, spec);
    JSON_EACH (port, json_get(spec, "ports"))
        default_port(arena, port);
}

/* ---- Fields of the former type --------------------------------------------------------------- */

/* Removes the field unless the client has changed it. Validation refuses a changed field. */
static void drop_field(struct json *spec, const struct json *before, const char *name)
{
    if (rule_same(json_get(spec, name), json_get(before, name)))
        json_remove(spec, name);
}

/* Removes all node ports unless the client has added or changed one. */
static void drop_node_ports(struct json *spec, const struct json *before)
{
    struct service_node_ports had = {0};
    service_node_ports_add(&had, before);
    JSON_EACH (port, json_get(spec, "ports")) {
        int64_t number = json_get_int(port, "nodePort", 0);
        if (number && !service_node_ports_has(&had, number))
            return;
    }
    JSON_EACH (port, json_get(spec, "ports"))
        json_remove(port, "nodePort");
}

/* Removes the fields that only the former type had. `before` is the stored spec. */
static void drop_former_fields(struct json *spec, const struct json *before)
{
    if (service_is(spec, "ExternalName") && !service_is(before, "ExternalName")) {
        if (rule_same(json_get(spec, "clusterIP"), json_get(before, "clusterIP")))
            drop_field(spec, before, "clusterIPs");
        drop_field(spec, before, "clusterIP");
        drop_field(spec, before, "ipFamilies");
        drop_field(spec, before, "ipFamilyPolicy");
    }
    if (service_has_node_ports(before) && !service_has_node_ports(spec))
        drop_node_ports(spec, before);
    if (service_has_health_port(before) && !service_has_health_port(spec))
        drop_field(spec, before, "healthCheckNodePort");
    if (service_is(before, "LoadBalancer") && !service_is(spec, "LoadBalancer")) {
        drop_field(spec, before, "allocateLoadBalancerNodePorts");
        drop_field(spec, before, "loadBalancerClass");
    }
    if (service_is_external(before) && !service_is_external(spec))
        drop_field(spec, before, "externalTrafficPolicy");
}

/* ---- Addresses and IP families --------------------------------------------------------------- */

static struct json *array_of(struct arena *arena, const struct json *first)
{
    struct json *array = json_array(arena);
    json_append(array, json_clone(arena, first));
    return array;
}

/* Takes missing addresses from the stored spec `before`. Copies clusterIP into clusterIPs, because
 * older clients write only clusterIP. */
static void complete_addresses(struct arena *arena, struct json *spec, const struct json *before)
{
    bool kept = before && !service_is(before, "ExternalName");
    if (kept && default_is_missing(spec, "clusterIP") && json_get(before, "clusterIP"))
        json_set(arena, spec, "clusterIP", json_clone(arena, json_get(before, "clusterIP")));
    if (kept && json_count(json_get(spec, "clusterIPs")) == 0 && json_get(before, "clusterIPs"))
        json_set(arena, spec, "clusterIPs", json_clone(arena, json_get(before, "clusterIPs")));
    bool changed = kept && !rule_same(json_get(spec, "clusterIP"), json_get(before, "clusterIP")) &&
                   rule_same(json_get(spec, "clusterIPs"), json_get(before, "clusterIPs"));
    bool alone = json_count(json_get(spec, "clusterIPs")) == 0;
    if (!default_is_missing(spec, "clusterIP") && (changed || alone))
        json_set(arena, spec, "clusterIPs", array_of(arena, json_get(spec, "clusterIP")));
}

/* Returns whether the service is headless and has no selector. Clients write the endpoints of such
 * a service, and the endpoints may be of either IP family. */
static bool has_manual_endpoints(const struct json *spec)
{
    return service_is_headless(spec) && json_count(json_get(spec, "selector")) == 0;
}

/* Sets the default of ipFamilyPolicy. If the client changed the policy to SingleStack and left the
 * families as they were, keeps only the first family. */
static void complete_policy(struct arena *arena, struct json *spec, const struct json *before)
{
    const char *had = json_get_string(before, "ipFamilyPolicy", "");
    default_string(arena, spec, "ipFamilyPolicy",
                   had[0]                       ? had
                   : has_manual_endpoints(spec) ? "RequireDualStack"
                                                : "SingleStack");
    bool single = str_eq(json_get_string(spec, "ipFamilyPolicy", ""), "SingleStack");
    const struct json *families = json_get(spec, "ipFamilies");
    if (single && json_count(families) > 1 && rule_same(families, json_get(before, "ipFamilies")))
        json_set(arena, spec, "ipFamilies", array_of(arena, json_first(families)));
}

/* Checks and completes the IP families of a service with valid addresses. Only services with manual
 * endpoints may have IPv6. */
static void assign_families(struct field_errors *errors, struct json *spec)
{
    struct arena *arena = errors->arena;
    struct json *families = json_ensure_array(arena, spec, "ipFamilies");
    const struct json *policy = json_get(spec, "ipFamilyPolicy");
    const char *stack = json_get_string(spec, "ipFamilyPolicy", "");
    bool manual = has_manual_endpoints(spec), single = str_eq(stack, "SingleStack");
    size_t position = 0;
    if (single && json_count(families) > 1)
        field_invalid(errors, "spec.ipFamilyPolicy", policy,
                      "must be 'RequireDualStack' or 'PreferDualStack' when multiple IP families "
                      "are specified");
    else if (!manual && str_eq(stack, "RequireDualStack"))
        field_invalid(errors, "spec.ipFamilyPolicy", policy,
                      "this cluster is not configured for dual-stack services");
    JSON_EACH (family, families) {
        if (!manual && !str_eq(json_text(family), "IPv4"))
            field_invalid(errors, field_path(errors, "spec.ipFamilies[%zu]", position), family,
                          "not configured on this cluster");
        position++;
    }
    if (json_count(families) == 0)
        json_append(families, json_string(arena, "IPv4"));
    if (manual && !single && json_count(families) == 1)
        json_append(
            families,
            json_string(arena, str_eq(json_text(json_first(families)), "IPv4") ? "IPv6" : "IPv4"));
}

void kube_service_complete(struct field_errors *errors, struct json *service,
                           const struct json *old)
{
    struct json *spec = json_ensure_object(errors->arena, service, "spec");
    const struct json *before = json_get(old, "spec");
    if (before)
        drop_former_fields(spec, before);
    if (!service_is(spec, "ExternalName")) {
        complete_addresses(errors->arena, spec, before);
        complete_policy(errors->arena, spec, before);
        kube_service_validate_addresses(errors, spec);
        if (errors->count == 0)
            assign_families(errors, spec);
    }
}

static void service_create(struct arena *arena, struct json *service)
{
    struct json *status = json_object(arena);
    json_set(arena, status, "loadBalancer", json_object(arena));
    json_set(arena, service, "status", status);
}

static const struct kube_column SERVICE_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Type", "How the service is exposed.", table_service_type),
    COLUMN_TEXT("Cluster-IP", "Cluster IP address of the service.", table_service_cluster_ip),
    COLUMN_TEXT("External-IP", "External IP address of the service.", table_service_external_ip),
    COLUMN_TEXT("Port(s)", "Ports of the service.", table_service_ports),
    COLUMN_AGE,
    COLUMN_WIDE("Selector", "Label selector of the pods.", table_service_selector),
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_SERVICES, KUBE_SERVICE_KIND, "services", "Service", NAMESPACED,
    .schema = &TYPE_SERVICE,
    .singular = "service",
    .short_names = NAMES("svc"),
    .categories = CATEGORY_ALL,
    .fields = NAMES("spec.clusterIP", "spec.type"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(PROXY_OF("Service"), STATUS_OF("Service")),
    .name_rule = NAME_LABEL1035,
    .columns = COLUMNS(SERVICE_COLUMNS),
    .hooks = {.defaults = service_defaults,
        .create = service_create,
        .validate = kube_service_validate});

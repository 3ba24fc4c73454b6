/* EndpointSlices: their row, defaults and validation. engine/controllers/endpoint_slice.c makes the
 * slices of services. */
#include "kube/kinds/row.h"

#include "base/str.h"
#include "kube/kinds/defaults.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/rule.h"

#include <arpa/inet.h>

enum { ENDPOINTS_MAX = 1000, ADDRESSES_MAX = 100 };

static void endpoint_slice_defaults(struct arena *arena, struct json *slice)
{
    JSON_EACH (port, json_get(slice, "ports")) {
        if (port->type != JSON_OBJECT)
            continue;
        if (!json_get(port, "name"))
            json_set_string(arena, port, "name", "");
        default_string(arena, port, "protocol", "TCP");
    }
}

static void validate_slice_address(struct field_errors *errors, const struct json *address,
                                   const char *type, const char *field)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    const char *text = json_text(address) ? address->text : "";
    bool is_v4 = inet_pton(AF_INET, text, bytes) == 1,
         is_v6 = inet_pton(AF_INET6, text, bytes) == 1;
    if (str_eq(type, "FQDN") ? !str_is_dns_subdomain(text) : !is_v4 && !is_v6)
        field_invalid(errors, field, address, "%s",
                      str_eq(type, "FQDN")
                          ? meta_name_complaint(NAME_SUBDOMAIN, text)
                          : "must be a valid IP address, (e.g. 10.9.8.7 or 2001:db8::ffff)");
    else if (str_eq(type, "IPv4") && !is_v4)
        field_invalid(errors, field, address, "must be an IPv4 address");
    else if (str_eq(type, "IPv6") && !is_v6)
        field_invalid(errors, field, address, "must be an IPv6 address");
}

static void validate_endpoints(struct field_errors *errors, const struct json *endpoints,
                               const char *type)
{
    size_t position = 0;
    if (json_count(endpoints) > ENDPOINTS_MAX) {
        field_too_many(errors, "endpoints", json_count(endpoints), ENDPOINTS_MAX);
        return;
    }
    JSON_EACH (endpoint, endpoints) {
        const char *field = field_path(errors, "endpoints[%zu]", position++);
        const struct json *addresses = json_get(endpoint, "addresses");
        const char *host = json_get_string(endpoint, "hostname", "");
        size_t at = 0;
        if (json_count(addresses) == 0)
            field_required(errors, field_path(errors, "%s.addresses", field),
                           "must contain at least 1 address");
        else if (json_count(addresses) > ADDRESSES_MAX)
            field_too_many(errors, field_path(errors, "%s.addresses", field), json_count(addresses),
                           ADDRESSES_MAX);
        JSON_EACH (address, addresses)
            validate_slice_address(errors, address, type,
                                   field_path(errors, "%s.addresses[%zu]", field, at++));
        if (host[0] && meta_name_complaint(NAME_LABEL, host))
            field_invalid(errors, field_path(errors, "%s.hostname", field),
                          json_get(endpoint, "hostname"), "%s",
                          meta_name_complaint(NAME_LABEL, host));
    }
}

static void validate_slice_ports(struct field_errors *errors, const struct json *ports)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    _cleanup_(map_release) struct map names = {0};
    size_t position = 0;
    JSON_EACH (port, ports) {
        const char *field = field_path(errors, "ports[%zu]", position++);
        const char *name = json_get_string(port, "name", "");
        const char *protocol = json_get_string(port, "protocol", "");
        if (name[0] && meta_name_complaint(NAME_LABEL, name))
            field_invalid(errors, field_path(errors, "%s.name", field), json_get(port, "name"),
                          "%s", meta_name_complaint(NAME_LABEL, name));
        if (map_put(&names, name, port))
            field_duplicate(errors, field_path(errors, "%s.name", field), name);
        if (!str_eq(protocol, "TCP") && !str_eq(protocol, "UDP") && !str_eq(protocol, "SCTP"))
            field_unsupported(errors, field_path(errors, "%s.protocol", field), protocol,
                              protocols);
    }
}

static void endpoint_slice_validate(struct field_errors *errors, const struct json *slice,
                                    const struct json *old)
{
    static const char *const types[] = {"FQDN", "IPv4", "IPv6", NULL};
    const char *type = json_get_string(slice, "addressType", "");
    if (type[0] == '\0')
        field_required(errors, "addressType", NULL);
    else if (!str_eq(type, "FQDN") && !str_eq(type, "IPv4") && !str_eq(type, "IPv6"))
        field_unsupported(errors, "addressType", type, types);
    validate_slice_ports(errors, json_get(slice, "ports"));
    validate_endpoints(errors, json_get(slice, "endpoints"), type);
    if (old)
        rule_immutable(errors, json_get(slice, "addressType"), json_get(old, "addressType"),
                       "addressType");
}

static const struct kube_column SLICE_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("AddressType", "Type of the addresses.", table_slice_type),
    COLUMN_TEXT("Ports", "Ports of the endpoints.", table_slice_ports),
    COLUMN_TEXT("Endpoints", "Addresses of the endpoints.", table_slice_endpoints),
    COLUMN_AGE,
};

/* clang-format off */

KUBE_KIND(KUBE_ENDPOINTSLICES, KUBE_ENDPOINTSLICE_KIND, "discovery.k8s.io", "v1", "endpointslices",
        "EndpointSlice", NAMESPACED,
    .schema = &TYPE_ENDPOINT_SLICE,
    .singular = "endpointslice",
    .verbs = VERBS_ALL,
    .generation = true,
    .columns = COLUMNS(SLICE_COLUMNS),
    .hooks = {.defaults = endpoint_slice_defaults,
        .validate = endpoint_slice_validate});

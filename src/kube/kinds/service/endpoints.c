/* Endpoints: their row, defaults and validation. */
#include "kube/kinds/row.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/rule.h"

static void validate_address(struct field_errors *errors, const struct json *address,
                             const char *field)
{
    const struct json *ip = json_get(address, "ip");
    const char *path = field_path(errors, "%s.ip", field);
    if (rule_address(errors, ip, path))
        rule_address_outside(errors, ip, path);
    rule_name(errors, address, "hostname", NAME_LABEL, false, field);
}

static void validate_subset(struct field_errors *errors, const struct json *subset,
                            const char *field)
{
    static const char *const lists[] = {"addresses", "notReadyAddresses"};
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    const struct json *ports = json_get(subset, "ports");
    size_t count = 0, position = 0;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        size_t at = 0;
        JSON_EACH (address, json_get(subset, lists[i]))
            validate_address(errors, address,
                             field_path(errors, "%s.%s[%zu]", field, lists[i], at++));
        count += at;
    }
    if (count == 0)
        field_required(errors, field, "must specify `addresses` or `notReadyAddresses`");
    JSON_EACH (port, ports) {
        const char *path = field_path(errors, "%s.ports[%zu]", field, position++);
        rule_name(errors, port, "name", NAME_LABEL, json_count(ports) > 1, path);
        rule_port(errors, json_get(port, "port"), field_path(errors, "%s.port", path));
        rule_word(errors, port, "protocol", protocols, path);
    }
}

static void endpoints_defaults(struct arena *arena, struct json *endpoints)
{
    JSON_EACH (subset, json_get(endpoints, "subsets")) {
        JSON_EACH (port, json_get(subset, "ports")) {
            if (port->type == JSON_OBJECT && !json_get(port, "protocol"))
                json_set_string(arena, port, "protocol", "TCP");
        }
    }
}

static void endpoints_validate(struct field_errors *errors, const struct json *endpoints,
                               const struct json *old)
{
    size_t position = 0;
    JSON_EACH (subset, json_get(endpoints, "subsets"))
        validate_subset(errors, subset, field_path(errors, "subsets[%zu]", position++));
}

static const struct kube_column ENDPOINTS_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Endpoints", "Addresses and ports of the pods behind the service.",
                table_endpoints),
    COLUMN_AGE,
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_ENDPOINTS, KUBE_ENDPOINTS_KIND, "endpoints", "Endpoints", NAMESPACED,
    .schema = &TYPE_ENDPOINTS,
    .singular = "endpoints",
    .short_names = NAMES("ep"),
    .verbs = VERBS_ALL,
    .columns = COLUMNS(ENDPOINTS_COLUMNS),
    .hooks = {.defaults = endpoints_defaults, .validate = endpoints_validate});

/* Which pods are refused, with the field named as Kubernetes names it. What is in containers and
 * volumes, and where a pod may go, is looked at in files of their own. */
#include "engine/pod_validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/kinds.h"
#include "engine/meta.h"
#include "engine/rule.h"

#include <arpa/inet.h>

enum { NAMESERVERS_MAX = 3, SEARCHES_MAX = 32 };

static bool is_address(const char *text)
{
    unsigned char bytes[sizeof(struct in6_addr)];
    return inet_pton(AF_INET, text, bytes) == 1 || inet_pton(AF_INET6, text, bytes) == 1;
}

static void validate_names(struct field_errors *errors, const struct json *spec)
{
    size_t position = 0;
    const struct json *config = json_get(spec, "dnsConfig");
    const struct json *servers = json_get(config, "nameservers");
    const struct json *searches = json_get(config, "searches");
    if (str_eq(json_get_string(spec, "dnsPolicy", ""), "None")) {
        if (!config)
            field_required(errors, "spec.dnsConfig",
                           "must provide `dnsConfig` when `dnsPolicy` is None");
        else if (json_count(servers) == 0)
            field_required(errors, "spec.dnsConfig.nameservers",
                           "must provide at least one DNS nameserver when `dnsPolicy` is None");
    }
    if (json_count(servers) > NAMESERVERS_MAX)
        field_invalid(errors, "spec.dnsConfig.nameservers", servers,
                      "must not have more than %d nameservers", NAMESERVERS_MAX);
    JSON_EACH (server, servers) {
        const char *field = field_path(errors, "spec.dnsConfig.nameservers[%zu]", position++);
        if (!json_text(server) || !is_address(server->text))
            field_invalid(errors, field, server, "must be valid IP address");
    }
    if (json_count(searches) > SEARCHES_MAX)
        field_invalid(errors, "spec.dnsConfig.searches", searches,
                      "must not have more than %d search paths", SEARCHES_MAX);
    position = 0;
    JSON_EACH (search, searches) {
        const char *field = field_path(errors, "spec.dnsConfig.searches[%zu]", position++);
        const char *complaint =
            json_text(search) ? meta_name_complaint(NAME_SUBDOMAIN, search->text) : NULL;
        if (complaint)
            field_invalid(errors, field, search, "%s", complaint);
    }
    position = 0;
    JSON_EACH (option, json_get(config, "options")) {
        const char *field = field_path(errors, "spec.dnsConfig.options[%zu]", position++);
        if (json_get_string(option, "name", "")[0] == '\0')
            field_required(errors, field, "must not be empty");
    }
}

static void validate_aliases(struct field_errors *errors, const struct json *spec)
{
    JSON_EACH (alias, json_get(spec, "hostAliases")) {
        const char *address = json_get_string(alias, "ip", "");
        if (!is_address(address))
            field_invalid(errors, "spec.hostAliases.ip", json_string(errors->arena, address),
                          "must be valid IP address");
        JSON_EACH (name, json_get(alias, "hostnames")) {
            const char *complaint =
                json_text(name) ? meta_name_complaint(NAME_SUBDOMAIN, name->text) : NULL;
            if (complaint)
                field_invalid(errors, "spec.hostAliases.hostnames", name, "%s", complaint);
        }
    }
}

static void validate_security(struct field_errors *errors, const struct json *spec)
{
    static const char *const ids[] = {"fsGroup", "runAsUser", "runAsGroup"};
    const struct json *context = json_get(spec, "securityContext");
    size_t position = 0;
    for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
        rule_range(errors, context, ids[i], 0, INT32_MAX, "spec.securityContext");
    JSON_EACH (group, json_get(context, "supplementalGroups")) {
        const char *field =
            field_path(errors, "spec.securityContext.supplementalGroups[%zu]", position++);
        if (group->type == JSON_INT && (group->integer < 0 || group->integer > INT32_MAX))
            field_invalid(errors, field, group, "must be between 0 and %d, inclusive", INT32_MAX);
    }
}

/* ---- Against what it was --------------------------------------------------------------------- */

/* The spec without the few fields that may change on a pod that exists. */
static struct json *fixed_part(struct arena *arena, const struct json *pod)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct json *spec = json_clone(arena, json_get(pod, "spec"));
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        JSON_EACH (container, json_get(spec, lists[i]))
            json_remove(container, "image");
    }
    json_remove(spec, "activeDeadlineSeconds");
    json_remove(spec, "tolerations");
    return spec;
}

static bool has_toleration(const struct json *list, const struct json *toleration)
{
    JSON_EACH (other, list) {
        if (json_equal(other, toleration))
            return true;
    }
    return false;
}

static void validate_update(struct field_errors *errors, const struct json *pod,
                            const struct json *old)
{
    static const char *const lists[] = {"containers", "initContainers"};
    const struct json *spec = json_get(pod, "spec"), *before = json_get(old, "spec");
    const struct json *deadline = json_get(spec, "activeDeadlineSeconds");
    const struct json *had = json_get(before, "activeDeadlineSeconds");
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
        if (json_count(json_get(spec, lists[i])) == json_count(json_get(before, lists[i])))
            continue;
        field_forbidden(errors, field_path(errors, "spec.%s", lists[i]),
                        "pod updates may not add or remove containers");
        return;
    }
    if (had && !deadline)
        field_invalid(errors, "spec.activeDeadlineSeconds", NULL,
                      "must not update from a positive integer to nil value");
    else if (had && deadline->integer > had->integer)
        field_invalid(errors, "spec.activeDeadlineSeconds", deadline,
                      "must be less than or equal to previous value");
    JSON_EACH (toleration, json_get(before, "tolerations")) {
        if (!has_toleration(json_get(spec, "tolerations"), toleration))
            field_forbidden(errors, "spec.tolerations",
                            "existing toleration can not be modified except its tolerationSeconds");
    }
    if (errors->count == 0 &&
        !json_equal(fixed_part(errors->arena, pod), fixed_part(errors->arena, old)))
        field_forbidden(errors, "spec",
                        "pod updates may not change fields other than "
                        "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                        "existing tolerations)");
}

void kind_pod_validate(struct field_errors *errors, const struct json *pod, const struct json *old)
{
    static const char *const restarts[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None",
                                      NULL};
    const struct json *spec = json_get(pod, "spec");
    struct pod_scope scope = {.errors = errors, .spec = spec};
    kind_pod_validate_volumes(&scope);
    if (json_count(json_get(spec, "containers")) == 0)
        field_required(errors, "spec.containers", NULL);
    kind_pod_validate_containers(&scope, "containers");
    kind_pod_validate_containers(&scope, "initContainers");
    kind_pod_validate_host_ports(&scope);
    rule_word(errors, spec, "restartPolicy", restarts, "spec");
    rule_word(errors, spec, "dnsPolicy", dns, "spec");
    validate_names(errors, spec);
    rule_range(errors, spec, "activeDeadlineSeconds", 1, INT32_MAX, "spec");
    meta_validate_labels(errors, json_get(spec, "nodeSelector"), "spec.nodeSelector");
    rule_name(errors, spec, "nodeName", NAME_SUBDOMAIN, false, "spec");
    rule_name(errors, spec, "hostname", NAME_LABEL, false, "spec");
    rule_name(errors, spec, "subdomain", NAME_LABEL, false, "spec");
    validate_aliases(errors, spec);
    validate_security(errors, spec);
    kind_pod_validate_tolerations(&scope);
    kind_pod_validate_affinity(&scope);
    if (old && errors->count == 0)
        validate_update(errors, pod, old);
}

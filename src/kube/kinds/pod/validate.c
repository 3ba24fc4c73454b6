/* Validates pods, with Kubernetes' messages. The files validate_….c validate the parts: containers,
 * volumes, placement. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/pod/pod.h"
#include "kube/kinds/rule.h"

enum { NAMESERVERS_MAX = 3, SEARCHES_MAX = 32 };

/* Validates dnsConfig and its combination with dnsPolicy. */
static void validate_dns(struct field_errors *errors, const struct json *spec)
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
        rule_address(errors, server, field);
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
    size_t position = 0;
    JSON_EACH (alias, json_get(spec, "hostAliases")) {
        const char *field = field_path(errors, "spec.hostAliases[%zu]", position++);
        size_t at = 0;
        rule_address(errors, json_get(alias, "ip"), field_path(errors, "%s.ip", field));
        JSON_EACH (name, json_get(alias, "hostnames")) {
            const char *where = field_path(errors, "%s.hostnames[%zu]", field, at++);
            const char *complaint =
                json_text(name) ? meta_name_complaint(NAME_SUBDOMAIN, name->text) : NULL;
            if (complaint)
                field_invalid(errors, where, name, "%s", complaint);
        }
    }
}

static void validate_gates(struct field_errors *errors, const struct json *spec)
{
    size_t position = 0;
    JSON_EACH (gate, json_get(spec, "readinessGates"))
        meta_validate_label_name(
            errors, json_get_string(gate, "conditionType", ""),
            field_path(errors, "spec.readinessGates[%zu].conditionType", position++));
    position = 0;
    JSON_EACH (gate, json_get(spec, "schedulingGates"))
        meta_validate_label_name(errors, json_get_string(gate, "name", ""),
                                 field_path(errors, "spec.schedulingGates[%zu]", position++));
    if (json_count(json_get(spec, "schedulingGates")) > 0 &&
        !str_is_empty(json_get_string(spec, "nodeName", "")))
        field_forbidden(errors, "spec.nodeName",
                        "cannot be set until all schedulingGates have been cleared");
}

void kube_pod_validate(struct field_errors *errors, const struct json *pod, const struct json *old)
{
    static const char *const restarts[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns[] = {"ClusterFirstWithHostNet", "ClusterFirst", "Default", "None",
                                      NULL};
    static const char *const preemptions[] = {"PreemptLowerPriority", "Never", NULL};
    const struct json *spec = json_get(pod, "spec");
    struct pod_scope scope = {.errors = errors, .pod = pod, .spec = spec};
    kube_pod_validate_volumes(&scope);
    if (json_count(json_get(spec, "containers")) == 0)
        field_required(errors, "spec.containers", NULL);
    kube_pod_validate_containers(&scope, "containers");
    kube_pod_validate_containers(&scope, "initContainers");
    kube_pod_validate_host_ports(&scope);
    rule_word(errors, spec, "restartPolicy", restarts, "spec");
    rule_word(errors, spec, "dnsPolicy", dns, "spec");
    rule_word(errors, spec, "preemptionPolicy", preemptions, "spec");
    validate_dns(errors, spec);
    rule_range(errors, spec, "activeDeadlineSeconds", 1, INT32_MAX, "spec");
    meta_validate_labels(errors, json_get(spec, "nodeSelector"), "spec.nodeSelector");
    rule_name(errors, spec, "nodeName", NAME_SUBDOMAIN, false, "spec");
    rule_name(errors, spec, "hostname", NAME_LABEL, false, "spec");
    rule_name(errors, spec, "subdomain", NAME_LABEL, false, "spec");
    rule_name(errors, spec, "runtimeClassName", NAME_SUBDOMAIN, false, "spec");
    validate_aliases(errors, spec);
    validate_gates(errors, spec);
    kube_pod_validate_security(&scope);
    kube_pod_validate_tolerations(&scope);
    kube_pod_validate_affinity(&scope);
    kube_pod_validate_spreading(&scope);
    map_release(&scope.volumes);
    if (old && errors->count == 0)
        kube_pod_validate_update(errors, pod, old);
}

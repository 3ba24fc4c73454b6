/* Validates containers; see validate.h. Other files validate the larger parts of a container. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/rule.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

enum { RESTART_RULES_MAX = 20, EXIT_CODES_MAX = 255 };

/* ---- Ports ----------------------------------------------------------------------------------- */

static void validate_container_ports(struct pod_scope *scope, const struct json *container,
                                     const char *field)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    struct field_errors *errors = scope->errors;
    bool host = json_get_bool(scope->spec, "hostNetwork", false);
    const struct json *ports = json_get(container, "ports");
    _cleanup_(map_release) struct map names = {0};
    size_t position = 0;
    JSON_EACH (port, ports) {
        const char *path = field_path(errors, "%s.ports[%zu]", field, position++);
        const char *name = json_get_string(port, "name", "");
        int64_t number = json_get_int(port, "containerPort", 0);
        int64_t on_host = json_get_int(port, "hostPort", 0);
        if (name[0])
            rule_port_name(errors, name, field_path(errors, "%s.name", path));
        if (rule_seen(&names, name))
            field_duplicate(errors, field_path(errors, "%s.name", path), name);
        if (number == 0)
            field_required(errors, field_path(errors, "%s.containerPort", path), NULL);
        else
            rule_port(errors, json_get(port, "containerPort"),
                      field_path(errors, "%s.containerPort", path));
        if (on_host != 0)
            rule_port(errors, json_get(port, "hostPort"), field_path(errors, "%s.hostPort", path));
        if (host && on_host != 0 && on_host != number)
            field_invalid(errors, field_path(errors, "%s.hostPort", path),
                          json_get(port, "hostPort"),
                          "must match `containerPort` when `hostNetwork` is true");
        rule_word(errors, port, "protocol", protocols, path);
    }
}

/* Returns a key of the host port, which must be unique within the pod; NULL if the port has no host
 * port. */
static const char *host_port_key(struct arena *arena, const struct json *port)
{
    int64_t number = json_get_int(port, "hostPort", 0);
    return number ? arena_printf(arena, "%s/%s/%" PRId64, json_get_string(port, "protocol", "TCP"),
                                 json_get_string(port, "hostIP", ""), number)
                  : NULL;
}

void kube_pod_validate_host_ports(struct pod_scope *scope)
{
    struct field_errors *errors = scope->errors;
    const struct json *containers = json_get(scope->spec, "containers");
    _cleanup_(map_release) struct map seen = {0};
    size_t position = 0;
    JSON_EACH (container, containers) {
        size_t at = 0;
        JSON_EACH (port, json_get(container, "ports")) {
            const char *key = host_port_key(errors->arena, port);
            if (key && rule_seen(&seen, key))
                field_duplicate(
                    errors,
                    field_path(errors, "spec.containers[%zu].ports[%zu].hostPort", position, at),
                    key);
            at++;
        }
        position++;
    }
}

/* ---- A container ----------------------------------------------------------------------------- */

static void validate_image(struct field_errors *errors, const struct json *container,
                           const char *container_field)
{
    static const char *const policies[] = {"Always", "IfNotPresent", "Never", NULL};
    const char *image = json_get_string(container, "image", "");
    const char *field = field_path(errors, "%s.image", container_field);
    size_t size = strlen(image);
    if (size == 0)
        field_required(errors, field, NULL);
    else if (isspace((unsigned char)image[0]) || isspace((unsigned char)image[size - 1]))
        field_invalid(errors, field, json_get(container, "image"),
                      "must not have leading or trailing whitespace");
    rule_word(errors, container, "imagePullPolicy", policies, container_field);
}

/* ---- Restarts -------------------------------------------------------------------------------- */

static void validate_restart_rule(struct field_errors *errors, const struct json *rule,
                                  const char *field)
{
    static const char *const actions[] = {"Restart", NULL};
    static const char *const operators[] = {"In", "NotIn", NULL};
    const struct json *exits = json_get(rule, "exitCodes");
    const char *exits_field = field_path(errors, "%s.exitCodes", field);
    if (!str_eq(json_get_string(rule, "action", ""), actions[0]))
        field_unsupported(errors, field_path(errors, "%s.action", field),
                          json_get_string(rule, "action", ""), actions);
    if (!rule_has(rule, "exitCodes")) {
        field_required(errors, exits_field, "must be specified");
        return;
    }
    const char *operator= json_get_string(exits, "operator", "");
    if (!str_eq(operator, operators[0]) && !str_eq(operator, operators[1]))
        field_unsupported(errors, field_path(errors, "%s.operator", exits_field), operator,
                          operators);
    size_t count = json_count(json_get(exits, "values"));
    if (count == 0)
        field_required(errors, field_path(errors, "%s.values", exits_field),
                       "must specify at least one value");
    else if (count > EXIT_CODES_MAX)
        field_too_many(errors, field_path(errors, "%s.values", exits_field), count, EXIT_CODES_MAX);
}

static void validate_restarts(struct field_errors *errors, const struct json *container,
                              const char *container_field)
{
    static const char *const policies[] = {"Always", "OnFailure", "Never", NULL};
    const struct json *rules = json_get(container, "restartPolicyRules");
    const char *field = field_path(errors, "%s.restartPolicyRules", container_field);
    size_t position = 0;
    rule_word(errors, container, "restartPolicy", policies, container_field);
    if (json_count(rules) && !rule_has(container, "restartPolicy"))
        field_required(errors, field_path(errors, "%s.restartPolicy", container_field),
                       "must specify restartPolicy when restart rules are used");
    if (json_count(rules) > RESTART_RULES_MAX)
        field_too_many(errors, field, json_count(rules), RESTART_RULES_MAX);
    JSON_EACH (rule, rules)
        validate_restart_rule(errors, rule, field_path(errors, "%s[%zu]", field, position++));
}

static void validate_container(struct pod_scope *scope, const struct json *container, bool init,
                               const char *field)
{
    struct field_errors *errors = scope->errors;
    const char *policy = json_get_string(container, "terminationMessagePolicy", "File");
    rule_name(errors, container, "name", NAME_LABEL, true, field);
    validate_image(errors, container, field);
    if (!str_eq(policy, "File") && !str_eq(policy, "FallbackToLogsOnError"))
        field_invalid(errors, field_path(errors, "%s.terminationMessagePolicy", field),
                      json_get(container, "terminationMessagePolicy"),
                      "must be 'File' or 'FallbackToLogsOnError'");
    validate_container_ports(scope, container, field);
    validate_restarts(errors, container, field);
    kube_pod_validate_env(errors, container, field);
    kube_pod_validate_mounts(scope, container, field);
    kube_pod_validate_amounts(errors, container, field);
    kube_pod_validate_probes(scope, container, init, field);
    kube_pod_validate_container_security(errors, json_get(container, "securityContext"),
                                         field_path(errors, "%s.securityContext", field));
}

void kube_pod_validate_containers(struct pod_scope *scope, const char *list)
{
    struct field_errors *errors = scope->errors;
    _cleanup_(map_release) struct map names = {0};
    size_t position = 0;
    /* Names are unique over both lists, because logs and exec identify a container by its name. */
    if (str_eq(list, "initContainers"))
        JSON_EACH (other, json_get(scope->spec, "containers"))
            rule_seen(&names, json_get_string(other, "name", ""));
    JSON_EACH (container, json_get(scope->spec, list)) {
        const char *field = field_path(errors, "spec.%s[%zu]", list, position++);
        validate_container(scope, container, str_eq(list, "initContainers"), field);
        const char *name = json_get_string(container, "name", "");
        if (rule_seen(&names, name))
            field_duplicate(errors, field_path(errors, "%s.name", field), name);
    }
}

/* Which containers are refused; see pod_validate.h. */
#include "engine/pod_validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/meta.h"
#include "engine/rule.h"
#include "kube/quantity.h"

#include <ctype.h>
#include <inttypes.h>
#include <string.h>

static bool has(const struct json *object, const char *name)
{
    const struct json *value = json_get(object, name);
    return value && value->type != JSON_NULL;
}

/* ---- Ports ----------------------------------------------------------------------------------- */

static void validate_ports(struct pod_scope *scope, const struct json *container, const char *field)
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
            field_invalid(errors, field_path(errors, "%s.containerPort", path),
                          json_get(port, "containerPort"),
                          "must match `hostPort` when `hostNetwork` is true");
        rule_word(errors, port, "protocol", protocols, path);
    }
}

/* One port of the node is for one of a pod's containers. */
static const char *host_port(struct arena *arena, const struct json *port)
{
    int64_t number = json_get_int(port, "hostPort", 0);
    return number ? arena_printf(arena, "%s/%s/%" PRId64, json_get_string(port, "protocol", "TCP"),
                                 json_get_string(port, "hostIP", ""), number)
                  : NULL;
}

void kind_pod_validate_host_ports(struct pod_scope *scope)
{
    struct field_errors *errors = scope->errors;
    const struct json *containers = json_get(scope->spec, "containers");
    _cleanup_(map_release) struct map seen = {0};
    size_t position = 0;
    JSON_EACH (container, containers) {
        size_t at = 0;
        JSON_EACH (port, json_get(container, "ports")) {
            const char *key = host_port(errors->arena, port);
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

/* ---- Environment ----------------------------------------------------------------------------- */

/* Printable, without '=': what upstream allows since variables are no shell identifiers. */
static bool is_variable_name(const char *name)
{
    for (; *name; name++)
        if (!isprint((unsigned char)*name) || *name == '=')
            return false;
    return true;
}

/* metadata.labels['key'] and metadata.annotations['key']. */
static bool is_subscript(const char *path)
{
    const char *open = strchr(path, '[');
    size_t size = open ? (size_t)(open - path) : 0;
    return open && str_has_suffix(path, "']") && open[1] == '\'' &&
           ((size == 15 && strncmp(path, "metadata.labels", size) == 0) ||
            (size == 20 && strncmp(path, "metadata.annotations", size) == 0));
}

static bool is_among(const char *word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (str_eq(word, words[i]))
            return true;
    return false;
}

void kind_pod_validate_field_ref(struct field_errors *errors, const struct json *ref,
                                 const char *const *supported, const char *field)
{
    static const char *const known[] = {"metadata.annotations",
                                        "metadata.labels",
                                        "metadata.name",
                                        "metadata.namespace",
                                        "metadata.uid",
                                        "spec.nodeName",
                                        "spec.restartPolicy",
                                        "spec.serviceAccountName",
                                        "spec.schedulerName",
                                        "status.phase",
                                        "status.hostIP",
                                        "status.hostIPs",
                                        "status.podIP",
                                        "status.podIPs",
                                        NULL};
    const char *path = json_get_string(ref, "fieldPath", "");
    const char *where = field_path(errors, "%s.fieldPath", field);
    if (path[0] == '\0')
        field_required(errors, where, NULL);
    else if (is_subscript(path))
        return;
    else if (!is_among(path, known))
        field_invalid(errors, where, json_get(ref, "fieldPath"),
                      "error converting fieldPath: field label not supported: %s", path);
    else if (!is_among(path, supported))
        field_unsupported(errors, where, path, supported);
}

void kind_pod_validate_resource_ref(struct field_errors *errors, const struct json *ref,
                                    const char *field)
{
    static const char *const known[] = {"limits.cpu",
                                        "limits.ephemeral-storage",
                                        "limits.memory",
                                        "requests.cpu",
                                        "requests.ephemeral-storage",
                                        "requests.memory",
                                        NULL};
    const char *resource = json_get_string(ref, "resource", "");
    if (resource[0] == '\0')
        field_required(errors, field_path(errors, "%s.resource", field), NULL);
    else if (!str_has_prefix(resource, "limits.hugepages-") &&
             !str_has_prefix(resource, "requests.hugepages-"))
        rule_word(errors, ref, "resource", known, field);
}

static void validate_key_ref(struct field_errors *errors, const struct json *ref, const char *field)
{
    const char *key = json_get_string(ref, "key", ""), *name = json_get_string(ref, "name", "");
    const char *complaint = meta_name_complaint(NAME_SUBDOMAIN, name);
    if (complaint)
        field_invalid(errors, field_path(errors, "%s.name", field),
                      json_string(errors->arena, name), "%s", complaint);
    if (key[0] == '\0')
        field_required(errors, field_path(errors, "%s.key", field), NULL);
    else
        rule_config_key(errors, key, field_path(errors, "%s.key", field));
}

static void validate_value_from(struct field_errors *errors, const struct json *variable,
                                const char *field)
{
    static const char *const fields[] = {"metadata.name",
                                         "metadata.namespace",
                                         "metadata.uid",
                                         "spec.nodeName",
                                         "spec.serviceAccountName",
                                         "status.hostIP",
                                         "status.hostIPs",
                                         "status.podIP",
                                         "status.podIPs",
                                         NULL};
    const struct json *from = json_get(variable, "valueFrom");
    const struct json *nothing = json_string(errors->arena, "");
    const char *path = field_path(errors, "%s.valueFrom", field);
    size_t count = 0;
    if (!from || from->type != JSON_OBJECT)
        return;
    if (has(from, "fieldRef"))
        kind_pod_validate_field_ref(errors, json_get(from, "fieldRef"), fields,
                                    field_path(errors, "%s.fieldRef", path));
    if (has(from, "resourceFieldRef"))
        kind_pod_validate_resource_ref(errors, json_get(from, "resourceFieldRef"),
                                       field_path(errors, "%s.resourceFieldRef", path));
    if (has(from, "configMapKeyRef"))
        validate_key_ref(errors, json_get(from, "configMapKeyRef"),
                         field_path(errors, "%s.configMapKeyRef", path));
    if (has(from, "secretKeyRef"))
        validate_key_ref(errors, json_get(from, "secretKeyRef"),
                         field_path(errors, "%s.secretKeyRef", path));
    JSON_EACH (source, from)
        count += source->type != JSON_NULL;
    if (count == 0)
        field_invalid(errors, path, nothing,
                      "must specify one of: `fieldRef`, `resourceFieldRef`, `configMapKeyRef` or "
                      "`secretKeyRef`");
    if (json_get_string(variable, "value", "")[0] && count > 0)
        field_invalid(errors, path, nothing, "may not be specified when `value` is not empty");
    if (count > 1)
        field_invalid(errors, path, nothing,
                      "may not have more than one field specified at a time");
}

static void validate_env(struct field_errors *errors, const struct json *container,
                         const char *field)
{
    size_t position = 0;
    JSON_EACH (variable, json_get(container, "env")) {
        const char *path = field_path(errors, "%s.env[%zu]", field, position++);
        const char *name = json_get_string(variable, "name", "");
        if (name[0] == '\0')
            field_required(errors, field_path(errors, "%s.name", path), NULL);
        else if (!is_variable_name(name))
            field_invalid(errors, field_path(errors, "%s.name", path), json_get(variable, "name"),
                          "a valid environment variable name must consist only of printable ASCII "
                          "characters other than '='");
        validate_value_from(errors, variable, path);
    }
    position = 0;
    JSON_EACH (source, json_get(container, "envFrom")) {
        static const char *const refs[] = {"configMapRef", "secretRef"};
        const char *path = field_path(errors, "%s.envFrom[%zu]", field, position++);
        const char *all = field_path(errors, "%s.envFrom", field);
        size_t count = 0;
        for (size_t i = 0; i < ARRAY_SIZE(refs); i++) {
            if (!has(source, refs[i]))
                continue;
            rule_name(errors, json_get(source, refs[i]), "name", NAME_SUBDOMAIN, true,
                      field_path(errors, "%s.%s", path, refs[i]));
            count++;
        }
        if (count != 1)
            field_invalid(errors, all, json_string(errors->arena, ""), "%s",
                          count ? "may not have more than one field specified at a time"
                                : "must specify one of: `configMapRef` or `secretRef`");
    }
}

/* ---- Mounts ---------------------------------------------------------------------------------- */

static bool has_volume(const struct json *spec, const char *name)
{
    JSON_EACH (volume, json_get(spec, "volumes")) {
        if (str_eq(json_get_string(volume, "name", NULL), name))
            return true;
    }
    return false;
}

static void validate_mounts(struct pod_scope *scope, const struct json *container,
                            const char *field)
{
    struct field_errors *errors = scope->errors;
    const struct json *mounts = json_get(container, "volumeMounts");
    size_t position = 0;
    JSON_EACH (mount, mounts) {
        const char *path = field_path(errors, "%s.volumeMounts[%zu]", field, position++);
        const char *name = json_get_string(mount, "name", "");
        const char *target = json_get_string(mount, "mountPath", "");
        if (name[0] == '\0')
            field_required(errors, field_path(errors, "%s.name", path), NULL);
        if (!has_volume(scope->spec, name))
            field_not_found(errors, field_path(errors, "%s.name", path), name);
        if (target[0] == '\0')
            field_required(errors, field_path(errors, "%s.mountPath", path), NULL);
        for (const struct json *other = json_first(mounts); other != mount; other = other->next)
            if (target[0] && str_eq(json_get_string(other, "mountPath", ""), target))
                field_invalid(errors, field_path(errors, "%s.mountPath", path),
                              json_get(mount, "mountPath"), "must be unique");
        rule_relative_path(errors, json_get_string(mount, "subPath", ""),
                           field_path(errors, "%s.volumeMounts.subPath", field));
    }
}

/* ---- Amounts --------------------------------------------------------------------------------- */

static bool is_huge(const char *name)
{
    return str_has_prefix(name, "hugepages-");
}

/* Of Kubernetes itself, and not of a device. */
static bool is_native(const char *name)
{
    return !strchr(name, '/') || strstr(name, "kubernetes.io/");
}

static void validate_resource_name(struct field_errors *errors, const char *name, const char *field)
{
    static const char *const standard[] = {"cpu", "memory", "ephemeral-storage", NULL};
    const struct json *value = json_string(errors->arena, name);
    meta_validate_label_name(errors, name, field);
    if (strchr(name, '/') || is_huge(name) || is_among(name, standard))
        return;
    field_invalid(errors, field, value, "must be a standard resource type or fully qualified");
    field_invalid(errors, field, value, "must be a standard resource for containers");
}

static bool read_amount(const struct json *amount, struct kube_quantity *ret)
{
    return amount && kube_quantity_from_json(amount, ret, NULL) == 0;
}

static void validate_amount(struct field_errors *errors, const struct json *amount,
                            const char *field)
{
    struct kube_quantity quantity;
    struct err err = ERR_INIT;
    validate_resource_name(errors, amount->name, field);
    if (kube_quantity_from_json(amount, &quantity, &err) < 0)
        field_invalid(errors, field, amount, "%s", err.message);
    else if (quantity.nano < 0)
        field_invalid(errors, field, amount, "must be greater than or equal to 0");
    else if (!is_native(amount->name) && quantity.nano % (1000 * 1000 * 1000) != 0)
        field_invalid(errors, field, amount, "must be an integer");
}

/* What is asked for may not be more than what is allowed; of devices it is the same. */
static void validate_request(struct field_errors *errors, const struct json *request,
                             const struct json *limit, const char *field)
{
    struct kube_quantity asked, allowed;
    char text[KUBE_QUANTITY_TEXT_MAX];
    bool divisible = is_native(request->name) && !is_huge(request->name);
    const char *path = field_path(errors, "%s.requests", field);
    if (!limit) {
        if (!divisible)
            field_required(errors, field_path(errors, "%s.limits", field),
                           "Limit must be set for non overcommitable resources");
        return;
    }
    if (!read_amount(request, &asked) || !read_amount(limit, &allowed))
        return;
    int order = kube_quantity_compare(&asked, &allowed);
    kube_quantity_format(&allowed, text);
    if (!divisible && order != 0)
        field_invalid(errors, path, request, "must be equal to %s limit of %s", request->name,
                      text);
    else if (divisible && order > 0)
        field_invalid(errors, path, request, "must be less than or equal to %s limit of %s",
                      request->name, text);
}

static void validate_resources(struct field_errors *errors, const struct json *container,
                               const char *field)
{
    static const char *const kinds[] = {"limits", "requests"};
    const struct json *resources = json_get(container, "resources");
    const struct json *limits = json_get(resources, "limits");
    const char *path = field_path(errors, "%s.resources", field);
    bool huge = false, plain = false;
    for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
        JSON_EACH (amount, json_get(resources, kinds[i])) {
            validate_amount(errors, amount,
                            field_path(errors, "%s.%s[%s]", path, kinds[i], amount->name));
            huge |= is_huge(amount->name);
            plain |= str_eq(amount->name, "cpu") || str_eq(amount->name, "memory");
        }
    }
    JSON_EACH (request, json_get(resources, "requests"))
        validate_request(errors, request, json_get(limits, request->name), path);
    if (huge && !plain)
        field_forbidden(errors, path, "HugePages require cpu or memory");
}

/* ---- Probes and handlers --------------------------------------------------------------------- */

static void validate_http(struct field_errors *errors, const struct json *http, const char *field)
{
    static const char *const schemes[] = {"HTTP", "HTTPS", NULL};
    if (json_get_string(http, "path", "/")[0] == '\0')
        field_required(errors, field_path(errors, "%s.path", field), NULL);
    rule_port_or_name(errors, json_get(http, "port"), field_path(errors, "%s.port", field));
    rule_word(errors, http, "scheme", schemes, field);
}

/* Exactly one way to ask or to act. */
static void validate_handler(struct field_errors *errors, const struct json *handler,
                             const char *field)
{
    static const char *const types[] = {"exec", "httpGet", "tcpSocket", "grpc", "sleep"};
    size_t count = 0;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        const struct json *action = json_get(handler, types[i]);
        const char *path = field_path(errors, "%s.%s", field, types[i]);
        if (!has(handler, types[i]))
            continue;
        if (count++ > 0) {
            field_forbidden(errors, path, "may not specify more than 1 handler type");
            continue;
        }
        if (str_eq(types[i], "exec") && json_count(json_get(action, "command")) == 0)
            field_required(errors, field_path(errors, "%s.command", path), NULL);
        else if (str_eq(types[i], "httpGet"))
            validate_http(errors, action, path);
        else if (str_eq(types[i], "tcpSocket"))
            rule_port_or_name(errors, json_get(action, "port"),
                              field_path(errors, "%s.port", path));
        else if (str_eq(types[i], "grpc"))
            rule_port(errors, json_get(action, "port"), field_path(errors, "%s.port", path));
    }
    if (count == 0)
        field_required(errors, field, "must specify a handler type");
}

static void validate_probe(struct field_errors *errors, const struct json *container,
                           const char *name, const char *container_field)
{
    static const char *const numbers[] = {"initialDelaySeconds", "timeoutSeconds", "periodSeconds",
                                          "successThreshold", "failureThreshold"};
    const struct json *probe = json_get(container, name);
    const char *field = field_path(errors, "%s.%s", container_field, name);
    if (!has(container, name))
        return;
    validate_handler(errors, probe, field);
    for (size_t i = 0; i < ARRAY_SIZE(numbers); i++)
        rule_nonnegative(errors, probe, numbers[i], field);
    if (!str_eq(name, "readinessProbe") && json_get_int(probe, "successThreshold", 1) != 1)
        field_invalid(errors, field_path(errors, "%s.successThreshold", field),
                      json_get(probe, "successThreshold"), "must be 1");
}

static void validate_watched(struct pod_scope *scope, const struct json *container, bool init,
                             const char *field)
{
    static const char *const probes[] = {"livenessProbe", "readinessProbe", "startupProbe"};
    static const char *const hooks[] = {"postStart", "preStop"};
    struct field_errors *errors = scope->errors;
    bool sidecar = init && str_eq(json_get_string(container, "restartPolicy", ""), "Always");
    const struct json *lifecycle = json_get(container, "lifecycle");
    for (size_t i = 0; i < ARRAY_SIZE(probes); i++) {
        if (init && !sidecar && has(container, probes[i]))
            field_invalid(errors, field_path(errors, "%s.%s", field, probes[i]),
                          json_get(container, probes[i]), "must not be set for init containers");
        else
            validate_probe(errors, container, probes[i], field);
    }
    if (init && !sidecar && has(container, "lifecycle")) {
        field_invalid(errors, field_path(errors, "%s.lifecycle", field), lifecycle,
                      "must not be set for init containers");
        return;
    }
    for (size_t i = 0; i < ARRAY_SIZE(hooks); i++)
        if (has(lifecycle, hooks[i]))
            validate_handler(errors, json_get(lifecycle, hooks[i]),
                             field_path(errors, "%s.lifecycle.%s", field, hooks[i]));
}

/* ---- A container ----------------------------------------------------------------------------- */

static void validate_security(struct field_errors *errors, const struct json *container,
                              const char *container_field)
{
    const struct json *context = json_get(container, "securityContext");
    const char *field = field_path(errors, "%s.securityContext", container_field);
    rule_range(errors, context, "runAsUser", 0, INT32_MAX, field);
    rule_range(errors, context, "runAsGroup", 0, INT32_MAX, field);
    if (json_get_bool(context, "privileged", false) &&
        !json_get_bool(context, "allowPrivilegeEscalation", true))
        field_invalid(errors, field, context,
                      "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
}

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
    validate_ports(scope, container, field);
    validate_env(errors, container, field);
    validate_mounts(scope, container, field);
    validate_resources(errors, container, field);
    validate_watched(scope, container, init, field);
    validate_security(errors, container, field);
}

void kind_pod_validate_containers(struct pod_scope *scope, const char *list)
{
    struct field_errors *errors = scope->errors;
    _cleanup_(map_release) struct map names = {0};
    size_t position = 0;
    /* Names are unique over both lists: logs and exec know a container by nothing else. */
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

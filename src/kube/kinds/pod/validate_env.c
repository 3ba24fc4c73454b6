/* Validates the environment variables of a container, and references to fields of its pod; see
 * validate.h. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/rule.h"

#include <ctype.h>
#include <string.h>

/* Validates the name of a variable: printable ASCII without '=', as in Kubernetes. */
static void validate_variable_name(struct field_errors *errors, const char *name, const char *field)
{
    for (const char *at = name; *at; at++) {
        if (isprint((unsigned char)*at) && *at != '=')
            continue;
        field_invalid(errors, field, json_string(errors->arena, name),
                      "a valid environment variable name must consist only of printable ASCII "
                      "characters other than '='");
        return;
    }
}

/* Returns whether the path is of the form metadata.labels['key'] or metadata.annotations['key']. */
static bool is_subscript(const char *path)
{
    const char *open = strchr(path, '[');
    size_t size = open ? (size_t)(open - path) : 0;
    return open && str_has_suffix(path, "']") && open[1] == '\'' &&
           ((size == 15 && strncmp(path, "metadata.labels", size) == 0) ||
            (size == 20 && strncmp(path, "metadata.annotations", size) == 0));
}

static bool field_is_among(const char *word, const char *const *words)
{
    for (size_t i = 0; words[i]; i++)
        if (str_eq(word, words[i]))
            return true;
    return false;
}

void kube_pod_validate_field_ref(struct field_errors *errors, const struct json *ref,
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
    else if (!field_is_among(path, known))
        field_invalid(errors, where, json_get(ref, "fieldPath"),
                      "error converting fieldPath: field label not supported: %s", path);
    else if (!field_is_among(path, supported))
        field_unsupported(errors, where, path, supported);
}

void kube_pod_validate_resource_ref(struct field_errors *errors, const struct json *ref,
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
    if (rule_has(from, "fieldRef"))
        kube_pod_validate_field_ref(errors, json_get(from, "fieldRef"), fields,
                                    field_path(errors, "%s.fieldRef", path));
    if (rule_has(from, "resourceFieldRef"))
        kube_pod_validate_resource_ref(errors, json_get(from, "resourceFieldRef"),
                                       field_path(errors, "%s.resourceFieldRef", path));
    if (rule_has(from, "configMapKeyRef"))
        validate_key_ref(errors, json_get(from, "configMapKeyRef"),
                         field_path(errors, "%s.configMapKeyRef", path));
    if (rule_has(from, "secretKeyRef"))
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
        validate_variable_name(errors, name, field_path(errors, "%s.name", path));
        validate_value_from(errors, variable, path);
    }
}

static void validate_env_from(struct field_errors *errors, const struct json *container,
                              const char *field)
{
    size_t position = 0;
    JSON_EACH (source, json_get(container, "envFrom")) {
        static const char *const refs[] = {"configMapRef", "secretRef"};
        const char *path = field_path(errors, "%s.envFrom[%zu]", field, position++);
        const char *all = field_path(errors, "%s.envFrom", field);
        size_t count = 0;
        validate_variable_name(errors, json_get_string(source, "prefix", ""),
                               field_path(errors, "%s.prefix", path));
        for (size_t i = 0; i < ARRAY_SIZE(refs); i++) {
            if (!rule_has(source, refs[i]))
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

void kube_pod_validate_env(struct field_errors *errors, const struct json *container,
                           const char *field)
{
    validate_env(errors, container, field);
    validate_env_from(errors, container, field);
}

/* Which pods are refused, with the field named as Kubernetes names it. It also looks at the types
 * of everything the nodes and controllers read, so that those may trust what they find. */
#include "engine/kinds.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/meta.h"
#include "kube/quantity.h"

#include <ctype.h>
#include <string.h>

struct scope {
    struct field_errors *errors;
    const struct json *spec;
};

/* The value if it has the type; a complaint if it is there with another. */
static const struct json *typed(struct field_errors *errors, const struct json *object,
                                const char *name, enum json_type type, const char *field)
{
    const struct json *value = json_get(object, name);
    if (!value || value->type == JSON_NULL)
        return NULL;
    if (value->type != type) {
        field_invalid(errors, field_path(errors, "%s.%s", field, name), value, "must be %s, not %s",
                      json_type_name(type), json_type_name(value->type));
        return NULL;
    }
    return value;
}

static const char *typed_string(struct field_errors *errors, const struct json *object,
                                const char *name, const char *field)
{
    const struct json *value = typed(errors, object, name, JSON_STRING, field);
    return value ? value->text : "";
}

/* The name of a container or volume; "" if it has none. */
static const char *validate_label(struct field_errors *errors, const struct json *object,
                                  const char *field)
{
    const char *name = typed_string(errors, object, "name", field);
    const char *complaint = meta_name_complaint(NAME_LABEL, name);
    if (name[0] == '\0')
        field_required(errors, field_path(errors, "%s.name", field), NULL);
    else if (complaint)
        field_invalid(errors, field_path(errors, "%s.name", field), json_get(object, "name"), "%s",
                      complaint);
    return name;
}

static void validate_one_of(struct field_errors *errors, const char *field, const char *value,
                            const char *const *supported)
{
    for (size_t i = 0; supported[i]; i++)
        if (str_eq(value, supported[i]))
            return;
    field_unsupported(errors, field, value, supported);
}

static void validate_port_number(struct field_errors *errors, const struct json *port,
                                 const char *name, bool required, const char *field)
{
    const struct json *number = json_get(port, name);
    const char *path = field_path(errors, "%s.%s", field, name);
    if (!number || number->type == JSON_NULL) {
        if (required)
            field_required(errors, path, NULL);
    } else if (number->type != JSON_INT || number->integer < (required ? 1 : 0) ||
               number->integer > 65535) {
        field_invalid(errors, path, number, "must be between 1 and 65535, inclusive");
    }
}

/* A port's name is a short label with a letter in it. */
static bool is_port_name(const char *name)
{
    return strlen(name) <= 15 && str_is_dns_label(name) &&
           strpbrk(name, "abcdefghijklmnopqrstuvwxyz") && !strstr(name, "--");
}

static void validate_ports(struct field_errors *errors, const struct json *container,
                           const char *field)
{
    static const char *const protocols[] = {"SCTP", "TCP", "UDP", NULL};
    const struct json *ports = typed(errors, container, "ports", JSON_ARRAY, field);
    size_t position = 0;
    JSON_EACH (port, ports) {
        const char *path = field_path(errors, "%s.ports[%zu]", field, position++);
        const char *name = typed_string(errors, port, "name", path);
        validate_port_number(errors, port, "containerPort", true, path);
        validate_port_number(errors, port, "hostPort", false, path);
        validate_one_of(errors, field_path(errors, "%s.protocol", path),
                        typed_string(errors, port, "protocol", path), protocols);
        if (name[0] == '\0')
            continue;
        if (!is_port_name(name))
            field_invalid(errors, field_path(errors, "%s.name", path), json_get(port, "name"),
                          "must be no more than 15 characters, contain only alpha-numeric "
                          "characters (a-z, 0-9), and hyphens (-), with at least one letter");
        for (const struct json *other = json_first(ports); other != port; other = other->next)
            if (str_eq(json_get_string(other, "name", ""), name))
                field_duplicate(errors, field_path(errors, "%s.name", path), name);
    }
}

/* Printable, without '=': what upstream allows since variables are no shell identifiers. */
static bool is_variable_name(const char *name)
{
    if (name[0] == '\0')
        return false;
    for (; *name; name++)
        if (!isprint((unsigned char)*name) || *name == '=')
            return false;
    return true;
}

static void validate_env(struct field_errors *errors, const struct json *container,
                         const char *field)
{
    size_t position = 0;
    JSON_EACH (variable, typed(errors, container, "env", JSON_ARRAY, field)) {
        const char *path = field_path(errors, "%s.env[%zu]", field, position++);
        const char *name = typed_string(errors, variable, "name", path);
        const struct json *value = json_get(variable, "value");
        const struct json *from = typed(errors, variable, "valueFrom", JSON_OBJECT, path);
        if (name[0] == '\0')
            field_required(errors, field_path(errors, "%s.name", path), NULL);
        else if (!is_variable_name(name))
            field_invalid(errors, field_path(errors, "%s.name", path), json_get(variable, "name"),
                          "a valid environment variable name must consist only of printable ASCII "
                          "characters other than '='");
        if (value && value->type != JSON_NULL && value->type != JSON_STRING)
            field_invalid(errors, field_path(errors, "%s.value", path), value,
                          "must be a string, not %s; quote it", json_type_name(value->type));
        if (from && value && value->type == JSON_STRING && value->size > 0)
            field_invalid(errors, field_path(errors, "%s.valueFrom", path),
                          json_string(errors->arena, ""),
                          "may not be specified when `value` is not empty");
        if (from && json_count(from) != 1)
            field_invalid(errors, field_path(errors, "%s.valueFrom", path),
                          json_string(errors->arena, ""),
                          "must specify exactly one of: `fieldRef`, `resourceFieldRef`, "
                          "`configMapKeyRef` or `secretKeyRef`");
    }
    (void)typed(errors, container, "envFrom", JSON_ARRAY, field);
}

static bool has_volume(const struct json *spec, const char *name)
{
    JSON_EACH (volume, json_get(spec, "volumes")) {
        if (str_eq(json_get_string(volume, "name", NULL), name))
            return true;
    }
    return false;
}

static void validate_mounts(struct scope *scope, const struct json *container, const char *field)
{
    struct field_errors *errors = scope->errors;
    const struct json *mounts = typed(errors, container, "volumeMounts", JSON_ARRAY, field);
    size_t position = 0;
    JSON_EACH (mount, mounts) {
        const char *path = field_path(errors, "%s.volumeMounts[%zu]", field, position++);
        const char *name = typed_string(errors, mount, "name", path);
        const char *target = typed_string(errors, mount, "mountPath", path);
        if (name[0] == '\0')
            field_required(errors, field_path(errors, "%s.name", path), NULL);
        else if (!has_volume(scope->spec, name))
            field_not_found(errors, field_path(errors, "%s.name", path), name);
        if (target[0] == '\0')
            field_required(errors, field_path(errors, "%s.mountPath", path), NULL);
        for (const struct json *other = json_first(mounts); other != mount; other = other->next)
            if (target[0] && str_eq(json_get_string(other, "mountPath", ""), target))
                field_invalid(errors, field_path(errors, "%s.mountPath", path),
                              json_get(mount, "mountPath"), "must be unique");
        (void)typed_string(errors, mount, "subPath", path);
    }
}

static void validate_strings(struct field_errors *errors, const struct json *container,
                             const char *name, const char *field)
{
    size_t position = 0;
    JSON_EACH (word, typed(errors, container, name, JSON_ARRAY, field)) {
        if (word->type != JSON_STRING)
            field_invalid(errors, field_path(errors, "%s.%s[%zu]", field, name, position), word,
                          "must be a string, not %s; quote it", json_type_name(word->type));
        position++;
    }
}

static void validate_amounts(struct field_errors *errors, const struct json *container,
                             const char *field)
{
    static const char *const kinds[] = {"limits", "requests"};
    const struct json *resources = typed(errors, container, "resources", JSON_OBJECT, field);
    for (size_t i = 0; i < 2; i++) {
        const char *path = field_path(errors, "%s.resources", field);
        JSON_EACH (amount, typed(errors, resources, kinds[i], JSON_OBJECT, path)) {
            struct kube_quantity quantity;
            struct err err = ERR_INIT;
            const char *where = field_path(errors, "%s.%s[%s]", path, kinds[i], amount->name);
            if (kube_quantity_from_json(amount, &quantity, &err) < 0)
                field_invalid(errors, where, amount, "%s", err.message);
            else if (quantity.nano < 0)
                field_invalid(errors, where, amount, "must be greater than or equal to 0");
        }
    }
}

static void validate_container(struct scope *scope, const struct json *container, const char *field)
{
    static const char *const pull_policies[] = {"Always", "IfNotPresent", "Never", NULL};
    struct field_errors *errors = scope->errors;
    validate_label(errors, container, field);
    if (typed_string(errors, container, "image", field)[0] == '\0')
        field_required(errors, field_path(errors, "%s.image", field), NULL);
    validate_one_of(errors, field_path(errors, "%s.imagePullPolicy", field),
                    typed_string(errors, container, "imagePullPolicy", field), pull_policies);
    validate_strings(errors, container, "command", field);
    validate_strings(errors, container, "args", field);
    (void)typed_string(errors, container, "workingDir", field);
    validate_ports(errors, container, field);
    validate_env(errors, container, field);
    validate_mounts(scope, container, field);
    validate_amounts(errors, container, field);
}

static void validate_containers(struct scope *scope, const char *list)
{
    struct field_errors *errors = scope->errors;
    size_t position = 0;
    JSON_EACH (container, typed(errors, scope->spec, list, JSON_ARRAY, "spec")) {
        const char *field = field_path(errors, "spec.%s[%zu]", list, position++);
        if (container->type != JSON_OBJECT) {
            field_invalid(errors, field, container, "must be an object, not %s",
                          json_type_name(container->type));
            continue;
        }
        validate_container(scope, container, field);
    }
}

/* Names are unique over both lists: logs and exec know a container by nothing else. */
static void validate_unique_names(struct scope *scope)
{
    static const char *const lists[] = {"initContainers", "containers"};
    const struct json *seen[2] = {json_get(scope->spec, lists[0]), json_get(scope->spec, lists[1])};
    for (size_t i = 0; i < 2; i++) {
        size_t position = 0;
        JSON_EACH (container, seen[i]) {
            const char *name = json_get_string(container, "name", "");
            bool taken = false;
            for (size_t j = 0; j <= i && name[0]; j++)
                for (const struct json *other = json_first(seen[j]); other && other != container;
                     other = other->next)
                    taken |= str_eq(json_get_string(other, "name", ""), name);
            if (taken)
                field_duplicate(scope->errors,
                                field_path(scope->errors, "spec.%s[%zu].name", lists[i], position),
                                name);
            position++;
        }
    }
}

static void validate_volumes(struct scope *scope)
{
    struct field_errors *errors = scope->errors;
    const struct json *volumes = typed(errors, scope->spec, "volumes", JSON_ARRAY, "spec");
    size_t position = 0;
    JSON_EACH (volume, volumes) {
        const char *field = field_path(errors, "spec.volumes[%zu]", position++);
        const char *name = validate_label(errors, volume, field);
        for (const struct json *other = json_first(volumes); other != volume; other = other->next)
            if (name[0] && str_eq(json_get_string(other, "name", ""), name))
                field_duplicate(errors, field_path(errors, "%s.name", field), name);
        if (json_count(volume) > 2)
            field_forbidden(errors, field, "may not specify more than 1 volume type");
    }
}

static void validate_host_name(struct field_errors *errors, const struct json *spec,
                               const char *name)
{
    const char *value = typed_string(errors, spec, name, "spec");
    const char *complaint = meta_name_complaint(NAME_LABEL, value);
    if (value[0] && complaint)
        field_invalid(errors, field_path(errors, "spec.%s", name), json_get(spec, name), "%s",
                      complaint);
}

/* The spec without the few fields that may change on a pod that exists. */
static struct json *fixed_part(struct arena *arena, const struct json *pod)
{
    static const char *const lists[] = {"containers", "initContainers"};
    struct json *spec = json_clone(arena, json_get(pod, "spec"));
    for (size_t i = 0; i < 2; i++) {
        JSON_EACH (container, json_get(spec, lists[i])) {
            json_remove(container, "image");
        }
    }
    json_remove(spec, "activeDeadlineSeconds");
    json_remove(spec, "tolerations");
    return spec;
}

void kind_pod_validate(struct field_errors *errors, const struct json *pod, const struct json *old)
{
    static const char *const restart_policies[] = {"Always", "OnFailure", "Never", NULL};
    static const char *const dns_policies[] = {"ClusterFirst", "ClusterFirstWithHostNet", "Default",
                                               "None", NULL};
    static const char *const switches[] = {"hostNetwork", "hostPID", "hostIPC",
                                           "enableServiceLinks", "automountServiceAccountToken"};
    const struct json *spec = json_get(pod, "spec");
    if (!spec || spec->type != JSON_OBJECT) {
        if (!spec || spec->type == JSON_NULL)
            field_required(errors, "spec", NULL);
        else
            field_invalid(errors, "spec", spec, "must be an object, not %s",
                          json_type_name(spec->type));
        return;
    }
    struct scope scope = {.errors = errors, .spec = spec};
    validate_volumes(&scope);
    if (json_count(json_get(spec, "containers")) == 0)
        field_required(errors, "spec.containers", NULL);
    validate_containers(&scope, "containers");
    validate_containers(&scope, "initContainers");
    validate_unique_names(&scope);
    validate_one_of(errors, "spec.restartPolicy",
                    typed_string(errors, spec, "restartPolicy", "spec"), restart_policies);
    validate_one_of(errors, "spec.dnsPolicy", typed_string(errors, spec, "dnsPolicy", "spec"),
                    dns_policies);
    const struct json *grace = json_get(spec, "terminationGracePeriodSeconds");
    if (grace && (grace->type != JSON_INT || grace->integer < 0))
        field_invalid(errors, "spec.terminationGracePeriodSeconds", grace,
                      "must be greater than or equal to 0");
    const struct json *deadline = json_get(spec, "activeDeadlineSeconds");
    if (deadline && deadline->type != JSON_NULL &&
        (deadline->type != JSON_INT || deadline->integer < 1))
        field_invalid(errors, "spec.activeDeadlineSeconds", deadline,
                      "must be between 1 and 2147483647, inclusive");
    meta_validate_labels(errors, typed(errors, spec, "nodeSelector", JSON_OBJECT, "spec"),
                         "spec.nodeSelector");
    (void)typed(errors, spec, "tolerations", JSON_ARRAY, "spec");
    (void)typed(errors, spec, "affinity", JSON_OBJECT, "spec");
    (void)typed_string(errors, spec, "nodeName", "spec");
    for (size_t i = 0; i < ARRAY_SIZE(switches); i++)
        (void)typed(errors, spec, switches[i], JSON_BOOL, "spec");
    validate_host_name(errors, spec, "hostname");
    validate_host_name(errors, spec, "subdomain");
    if (old && errors->count == 0 &&
        !json_equal(fixed_part(errors->arena, pod), fixed_part(errors->arena, old)))
        field_forbidden(errors, "spec",
                        "pod updates may not change fields other than "
                        "`spec.containers[*].image`,`spec.initContainers[*].image`,"
                        "`spec.activeDeadlineSeconds`,`spec.tolerations` (only additions to "
                        "existing tolerations)");
}

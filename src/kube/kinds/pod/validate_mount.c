/* Validates the volume mounts and devices of a container; see validate.h. */
#include "kube/kinds/pod/validate.h"

#include "base/str.h"
#include "kube/kinds/rule.h"

/* Adds the value of member `name` of each element to `texts`. */
static void gather_texts(struct map *texts, const struct json *list, const char *name)
{
    JSON_EACH (element, list)
        rule_seen(texts, json_get_string(element, name, ""));
}

static void validate_sub_path(struct field_errors *errors, const struct json *mount,
                              const char *list, const char *path)
{
    const char *expression = json_get_string(mount, "subPathExpr", "");
    const char *plain = json_get_string(mount, "subPath", "");
    rule_relative_path(errors, plain, field_path(errors, "%s.subPath", list));
    rule_relative_path(errors, expression, field_path(errors, "%s.subPathExpr", list));
    if (plain[0] && expression[0])
        field_invalid(errors, field_path(errors, "%s.subPathExpr", path),
                      json_get(mount, "subPathExpr"),
                      "subPathExpr and subPath are mutually exclusive");
}

/* Validates mountPropagation and recursiveReadOnly. As in Kubernetes, the errors do not contain the
 * position of the mount. */
static void validate_propagation(struct field_errors *errors, const struct json *container,
                                 const struct json *mount, const char *list)
{
    static const char *const propagations[] = {"Bidirectional", "HostToContainer", "None", NULL};
    static const char *const modes[] = {"Disabled", "Enabled", "IfPossible", NULL};
    const char *propagation = json_get_string(mount, "mountPropagation", "None");
    const char *mode = json_get_string(mount, "recursiveReadOnly", "Disabled");
    const char *field = field_path(errors, "%s.recursiveReadOnly", list);
    rule_word(errors, mount, "mountPropagation", propagations, list);
    rule_word(errors, mount, "recursiveReadOnly", modes, list);
    if (str_eq(propagation, "Bidirectional") &&
        !json_get_bool(json_get(container, "securityContext"), "privileged", false))
        field_forbidden(errors, field_path(errors, "%s.mountPropagation", list),
                        "Bidirectional mount propagation is available only to privileged "
                        "containers");
    if (!str_eq(mode, "Enabled") && !str_eq(mode, "IfPossible"))
        return;
    if (!json_get_bool(mount, "readOnly", false))
        field_forbidden(errors, field, "may only be specified when readOnly is true");
    if (!str_eq(propagation, "None"))
        field_forbidden(errors, field,
                        "may only be specified when mountPropagation is None or not specified");
}

static void validate_mounts(struct pod_scope *scope, const struct json *container, const char *list)
{
    struct field_errors *errors = scope->errors;
    const struct json *mounts = json_get(container, "volumeMounts");
    const struct json *devices = json_get(container, "volumeDevices");
    _cleanup_(map_release) struct map targets = {0}, device_names = {0}, device_paths = {0};
    size_t position = 0;
    gather_texts(&device_names, devices, "name");
    gather_texts(&device_paths, devices, "devicePath");
    JSON_EACH (mount, mounts) {
        const char *path = field_path(errors, "%s[%zu]", list, position++);
        const char *at_name = field_path(errors, "%s.name", path);
        const char *at_target = field_path(errors, "%s.mountPath", path);
        const char *name = json_get_string(mount, "name", "");
        const char *target = json_get_string(mount, "mountPath", "");
        if (name[0] == '\0')
            field_required(errors, at_name, NULL);
        if (!map_get(&scope->volumes, name))
            field_not_found(errors, at_name, name);
        if (target[0] == '\0')
            field_required(errors, at_target, NULL);
        if (rule_seen(&targets, target))
            field_invalid(errors, at_target, json_get(mount, "mountPath"), "must be unique");
        if (map_get(&device_names, name))
            field_invalid(errors, at_name, json_get(mount, "name"),
                          "must not already exist in volumeDevices");
        if (map_get(&device_paths, target))
            field_invalid(errors, at_target, json_get(mount, "mountPath"),
                          "must not already exist as a path in volumeDevices");
        validate_sub_path(errors, mount, list, path);
        validate_propagation(errors, container, mount, list);
    }
}

static void validate_devices(struct pod_scope *scope, const struct json *container,
                             const char *list)
{
    struct field_errors *errors = scope->errors;
    _cleanup_(map_release) struct map names = {0}, targets = {0};
    size_t position = 0;
    JSON_EACH (device, json_get(container, "volumeDevices")) {
        const char *path = field_path(errors, "%s[%zu]", list, position++);
        const char *at_name = field_path(errors, "%s.name", path);
        const char *at_path = field_path(errors, "%s.devicePath", path);
        const char *name = json_get_string(device, "name", "");
        const char *target = json_get_string(device, "devicePath", "");
        const struct json *volume = map_get(&scope->volumes, name);
        if (name[0] == '\0')
            field_required(errors, at_name, NULL);
        if (rule_seen(&names, name))
            field_invalid(errors, at_name, json_get(device, "name"), "must be unique");
        if (!volume)
            field_not_found(errors, at_name, name);
        else if (!rule_has(volume, "persistentVolumeClaim") && !rule_has(volume, "ephemeral"))
            field_invalid(errors, at_name, json_get(device, "name"),
                          "can only use volume source type of PersistentVolumeClaim or Ephemeral "
                          "for block mode");
        if (target[0] == '\0')
            field_required(errors, at_path, NULL);
        if (rule_seen(&targets, target))
            field_invalid(errors, at_path, json_get(device, "devicePath"), "must be unique");
    }
}

void kube_pod_validate_mounts(struct pod_scope *scope, const struct json *container,
                              const char *field)
{
    validate_mounts(scope, container, field_path(scope->errors, "%s.volumeMounts", field));
    validate_devices(scope, container, field_path(scope->errors, "%s.volumeDevices", field));
}

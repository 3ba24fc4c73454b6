/* Validates the security contexts of a pod and its containers; see validate.h. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/rule.h"

#include <ctype.h>
#include <string.h>

enum { SYSCTL_NAME_MAX = 253 };

/* ---- Pods and containers --------------------------------------------------------------------- */

static void validate_seccomp(struct field_errors *errors, const struct json *context,
                             const char *context_field)
{
    static const char *const types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};
    const struct json *profile = json_get(context, "seccompProfile");
    const char *field = field_path(errors, "%s.seccompProfile", context_field);
    const char *where = field_path(errors, "%s.localhostProfile", field);
    if (!rule_has(context, "seccompProfile"))
        return;
    const char *type = json_get_string(profile, "type", "");
    if (type[0] == '\0')
        field_required(errors, field_path(errors, "%s.type", field),
                       "type is required when seccompProfile is set");
    rule_word(errors, profile, "type", types, field);
    if (!str_eq(type, "Localhost")) {
        if (rule_has(profile, "localhostProfile"))
            field_invalid(errors, where, profile, "can only be set when seccomp type is Localhost");
    } else if (!rule_has(profile, "localhostProfile")) {
        field_required(errors, where, "must be set when seccomp type is Localhost");
    } else {
        rule_relative_path(errors, json_get_string(profile, "localhostProfile", ""), where);
    }
}

static void validate_app_armor(struct field_errors *errors, const struct json *context,
                               const char *context_field)
{
    static const char *const types[] = {"Localhost", "RuntimeDefault", "Unconfined", NULL};
    const struct json *profile = json_get(context, "appArmorProfile");
    const char *field = field_path(errors, "%s.appArmorProfile", context_field);
    const char *where = field_path(errors, "%s.localhostProfile", field);
    if (!rule_has(context, "appArmorProfile"))
        return;
    const char *type = json_get_string(profile, "type", "");
    if (type[0] == '\0')
        field_required(errors, field_path(errors, "%s.type", field),
                       "type is required when appArmorProfile is set");
    rule_word(errors, profile, "type", types, field);
    if (str_eq(type, "Localhost") && !rule_has(profile, "localhostProfile"))
        field_required(errors, where, "must be set when AppArmor type is Localhost");
    else if (!str_eq(type, "Localhost") && rule_has(profile, "localhostProfile"))
        field_invalid(errors, where, json_get(profile, "localhostProfile"),
                      "can only be set when AppArmor type is Localhost");
}

/* ---- Containers ------------------------------------------------------------------------------ */

/* Checks settings that contradict allowPrivilegeEscalation=false. */
static void validate_escalation(struct field_errors *errors, const struct json *context,
                                const char *field)
{
    if (json_get_bool(context, "allowPrivilegeEscalation", true))
        return;
    if (json_get_bool(context, "privileged", false))
        field_invalid(errors, field, context,
                      "cannot set `allowPrivilegeEscalation` to false and `privileged` to true");
    JSON_EACH (capability, json_at(context, "capabilities", "add", NULL)) {
        if (str_eq(json_text(capability), "CAP_SYS_ADMIN"))
            field_invalid(errors, field, context,
                          "cannot set `allowPrivilegeEscalation` to false and `capabilities.Add` "
                          "CAP_SYS_ADMIN");
    }
}

void kube_pod_validate_container_security(struct field_errors *errors, const struct json *context,
                                          const char *field)
{
    static const char *const mounts[] = {"Default", "Unmasked", NULL};
    rule_range(errors, context, "runAsUser", 0, INT32_MAX, field);
    rule_range(errors, context, "runAsGroup", 0, INT32_MAX, field);
    rule_word(errors, context, "procMount", mounts, field);
    validate_seccomp(errors, context, field);
    validate_escalation(errors, context, field);
    validate_app_armor(errors, context, field);
}

/* ---- Pods ------------------------------------------------------------------------------------ */

/* Returns whether the name of a sysctl is valid: parts of lower case letters, digits, '-' and '_',
 * with a letter or digit at both ends, separated by dots or slashes. */
static bool is_sysctl_name(const char *name)
{
    if (strlen(name) > SYSCTL_NAME_MAX)
        return false;
    for (const char *at = name; *at; at++) {
        bool first = at == name || strchr("./", at[-1]);
        bool last = at[1] == '\0' || strchr("./", at[1]);
        bool plain = islower((unsigned char)*at) || isdigit((unsigned char)*at);
        bool edge = first || last;
        if (!plain && (edge || !strchr("-_./", *at)))
            return false;
    }
    return true;
}

static void validate_sysctls(struct field_errors *errors, const struct json *context)
{
    _cleanup_(map_release) struct map names = {0};
    size_t position = 0;
    JSON_EACH (entry, json_get(context, "sysctls")) {
        const char *field =
            field_path(errors, "spec.securityContext.sysctls[%zu].name", position++);
        const char *name = json_get_string(entry, "name", "");
        bool taken = rule_seen(&names, name);
        if (name[0] == '\0')
            field_required(errors, field, NULL);
        else if (!is_sysctl_name(name))
            field_invalid(errors, field, json_get(entry, "name"),
                          "must have at most %d characters and match regex "
                          "^([a-z0-9]([-_a-z0-9]*[a-z0-9])?[\\./])*[a-z0-9]([-_a-z0-9]*[a-z0-9])?$",
                          SYSCTL_NAME_MAX);
        else if (taken)
            field_duplicate(errors, field, name);
    }
}

void kube_pod_validate_security(struct pod_scope *scope)
{
    static const char *const ids[] = {"fsGroup", "runAsUser", "runAsGroup"};
    static const char *const changes[] = {"Always", "OnRootMismatch", NULL};
    static const char field[] = "spec.securityContext";
    struct field_errors *errors = scope->errors;
    const struct json *context = json_get(scope->spec, "securityContext");
    size_t position = 0;
    for (size_t i = 0; i < ARRAY_SIZE(ids); i++)
        rule_range(errors, context, ids[i], 0, INT32_MAX, field);
    JSON_EACH (group, json_get(context, "supplementalGroups")) {
        const char *path = field_path(errors, "%s.supplementalGroups[%zu]", field, position++);
        if (group->type == JSON_INT && (group->integer < 0 || group->integer > INT32_MAX))
            field_invalid(errors, path, group, "must be between 0 and %d, inclusive", INT32_MAX);
    }
    if (json_get_bool(scope->spec, "hostPID", false) &&
        json_get_bool(scope->spec, "shareProcessNamespace", false))
        field_invalid(errors, "spec.securityContext.shareProcessNamespace",
                      json_get(scope->spec, "shareProcessNamespace"),
                      "ShareProcessNamespace and HostPID cannot both be enabled");
    validate_sysctls(errors, context);
    rule_word(errors, context, "fsGroupChangePolicy", changes, field);
    validate_seccomp(errors, context, field);
    validate_app_armor(errors, context, field);
}

/* ResourceQuotas: their row and validation. engine/admission/quota.h enforces the quotas. */
#include "kube/kinds/row.h"

#include "base/str.h"
#include "kube/kinds/resource_name.h"
#include "kube/kinds/rule.h"
#include "kube/quantity.h"

static bool has_text(const struct json *list, const char *text)
{
    JSON_EACH (item, list) {
        if (str_eq(json_text(item), text))
            return true;
    }
    return false;
}

static void validate_hard(struct field_errors *errors, const struct json *hard)
{
    enum { NANO_OF_ONE = 1000 * 1000 * 1000 };
    JSON_EACH (item, hard) {
        const char *field = field_path(errors, "spec.hard[%s]", item->name);
        struct kube_quantity quantity;
        resource_name_validate(errors, RESOURCE_QUOTA, item->name, field);
        if (kube_quantity_from_json(item, &quantity, NULL) < 0)
            continue;
        if (quantity.nano < 0)
            field_invalid(errors, field, item, "must be greater than or equal to 0");
        if (quantity.nano % NANO_OF_ONE != 0 && resource_name_is_integer(item->name))
            field_invalid(errors, field, item, "must be an integer");
    }
}

static bool is_scope(const char *name)
{
    static const char *const scopes[] = {
        "Terminating",   "NotTerminating",        "BestEffort", "NotBestEffort",
        "PriorityClass", "VolumeAttributesClass", NULL};
    for (size_t i = 0; scopes[i]; i++)
        if (str_eq(name, scopes[i]))
            return true;
    return false;
}

/* Returns whether a quota with this scope can count all resources in `hard`. All scopes except
 * VolumeAttributesClass select pods and no other objects. */
static bool scope_fits(const char *scope, const struct json *hard)
{
    JSON_EACH (item, hard) {
        if (is_scope(scope) && !str_eq(scope, "VolumeAttributesClass") &&
            !resource_name_is_of_pods(item->name, str_eq(scope, "BestEffort")))
            return false;
    }
    return true;
}

static void validate_scopes(struct field_errors *errors, const struct json *spec)
{
    const struct json *scopes = json_get(spec, "scopes");
    JSON_EACH (scope, scopes) {
        const char *text = json_text(scope) ? json_text(scope) : "";
        if (!is_scope(text))
            field_invalid(errors, "spec.scopes", scopes, "unsupported scope");
        if (!scope_fits(text, json_get(spec, "hard")))
            field_invalid(errors, "spec.scopes", scopes, "unsupported scope applied to resource");
    }
    if ((has_text(scopes, "BestEffort") && has_text(scopes, "NotBestEffort")) ||
        (has_text(scopes, "Terminating") && has_text(scopes, "NotTerminating")))
        field_invalid(errors, "spec.scopes", scopes, "conflicting scopes");
}

static void validate_requirement(struct field_errors *errors, const struct json *spec,
                                 const struct json *requirement)
{
    static const char path[] = "spec.scopeSelector.matchExpressions";
    const char *scope = json_get_string(requirement, "scopeName", "");
    const char *operator= json_get_string(requirement, "operator", "");
    const struct json *values = json_get(requirement, "values");
    bool by_value = str_eq(scope, "PriorityClass") || str_eq(scope, "VolumeAttributesClass");
    if (!is_scope(scope))
        field_invalid(errors, field_path(errors, "%s.scopeName", path),
                      json_string(errors->arena, scope), "unsupported scope");
    else if (!by_value && !str_eq(operator, "Exists"))
        field_invalid(errors, field_path(errors, "%s.operator", path),
                      json_string(errors->arena, operator),
                      "must be 'Exists' when scope is any of ResourceQuotaScopeTerminating, "
                      "ResourceQuotaScopeNotTerminating, ResourceQuotaScopeBestEffort, "
                      "ResourceQuotaScopeNotBestEffort or "
                      "ResourceQuotaScopeCrossNamespacePodAffinity");
    if (!scope_fits(scope, json_get(spec, "hard")))
        field_invalid(errors, path, json_get(spec, "scopeSelector"),
                      "unsupported scope applied to resource");
    if (str_eq(operator, "In") || str_eq(operator, "NotIn")) {
        if (json_count(values) == 0)
            field_required(errors, field_path(errors, "%s.values", path),
                           "must be at least one value when `operator` is 'In' or 'NotIn' for "
                           "scope selector");
    } else if (str_eq(operator, "Exists") || str_eq(operator, "DoesNotExist")) {
        if (json_count(values) > 0)
            field_invalid(errors, field_path(errors, "%s.values", path), values,
                          "must be no value when `operator` is 'Exist' or 'DoesNotExist' for "
                          "scope selector");
    } else {
        field_invalid(errors, field_path(errors, "%s.operator", path),
                      json_string(errors->arena, operator), "not a valid selector operator");
    }
}

static void resource_quota_validate(struct field_errors *errors, const struct json *quota,
                                    const struct json *old)
{
    const struct json *spec = json_get(quota, "spec"), *scopes = json_get(spec, "scopes");
    const struct json *before = json_at(old, "spec", "scopes", NULL);
    bool same = json_count(scopes) == json_count(before);
    validate_hard(errors, json_get(spec, "hard"));
    validate_scopes(errors, spec);
    JSON_EACH (requirement, json_at(spec, "scopeSelector", "matchExpressions", NULL))
        validate_requirement(errors, spec, requirement);
    JSON_EACH (scope, scopes)
        same = same && has_text(before, json_text(scope));
    if (old && !same)
        field_invalid(errors, "spec.scopes", scopes, "field is immutable");
}

static const struct kube_column QUOTA_COLUMNS[] = {
    COLUMN_NAME,
    COLUMN_TEXT("Request", "Usage and quota of all resources except limits.", table_quota_requests),
    COLUMN_TEXT("Limit", "Usage and quota of limits.", table_quota_limits),
    COLUMN_AGE,
};

/* clang-format off */

KUBE_CORE_KIND(KUBE_RESOURCEQUOTAS, KUBE_RESOURCEQUOTA_KIND, "resourcequotas", "ResourceQuota",
        NAMESPACED,
    .schema = &TYPE_RESOURCE_QUOTA,
    .singular = "resourcequota",
    .short_names = NAMES("quota"),
    .verbs = VERBS_ALL,
    .subresources = SUBRESOURCES(STATUS_OF("ResourceQuota")),
    .columns = COLUMNS(QUOTA_COLUMNS),
    .hooks = {.validate = resource_quota_validate});

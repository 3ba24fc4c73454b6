/* Validates tolerations, affinity and topology spread constraints; see validate.h. */
#include "kube/kinds/pod/validate.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/kinds/meta.h"
#include "kube/kinds/rule.h"

#include <string.h>

#define REQUIRED  "requiredDuringSchedulingIgnoredDuringExecution"
#define PREFERRED "preferredDuringSchedulingIgnoredDuringExecution"

void kube_pod_validate_tolerations(struct pod_scope *scope)
{
    static const char *const operators[] = {"Equal", "Exists", NULL};
    static const char *const effects[] = {"NoSchedule", "PreferNoSchedule", "NoExecute", NULL};
    struct field_errors *errors = scope->errors;
    size_t position = 0;
    JSON_EACH (toleration, json_get(scope->spec, "tolerations")) {
        const char *field = field_path(errors, "spec.tolerations[%zu]", position++);
        const char *key = json_get_string(toleration, "key", "");
        const char *operator= json_get_string(toleration, "operator", "");
        const char *effect = json_get_string(toleration, "effect", "");
        const char *value = json_get_string(toleration, "value", "");
        if (key[0])
            meta_validate_label_name(errors, key, field_path(errors, "%s.key", field));
        else if (!str_eq(operator, "Exists"))
            field_invalid(errors, field_path(errors, "%s.operator", field),
                          json_string(errors->arena, operator),
                          "operator must be Exists when `key` is empty, which means \"match all "
                          "values and all keys\"");
        if (json_get(toleration, "tolerationSeconds") && !str_eq(effect, "NoExecute"))
            field_invalid(errors, field_path(errors, "%s.effect", field),
                          json_string(errors->arena, effect),
                          "effect must be 'NoExecute' when `tolerationSeconds` is set");
        rule_word(errors, toleration, "operator", operators, field);
        if (str_eq(operator, "Exists") && value[0])
            field_invalid(errors, field_path(errors, "%s.operator", field),
                          json_get(toleration, "value"),
                          "value must be empty when `operator` is 'Exists'");
        else if (operator[0] == '\0' || str_eq(operator, "Equal"))
            meta_validate_label_value(errors, value, field_path(errors, "%s.operator", field));
        rule_word(errors, toleration, "effect", effects, field);
    }
}

/* ---- Affinity -------------------------------------------------------------------------------- */

static void validate_node_expression(struct field_errors *errors, const struct json *expression,
                                     const char *field)
{
    const char *operator= json_get_string(expression, "operator", "");
    size_t values = json_count(json_get(expression, "values"));
    const char *where = field_path(errors, "%s.values", field);
    if (str_eq(operator, "In") || str_eq(operator, "NotIn")) {
        if (values == 0)
            field_required(errors, where, "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (str_eq(operator, "Exists") || str_eq(operator, "DoesNotExist")) {
        if (values > 0)
            field_forbidden(errors, where,
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else if (str_eq(operator, "Gt") || str_eq(operator, "Lt")) {
        if (values != 1)
            field_required(errors, where,
                           "must be specified single value when `operator` is 'Lt' or 'Gt'");
    } else {
        field_invalid(errors, field_path(errors, "%s.operator", field),
                      json_string(errors->arena, operator), "not a valid selector operator");
    }
    meta_validate_label_name(errors, json_get_string(expression, "key", ""),
                             field_path(errors, "%s.key", field));
}

/* metadata.name is the only field of a node that a term may match. */
static void validate_node_field(struct field_errors *errors, const struct json *expression,
                                const char *field)
{
    const char *operator= json_get_string(expression, "operator", "");
    const char *key = json_get_string(expression, "key", "");
    const struct json *values = json_get(expression, "values");
    size_t position = 0;
    if (!str_eq(operator, "In") && !str_eq(operator, "NotIn"))
        field_invalid(errors, field_path(errors, "%s.operator", field),
                      json_string(errors->arena, operator), "not a valid selector operator");
    else if (json_count(values) != 1)
        field_required(errors, field_path(errors, "%s.values", field),
                       "must be only one value when `operator` is 'In' or 'NotIn' for node field "
                       "selector");
    if (!str_eq(key, "metadata.name")) {
        field_invalid(errors, field_path(errors, "%s.key", field), json_string(errors->arena, key),
                      "not a valid field selector key");
        return;
    }
    JSON_EACH (value, values) {
        const char *where = field_path(errors, "%s.values[%zu]", field, position++);
        const char *complaint =
            json_text(value) ? meta_name_complaint(NAME_SUBDOMAIN, value->text) : NULL;
        if (complaint)
            field_invalid(errors, where, value, "%s", complaint);
    }
}

static void validate_node_term(struct field_errors *errors, const struct json *term,
                               const char *field)
{
    size_t position = 0;
    JSON_EACH (expression, json_get(term, "matchExpressions"))
        validate_node_expression(errors, expression,
                                 field_path(errors, "%s.matchExpressions[%zu]", field, position++));
    position = 0;
    JSON_EACH (expression, json_get(term, "matchFields"))
        validate_node_field(errors, expression,
                            field_path(errors, "%s.matchFields[%zu]", field, position++));
}

static void validate_weight(struct field_errors *errors, const struct json *preferred,
                            const char *field)
{
    int64_t weight = json_get_int(preferred, "weight", 0);
    if (weight < 1 || weight > 100)
        field_invalid(errors, field_path(errors, "%s.weight", field),
                      json_int(errors->arena, weight), "must be in the range 1-100");
}

/* Validates nodeAffinity. */
static void validate_nodes(struct field_errors *errors, const struct json *affinity,
                           const char *field)
{
    const struct json *required = json_get(affinity, REQUIRED);
    const struct json *terms = json_get(required, "nodeSelectorTerms");
    const char *path = field_path(errors, "%s." REQUIRED ".nodeSelectorTerms", field);
    size_t position = 0;
    if (required && required->type == JSON_OBJECT && json_count(terms) == 0)
        field_required(errors, path, "must have at least one node selector term");
    JSON_EACH (term, terms)
        validate_node_term(errors, term, field_path(errors, "%s[%zu]", path, position++));
    position = 0;
    JSON_EACH (preferred, json_get(affinity, PREFERRED)) {
        path = field_path(errors, "%s." PREFERRED "[%zu]", field, position++);
        validate_weight(errors, preferred, path);
        validate_node_term(errors, json_get(preferred, "preference"),
                           field_path(errors, "%s.preference", path));
    }
}

static void validate_pod_term(struct field_errors *errors, const struct json *term,
                              const char *field)
{
    const char *key = json_get_string(term, "topologyKey", "");
    const char *path = field_path(errors, "%s.topologyKey", field);
    rule_selector(errors, json_get(term, "labelSelector"),
                  field_path(errors, "%s.labelSelector", field));
    JSON_EACH (name, json_get(term, "namespaces")) {
        const char *complaint =
            json_text(name) ? meta_name_complaint(NAME_LABEL, name->text) : NULL;
        if (complaint)
            field_invalid(errors, field_path(errors, "%s.namespace", field), name, "%s", complaint);
    }
    if (key[0] == '\0')
        field_required(errors, path, "can not be empty");
    meta_validate_label_name(errors, key, path);
}

/* Validates podAffinity or podAntiAffinity. */
static void validate_pods(struct field_errors *errors, const struct json *affinity,
                          const char *field)
{
    size_t position = 0;
    JSON_EACH (term, json_get(affinity, REQUIRED))
        validate_pod_term(errors, term,
                          field_path(errors, "%s." REQUIRED "[%zu]", field, position++));
    position = 0;
    JSON_EACH (preferred, json_get(affinity, PREFERRED)) {
        const char *path = field_path(errors, "%s." PREFERRED "[%zu]", field, position++);
        validate_weight(errors, preferred, path);
        validate_pod_term(errors, json_get(preferred, "podAffinityTerm"),
                          field_path(errors, "%s.podAffinityTerm", path));
    }
}

void kube_pod_validate_affinity(struct pod_scope *scope)
{
    const struct json *affinity = json_get(scope->spec, "affinity");
    validate_nodes(scope->errors, json_get(affinity, "nodeAffinity"), "spec.affinity.nodeAffinity");
    validate_pods(scope->errors, json_get(affinity, "podAffinity"), "spec.affinity.podAffinity");
    validate_pods(scope->errors, json_get(affinity, "podAntiAffinity"),
                  "spec.affinity.podAntiAffinity");
}

/* ---- Spreading ------------------------------------------------------------------------------- */

/* Returns a text of the fields in which any two constraints must differ. */
static const char *constraint_key(struct field_errors *errors, const struct json *constraint)
{
    const char *key = json_get_string(constraint, "topologyKey", "");
    return field_path(errors, "%zu:%s%s", strlen(key), key,
                      json_get_string(constraint, "whenUnsatisfiable", ""));
}

void kube_pod_validate_spreading(struct pod_scope *scope)
{
    static const char *const actions[] = {"DoNotSchedule", "ScheduleAnyway", NULL};
    static const char *const policies[] = {"Honor", "Ignore", NULL};
    const struct json *constraints = json_get(scope->spec, "topologySpreadConstraints");
    struct field_errors *errors = scope->errors;
    /* The last constraint with each constraint_key(). */
    _cleanup_(map_release) struct map last = {0};
    size_t position = 0;
    JSON_EACH (constraint, constraints)
        map_put(&last, constraint_key(errors, constraint), constraint);
    JSON_EACH (constraint, constraints) {
        const char *field = field_path(errors, "spec.topologySpreadConstraints[%zu]", position++);
        const char *key = json_get_string(constraint, "topologyKey", "");
        const char *action = json_get_string(constraint, "whenUnsatisfiable", "");
        rule_positive(errors, constraint, "maxSkew", field);
        if (key[0] == '\0')
            field_required(errors, field_path(errors, "%s.topologyKey", field), "can not be empty");
        if (!str_eq(action, actions[0]) && !str_eq(action, actions[1]))
            field_unsupported(errors, field_path(errors, "%s.whenUnsatisfiable", field), action,
                              actions);
        if (map_get(&last, constraint_key(errors, constraint)) != constraint)
            field_duplicate(errors,
                            field_path(errors, "%s.{topologyKey, whenUnsatisfiable}", field),
                            field_path(errors, "{%s, %s}", key, action));
        if (rule_has(constraint, "minDomains")) {
            rule_positive(errors, constraint, "minDomains", field);
            if (!str_eq(action, "DoNotSchedule"))
                field_invalid(errors, field_path(errors, "%s.minDomains", field),
                              json_get(constraint, "minDomains"),
                              "can only use minDomains if whenUnsatisfiable=DoNotSchedule, not %s",
                              action);
        }
        rule_word(errors, constraint, "nodeAffinityPolicy", policies, field);
        rule_word(errors, constraint, "nodeTaintsPolicy", policies, field);
        rule_selector(errors, json_get(constraint, "labelSelector"),
                      field_path(errors, "%s.labelSelector", field));
    }
}

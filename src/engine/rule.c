/* Rules that several kinds share; see rule.h. */
#include "engine/rule.h"

#include "base/str.h"
#include "engine/kinds.h"
#include "engine/meta.h"

void rule_nonnegative(struct field_errors *errors, const struct json *object, const char *name,
                      const char *field)
{
    const struct json *number = json_get(object, name);
    if (number && number->type == JSON_INT && number->integer < 0)
        field_invalid(errors, field_path(errors, "%s.%s", field, name), number,
                      "must be greater than or equal to 0");
}

/* null is as good as absent. */
static const struct json *present(const struct json *value)
{
    return value && value->type != JSON_NULL ? value : NULL;
}

bool rule_same(const struct json *a, const struct json *b)
{
    a = present(a);
    b = present(b);
    return a && b ? json_equal(a, b) : a == b;
}

void rule_immutable(struct field_errors *errors, const struct json *value, const struct json *old,
                    const char *field)
{
    if (!rule_same(value, old))
        field_invalid(errors, field, value, "field is immutable");
}

static void check_expression(struct field_errors *errors, const struct json *expression,
                             const char *field)
{
    const char *operator= json_get_string(expression, "operator", "");
    size_t values = json_count(json_get(expression, "values"));
    if (str_eq(operator, "In") || str_eq(operator, "NotIn")) {
        if (values == 0)
            field_required(errors, field_path(errors, "%s.values", field),
                           "must be specified when `operator` is 'In' or 'NotIn'");
    } else if (str_eq(operator, "Exists") || str_eq(operator, "DoesNotExist")) {
        if (values > 0)
            field_forbidden(errors, field_path(errors, "%s.values", field),
                            "may not be specified when `operator` is 'Exists' or 'DoesNotExist'");
    } else {
        field_invalid(errors, field_path(errors, "%s.operator", field),
                      json_string(errors->arena, operator), "not a valid selector operator");
    }
    meta_validate_label_name(errors, json_get_string(expression, "key", ""),
                             field_path(errors, "%s.key", field));
}

void rule_selector(struct field_errors *errors, const struct json *selector, const char *field)
{
    size_t position = 0;
    meta_validate_labels(errors, json_get(selector, "matchLabels"),
                         field_path(errors, "%s.matchLabels", field));
    JSON_EACH (expression, json_get(selector, "matchExpressions"))
        check_expression(errors, expression,
                         field_path(errors, "%s.matchExpressions[%zu]", field, position++));
}

void rule_template(struct field_errors *errors, const struct json *template_, const char *field)
{
    const struct json *meta = json_get(template_, "metadata");
    struct field_errors inner;
    meta_validate_labels(errors, json_get(meta, "labels"), field_path(errors, "%s.labels", field));
    meta_validate_annotations(errors, json_get(meta, "annotations"),
                              field_path(errors, "%s.annotations", field));
    field_errors_init(&inner, errors->arena);
    kind_pod_validate(&inner, template_, NULL);
    field_errors_take(errors, &inner, field_path(errors, "%s.", field));
}

/* Validation rules that several kinds share; see rule.h. */
#include "kube/kinds/rule.h"

#include "base/str.h"
#include "kube/kinds/meta.h"

#include <inttypes.h>
#include <string.h>

void rule_nonnegative(struct field_errors *errors, const struct json *object, const char *name,
                      const char *field)
{
    const struct json *number = json_get(object, name);
    if (number && number->type == JSON_INT && number->integer < 0)
        field_invalid(errors, field_path(errors, "%s.%s", field, name), number,
                      "must be greater than or equal to 0");
}

/* Returns the value, or NULL if it is missing or null. */
static const struct json *present_value(const struct json *value)
{
    return value && value->type != JSON_NULL ? value : NULL;
}

bool rule_has(const struct json *object, const char *name)
{
    return present_value(json_get(object, name));
}

bool rule_same(const struct json *a, const struct json *b)
{
    a = present_value(a);
    b = present_value(b);
    return a && b ? json_equal(a, b) : a == b;
}

bool rule_seen(struct map *seen, const char *name)
{
    static char there;
    return name[0] != '\0' && map_put(seen, name, &there) != NULL;
}

bool rule_is_set(const struct json *value)
{
    bool counted = value && (value->type == JSON_ARRAY || value->type == JSON_OBJECT);
    return present_value(value) && !(counted && json_count(value) == 0) &&
           !(value->type == JSON_STRING && value->size == 0);
}

void rule_immutable(struct field_errors *errors, const struct json *value, const struct json *old,
                    const char *field)
{
    if (!rule_same(value, old))
        field_invalid(errors, field, value, "field is immutable");
}

void rule_word(struct field_errors *errors, const struct json *object, const char *name,
               const char *const *words, const char *field)
{
    const char *word = json_get_string(object, name, "");
    if (word[0] == '\0')
        return;
    for (size_t i = 0; words[i]; i++)
        if (str_eq(word, words[i]))
            return;
    field_unsupported(errors, field_path(errors, "%s.%s", field, name), word, words);
}

void rule_range(struct field_errors *errors, const struct json *object, const char *name,
                int64_t min, int64_t max, const char *field)
{
    const struct json *number = json_get(object, name);
    if (number && number->type == JSON_INT && (number->integer < min || number->integer > max))
        field_invalid(errors, field_path(errors, "%s.%s", field, name), number,
                      "must be between %" PRId64 " and %" PRId64 ", inclusive", min, max);
}

void rule_positive(struct field_errors *errors, const struct json *object, const char *name,
                   const char *field)
{
    int64_t number = json_get_int(object, name, 0);
    if (number <= 0)
        field_invalid(errors, field_path(errors, "%s.%s", field, name),
                      json_int(errors->arena, number), "must be greater than zero");
}

void rule_port(struct field_errors *errors, const struct json *number, const char *field)
{
    int64_t port = number && number->type == JSON_INT ? number->integer : 0;
    if (port < 1 || port > 65535)
        field_invalid(errors, field, json_int(errors->arena, port),
                      "must be between 1 and 65535, inclusive");
}

void rule_port_name(struct field_errors *errors, const char *name, const char *field)
{
    static const char letters[] = "abcdefghijklmnopqrstuvwxyz";
    const struct json *value = json_string(errors->arena, name);
    size_t size = strlen(name);
    if (size > 15)
        field_invalid(errors, field, value, "must be no more than 15 characters");
    if (size == 0 || strspn(name, "abcdefghijklmnopqrstuvwxyz0123456789-") != size)
        field_invalid(errors, field, value,
                      "must contain only alpha-numeric characters (a-z, 0-9), and hyphens (-)");
    if (!strpbrk(name, letters))
        field_invalid(errors, field, value, "must contain at least one letter (a-z)");
    if (strstr(name, "--"))
        field_invalid(errors, field, value, "must not contain consecutive hyphens");
    if (size > 0 && (name[0] == '-' || name[size - 1] == '-'))
        field_invalid(errors, field, value, "must not begin or end with a hyphen");
}

void rule_port_or_name(struct field_errors *errors, const struct json *port, const char *field)
{
    if (port && port->type == JSON_STRING)
        rule_port_name(errors, port->text, field);
    else
        rule_port(errors, port, field);
}

void rule_config_key(struct field_errors *errors, const char *key, const char *field)
{
    static const char characters[] =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789-._";
    const struct json *value = json_string(errors->arena, key);
    if (strlen(key) > 253)
        field_invalid(errors, field, value, "must be no more than 253 characters");
    if (key[0] == '\0' || strspn(key, characters) != strlen(key))
        field_invalid(errors, field, value,
                      "a valid config key must consist of alphanumeric characters, '-', '_' or '.' "
                      "(e.g. 'key.name',  or 'KEY_NAME',  or 'key-name', regex used for validation "
                      "is '[-._a-zA-Z0-9]+')");
    if (str_eq(key, ".") || str_eq(key, ".."))
        field_invalid(errors, field, value, "must not be '%s'", key);
    else if (str_has_prefix(key, ".."))
        field_invalid(errors, field, value, "must not start with '..'");
}

void rule_name(struct field_errors *errors, const struct json *object, const char *name,
               enum kube_name_rule rule, bool needed, const char *field)
{
    const char *value = json_get_string(object, name, "");
    const char *path = field_path(errors, "%s.%s", field, name);
    if (value[0] == '\0') {
        if (needed)
            field_required(errors, path, NULL);
        return;
    }
    const char *complaint = meta_name_complaint(rule, value);
    if (complaint)
        field_invalid(errors, path, json_get(object, name), "%s", complaint);
}

void rule_no_backsteps(struct field_errors *errors, const char *path, const char *field)
{
    size_t count;
    char **pieces = str_split(errors->arena, path, '/', &count);
    for (size_t i = 0; i < count; i++) {
        if (!str_eq(pieces[i], ".."))
            continue;
        field_invalid(errors, field, json_string(errors->arena, path), "must not contain '..'");
        return;
    }
}

void rule_relative_path(struct field_errors *errors, const char *path, const char *field)
{
    if (path[0] == '/')
        field_invalid(errors, field, json_string(errors->arena, path), "must be a relative path");
    rule_no_backsteps(errors, path, field);
}

void rule_file_path(struct field_errors *errors, const char *path, const char *field)
{
    rule_relative_path(errors, path, field);
    if (str_has_prefix(path, "..") && !str_has_prefix(path, "../"))
        field_invalid(errors, field, json_string(errors->arena, path), "must not start with '..'");
}

/* Validates one entry of matchExpressions. */
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

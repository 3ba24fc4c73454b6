/* Validates values against their schema; see validate.h. The checks of one value run in the order
 * of Kubernetes: type, combinations (allOf and similar), string, number, list, allowed values,
 * members. */
#include "kube/schema/validate.h"

#include "base/json/json_names.h"
#include "base/mem.h"
#include "base/pattern/pattern.h"
#include "kube/quantity.h"
#include "kube/schema/format.h"
#include "kube/schema/path.h"
#include "kube/schema/rules.h"

#include <math.h>
#include <string.h>

/* The check of one value against its schema. */
struct check {
    struct field_errors *errors;
    const struct schema_path *path;
    const struct schema *schema;
    const struct json *value;
    const struct json *old; /* the value of the same JSON type at this path in the old object; NULL:
                               none */
};

static void validate_value(struct field_errors *errors, const struct schema *schema,
                           const struct schema_path *path, const struct json *value,
                           const struct json *old);

static const char *validate_path(const struct check *check)
{
    return schema_path_text(check->errors->arena, check->path);
}

/* Reports "spec.replicas in body should be …" with the value `shown`. */
static void validate_fail(const struct check *check, const struct json *shown, const char *format,
                          ...) __attribute__((format(printf, 3, 4)));
static void validate_fail(const struct check *check, const struct json *shown, const char *format,
                          ...)
{
    va_list args;
    va_start(args, format);
    const char *rest = arena_vprintf(check->errors->arena, format, args);
    va_end(args);
    const char *path = validate_path(check);
    field_invalid(check->errors, path, shown, "%s in body %s", path, rest);
}

/* Returns a number as Go prints it. */
static const char *number_text(struct arena *arena, double number)
{
    if (number == floor(number) && fabs(number) < 1e15)
        return arena_printf(arena, "%.0f", number);
    return json_to_string(arena, json_real(arena, number));
}

/* ---- Types ----------------------------------------------------------------------------------- */

static bool is_whole(const struct json *value)
{
    double number = json_number(value, 0.5);
    return number == floor(number);
}

const char *schema_type_name(const struct json *value)
{
    switch (value->type) {
    case JSON_NULL:
        return "null";
    case JSON_BOOL:
        return "boolean";
    case JSON_INT:
        return "integer";
    case JSON_REAL:
        return is_whole(value) ? "integer" : "number";
    case JSON_STRING:
        return "string";
    case JSON_ARRAY:
        return "array";
    case JSON_OBJECT:
        return "object";
    }
    return "";
}

/* Returns the OpenAPI name of the type, or NULL if any type is allowed. */
static const char *wanted_name(enum schema_type type)
{
    switch (type) {
    case SCHEMA_ANY:
        return NULL;
    case SCHEMA_STRING:
    case SCHEMA_BYTES:
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return "string";
    case SCHEMA_BOOL:
        return "boolean";
    case SCHEMA_INT32:
    case SCHEMA_INT64:
        return "integer";
    case SCHEMA_NUMBER:
        return "number";
    case SCHEMA_INT_OR_STRING:
    case SCHEMA_QUANTITY:
        return "integer,string";
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
        return "object";
    case SCHEMA_LIST:
        return "array";
    }
    return NULL;
}

static bool has_type(enum schema_type type, const char *is)
{
    const char *wanted = wanted_name(type);
    if (!wanted || str_eq(wanted, is))
        return true;
    if (type == SCHEMA_NUMBER)
        return str_eq(is, "integer");
    if (type == SCHEMA_QUANTITY && str_eq(is, "number"))
        return true; /* a fraction such as 0.5, which Kubernetes accepts in pods */
    return (type == SCHEMA_INT_OR_STRING || type == SCHEMA_QUANTITY) &&
           (str_eq(is, "integer") || str_eq(is, "string"));
}

/* Returns whether a string or number is a valid quantity, time or 32-bit integer. The schema of a
 * CustomResourceDefinition has rules for this instead. */
static bool has_form(enum schema_type type, const struct json *value)
{
    struct kube_quantity quantity;
    switch (type) {
    case SCHEMA_QUANTITY:
        return kube_quantity_from_json(value, &quantity, NULL) == 0;
    case SCHEMA_INT32:
        return value->type != JSON_INT ||
               (value->integer >= INT32_MIN && value->integer <= INT32_MAX);
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return schema_format_matches("date-time", value->text);
    default:
        return true;
    }
}

static void report_form(const struct check *check)
{
    const char *value = json_to_string(check->errors->arena, check->value);
    if (check->schema->type == SCHEMA_QUANTITY)
        validate_fail(check, check->value, "should match '%s'", SCHEMA_QUANTITY_PATTERN);
    else
        validate_fail(check, check->value, "must be of type %s: %s",
                      check->schema->type == SCHEMA_INT32 ? "int32" : "date-time", value);
}

static void validate_value_type(const struct check *check)
{
    const char *is = schema_type_name(check->value);
    if (!has_type(check->schema->type, is))
        validate_fail(check, json_string(check->errors->arena, is), "must be of type %s: \"%s\"",
                      wanted_name(check->schema->type), is);
    else if (!has_form(check->schema->type, check->value))
        report_form(check);
}

/* ---- Combinations ---------------------------------------------------------------------------- */

/* Validates the value against one of several schemas. Returns true if the value is valid. Sets *ret
 * to the errors. */
static bool validate_alternative(const struct check *check, const struct schema *schema,
                                 struct field_errors *ret)
{
    field_errors_init(ret, check->errors->arena);
    validate_value(ret, schema, check->path, check->value, check->old);
    return ret->count == 0;
}

/* Reports an error about allOf, anyOf, oneOf or not. As in Kubernetes, the field of the error is
 * "<nil>", and the message has the path. */
static void report_combination(const struct check *check, const char *format, ...)
    __attribute__((format(printf, 2, 3)));
static void report_combination(const struct check *check, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    const char *rest = arena_vprintf(check->errors->arena, format, args);
    va_end(args);
    field_invalid(check->errors, "<nil>", json_string(check->errors->arena, ""), "\"%s\" %s",
                  validate_path(check), rest);
}

/* Returns the number of schemas for which the value is valid. *ret_first gets the errors of the
 * first schema. */
static size_t count_valid(const struct check *check, const struct schema *const *list,
                          struct field_errors *ret_first)
{
    size_t valid = 0;
    for (size_t i = 0; list[i]; i++) {
        struct field_errors found;
        valid += validate_alternative(check, list[i], &found);
        if (i == 0)
            *ret_first = found;
    }
    return valid;
}

static void check_any_of(const struct check *check, const struct schema *const *list)
{
    struct field_errors first = {0};
    if (count_valid(check, list, &first) > 0)
        return;
    report_combination(check, "must validate at least one schema (anyOf)");
    field_errors_take(check->errors, &first, "");
}

static void check_one_of(const struct check *check, const struct schema *const *list)
{
    struct field_errors first = {0};
    size_t valid = count_valid(check, list, &first);
    if (valid == 1)
        return;
    if (valid > 1) {
        report_combination(check,
                           "must validate one and only one schema (oneOf). Found %zu valid "
                           "alternatives",
                           valid);
        return;
    }
    report_combination(check, "must validate one and only one schema (oneOf). Found none valid");
    field_errors_take(check->errors, &first, "");
}

static void check_all_of(const struct check *check, const struct schema *const *list)
{
    bool all = true;
    for (size_t i = 0; list[i]; i++) {
        struct field_errors found;
        all &= validate_alternative(check, list[i], &found);
        field_errors_take(check->errors, &found, "");
    }
    if (!all)
        report_combination(check, "must validate all the schemas (allOf)");
}

static void check_combinations(const struct check *check, const struct schema_rules *rules)
{
    struct field_errors ignored;
    if (rules->any_of)
        check_any_of(check, rules->any_of);
    if (rules->one_of)
        check_one_of(check, rules->one_of);
    if (rules->all_of)
        check_all_of(check, rules->all_of);
    if (rules->not_ && validate_alternative(check, rules->not_, &ignored))
        report_combination(check, "must not validate the schema (not)");
}

/* ---- Texts ----------------------------------------------------------------------------------- */

static size_t count_characters(const struct json *text)
{
    size_t count = 0;
    for (size_t i = 0; i < text->size; i++)
        count += ((unsigned char)text->text[i] & 0xc0) != 0x80;
    return count;
}

static void check_pattern(const struct check *check, const char *expression)
{
    _cleanup_(cleanup_arena) struct arena *scratch = arena_new();
    const struct pattern *pattern;
    struct err err = ERR_INIT;
    bool found = false;
    if (pattern_compile(scratch, expression, &pattern, &err) < 0 ||
        pattern_find(pattern, check->value->text, check->value->size, &found, &err) < 0)
        validate_fail(check, check->value, "cannot be compared with '%s': %s", expression,
                      err.message);
    else if (!found)
        validate_fail(check, check->value, "should match '%s'", expression);
}

static void check_text(const struct check *check, const struct schema_rules *rules)
{
    double length = (double)count_characters(check->value);
    if (rules->length_max.given && length > rules->length_max.value)
        validate_fail(check, check->value, "should be at most %.0f chars long",
                      rules->length_max.value);
    if (rules->length_min.given && length < rules->length_min.value)
        validate_fail(check, check->value, "should be at least %.0f chars long",
                      rules->length_min.value);
    if (rules->pattern)
        check_pattern(check, rules->pattern);
    if (rules->format && !schema_format_matches(rules->format, check->value->text))
        validate_fail(check, check->value, "must be of type %s: %s", rules->format,
                      json_to_string(check->errors->arena, check->value));
}

/* ---- Numbers --------------------------------------------------------------------------------- */

static bool is_multiple(double number, double factor)
{
    double quotient = number / factor;
    return fabs(quotient - round(quotient)) < 1e-9 * (fabs(quotient) > 1 ? fabs(quotient) : 1);
}

static void check_number(const struct check *check, const struct schema_rules *rules)
{
    struct arena *arena = check->errors->arena;
    double number = json_number(check->value, 0);
    const struct schema_bound *max = &rules->maximum, *min = &rules->minimum;
    if (rules->multiple_of > 0 && !is_multiple(number, rules->multiple_of))
        validate_fail(check, check->value, "should be a multiple of %s",
                      number_text(arena, rules->multiple_of));
    if (max->given && (number > max->value || (max->exclusive && number == max->value)))
        validate_fail(check, check->value, "should be less than %s%s",
                      max->exclusive ? "" : "or equal to ", number_text(arena, max->value));
    if (min->given && (number < min->value || (min->exclusive && number == min->value)))
        validate_fail(check, check->value, "should be greater than %s%s",
                      min->exclusive ? "" : "or equal to ", number_text(arena, min->value));
}

/* ---- Lists ----------------------------------------------------------------------------------- */

static bool has_duplicates(const struct json *list)
{
    JSON_EACH (element, list)
        for (const struct json *other = element->next; other; other = other->next)
            if (json_equal(element, other))
                return true;
    return false;
}

static void validate_list(const struct check *check, const struct schema_rules *rules)
{
    size_t count = json_count(check->value);
    struct json *shown = json_int(check->errors->arena, (int64_t)count);
    if (rules && rules->items_min.given && (double)count < rules->items_min.value)
        validate_fail(check, shown, "should have at least %.0f items", rules->items_min.value);
    if (rules && rules->items_max.given && (double)count > rules->items_max.value)
        validate_fail(check, shown, "should have at most %.0f items", rules->items_max.value);
    if (rules && rules->unique_items && has_duplicates(check->value))
        validate_fail(check, json_string(check->errors->arena, ""), "shouldn't contain duplicates");
    size_t position = 0;
    const struct json *old = check->old ? json_first(check->old) : NULL;
    JSON_EACH (element, check->value) {
        const struct schema_path path = {.parent = check->path, .position = position};
        if (check->schema->items)
            validate_value(check->errors, check->schema->items, &path, element, old);
        old = old ? old->next : NULL;
        position++;
    }
}

/* ---- Allowed values -------------------------------------------------------------------------- */

static bool is_word_of(const struct json *value, const char *const *words)
{
    for (; *words; words++)
        if (value->type == JSON_STRING && str_eq(value->text, *words))
            return true;
    return false;
}

static bool validate_is_allowed(const struct json *value, const struct json *list)
{
    JSON_EACH (allowed, list)
        if (json_equal(value, allowed))
            return true;
    return false;
}

static void check_allowed(const struct check *check, const struct schema_rules *rules)
{
    struct arena *arena = check->errors->arena;
    if (rules->words && !is_word_of(check->value, rules->words))
        field_unsupported_value(check->errors, validate_path(check), check->value, rules->words);
    if (!rules->values || validate_is_allowed(check->value, rules->values))
        return;
    size_t count = 0;
    const char **texts = ARENA_ARRAY(arena, const char *, json_count(rules->values) + 1);
    JSON_EACH (allowed, rules->values) {
        const char *text = json_text(allowed);
        texts[count++] = text ? text : json_to_string(arena, allowed);
    }
    field_unsupported_value(check->errors, validate_path(check), check->value, texts);
}

/* ---- Members --------------------------------------------------------------------------------- */

static void check_count(const struct check *check, const struct schema_rules *rules)
{
    double count = (double)json_count(check->value);
    const struct schema_bound *min = &rules->members_min, *max = &rules->members_max;
    struct arena *arena = check->errors->arena;
    if (min->given && count < min->value)
        validate_fail(check, json_int(arena, (int64_t)min->value),
                      "should have at least %.0f properties", min->value);
    if (max->given && count > max->value)
        validate_fail(check, json_int(arena, (int64_t)max->value),
                      "should have at most %.0f properties", max->value);
}

static void check_required(const struct check *check, const char *const *names)
{
    _cleanup_json_names_ struct json_names known = {0};
    for (; names && *names; names++) {
        const struct schema_path path = {.parent = check->path, .name = *names};
        if (!json_names_find(&known, check->value, *names))
            field_required(check->errors, schema_path_text(check->errors->arena, &path), NULL);
    }
}

static void check_fields(const struct check *check)
{
    const struct schema_object *object = check->schema->object;
    _cleanup_json_names_ struct json_names names = {0}, old_names = {0};
    for (const struct schema_field *field = object->fields; field->name; field++) {
        const struct schema_path path = {.parent = check->path, .name = field->name};
        bool was_missing = check->old && !json_names_find(&old_names, check->old, field->name);
        if (field->required && !was_missing && !json_names_find(&names, check->value, field->name))
            field_required(check->errors, schema_path_text(check->errors->arena, &path), NULL);
    }
    for (const struct schema_field *field = object->fields; field->name; field++) {
        const struct schema_path path = {.parent = check->path, .name = field->name};
        const struct json *member = json_names_find(&names, check->value, field->name);
        struct schema value = field->value;
        if (!schema_has_rules(object))
            value.rules = NULL;
        if (member)
            validate_value(check->errors, &value, &path, member,
                           json_names_find(&old_names, check->old, field->name));
    }
}

static void validate_members(const struct check *check, const struct schema_rules *rules)
{
    if (rules)
        check_count(check, rules);
    if (rules)
        check_required(check, rules->required);
    if (check->schema->object)
        check_fields(check);
    if (check->schema->type != SCHEMA_MAP || !check->schema->items)
        return;
    _cleanup_json_names_ struct json_names old_names = {0};
    JSON_EACH (member, check->value) {
        const struct schema_path path = {.parent = check->path, .name = member->name};
        validate_value(check->errors, check->schema->items, &path, member,
                       json_names_find(&old_names, check->old, member->name));
    }
}

/* ---- One value ------------------------------------------------------------------------------- */

static void validate_value(struct field_errors *errors, const struct schema *schema,
                           const struct schema_path *path, const struct json *value,
                           const struct json *old)
{
    const struct check check = {errors, path, schema, value,
                                old && old->type == value->type ? old : NULL};
    const struct schema_rules *rules = schema->rules;
    if (errors->count == FIELD_ERRORS_MAX || (value->type == JSON_NULL && schema->nullable) ||
        (old && json_equal(value, old)))
        return;
    validate_value_type(&check);
    if (rules) {
        check_combinations(&check, rules);
        if (value->type == JSON_STRING)
            check_text(&check, rules);
        if (value->type == JSON_INT || value->type == JSON_REAL)
            check_number(&check, rules);
    }
    if (value->type == JSON_ARRAY)
        validate_list(&check, rules);
    if (rules)
        check_allowed(&check, rules);
    if (value->type == JSON_OBJECT)
        validate_members(&check, rules);
}

void schema_validate_value(struct field_errors *errors, const struct schema *schema,
                           const char *path, const struct json *value)
{
    schema_validate_change(errors, schema, path, value, NULL);
}

void schema_validate_change(struct field_errors *errors, const struct schema *schema,
                            const char *path, const struct json *value, const struct json *old)
{
    const struct schema_path root = {.name = path};
    validate_value(errors, schema, &root, value, old);
}

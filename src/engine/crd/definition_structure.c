/* Checks that a schema is structural: it must give the type of every field, but not inside `allOf`,
 * `anyOf`, `oneOf` or `not`; see definition.h, also for the exceptions. */
#include "base/mem.h"
#include "base/pattern/pattern.h"
#include "base/str.h"
#include "engine/crd/definition.h"

#include <stdlib.h>
#include <string.h>

/* Whether a schema is that of the whole object, of the items of an array, or of a field. */
enum level { LEVEL_ROOT, LEVEL_ITEM, LEVEL_FIELD };

static bool schema_is_true(const struct json *schema, const char *name)
{
    return json_get_bool(schema, name, false);
}

static const char *schema_type_of(const struct json *schema)
{
    return json_get_string(schema, "type", "");
}

/* ---- Parts of allOf, anyOf, oneOf and not ---------------------------------------------------- */

/* Returns whether the list is [{type: integer}, {type: string}], the only anyOf that may contain
 * types. */
static bool is_int_or_string(const struct json *any_of)
{
    static const char *const types[] = {"integer", "string"};
    if (json_count(any_of) != ARRAY_SIZE(types))
        return false;
    for (size_t i = 0; i < ARRAY_SIZE(types); i++) {
        const struct json *part = json_element(any_of, i);
        if (json_count(part) != 1 || !str_eq(schema_type_of(part), types[i]))
            return false;
    }
    return true;
}

/* Checks the schemas in allOf, anyOf, oneOf and not, and the pattern. `skip_any_of` leaves out
 * anyOf, and `skip_first` leaves out the anyOf of the first schema in allOf. */
static void check_combinations(struct field_errors *errors, const char *path,
                               const struct json *schema, bool skip_any_of, bool skip_first);

/* Adds an error for each keyword that a schema in allOf, anyOf, oneOf or not must not have. */
static void check_nested_members(struct field_errors *errors, const char *path,
                                 const struct json *schema)
{
    static const struct {
        const char *name, *what;
    } rows[] = {
        {"type", "empty"},
        {"additionalProperties", "undefined"},
        {"default", "undefined"},
        {"title", "empty"},
        {"description", "empty"},
        {"nullable", "false"},
        {"x-kubernetes-preserve-unknown-fields", "false"},
        {"x-kubernetes-embedded-resource", "false"},
        {"x-kubernetes-int-or-string", "false"},
        {"x-kubernetes-list-map-keys", "empty"},
        {"x-kubernetes-list-type", "undefined"},
        {"x-kubernetes-map-type", "undefined"},
        {"x-kubernetes-validations", "empty"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        const struct json *value = json_get(schema, rows[i].name);
        bool unset = !value || value->type == JSON_NULL ||
                     (value->type == JSON_BOOL && !value->boolean) ||
                     (value->type == JSON_STRING && value->size == 0) ||
                     (value->type == JSON_ARRAY && json_count(value) == 0);
        if (!unset)
            field_forbidden(errors, field_path(errors, "%s.%s", path, rows[i].name),
                            field_path(errors, "must be %s to be structural", rows[i].what));
    }
}

static void check_nested(struct field_errors *errors, const char *path, const struct json *schema,
                         bool skip_any_of)
{
    const struct json *items = json_get(schema, "items");
    check_combinations(errors, path, schema, skip_any_of, false);
    if (items && items->type == JSON_OBJECT)
        check_nested(errors, field_path(errors, "%s.items", path), items, false);
    JSON_EACH (property, json_get(schema, "properties"))
        check_nested(errors, field_path(errors, "%s.properties[%s]", path, property->name),
                     property, false);
    check_nested_members(errors, path, schema);
    if (json_at(schema, "properties", "metadata", NULL))
        field_forbidden(errors, field_path(errors, "%s.properties[metadata]", path),
                        "must not be specified in a nested context");
}

static void check_parts(struct field_errors *errors, const char *path, const struct json *schema,
                        const char *name, bool skip_first)
{
    size_t position = 0;
    JSON_EACH (part, json_get(schema, name)) {
        check_nested(errors, field_path(errors, "%s.%s[%zu]", path, name, position), part,
                     skip_first && position == 0);
        position++;
    }
}

static void check_combinations(struct field_errors *errors, const char *path,
                               const struct json *schema, bool skip_any_of, bool skip_first)
{
    const char *pattern = json_get_string(schema, "pattern", "");
    const struct json *not_ = json_get(schema, "not");
    if (!skip_any_of)
        check_parts(errors, path, schema, "anyOf", false);
    check_parts(errors, path, schema, "allOf", skip_first);
    check_parts(errors, path, schema, "oneOf", false);
    if (not_)
        check_nested(errors, field_path(errors, "%s.not", path), not_, false);
    if (!pattern[0])
        return;
    _cleanup_(cleanup_arena) struct arena *scratch = arena_new();
    const struct pattern *compiled;
    struct err err = ERR_INIT;
    if (pattern_compile(scratch, pattern, &compiled, &err) < 0)
        field_invalid(errors, field_path(errors, "%s.pattern", path), json_get(schema, "pattern"),
                      "must be a valid regular expression, but isn't: %s", err.message);
}

/* ---- Schemas themselves ---------------------------------------------------------------------- */

static void check_schema_type(struct field_errors *errors, const char *path,
                              const struct json *schema, enum level level)
{
    static const char *const whose[] = {[LEVEL_ROOT] = "at the root",
                                        [LEVEL_ITEM] = "for specified array items",
                                        [LEVEL_FIELD] = "for specified object fields"};
    const char *type = schema_type_of(schema), *at = field_path(errors, "%s.type", path);
    bool embedded = schema_is_true(schema, "x-kubernetes-embedded-resource");
    static const char of_embedded[] = "must be object if x-kubernetes-embedded-resource is true";
    if (embedded && !type[0])
        field_required(errors, at, of_embedded);
    else if (embedded && !str_eq(type, "object"))
        field_invalid(errors, at, json_get(schema, "type"), "%s", of_embedded);
    else if (!type[0] && !schema_is_true(schema, "x-kubernetes-int-or-string") &&
             !schema_is_true(schema, "x-kubernetes-preserve-unknown-fields"))
        field_required(errors, at, field_path(errors, "must not be empty %s", whose[level]));
    if (level == LEVEL_ROOT && type[0] && !str_eq(type, "object"))
        field_invalid(errors, at, json_get(schema, "type"), "must be object at the root");
    if (str_eq(type, "array") && !json_get(schema, "items"))
        field_required(errors, field_path(errors, "%s.items", path), "must be specified");
}

static void check_extensions(struct field_errors *errors, const char *path,
                             const struct json *schema, enum level level)
{
    static const char *const others[] = {"x-kubernetes-preserve-unknown-fields",
                                         "x-kubernetes-embedded-resource"};
    bool embedded = schema_is_true(schema, "x-kubernetes-embedded-resource");
    const char *at = field_path(errors, "%s.additionalProperties", path);
    for (size_t i = 0; i < ARRAY_SIZE(others); i++)
        if (schema_is_true(schema, "x-kubernetes-int-or-string") &&
            schema_is_true(schema, others[i]))
            field_invalid(errors, field_path(errors, "%s.%s", path, others[i]),
                          json_get(schema, others[i]),
                          "must be false if x-kubernetes-int-or-string is true");
    if (level == LEVEL_ROOT && json_get(schema, "additionalProperties"))
        field_forbidden(errors, at, "must not be used at the root");
    if (embedded && json_get(schema, "additionalProperties"))
        field_forbidden(errors, at, "must not be used if x-kubernetes-embedded-resource is set");
    if (embedded && !schema_is_true(schema, "x-kubernetes-preserve-unknown-fields") &&
        json_count(json_get(schema, "properties")) == 0)
        field_required(errors, field_path(errors, "%s.properties", path),
                       "must not be empty if x-kubernetes-embedded-resource is true without "
                       "x-kubernetes-preserve-unknown-fields");
}

/* Returns whether the schema of the root metadata restricts only name and generateName. */
static bool is_plain_metadata(const struct json *metadata)
{
    JSON_EACH (member, metadata) {
        if (str_eq(member->name, "properties")) {
            JSON_EACH (property, member)
                if (!str_eq(property->name, "name") && !str_eq(property->name, "generateName"))
                    return false;
        } else if (!str_eq(member->name, "type") && !str_eq(member->name, "default")) {
            return false;
        }
    }
    return true;
}

/* Checks that apiVersion, kind, metadata and the fields of metadata have no default. */
static void check_no_defaults(struct field_errors *errors, const char *path,
                              const struct json *properties)
{
    static const char *const names[] = {"apiVersion", "kind", "metadata"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        const struct json *property = json_get(properties, names[i]);
        const char *at = field_path(errors, "%s.properties[%s]", path, names[i]);
        const char *detail = field_path(errors, "must not be set in top-level %s", names[i]);
        if (json_get(property, "default"))
            field_forbidden(errors, field_path(errors, "%s.default", at), detail);
        JSON_EACH (inner, json_get(property, "properties"))
            if (json_get(inner, "default"))
                field_forbidden(errors,
                                field_path(errors, "%s.properties[%s].default", at, inner->name),
                                detail);
    }
}

/* Checks the fields apiVersion, kind and metadata of a schema that describes a whole object. */
static void check_object_members(struct field_errors *errors, const char *path,
                                 const struct json *schema, enum level level)
{
    static const char *const texts[] = {"kind", "apiVersion"};
    const struct json *properties = json_get(schema, "properties");
    const struct json *metadata = json_get(properties, "metadata");
    const char *at = field_path(errors, "%s.properties[metadata]", path);
    if (level != LEVEL_ROOT && !schema_is_true(schema, "x-kubernetes-embedded-resource"))
        return;
    if (level == LEVEL_ROOT)
        check_no_defaults(errors, path, properties);
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        const struct json *text = json_get(properties, texts[i]);
        if (text && !str_eq(schema_type_of(text), "string"))
            field_invalid(errors, field_path(errors, "%s.properties[%s].type", path, texts[i]),
                          json_string(errors->arena, schema_type_of(text)), "must be string");
    }
    if (metadata && !str_eq(schema_type_of(metadata), "object"))
        field_invalid(errors, field_path(errors, "%s.type", at),
                      json_string(errors->arena, schema_type_of(metadata)), "must be object");
    if (level == LEVEL_ROOT && metadata && !is_plain_metadata(metadata))
        field_forbidden(errors, at,
                        "must not specify anything other than name and generateName, but metadata "
                        "is implicitly specified");
}

static void check_schema(struct field_errors *errors, const char *path, const struct json *schema,
                         enum level level)
{
    const struct json *items = json_get(schema, "items"),
                      *others = json_get(schema, "additionalProperties");
    const struct json *first = json_element(json_get(schema, "allOf"), 0);
    if (errors->count == FIELD_ERRORS_MAX)
        return;
    if (items)
        check_schema(errors, field_path(errors, "%s.items", path), items, LEVEL_ITEM);
    JSON_EACH (property, json_get(schema, "properties"))
        check_schema(errors, field_path(errors, "%s.properties[%s]", path, property->name),
                     property, LEVEL_FIELD);
    if (others && others->type == JSON_OBJECT)
        check_schema(errors, field_path(errors, "%s.additionalProperties", path), others,
                     LEVEL_FIELD);
    check_extensions(errors, path, schema, level);
    check_combinations(errors, path, schema, is_int_or_string(json_get(schema, "anyOf")),
                       is_int_or_string(json_get(first, "anyOf")));
    check_schema_type(errors, path, schema, level);
    check_object_members(errors, path, schema, level);
}

void definition_check_structure(struct field_errors *errors, const char *path,
                                const struct json *schema)
{
    if (schema_is_true(schema, "nullable"))
        field_forbidden(errors, field_path(errors, "%s.nullable", path),
                        "nullable cannot be true at the root");
    check_schema(errors, path, schema, LEVEL_ROOT);
}

bool definition_has_cel(const struct json *schema)
{
    if (json_count(json_get(schema, "x-kubernetes-validations")) > 0)
        return true;
    JSON_EACH (property, json_get(schema, "properties"))
        if (definition_has_cel(property))
            return true;
    return (json_get(schema, "items") && definition_has_cel(json_get(schema, "items"))) ||
           (json_get(schema, "additionalProperties") &&
            definition_has_cel(json_get(schema, "additionalProperties")));
}

/* Checks the OpenAPI keywords of a schema, and the keywords that the x-kubernetes-… extensions
 * require; see definition.h. */
#include "base/json/json_names.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/crd/definition.h"

static const char *const TYPES[] = {"array",  "boolean", "integer", "number",
                                    "object", "string",  NULL};

static bool keyword_is_true(const struct json *schema, const char *name)
{
    return json_get_bool(schema, name, false);
}

/* Returns whether the schema has the keyword with a value that is not empty. */
static bool keyword_is_set(const struct json *schema, const char *name)
{
    const struct json *value = json_get(schema, name);
    return value && value->type != JSON_NULL && !(value->type == JSON_STRING && value->size == 0) &&
           !((value->type == JSON_ARRAY || value->type == JSON_OBJECT) && json_count(value) == 0);
}

static const char *schema_type_of(const struct json *schema)
{
    return json_get_string(schema, "type", "");
}

static bool words_contain(const char *const *words, const char *word)
{
    for (; *words; words++)
        if (str_eq(*words, word))
            return true;
    return false;
}

/* ---- Keywords that Kubernetes does not allow ------------------------------------------------- */

/* Adds an error for each keyword that Kubernetes does not allow. Returns whether the schema can be
 * structural: false if it has a keyword such as "$ref". */
static bool check_forbidden(struct field_errors *errors, const char *path,
                            const struct json *schema)
{
    static const char *const names[] = {"$ref", "additionalItems",  "definitions", "dependencies",
                                        "id",   "patternProperties"};
    const struct json *items = json_get(schema, "items");
    const char *type = schema_type_of(schema);
    bool can_be_structural = true;
    if (keyword_is_true(schema, "uniqueItems"))
        field_forbidden(errors, field_path(errors, "%s.uniqueItems", path),
                        "uniqueItems cannot be set to true since the runtime complexity becomes "
                        "quadratic");
    if (type[0] && !words_contain(TYPES, type))
        field_unsupported(errors, field_path(errors, "%s.type", path), type, TYPES);
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (keyword_is_set(schema, names[i])) {
            can_be_structural = false;
            field_forbidden(errors, field_path(errors, "%s.%s", path, names[i]),
                            field_path(errors, "%s is not supported", names[i]));
        }
    if (str_eq(type, "null"))
        field_forbidden(errors, field_path(errors, "%s.type", path),
                        "type cannot be set to null, use nullable as an alternative");
    if (items && items->type == JSON_ARRAY) {
        can_be_structural = false;
        field_forbidden(errors, field_path(errors, "%s.items", path),
                        "items must be a schema object and not an array");
    }
    return can_be_structural;
}

/* ---- x-kubernetes-… -------------------------------------------------------------------------- */

/* Adds an error if the schema does not have the type that `extension` requires. */
static void check_extension_type(struct field_errors *errors, const char *path,
                                 const struct json *schema, const char *type, const char *extension)
{
    const char *detail = field_path(errors, "must be %s if %s is specified", type, extension);
    if (schema_type_of(schema)[0] == '\0')
        field_required(errors, field_path(errors, "%s.type", path), detail);
    else if (!str_eq(schema_type_of(schema), type))
        field_invalid(errors, field_path(errors, "%s.type", path), json_get(schema, "type"), "%s",
                      detail);
}

static void check_map_type(struct field_errors *errors, const char *path, const struct json *schema)
{
    static const char *const words[] = {"atomic", "granular", NULL};
    const char *map_type = json_get_string(schema, "x-kubernetes-map-type", NULL);
    if (!map_type)
        return;
    check_extension_type(errors, path, schema, "object", "x-kubernetes-map-type");
    if (!words_contain(words, map_type))
        field_unsupported(errors, field_path(errors, "%s.x-kubernetes-map-type", path), map_type,
                          words);
}

/* The elements of a set are compared as whole values, so elements that are lists or objects must be
 * atomic. */
static void check_set_items(struct field_errors *errors, const char *path, const struct json *items)
{
    struct json *none = json_string(errors->arena, "null");
    const char *list_type = json_get_string(items, "x-kubernetes-list-type", "");
    const char *map_type = json_get_string(items, "x-kubernetes-map-type", "");
    static const char detail[] = "must be atomic as item of a list with x-kubernetes-list-type=set";
    if (str_eq(schema_type_of(items), "array") && !str_eq(list_type, "atomic"))
        field_invalid(errors, field_path(errors, "%s.items.x-kubernetes-list-type", path),
                      list_type[0] ? json_get(items, "x-kubernetes-list-type") : none, "%s",
                      detail);
    if (str_eq(schema_type_of(items), "object") && !str_eq(map_type, "atomic"))
        field_invalid(errors, field_path(errors, "%s.items.x-kubernetes-map-type", path),
                      map_type[0] ? json_get(items, "x-kubernetes-map-type") : none, "%s", detail);
    if (keyword_is_true(items, "nullable"))
        field_forbidden(errors, field_path(errors, "%s.items.nullable", path),
                        "cannot be nullable when x-kubernetes-list-type is set");
}

/* Checks a property of the items that is in x-kubernetes-list-map-keys. `required`: the items
 * require the property. */
static void check_map_key(struct field_errors *errors, const char *path, const struct json *items,
                          const struct json *property, bool required)
{
    const char *at = field_path(errors, "%s.items.properties[%s]", path, property->name);
    const char *type = schema_type_of(property);
    if (str_eq(type, "object") || str_eq(type, "array"))
        field_invalid(errors, field_path(errors, "%s.type", at), json_get(items, "type"),
                      "must be a scalar type if parent array's x-kubernetes-list-type is map");
    else if (!required && !json_get(property, "default"))
        field_required(errors, field_path(errors, "%s.default", at),
                       "this property is in x-kubernetes-list-map-keys, so it must have a default "
                       "or be a required property");
    if (keyword_is_true(property, "nullable"))
        field_forbidden(errors, field_path(errors, "%s.nullable", at),
                        "this property is in x-kubernetes-list-map-keys, so it cannot be nullable");
}

/* Maps each string in the list to its last occurrence. */
static void map_texts(struct map *texts, const struct json *list)
{
    JSON_EACH (element, list)
        if (json_text(element))
            map_put(texts, json_text(element), element);
}

static void check_map_keys(struct field_errors *errors, const char *path, const struct json *schema)
{
    const struct json *keys = json_get(schema, "x-kubernetes-list-map-keys");
    const struct json *items = json_get(schema, "items");
    const char *at = field_path(errors, "%s.x-kubernetes-list-map-keys", path);
    if (json_count(keys) == 0)
        field_required(errors, at, "must not be empty if x-kubernetes-list-type is map");
    if (!items) {
        field_required(errors, field_path(errors, "%s.items", path),
                       "must have a schema if x-kubernetes-list-type is map");
        return;
    }
    if (!str_eq(schema_type_of(items), "object"))
        field_invalid(errors, field_path(errors, "%s.items.type", path), json_get(items, "type"),
                      "must be object if parent array's x-kubernetes-list-type is map");
    if (keyword_is_true(items, "nullable"))
        field_forbidden(errors, field_path(errors, "%s.items.nullable", path),
                        "cannot be nullable when x-kubernetes-list-type is map");
    _cleanup_(map_release) struct map last = {0}, required = {0};
    _cleanup_json_names_ struct json_names names = {0};
    map_texts(&last, keys);
    map_texts(&required, json_get(items, "required"));
    JSON_EACH (key, keys) {
        const char *name = json_text(key);
        const struct json *property =
            name ? json_names_find(&names, json_get(items, "properties"), name) : NULL;
        if (name && map_get(&last, name) != key)
            field_invalid(errors, at, keys, "must not contain duplicate entries");
        else if (!property)
            field_invalid(errors, at, keys, "entries must all be names of item properties");
        else
            check_map_key(errors, path, items, property, map_get(&required, name));
    }
}

static void check_list_type(struct field_errors *errors, const char *path,
                            const struct json *schema)
{
    static const char *const words[] = {"atomic", "set", "map", NULL};
    const struct json *given = json_get(schema, "x-kubernetes-list-type");
    const char *list_type = json_get_string(schema, "x-kubernetes-list-type", NULL);
    const char *at = field_path(errors, "%s.x-kubernetes-list-type", path);
    if (list_type)
        check_extension_type(errors, path, schema, "array", "x-kubernetes-list-type");
    if (list_type && !words_contain(words, list_type))
        field_unsupported(errors, at, list_type, words);
    if (json_count(json_get(schema, "x-kubernetes-list-map-keys")) > 0 &&
        !str_eq(list_type, "map")) {
        static const char detail[] = "must be map if x-kubernetes-list-map-keys is non-empty";
        if (list_type)
            field_invalid(errors, at, given, "%s", detail);
        else
            field_required(errors, at, detail);
    }
    if (str_eq(list_type, "map"))
        check_map_keys(errors, path, schema);
    if (str_eq(list_type, "set") && json_get(schema, "items"))
        check_set_items(errors, path, json_get(schema, "items"));
}

static void check_extensions(struct field_errors *errors, const char *path,
                             const struct json *schema)
{
    const struct json *preserve = json_get(schema, "x-kubernetes-preserve-unknown-fields");
    if (preserve && preserve->type == JSON_BOOL && !preserve->boolean)
        field_invalid(errors, field_path(errors, "%s.x-kubernetes-preserve-unknown-fields", path),
                      preserve, "must be true or undefined");
    check_map_type(errors, path, schema);
    check_list_type(errors, path, schema);
    size_t position = 0;
    JSON_EACH (rule, json_get(schema, "x-kubernetes-validations")) {
        if (json_get_string(rule, "rule", "")[0] == '\0')
            field_required(
                errors, field_path(errors, "%s.x-kubernetes-validations[%zu].rule", path, position),
                "rule is not specified");
        position++;
    }
}

/* ---- The whole schema ------------------------------------------------------------------------ */

/* Checks each schema in the list of the keyword `name`, such as "allOf". */
static bool check_schema_list(struct field_errors *errors, const char *path,
                              const struct json *schema, const char *name)
{
    size_t position = 0;
    bool can_be_structural = true;
    JSON_EACH (part, json_get(schema, name))
        can_be_structural &= definition_check_keywords(
            errors, field_path(errors, "%s.%s[%zu]", path, name, position++), part);
    return can_be_structural;
}

/* Checks additionalProperties. */
static bool check_others(struct field_errors *errors, const char *path, const struct json *schema)
{
    const struct json *others = json_get(schema, "additionalProperties");
    bool all = others && others->type == JSON_BOOL && others->boolean;
    if (!others || others->type == JSON_NULL)
        return true;
    if (json_count(json_get(schema, "properties")) > 0 && !all)
        field_forbidden(errors, field_path(errors, "%s.additionalProperties", path),
                        "additionalProperties and properties are mutual exclusive");
    if (others->type == JSON_BOOL)
        return true;
    return definition_check_keywords(errors, field_path(errors, "%s.additionalProperties", path),
                                     others);
}

bool definition_check_keywords(struct field_errors *errors, const char *path,
                               const struct json *schema)
{
    const struct json *items = json_get(schema, "items"), *not_ = json_get(schema, "not");
    if (errors->count == FIELD_ERRORS_MAX)
        return false;
    if (!schema || schema->type != JSON_OBJECT) {
        field_invalid(errors, path, schema, "must be a schema, which is an object");
        return false;
    }
    bool can_be_structural = check_forbidden(errors, path, schema);
    can_be_structural &= check_others(errors, path, schema);
    JSON_EACH (property, json_get(schema, "properties"))
        can_be_structural &= definition_check_keywords(
            errors, field_path(errors, "%s.properties[%s]", path, property->name), property);
    if (not_)
        can_be_structural &=
            definition_check_keywords(errors, field_path(errors, "%s.not", path), not_);
    can_be_structural &= check_schema_list(errors, path, schema, "allOf");
    can_be_structural &= check_schema_list(errors, path, schema, "oneOf");
    can_be_structural &= check_schema_list(errors, path, schema, "anyOf");
    if (items && items->type != JSON_ARRAY)
        can_be_structural &=
            definition_check_keywords(errors, field_path(errors, "%s.items", path), items);
    check_extensions(errors, path, schema);
    return can_be_structural;
}

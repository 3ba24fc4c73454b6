/* Writes structural schemas; see structural.h. */
#include "kube/schema/structural.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/schema/rules.h"
#include "kube/types/types.h"

#include <string.h>

struct json *schema_plain(struct arena *arena, const char *type, const char *format)
{
    struct json *json = json_object(arena);
    json_set_string(arena, json, "type", type);
    if (format)
        json_set_string(arena, json, "format", format);
    return json;
}

struct json *schema_scalar(struct arena *arena, enum schema_type type)
{
    static const struct {
        const char *type, *format;
    } ROWS[] = {
        [SCHEMA_STRING] = {"string", NULL},    [SCHEMA_BOOL] = {"boolean", NULL},
        [SCHEMA_INT32] = {"integer", "int32"}, [SCHEMA_INT64] = {"integer", "int64"},
        [SCHEMA_BYTES] = {"string", "byte"},
    };
    return schema_plain(arena, ROWS[type].type, ROWS[type].format);
}

static void append_text(struct arena *arena, struct json *json, const char *list, const char *text)
{
    json_append(json_ensure_array(arena, json, list), json_string(arena, text));
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static void write_bound(struct arena *arena, struct json *json, const char *name,
                        const struct schema_bound *bound)
{
    if (bound->given)
        json_set_int(arena, json, name, (int64_t)bound->value);
}

/* Writes those rules that occur in the field tables (kube/types/rows.h). */
static void structural_write_rules(struct arena *arena, struct json *json,
                                   const struct schema_rules *rules)
{
    for (size_t i = 0; rules->words && rules->words[i]; i++)
        append_text(arena, json, "enum", rules->words[i]);
    write_bound(arena, json, "minimum", &rules->minimum);
    write_bound(arena, json, "maximum", &rules->maximum);
    write_bound(arena, json, "minProperties", &rules->members_min);
}

static void write_default(struct arena *arena, struct json *json, const char *text)
{
    struct json *value;
    if (json_parse(arena, text, strlen(text), NULL, &value, NULL) == 0)
        json_set(arena, json, "default", value);
}

/* ---- Objects --------------------------------------------------------------------------------- */

/* Returns whether the field of metadata is in the schema of an embedded object, such as a
 * pod template. creationTimestamp is, because Go programs write it as null. */
static bool is_embedded_meta(const char *name)
{
    static const char *const names[] = {"annotations", "creationTimestamp", "finalizers", "labels",
                                        "name",        "namespace"};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (str_eq(name, names[i]))
            return true;
    return false;
}

static bool is_key(const char *const *keys, const char *name)
{
    for (; keys && *keys; keys++)
        if (str_eq(*keys, name))
            return true;
    return false;
}

/* Writes the schema of an object. If the object is a list element, `keys` are the fields that
 * identify it, otherwise NULL. */
static struct json *structural_object(struct arena *arena, const struct schema_object *object,
                                      const char *const *keys)
{
    struct json *json = schema_plain(arena, "object", NULL);
    struct json *properties = json_ensure_object(arena, json, "properties");
    bool rules = schema_has_rules(object);
    for (const struct schema_field *field = object->fields; field->name; field++) {
        if (object == &TYPE_OBJECT_META && !is_embedded_meta(field->name))
            continue;
        struct json *value = schema_structural(arena, &field->value);
        if (rules && field->value.rules)
            structural_write_rules(arena, value, field->value.rules);
        if (is_key(keys, field->name) && !field->required)
            write_default(arena, value, field->fallback ? field->fallback : "\"\"");
        else if (rules && field->fallback)
            write_default(arena, value, field->fallback);
        json_set(arena, properties, field->name, value);
        if (field->required)
            append_text(arena, json, "required", field->name);
    }
    if (object->atomic)
        json_set_string(arena, json, "x-kubernetes-map-type", "atomic");
    return json;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Writes the schema of a list. A list without x-kubernetes-list-type is atomic. */
static struct json *structural_list(struct arena *arena, const struct schema *value)
{
    struct json *json = schema_plain(arena, "array", NULL);
    json_set(arena, json, "items",
             value->items->type == SCHEMA_OBJECT
                 ? structural_object(arena, value->items->object, value->keys)
                 : schema_structural(arena, value->items));
    for (size_t i = 0; value->keys && value->keys[i]; i++)
        append_text(arena, json, "x-kubernetes-list-map-keys", value->keys[i]);
    if (value->keys || value->set)
        json_set_string(arena, json, "x-kubernetes-list-type", value->keys ? "map" : "set");
    return json;
}

static struct json *write_map(struct arena *arena, const struct schema *value)
{
    struct json *json = schema_plain(arena, "object", NULL);
    json_set(arena, json, "additionalProperties", schema_structural(arena, value->items));
    if (value->atomic)
        json_set_string(arena, json, "x-kubernetes-map-type", "atomic");
    return json;
}

/* Writes the schema of an integer or string. Other generators also write anyOf, but it has no
 * effect. */
static struct json *write_int_or_string(struct arena *arena, const char *pattern)
{
    struct json *json = json_object(arena);
    if (pattern)
        json_set_string(arena, json, "pattern", pattern);
    json_set_bool(arena, json, "x-kubernetes-int-or-string", true);
    return json;
}

static struct json *write_any(struct arena *arena)
{
    struct json *json = json_object(arena);
    json_set_bool(arena, json, "x-kubernetes-preserve-unknown-fields", true);
    return json;
}

/* Writes the schema of a time. It is nullable, because Go programs send an unset time as null. */
static struct json *write_time(struct arena *arena)
{
    struct json *json = schema_plain(arena, "string", "date-time");
    json_set_bool(arena, json, "nullable", true);
    return json;
}

struct json *schema_structural(struct arena *arena, const struct schema *value)
{
    switch (value->type) {
    case SCHEMA_ANY:
        break;
    case SCHEMA_STRING:
    case SCHEMA_BOOL:
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_BYTES:
        return schema_scalar(arena, value->type);
    case SCHEMA_NUMBER:
        return schema_plain(arena, "number", NULL);
    case SCHEMA_QUANTITY:
        return write_int_or_string(arena, SCHEMA_QUANTITY_PATTERN);
    case SCHEMA_INT_OR_STRING:
        return write_int_or_string(arena, NULL);
    case SCHEMA_TIME:
    case SCHEMA_MICRO_TIME:
        return write_time(arena);
    case SCHEMA_OBJECT:
        return structural_object(arena, value->object, NULL);
    case SCHEMA_MAP:
        return write_map(arena, value);
    case SCHEMA_LIST:
        return structural_list(arena, value);
    }
    return write_any(arena);
}

/* Compiles OpenAPI schemas; see compile.h. */
#include "kube/schema/compile.h"

#include "base/json/json_names.h"
#include "base/map.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/schema/rules.h"
#include "kube/types/types.h"

#include <stdlib.h>
#include <string.h>

static const struct schema ANYTHING = {.type = SCHEMA_ANY};

static void compile_schema(struct arena *arena, const struct json *source, struct schema *ret);

static const struct schema *compile_new(struct arena *arena, const struct json *source)
{
    struct schema *schema = ARENA_NEW(arena, struct schema);
    compile_schema(arena, source, schema);
    return schema;
}

static const char *copy_text(struct arena *arena, const struct json *source, const char *name)
{
    const char *text = json_get_string(source, name, "");
    return text[0] ? arena_strdup(arena, text) : NULL;
}

static const char *const *copy_texts(struct arena *arena, const struct json *list)
{
    size_t count = 0;
    const char **texts = ARENA_ARRAY(arena, const char *, json_count(list) + 1);
    JSON_EACH (text, list)
        texts[count++] = arena_strdup(arena, json_text(text) ? json_text(text) : "");
    return texts;
}

static bool source_is_true(const struct json *source, const char *name)
{
    return json_get_bool(source, name, false);
}

/* ---- Rules ----------------------------------------------------------------------------------- */

static struct schema_bound compile_bound(const struct json *source, const char *name,
                                         const char *exclusive)
{
    const struct json *value = json_get(source, name);
    if (!value || (value->type != JSON_INT && value->type != JSON_REAL))
        return (struct schema_bound){0};
    return (struct schema_bound){.given = true,
                                 .exclusive = exclusive && source_is_true(source, exclusive),
                                 .value = json_number(value, 0)};
}

static const struct schema *const *compile_list(struct arena *arena, const struct json *list)
{
    size_t count = 0;
    if (json_count(list) == 0)
        return NULL;
    const struct schema **compiled =
        ARENA_ARRAY(arena, const struct schema *, json_count(list) + 1);
    JSON_EACH (source, list)
        compiled[count++] = compile_new(arena, source);
    return compiled;
}

static bool has_rules(const struct json *source)
{
    static const char *const names[] = {
        "enum",     "maximum",  "minimum",       "multipleOf",    "maxLength",   "minLength",
        "maxItems", "minItems", "maxProperties", "minProperties", "pattern",     "format",
        "allOf",    "anyOf",    "oneOf",         "not",           "uniqueItems", "required",
    };
    for (size_t i = 0; i < ARRAY_SIZE(names); i++)
        if (json_get(source, names[i]))
            return true;
    return false;
}

/* Returns the required members that are not in `properties`. The other required members are marked
 * in their schema_field. */
static const char *const *unknown_required(struct arena *arena, const struct json *source)
{
    const struct json *properties = json_get(source, "properties");
    size_t count = 0;
    const char **names =
        ARENA_ARRAY(arena, const char *, json_count(json_get(source, "required")) + 1);
    _cleanup_json_names_ struct json_names known = {0};
    JSON_EACH (required, json_get(source, "required"))
        if (json_text(required) && !json_names_find(&known, properties, json_text(required)))
            names[count++] = arena_strdup(arena, json_text(required));
    return count > 0 ? names : NULL;
}

static const struct schema_rules *compile_rules(struct arena *arena, const struct json *source)
{
    if (!has_rules(source))
        return NULL;
    struct schema_rules *rules = ARENA_NEW(arena, struct schema_rules);
    const struct json *values = json_get(source, "enum"), *not_ = json_get(source, "not");
    rules->values = json_count(values) > 0 ? json_clone(arena, values) : NULL;
    rules->minimum = compile_bound(source, "minimum", "exclusiveMinimum");
    rules->maximum = compile_bound(source, "maximum", "exclusiveMaximum");
    rules->multiple_of = json_number(json_get(source, "multipleOf"), 0);
    rules->length_min = compile_bound(source, "minLength", NULL);
    rules->length_max = compile_bound(source, "maxLength", NULL);
    rules->items_min = compile_bound(source, "minItems", NULL);
    rules->items_max = compile_bound(source, "maxItems", NULL);
    rules->members_min = compile_bound(source, "minProperties", NULL);
    rules->members_max = compile_bound(source, "maxProperties", NULL);
    rules->pattern = copy_text(arena, source, "pattern");
    rules->format = copy_text(arena, source, "format");
    rules->unique_items = source_is_true(source, "uniqueItems");
    rules->required = unknown_required(arena, source);
    rules->all_of = compile_list(arena, json_get(source, "allOf"));
    rules->any_of = compile_list(arena, json_get(source, "anyOf"));
    rules->one_of = compile_list(arena, json_get(source, "oneOf"));
    rules->not_ = json_count(not_) > 0 ? compile_new(arena, not_) : NULL;
    return rules;
}

/* ---- Objects --------------------------------------------------------------------------------- */

static bool has_field(const struct schema_field *fields, size_t count, const char *name)
{
    for (size_t i = 0; i < count; i++)
        if (str_eq(fields[i].name, name))
            return true;
    return false;
}

static void compile_field(struct arena *arena, const struct json *property, bool required,
                          struct schema_field *ret)
{
    const struct json *fallback = json_get(property, "default");
    ret->name = arena_strdup(arena, property->name);
    ret->doc = copy_text(arena, property, "description");
    ret->presence = PRESENCE_IF_SET;
    ret->required = required;
    if (fallback && fallback->type != JSON_NULL)
        ret->fallback = json_to_string(arena, fallback);
    compile_schema(arena, property, &ret->value);
}

/* Adds apiVersion and kind if the schema lacks them. Adds or replaces metadata: it always has the
 * common type. If the schema has rules about metadata, for example about the name, they apply, too.
 * Returns the new number of fields. */
static size_t add_object_fields(struct arena *arena, const struct json *source,
                                struct schema_field *fields, size_t count)
{
    static const struct {
        const char *name, *doc;
    } texts[] = {
        {"apiVersion", "the API group and version of this object"},
        {"kind", "the kind of this object"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++)
        if (!has_field(fields, count, texts[i].name))
            fields[count++] = (struct schema_field){.name = texts[i].name,
                                                    .doc = texts[i].doc,
                                                    .value = {.type = SCHEMA_STRING},
                                                    .presence = PRESENCE_IF_SET};
    struct schema_field metadata = {.name = "metadata",
                                    .doc = "the object's name, labels and other metadata",
                                    .value = {.type = SCHEMA_OBJECT, .object = &TYPE_OBJECT_META},
                                    .presence = PRESENCE_IF_SET};
    const struct json *own = json_at(source, "properties", "metadata", NULL);
    if (json_count(json_get(own, "properties")) > 0) {
        struct schema_rules *rules = ARENA_NEW(arena, struct schema_rules);
        const struct schema **all = ARENA_ARRAY(arena, const struct schema *, 2);
        all[0] = compile_new(arena, own);
        rules->all_of = all;
        metadata.value.rules = rules;
    }
    for (size_t i = 0; i < count; i++) {
        if (str_eq(fields[i].name, "metadata")) {
            fields[i] = metadata;
            return count;
        }
    }
    fields[count++] = metadata;
    return count;
}

static int compare_fields(const void *a, const void *b)
{
    const struct schema_field *const *one = a, *const *other = b;
    return strcmp((*one)->name, (*other)->name);
}

/* Compiles the fields of an object. `whole` is true for a complete API object. */
static const struct schema_object *compile_object(struct arena *arena, const struct json *source,
                                                  bool whole)
{
    const struct json *properties = json_get(source, "properties");
    size_t count = 0;
    struct schema_object *object = ARENA_NEW(arena, struct schema_object);
    struct schema_field *fields =
        ARENA_ARRAY(arena, struct schema_field, json_count(properties) + 4);
    _cleanup_(map_release) struct map required = {0}; /* the names of the required members */
    JSON_EACH (name, json_get(source, "required"))
        if (json_text(name))
            map_put(&required, json_text(name), name);
    JSON_EACH (property, properties)
        compile_field(arena, property, map_get(&required, property->name), &fields[count++]);
    if (whole)
        count = add_object_fields(arena, source, fields, count);
    const struct schema_field **sorted = ARENA_ARRAY(arena, const struct schema_field *, count + 1);
    for (size_t i = 0; i < count; i++)
        sorted[i] = &fields[i];
    qsort(sorted, count, sizeof(*sorted), compare_fields);
    object->sorted = sorted;
    object->count = count;
    object->doc = copy_text(arena, source, "description");
    object->fields = fields;
    object->preserve = source_is_true(source, "x-kubernetes-preserve-unknown-fields") ||
                       source_is_true(source, "additionalProperties");
    object->embedded = whole;
    object->atomic = str_eq(json_get_string(source, "x-kubernetes-map-type", ""), "atomic");
    return object;
}

/* ---- One schema ------------------------------------------------------------------------------ */

static enum schema_type source_type(const struct json *source)
{
    static const struct {
        const char *name;
        enum schema_type type;
    } types[] = {
        {"string", SCHEMA_STRING}, {"integer", SCHEMA_INT64}, {"number", SCHEMA_NUMBER},
        {"boolean", SCHEMA_BOOL},  {"object", SCHEMA_OBJECT}, {"array", SCHEMA_LIST},
    };
    const char *name = json_get_string(source, "type", "");
    for (size_t i = 0; i < ARRAY_SIZE(types); i++)
        if (str_eq(types[i].name, name))
            return types[i].type;
    return source_is_true(source, "x-kubernetes-int-or-string") ? SCHEMA_INT_OR_STRING : SCHEMA_ANY;
}

static void compile_list_type(struct arena *arena, const struct json *source, struct schema *schema)
{
    const char *type = json_get_string(source, "x-kubernetes-list-type", "");
    if (str_eq(type, "map"))
        schema->keys = copy_texts(arena, json_get(source, "x-kubernetes-list-map-keys"));
    else if (str_eq(type, "set"))
        schema->set = true;
}

/* Compiles the members of an object. `additionalProperties: true` keeps all unknown members. */
static void compile_members(struct arena *arena, const struct json *source, struct schema *schema)
{
    const struct json *others = json_get(source, "additionalProperties");
    bool embedded = source_is_true(source, "x-kubernetes-embedded-resource");
    if (others && others->type == JSON_OBJECT) {
        schema->type = SCHEMA_MAP;
        schema->items = compile_new(arena, others);
    } else if (others && others->type == JSON_BOOL && others->boolean &&
               json_count(json_get(source, "properties")) == 0) {
        schema->type = SCHEMA_MAP;
        schema->items = &ANYTHING;
    } else {
        schema->object = compile_object(arena, source, embedded);
    }
    schema->atomic = str_eq(json_get_string(source, "x-kubernetes-map-type", ""), "atomic");
}

static void compile_schema(struct arena *arena, const struct json *source, struct schema *ret)
{
    const struct json *items = json_get(source, "items");
    *ret = (struct schema){.type = source_type(source)};
    ret->nullable = source_is_true(source, "nullable");
    ret->rules = compile_rules(arena, source);
    if (items && items->type == JSON_OBJECT)
        ret->items = compile_new(arena, items);
    if (ret->type == SCHEMA_LIST)
        compile_list_type(arena, source, ret);
    if (ret->type == SCHEMA_OBJECT)
        compile_members(arena, source, ret);
    else if (json_count(json_get(source, "properties")) > 0)
        ret->object = compile_object(arena, source, false);
}

const struct schema *schema_compile(struct arena *arena, const struct json *source)
{
    struct schema *schema = ARENA_NEW(arena, struct schema);
    compile_schema(arena, source, schema);
    schema->type = SCHEMA_OBJECT;
    schema->items = NULL;
    schema->object = compile_object(arena, source, true);
    return schema;
}

static size_t count_in(const struct json *list)
{
    size_t count = 0;
    JSON_EACH (source, list)
        count += schema_count_nodes(source);
    return count;
}

size_t schema_count_nodes(const struct json *source)
{
    static const char *const lists[] = {"properties", "allOf", "anyOf", "oneOf"};
    static const char *const schemas[] = {"items", "additionalProperties", "not"};
    size_t count = 1;
    if (!source || source->type != JSON_OBJECT)
        return 0;
    for (size_t i = 0; i < ARRAY_SIZE(lists); i++)
        count += count_in(json_get(source, lists[i]));
    for (size_t i = 0; i < ARRAY_SIZE(schemas); i++)
        count += schema_count_nodes(json_get(source, schemas[i]));
    return count;
}

/* Writes the rules for values (kube/schema/rules.h) as keywords of OpenAPI; see schema.h. The
 * keywords allOf, anyOf, oneOf and not are written only for OpenAPI version 3, because version 2
 * lacks most of them. */
#include "kube/schema/rules.h"
#include "engine/openapi/schema.h"

static void write_bound(struct arena *arena, struct json *json, const char *name,
                        const struct schema_bound *bound)
{
    if (!bound->given)
        return;
    if (bound->value == (double)(int64_t)bound->value)
        json_set_int(arena, json, name, (int64_t)bound->value);
    else
        json_set(arena, json, name, json_real(arena, bound->value));
}

static void write_allowed(struct arena *arena, struct json *json, const struct schema_rules *rules)
{
    struct json *allowed = json_array(arena);
    for (size_t i = 0; rules->words && rules->words[i]; i++)
        json_append(allowed, json_string(arena, rules->words[i]));
    JSON_EACH (value, rules->values)
        json_append(allowed, json_clone(arena, value));
    if (allowed->count > 0)
        json_set(arena, json, "enum", allowed);
}

static void write_others(struct openapi_types *types, struct json *json, const char *name,
                         const struct schema *const *others)
{
    if (!others || !*others)
        return;
    struct json *list = json_ensure_array(types->arena, json, name);
    for (; *others; others++)
        json_append(list, openapi_write_value(types, *others));
}

void openapi_write_rules(struct openapi_types *types, struct json *json,
                         const struct schema_rules *rules)
{
    struct arena *arena = types->arena;
    write_allowed(arena, json, rules);
    write_bound(arena, json, "minimum", &rules->minimum);
    write_bound(arena, json, "maximum", &rules->maximum);
    if (rules->minimum.given && rules->minimum.exclusive)
        json_set_bool(arena, json, "exclusiveMinimum", true);
    if (rules->maximum.given && rules->maximum.exclusive)
        json_set_bool(arena, json, "exclusiveMaximum", true);
    if (rules->multiple_of != 0)
        json_set(arena, json, "multipleOf", json_real(arena, rules->multiple_of));
    write_bound(arena, json, "minLength", &rules->length_min);
    write_bound(arena, json, "maxLength", &rules->length_max);
    write_bound(arena, json, "minItems", &rules->items_min);
    write_bound(arena, json, "maxItems", &rules->items_max);
    write_bound(arena, json, "minProperties", &rules->members_min);
    write_bound(arena, json, "maxProperties", &rules->members_max);
    if (rules->pattern)
        json_set_string(arena, json, "pattern", rules->pattern);
    if (rules->format)
        json_set_string(arena, json, "format", rules->format);
    if (rules->unique_items)
        json_set_bool(arena, json, "uniqueItems", true);
    if (types->version == OPENAPI_V2)
        return;
    write_others(types, json, "allOf", rules->all_of);
    write_others(types, json, "anyOf", rules->any_of);
    write_others(types, json, "oneOf", rules->one_of);
    if (rules->not_)
        json_set(arena, json, "not", openapi_write_value(types, rules->not_));
}

/* Sets defaults; see default.h. */
#include "kube/schema/default.h"

#include <string.h>

static bool field_is_zero(const struct schema_field *field, const struct json *value)
{
    if (!value)
        return true;
    /* If the zero value of a field is significant, it is not replaced by the default. */
    return field->presence != PRESENCE_IF_SET &&
           ((value->type == JSON_STRING && value->size == 0) ||
            (value->type == JSON_INT && value->integer == 0));
}

static void default_value(struct arena *arena, const struct schema *schema, struct json *value)
{
    if (schema->type == SCHEMA_OBJECT && value->type == JSON_OBJECT)
        schema_default(arena, schema->object, value);
    bool has_items = (schema->type == SCHEMA_LIST && value->type == JSON_ARRAY) ||
                     (schema->type == SCHEMA_MAP && value->type == JSON_OBJECT);
    if (!has_items)
        return;
    JSON_EACH (item, value)
        default_value(arena, schema->items, item);
}

/* Parses a default. The text is always valid: a test checks the defaults of the field tables, and
 * the API server checks the defaults of CustomResourceDefinitions. */
static struct json *default_parse(struct arena *arena, const char *text)
{
    struct json *json;
    return json_parse(arena, text, strlen(text), NULL, &json, NULL) < 0 ? NULL : json;
}

void schema_default(struct arena *arena, const struct schema_object *type, struct json *object)
{
    for (const struct schema_field *field = type->fields; field->name; field++) {
        bool deep = field->value.object || field->value.items;
        if (!field->fallback && !deep)
            continue;
        struct json *value = json_get(object, field->name);
        if (field->fallback && field_is_zero(field, value)) {
            value = default_parse(arena, field->fallback);
            if (value)
                json_set(arena, object, field->name, value);
        }
        if (deep && value)
            default_value(arena, &field->value, value);
    }
}

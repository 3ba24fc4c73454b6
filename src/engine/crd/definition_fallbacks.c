/* Checks the fallbacks of a schema, which are the values of the keyword "default": each must be
 * valid for its schema and have no unknown fields; see definition.h. */
#include "base/mem.h"
#include "base/str.h"
#include "engine/crd/definition.h"
#include "kube/schema/compile.h"
#include "kube/schema/decode.h"
#include "kube/schema/default.h"
#include "kube/schema/validate.h"

/* Adds the errors of `from` and prefixes their fields with `path`. */
static void take_errors(struct field_errors *errors, const char *path,
                        const struct field_errors *from)
{
    for (const struct field_error *error = from->first; error; error = error->next) {
        struct field_error copy = *error;
        copy.next = NULL;
        const struct field_errors single = {.first = &copy, .last = &copy, .count = 1};
        /* The field of an error about allOf, anyOf, oneOf or not is "<nil>". */
        bool needs_no_dot = !error->field[0] || error->field[0] == '[' || error->field[0] == '<';
        if (error->field[0] == '<')
            copy.field = "";
        field_errors_take(errors, &single,
                          field_path(errors, "%s%s", path, needs_no_dot ? "" : "."));
    }
}

/* Checks one fallback against its schema. */
static void check_fallback(struct field_errors *errors, const char *path, const struct json *schema,
                           const struct json *fallback)
{
    struct arena *arena = errors->arena;
    /* schema_compile() takes only the schema of an object, so `schema` becomes the field "value" of
     * an object. */
    struct json *holder = json_object(arena), *properties = json_object(arena);
    json_set(arena, properties, "value", json_clone(arena, schema));
    json_set_string(arena, holder, "type", "object");
    json_set(arena, holder, "properties", properties);
    const struct schema *compiled = schema_compile(arena, holder);
    struct json *object = json_object(arena);
    json_set(arena, object, "value", json_clone(arena, fallback));
    if (schema_decode(arena, compiled->object, SCHEMA_FORM_STRUCTURAL, object, NULL, NULL) == 0 &&
        !json_equal(json_get(object, "value"), fallback)) {
        field_invalid(errors, path, fallback, "must not have unknown fields");
        return;
    }
    const struct schema *value = &schema_field(compiled->object, "value")->value;
    const char *type = json_get_string(schema, "type", ""),
               *fallback_type = schema_type_name(fallback);
    if (value->type == SCHEMA_ANY && type[0]) { /* a type that does not exist */
        field_invalid(errors, path, json_string(arena, fallback_type),
                      " in body must be of type %s: \"%s\"", type, fallback_type);
        return;
    }
    schema_default(arena, compiled->object, object);
    struct field_errors found;
    field_errors_init(&found, arena);
    schema_validate_value(&found, value, "", json_get(object, "value"));
    schema_validate_structure(&found, value, "", json_get(object, "value"));
    take_errors(errors, path, &found);
}

void definition_check_fallbacks(struct field_errors *errors, const char *path,
                                const struct json *schema)
{
    const struct json *fallback = json_get(schema, "default"), *items = json_get(schema, "items"),
                      *others = json_get(schema, "additionalProperties");
    if (errors->count == FIELD_ERRORS_MAX)
        return;
    if (fallback && fallback->type != JSON_NULL)
        check_fallback(errors, field_path(errors, "%s.default", path), schema, fallback);
    JSON_EACH (property, json_get(schema, "properties"))
        definition_check_fallbacks(
            errors, field_path(errors, "%s.properties[%s]", path, property->name), property);
    if (items)
        definition_check_fallbacks(errors, field_path(errors, "%s.items", path), items);
    if (others && others->type == JSON_OBJECT)
        definition_check_fallbacks(errors, field_path(errors, "%s.additionalProperties", path),
                                   others);
}

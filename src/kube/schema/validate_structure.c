/* Checks custom resources for duplicate list elements and invalid embedded objects; see
 * validate.h. */
#include "base/map.h"
#include "kube/schema/path.h"
#include "kube/schema/validate.h"

#include <string.h>

static void structure_check_value(struct field_errors *errors, const struct schema *schema,
                                  const struct schema_path *path, const struct json *value);

/* Returns the identity of an element: its value, or the values of its keys. */
static const struct json *element_identity(struct arena *arena, const struct schema *schema,
                                           const struct json *element)
{
    if (schema->set)
        return element;
    struct json *keys = json_object(arena);
    for (const char *const *key = schema->keys; *key; key++) {
        const struct json *value = json_get(element, *key);
        if (value)
            json_set(arena, keys, *key, json_clone(arena, value));
    }
    return keys;
}

static void check_duplicates(struct field_errors *errors, const struct schema *schema,
                             const struct schema_path *path, const struct json *list)
{
    _cleanup_(cleanup_arena) struct arena *scratch = arena_new();
    struct map seen;
    size_t position = 0;
    map_init(&seen);
    JSON_EACH (element, list) {
        const struct schema_path at = {.parent = path, .position = position};
        const struct json *key = element_identity(scratch, schema, element);
        const char *text = json_to_string(scratch, key);
        if (map_get(&seen, text))
            field_duplicate_value(errors, schema_path_text(errors->arena, &at), key);
        else
            map_put(&seen, text, (void *)element);
        position++;
    }
    map_release(&seen);
}

static const char *member_path(struct field_errors *errors, const struct schema_path *path,
                               const char *name)
{
    const struct schema_path at = {.parent = path, .name = name};
    return schema_path_text(errors->arena, &at);
}

static void check_embedded(struct field_errors *errors, const struct schema_path *path,
                           const struct json *object)
{
    const struct json *version = json_get(object, "apiVersion");
    const char *text = json_get_string(object, "apiVersion", "");
    const char *slash = strchr(text, '/');
    if (!text[0])
        field_required(errors, member_path(errors, path, "apiVersion"), "must not be empty");
    else if (slash && strchr(slash + 1, '/'))
        field_invalid(errors, member_path(errors, path, "apiVersion"), version,
                      "unexpected GroupVersion string: %.253s", text);
    if (!json_get_string(object, "kind", "")[0])
        field_required(errors, member_path(errors, path, "kind"), "must not be empty");
    const struct json *meta = json_get(object, "metadata");
    if (meta && meta->type != JSON_OBJECT)
        field_invalid(errors, member_path(errors, path, "metadata"), meta, "must be an object");
}

static void walk_object(struct field_errors *errors, const struct schema *schema,
                        const struct schema_path *path, const struct json *object)
{
    if (schema->object && schema->object->embedded && path && path->parent)
        check_embedded(errors, path, object);
    JSON_EACH (member, object) {
        const struct schema_path at = {.parent = path, .name = member->name};
        const struct schema_field *field =
            schema->object ? schema_field(schema->object, member->name) : NULL;
        if (field)
            structure_check_value(errors, &field->value, &at, member);
        else if (schema->type == SCHEMA_MAP && schema->items)
            structure_check_value(errors, schema->items, &at, member);
    }
}

static void structure_check_value(struct field_errors *errors, const struct schema *schema,
                                  const struct schema_path *path, const struct json *value)
{
    if (value->type == JSON_OBJECT) {
        walk_object(errors, schema, path, value);
        return;
    }
    if (value->type != JSON_ARRAY || !schema->items)
        return;
    size_t position = 0;
    JSON_EACH (element, value) {
        const struct schema_path at = {.parent = path, .position = position};
        structure_check_value(errors, schema->items, &at, element);
        position++;
    }
    if (schema->set || schema->keys)
        check_duplicates(errors, schema, path, value);
}

void schema_validate_structure(struct field_errors *errors, const struct schema *schema,
                               const char *path, const struct json *value)
{
    const struct schema_path root = {.name = path};
    structure_check_value(errors, schema, &root, value);
}

/* Checks whether an object can be applied; see typed.h. Reports only the first error. */
#include "kube/patch/typed.h"

#include "kube/patch/typed_internal.h"

static int typed_check_value(struct arena *arena, const struct schema *schema,
                             const struct json *value, const char *path, struct err *err);

static int check_plain(struct arena *arena, const struct json *value, const char *wanted,
                       const char *path, struct err *err)
{
    return err_set(err, ERR_BAD_REQUEST, "%s: expected %s, got %.100s", path, wanted,
                   json_to_string(arena, value));
}

static int typed_check_members(struct arena *arena, const struct schema *schema,
                               const struct json *value, const char *path, struct err *err)
{
    JSON_EACH (member, value) {
        const struct fieldset_element element = {.name = member->name};
        bool known;
        const struct schema *part = typed_part(schema, &element, &known);
        const char *below = arena_printf(arena, "%s.%s", path, member->name);
        if (!known && schema->type == SCHEMA_OBJECT && !schema->object->preserve)
            return err_set(err, ERR_BAD_REQUEST, "%.300s: field not declared in schema", below);
        int result = typed_check_value(arena, part, member, below, err);
        if (result < 0)
            return result;
    }
    return 0;
}

static void copy_path(void *context, const char *path)
{
    *(const char **)context = path;
}

static const char *element_text(struct arena *arena, const struct fieldset_element *element)
{
    const struct fieldset_node node = {.element = *element, .member = true};
    const char *text = "";
    fieldset_visit(arena, (struct fieldset){&node}, copy_path, (void *)&text);
    return text;
}

static int check_elements(struct arena *arena, const struct schema *schema,
                          const struct json *value, const char *path, struct err *err)
{
    struct typed_items items;
    int result = typed_items(arena, schema, value, &items, err);
    if (result < 0)
        return err_wrap(err, "%.200s", path);
    for (size_t i = 0; i < items.count; i++) {
        const char *element = element_text(arena, &items.at[i].element);
        if (typed_items_same(&items, i) > 1)
            return err_set(err, ERR_BAD_REQUEST, "%.200s: duplicate entries for key %.200s", path,
                           element);
        result = typed_check_value(arena, schema->items, items.at[i].json,
                                   arena_printf(arena, "%s%s", path, element), err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int typed_check_list(struct arena *arena, const struct schema *schema,
                            const struct json *value, const char *path, struct err *err)
{
    if (typed_shape(schema, value) == TYPED_LIST)
        return check_elements(arena, schema, value, path, err);
    size_t position = 0;
    JSON_EACH (item, value) {
        int result = typed_check_value(arena, schema->items, item,
                                       arena_printf(arena, "%s[%zu]", path, position++), err);
        if (result < 0)
            return result;
    }
    return 0;
}

static int typed_check_value(struct arena *arena, const struct schema *schema,
                             const struct json *value, const char *path, struct err *err)
{
    bool number = value->type == JSON_INT || value->type == JSON_REAL;
    if (value->type == JSON_NULL)
        return 0;
    switch (schema->type) {
    case SCHEMA_OBJECT:
    case SCHEMA_MAP:
        if (value->type != JSON_OBJECT)
            return check_plain(arena, value, "map", path, err);
        return typed_check_members(arena, schema, value, path, err);
    case SCHEMA_LIST:
        if (value->type != JSON_ARRAY)
            return check_plain(arena, value, "list", path, err);
        return typed_check_list(arena, schema, value, path, err);
    case SCHEMA_BYTES:
    case SCHEMA_STRING:
        return value->type == JSON_STRING ? 0 : check_plain(arena, value, "string", path, err);
    case SCHEMA_BOOL:
        return value->type == JSON_BOOL ? 0 : check_plain(arena, value, "boolean", path, err);
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
        return number ? 0 : check_plain(arena, value, "numeric (int or float)", path, err);
    default:
        return 0;
    }
}

int typed_check(struct arena *arena, const struct schema_object *type, const struct json *object,
                struct err *err)
{
    return typed_check_value(arena, TYPED_ROOT(type), object, "", err);
}

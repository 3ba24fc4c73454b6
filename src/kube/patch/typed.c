/* Computes the shapes and parts of values, the set of an object's fields, and zero values; see
 * typed.h and typed_internal.h. */
#include "kube/patch/typed.h"

#include "base/json/json_list.h"
#include "base/str.h"
#include "kube/patch/typed_internal.h"
#include "kube/types/types.h"

#include <stdlib.h>
#include <string.h>

/* ---- Shapes and parts ------------------------------------------------------------------------ */

static bool is_or_null(const struct json *value, enum json_type type)
{
    return !value || value->type == type || value->type == JSON_NULL;
}

enum typed_shape typed_shape(const struct schema *schema, const struct json *value)
{
    switch (schema->type) {
    case SCHEMA_ANY:
        return value && value->type == JSON_OBJECT ? TYPED_MAP : TYPED_WHOLE;
    case SCHEMA_OBJECT:
        return schema->atomic || schema->object->atomic || !is_or_null(value, JSON_OBJECT)
                   ? TYPED_WHOLE
                   : TYPED_OBJECT;
    case SCHEMA_MAP:
        return schema->atomic || !is_or_null(value, JSON_OBJECT) ? TYPED_WHOLE : TYPED_MAP;
    case SCHEMA_LIST:
        return schema->atomic || !(schema->keys || schema->set) || !is_or_null(value, JSON_ARRAY)
                   ? TYPED_WHOLE
                   : TYPED_LIST;
    default:
        return TYPED_WHOLE;
    }
}

const struct schema *typed_part(const struct schema *schema, const struct fieldset_element *element,
                                bool *ret_known)
{
    const struct schema_field *field =
        schema->type == SCHEMA_OBJECT && schema->object->fields && element->kind == FIELDSET_FIELD
            ? schema_field(schema->object, element->name)
            : NULL;
    if (ret_known)
        *ret_known = field != NULL;
    if (field)
        return &field->value;
    return schema->items ? schema->items : &TYPE_ANYTHING;
}

static bool is_scalar(const struct json *value)
{
    return value->type != JSON_ARRAY && value->type != JSON_OBJECT && value->type != JSON_NULL;
}

/* Returns the value that Go writes for a field that is not set. */
static struct json *zero_of(struct arena *arena, const struct schema *schema)
{
    switch (schema->type) {
    case SCHEMA_STRING:
        return json_string(arena, "");
    case SCHEMA_BOOL:
        return json_bool(arena, false);
    case SCHEMA_INT32:
    case SCHEMA_INT64:
    case SCHEMA_NUMBER:
    case SCHEMA_INT_OR_STRING:
        return json_int(arena, 0);
    case SCHEMA_OBJECT:
        return typed_zero(arena, schema->object);
    default:
        return json_null(arena);
    }
}

/* Returns the value of a key field that an element lacks: its default, or its zero value if the API
 * always writes it. Returns NULL if it has neither. */
static struct json *default_key(struct arena *arena, const struct schema *list, const char *name)
{
    const struct schema_object *type =
        list->items && list->items->type == SCHEMA_OBJECT ? list->items->object : NULL;
    const struct schema_field *field = type && type->fields ? schema_field(type, name) : NULL;
    struct json *value = NULL;
    if (field && field->fallback)
        json_parse(arena, field->fallback, strlen(field->fallback), NULL, &value, NULL);
    else if (field && field->presence == PRESENCE_ALWAYS)
        value = zero_of(arena, &field->value);
    return value;
}

/* Inserts a member so that the members stay sorted by name. */
static void insert_sorted(struct json *key, struct json *member)
{
    struct json **place = &key->first;
    while (*place && strcmp((*place)->name, member->name) < 0)
        place = &(*place)->next;
    member->next = *place;
    *place = member;
    if (!member->next)
        key->last = member;
    key->count++;
}

static int key_element(struct arena *arena, const struct schema *list, const struct json *item,
                       struct fieldset_element *ret, struct err *err)
{
    if (item->type == JSON_NULL)
        return err_set(err, ERR_BAD_REQUEST,
                       "associative list with keys may not have a null element");
    if (item->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST,
                       "associative list with keys may not have non-map elements");
    struct json *key = json_object(arena);
    for (size_t i = 0; list->keys[i]; i++) {
        const struct json *value = json_get(item, list->keys[i]);
        if (!value)
            value = default_key(arena, list, list->keys[i]);
        if (!value)
            continue;
        if (!is_scalar(value))
            return err_set(err, ERR_BAD_REQUEST, "the key field \"%s\" is %s", list->keys[i],
                           json_type_name(value->type));
        struct json *member = arena_alloc(arena, sizeof(*member));
        *member = *value;
        member->name = list->keys[i];
        insert_sorted(key, member);
    }
    if (key->count == 0)
        return err_set(err, ERR_BAD_REQUEST,
                       "associative list with keys has an element that omits key field \"%s\" "
                       "(and doesn't have default value)",
                       list->keys[0]);
    *ret = (struct fieldset_element){.kind = FIELDSET_KEY, .value = key};
    return 0;
}

static int item_element(struct arena *arena, const struct schema *schema, const struct json *item,
                        struct fieldset_element *ret, struct err *err)
{
    if (item->name) {
        *ret = (struct fieldset_element){.kind = FIELDSET_FIELD, .name = item->name};
        return 0;
    }
    if (schema->keys)
        return key_element(arena, schema, item, ret, err);
    if (!is_scalar(item))
        return err_set(err, ERR_BAD_REQUEST,
                       "associative list without keys has an element that's %s",
                       json_type_name(item->type));
    *ret = (struct fieldset_element){.kind = FIELDSET_VALUE, .value = item};
    return 0;
}

static int compare_items(const void *a, const void *b)
{
    const struct typed_item *x = a, *y = b;
    int order = fieldset_element_compare(&x->element, &y->element);
    return order ? order : (x->position > y->position) - (x->position < y->position);
}

int typed_items(struct arena *arena, const struct schema *schema, const struct json *value,
                struct typed_items *ret, struct err *err)
{
    struct typed_items items = {.at = arena_alloc(arena, sizeof(*items.at) * json_count(value))};
    size_t position = 0;
    bool sorted = true;
    int result = 0;
    JSON_EACH (json, value) {
        struct typed_item *item = &items.at[items.count];
        *item = (struct typed_item){.json = json, .position = position};
        position++;
        if (item_element(arena, schema, json, &item->element, result < 0 ? NULL : err) < 0) {
            if (result == 0)
                result = err_wrap(err, "element %zu", item->position);
            continue;
        }
        sorted = sorted && (items.count == 0 || compare_items(item - 1, item) < 0);
        items.count++;
    }
    if (!sorted)
        qsort(items.at, items.count, sizeof(*items.at), compare_items);
    *ret = items;
    return result;
}

size_t typed_items_same(const struct typed_items *items, size_t position)
{
    size_t end = position + 1;
    while (end < items->count &&
           fieldset_element_compare(&items->at[position].element, &items->at[end].element) == 0)
        end++;
    return end - position;
}

/* ---- The set of fields ----------------------------------------------------------------------- */

static bool is_null_or_empty(const struct json *value)
{
    return value->type == JSON_NULL || (value->type == JSON_OBJECT && value->count == 0);
}

/* Returns the fields below a value, as typed_fields() does. Sets *ret_member to true if the value
 * is owned as a whole instead. */
static struct fieldset fields_below(struct arena *arena, const struct schema *schema,
                                    const struct json *value, bool *ret_member)
{
    enum typed_shape shape = typed_shape(schema, value);
    struct fieldset_builder builder = {0};
    struct typed_items items;
    *ret_member = shape == TYPED_WHOLE;
    if (shape == TYPED_WHOLE)
        return (struct fieldset){0};
    typed_items(arena, schema, value, &items, NULL);
    for (size_t i = 0, same; i < items.count; i += same) {
        const struct typed_item *item = &items.at[i];
        bool known, member = true;
        const struct schema *part = typed_part(schema, &item->element, &known);
        struct fieldset below = {0};
        same = typed_items_same(&items, i);
        /* Duplicate elements are owned as one value. */
        if (same == 1)
            below = fields_below(arena, part, item->json, &member);
        fieldset_add(arena, &builder, item->element,
                     member || !known || is_null_or_empty(item->json), below);
    }
    return fieldset_build(arena, &builder);
}

struct fieldset typed_fields(struct arena *arena, const struct schema_object *type,
                             const struct json *object)
{
    bool member;
    return fields_below(arena, TYPED_ROOT(type), object, &member);
}

static struct fieldset with_parents(struct arena *arena, const struct schema *schema,
                                    struct fieldset set)
{
    struct fieldset_builder builder = {0};
    for (const struct fieldset_node *node = set.first; node; node = node->next) {
        bool known;
        const struct schema *part = typed_part(schema, &node->element, &known);
        fieldset_add(arena, &builder, node->element, node->member || known,
                     with_parents(arena, part, node->children));
    }
    return fieldset_build(arena, &builder);
}

struct fieldset typed_with_parents(struct arena *arena, const struct schema_object *type,
                                   struct fieldset set)
{
    return with_parents(arena, TYPED_ROOT(type), set);
}

/* ---- Zero values ----------------------------------------------------------------------------- */

struct json *typed_zero(struct arena *arena, const struct schema_object *type)
{
    struct json *object = json_object(arena);
    for (const struct schema_field *field = type->fields; field && field->name; field++) {
        if (field->presence != PRESENCE_ALWAYS)
            continue;
        struct json *member = zero_of(arena, &field->value);
        member->name = field->name;
        json_list_append(object, member);
    }
    return object;
}

/* Reads and writes FieldsV1, the JSON form of a set: {"f:spec":{"f:replicas":{}}}; see fieldset.h.
 * A node without children is a member of the set. A node with children is a member if one of them
 * is named ".". */
#include "base/json/json_list.h"
#include "base/mem.h"
#include "base/str.h"
#include "kube/patch/fieldset.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

/* ---- Reading --------------------------------------------------------------------------------- */

static bool is_scalar(const struct json *value)
{
    return value->type != JSON_ARRAY && value->type != JSON_OBJECT;
}

static int fieldset_compare_names(const void *a, const void *b)
{
    const struct json *const *x = a, *const *y = b;
    return strcmp((*x)->name, (*y)->name);
}

/* Sorts the JSON members of a list key ({"name":"web"}) by name. */
static void sort_members(struct arena *arena, struct json *key)
{
    struct json **members = ARENA_ARRAY(arena, struct json *, key->count);
    size_t count = 0;
    JSON_EACH (member, key)
        members[count++] = member;
    qsort(members, count, sizeof(struct json *), fieldset_compare_names);
    key->first = key->last = NULL;
    key->count = 0;
    for (size_t i = 0; i < count; i++)
        json_list_append(key, members[i]);
}

static int read_key(struct arena *arena, const char *text, struct fieldset_element *ret,
                    struct err *err)
{
    struct json *key;
    int result = json_parse(arena, text, strlen(text), NULL, &key, err);
    if (result < 0)
        return result;
    bool good = key->type == JSON_OBJECT && key->count > 0;
    JSON_EACH (member, key)
        good = good && is_scalar(member);
    if (!good)
        return err_set(
            err, ERR_BAD_REQUEST,
            "the key of a list element must be an object of strings, numbers and booleans");
    sort_members(arena, key);
    *ret = (struct fieldset_element){.kind = FIELDSET_KEY, .value = key};
    return 0;
}

static int fieldset_read_value(struct arena *arena, const char *text, struct fieldset_element *ret,
                               struct err *err)
{
    struct json *value;
    int result = json_parse(arena, text, strlen(text), NULL, &value, err);
    if (result < 0)
        return result;
    if (!is_scalar(value))
        return err_set(err, ERR_BAD_REQUEST,
                       "an element of a set must be a string, a number or a boolean");
    *ret = (struct fieldset_element){.kind = FIELDSET_VALUE, .value = value};
    return 0;
}

/* Returns 0, 1 if the element has an unknown kind, or -ERR_BAD_REQUEST if it is invalid. */
static int read_element(struct arena *arena, const char *text, struct fieldset_element *ret,
                        struct err *err)
{
    if (text[0] == '\0' || text[1] != ':')
        return err_set(err, ERR_BAD_REQUEST, "its first letter must be followed by a colon");
    const char *rest = text + 2;
    switch (text[0]) {
    case 'f':
        *ret = (struct fieldset_element){.kind = FIELDSET_FIELD, .name = rest};
        return 0;
    case 'k':
        return read_key(arena, rest, ret, err);
    case 'v':
        return fieldset_read_value(arena, rest, ret, err);
    case 'i':
        ret->kind = FIELDSET_INDEX;
        return str_to_int64(rest, INT64_MIN, INT64_MAX, &ret->index, err);
    default:
        return 1;
    }
}

/* Reads the children of a node into *ret. Sets *ret_member to whether the node is a member. */
static int read_level(struct arena *arena, const struct json *fields, struct fieldset *ret,
                      bool *ret_member, struct err *err)
{
    if (fields->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "a set of fields must be an object, not %s",
                       json_type_name(fields->type));
    struct fieldset_builder builder = {0};
    bool dot = false;
    JSON_EACH (field, fields) {
        struct fieldset_element element = {0};
        struct fieldset children;
        bool member;
        if (str_eq(field->name, ".")) {
            dot = true;
            continue;
        }
        int result = read_element(arena, field->name, &element, err);
        if (result > 0)
            continue;
        if (result == 0)
            result = read_level(arena, field, &children, &member, err);
        if (result < 0)
            return err_wrap(err, "%.100s", field->name);
        fieldset_add(arena, &builder, element, member, children);
    }
    *ret = fieldset_build(arena, &builder);
    *ret_member = dot || fieldset_is_empty(*ret);
    return 0;
}

int fieldset_from_json(struct arena *arena, const struct json *fields, struct fieldset *ret,
                       struct err *err)
{
    bool member;
    return read_level(arena, fields, ret, &member, err);
}

/* ---- Writing --------------------------------------------------------------------------------- */

static const char *fieldset_element_text(struct arena *arena,
                                         const struct fieldset_element *element)
{
    switch (element->kind) {
    case FIELDSET_FIELD: {
        size_t size = strlen(element->name) + 1;
        char *text = arena_alloc(arena, size + 2);
        text[0] = 'f';
        text[1] = ':';
        memcpy(text + 2, element->name, size);
        return text;
    }
    case FIELDSET_KEY:
        return arena_printf(arena, "k:%s", json_to_string(arena, element->value));
    case FIELDSET_VALUE:
        return arena_printf(arena, "v:%s", json_to_string(arena, element->value));
    case FIELDSET_INDEX:
        break;
    }
    return arena_printf(arena, "i:%" PRId64, element->index);
}

static struct json *add_empty_member(struct arena *arena, struct json *object, const char *name)
{
    struct json *member = json_object(arena);
    member->name = name;
    json_list_append(object, member);
    return member;
}

static void write_level(struct arena *arena, struct fieldset set, struct json *object)
{
    for (const struct fieldset_node *node = set.first; node; node = node->next) {
        struct json *below =
            add_empty_member(arena, object, fieldset_element_text(arena, &node->element));
        if (node->member && node->children.first)
            add_empty_member(arena, below, ".");
        write_level(arena, node->children, below);
    }
}

struct json *fieldset_to_json(struct arena *arena, struct fieldset set)
{
    struct json *fields = json_object(arena);
    write_level(arena, set, fields);
    return fields;
}

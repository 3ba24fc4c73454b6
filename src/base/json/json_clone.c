/* Copies trees; see json.h. A copy is complete, or it shares parts with a similar tree, the
 * base. */
#include "base/json/json.h"

#include "base/json/json_list.h"
#include "base/str.h"

#include <string.h>

enum { AHEAD_MAX = 4 }; /* number of members of the base that are searched for a name */

static bool is_same_text(const struct json *a, const struct json *b)
{
    return a->size == b->size && memcmp(a->text, b->text, a->size) == 0;
}

/* Returns whether json_write() writes the same bytes for both. json_equal() would also accept
 * another order of members or another form of a number. */
static bool clone_is_same(const struct json *a, const struct json *b)
{
    if (a->type != b->type)
        return false;
    switch (a->type) {
    case JSON_NULL:
        return true;
    case JSON_BOOL:
        return a->boolean == b->boolean;
    case JSON_INT:
        return a->integer == b->integer;
    case JSON_REAL:
    case JSON_STRING:
        return is_same_text(a, b);
    case JSON_ARRAY:
    case JSON_OBJECT:
        break;
    }
    if (a->count != b->count)
        return false;
    const struct json *other = b->first;
    JSON_EACH (item, a) {
        if (!str_eq(item->name, other->name) || !clone_is_same(item, other))
            return false;
        other = other->next;
    }
    return true;
}

/* Returns the item of the base that corresponds to `item`, or NULL. In an array this is `from`
 * itself. In an object it is the member of the same name, if it is among the first AHEAD_MAX
 * members from `from` on. Objects usually have the same members in the same order; otherwise less
 * is shared. */
static const struct json *find_counterpart(const struct json *item, const struct json *from)
{
    for (int i = 0; from && i < AHEAD_MAX; i++, from = from->next)
        if (str_eq(item->name, from->name))
            return from;
    return NULL;
}

/* Finds the equal items at the end of two lists of the same length. Returns the first of these
 * items in the base, or NULL if the last items differ. Sets *ret_count to the number of items
 * before the equal items. */
static struct json *find_common_end(const struct json *list, const struct json *base,
                                    uint32_t *ret_count)
{
    struct json *end = base->first;
    uint32_t position = 0;
    *ret_count = 0;
    const struct json *item = list->first;
    for (struct json *other = base->first; other; other = other->next, item = item->next) {
        position++;
        if (str_eq(item->name, other->name) && clone_is_same(item, other))
            continue;
        end = other->next;
        *ret_count = position;
    }
    return end;
}

static void clone_list(struct arena *arena, struct json *copy, const struct json *list,
                       const struct json *base)
{
    const struct json *from = json_first(base), *item = list->first;
    struct json *end = NULL;
    uint32_t copied_count = list->count; /* number of items that are not shared */
    if (base && base->type == list->type && base->count == list->count)
        end = find_common_end(list, base, &copied_count);
    copy->first = copy->last = NULL;
    copy->count = 0;
    for (; copy->count < copied_count; item = item->next) {
        const struct json *other = find_counterpart(item, from);
        struct json *child = json_clone_beside(arena, item, other);
        if (item->name)
            child->name = other ? other->name : arena_strdup(arena, item->name);
        json_list_append(copy, child);
        from = other ? other->next : from;
    }
    if (!end)
        return;
    if (copy->last)
        copy->last->next = end;
    else
        copy->first = end;
    copy->last = base->last;
    copy->count = list->count;
}

struct json *json_clone_beside(struct arena *arena, const struct json *json,
                               const struct json *base)
{
    struct json *copy = arena_alloc(arena, sizeof(*copy));
    *copy = *json;
    copy->name = NULL;
    copy->next = NULL;
    switch (json->type) {
    case JSON_STRING:
    case JSON_REAL:
        copy->text = base && clone_is_same(json, base)
                         ? base->text
                         : arena_strndup(arena, json->text, json->size);
        break;
    case JSON_ARRAY:
    case JSON_OBJECT:
        clone_list(arena, copy, json, base);
        break;
    case JSON_NULL:
    case JSON_BOOL:
    case JSON_INT:
        break;
    }
    return copy;
}

struct json *json_clone(struct arena *arena, const struct json *json)
{
    return json ? json_clone_beside(arena, json, NULL) : NULL;
}

struct json *json_clone_object(struct arena *arena, const struct json *json)
{
    return json && json->type == JSON_OBJECT ? json_clone(arena, json) : json_object(arena);
}

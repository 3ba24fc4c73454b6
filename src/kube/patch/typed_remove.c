/* Removes fields from an object; see typed.h. */
#include "kube/patch/typed.h"

#include "base/json/json_list.h"
#include "kube/patch/typed_internal.h"

static void remove_below(struct arena *arena, const struct schema *schema, struct json *value,
                         struct fieldset set);

/* Removes fields from a part. Returns true if the part itself must be removed: it is in the set, or
 * it has become empty. */
static bool typed_item_is_removed(struct arena *arena, const struct schema *schema,
                                  const struct typed_item *item, const struct fieldset_node *node)
{
    if (node->member)
        return true;
    bool had_parts = json_count(item->json) > 0;
    remove_below(arena, typed_part(schema, &item->element, NULL), item->json, node->children);
    return had_parts && json_count(item->json) == 0;
}

static void remove_below(struct arena *arena, const struct schema *schema, struct json *value,
                         struct fieldset set)
{
    struct typed_items items;
    if (typed_shape(schema, value) == TYPED_WHOLE || json_count(value) == 0)
        return;
    typed_items(arena, schema, value, &items, NULL);
    bool *gone = ARENA_ARRAY(arena, bool, json_count(value));
    const struct fieldset_node *node = set.first;
    for (size_t i = 0; i < items.count && node;) {
        int order = fieldset_element_compare(&items.at[i].element, &node->element);
        if (order == 0)
            gone[items.at[i].position] = typed_item_is_removed(arena, schema, &items.at[i], node);
        if (order <= 0)
            i++;
        else
            node = node->next;
    }
    struct json *part = json_first(value);
    value->first = value->last = NULL;
    value->count = 0;
    for (size_t position = 0; part; position++) {
        struct json *next = part->next;
        if (!gone[position])
            json_list_append(value, part);
        part = next;
    }
}

void typed_remove(struct arena *arena, const struct schema_object *type, struct json *object,
                  struct fieldset set)
{
    remove_below(arena, TYPED_ROOT(type), object, set);
}

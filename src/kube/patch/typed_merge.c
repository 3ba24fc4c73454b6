/* Merges one object into another; see typed.h. */
#include "kube/patch/typed.h"

#include "base/json/json_list.h"
#include "kube/patch/typed_internal.h"

static struct json *typed_merge_values(struct arena *arena, const struct schema *schema,
                                       const struct json *live, const struct json *config);

/* Returns the index of the first part with this identity, or items->count if there is none. */
static size_t typed_items_find(const struct typed_items *items,
                               const struct fieldset_element *element)
{
    size_t low = 0, high = items->count;
    while (low < high) {
        size_t middle = low + (high - low) / 2;
        if (fieldset_element_compare(&items->at[middle].element, element) < 0)
            low = middle + 1;
        else
            high = middle;
    }
    bool found =
        low < items->count && fieldset_element_compare(&items->at[low].element, element) == 0;
    return found ? low : items->count;
}

static struct json *find_json(const struct typed_items *items,
                              const struct fieldset_element *element)
{
    size_t place = typed_items_find(items, element);
    return place < items->count ? items->at[place].json : NULL;
}

/* ---- Objects and maps ------------------------------------------------------------------------ */

static struct json *merge_members(struct arena *arena, const struct schema *schema,
                                  const struct json *live, const struct json *config)
{
    struct json *merged = json_object(arena);
    struct typed_items live_items, config_items;
    typed_items(arena, schema, live, &live_items, NULL);
    typed_items(arena, schema, config, &config_items, NULL);
    JSON_EACH (member, live) {
        const struct fieldset_element element = {.name = member->name};
        struct json *value = typed_merge_values(arena, typed_part(schema, &element, NULL), member,
                                                find_json(&config_items, &element));
        value->name = arena_strdup(arena, member->name);
        json_list_append(merged, value);
    }
    JSON_EACH (member, config) {
        const struct fieldset_element element = {.name = member->name};
        if (find_json(&live_items, &element))
            continue;
        struct json *value = json_clone(arena, member);
        value->name = arena_strdup(arena, member->name);
        json_list_append(merged, value);
    }
    return merged;
}

/* ---- Lists ----------------------------------------------------------------------------------- */

struct list_merge {
    struct arena *arena;
    const struct schema *schema;
    struct typed_items live, config;
    const struct typed_item **live_order, **config_order; /* sorted by position in the list */
    bool *done; /* per element of `config`: whether it is in `merged` */
    struct json *merged;
};

static const struct typed_item **in_order(struct arena *arena, const struct typed_items *items)
{
    const struct typed_item **order = ARENA_ARRAY(arena, const struct typed_item *, items->count);
    for (size_t i = 0; i < items->count; i++)
        order[items->at[i].position] = &items->at[i];
    return order;
}

static bool typed_item_is_same(const struct typed_item *a, const struct typed_item *b)
{
    return fieldset_element_compare(&a->element, &b->element) == 0;
}

/* Merges an element of the config with the live element of the same identity, and appends the
 * result. If the live list has duplicates of this element, they are replaced. */
static void append_config_element(struct list_merge *list, const struct typed_item *item)
{
    size_t place = typed_items_find(&list->live, &item->element);
    const struct json *live = NULL;
    if (place < list->live.count && typed_items_same(&list->live, place) == 1)
        live = list->live.at[place].json;
    list->done[typed_items_find(&list->config, &item->element)] = true;
    json_append(list->merged,
                typed_merge_values(list->arena, typed_part(list->schema, &item->element, NULL),
                                   live, item->json));
}

/* Returns the position of the next element of the config, starting at `from`, that is also in the
 * live list. */
static size_t next_shared(const struct list_merge *list, size_t from)
{
    while (from < list->config.count &&
           typed_items_find(&list->live, &list->config_order[from]->element) == list->live.count)
        from++;
    return from;
}

/* Walks through both lists at once. An element that is in only one list keeps its place in that
 * list. Common elements get the order of the config. */
static void merge_in_order(struct list_merge *list)
{
    const size_t lives = list->live.count, configs = list->config.count;
    size_t shared = next_shared(list, 0);
    for (size_t i = 0, j = 0; i < lives || j < configs;) {
        const struct typed_item *live = i < lives ? list->live_order[i] : NULL;
        const struct typed_item *next_config = j < configs ? list->config_order[j] : NULL;
        size_t place = live ? typed_items_find(&list->config, &live->element) : configs;
        if (live && place == configs) {
            json_append(list->merged, json_clone(list->arena, live->json));
            i++;
            continue;
        }
        if (live && next_config && !typed_item_is_same(live, next_config) && shared < configs &&
            !typed_item_is_same(list->config_order[shared], live)) {
            i++;
            continue;
        }
        if (live && (list->done[place] || (next_config && typed_item_is_same(live, next_config))))
            i++;
        if (next_config) {
            append_config_element(list, next_config);
            if (j == shared)
                shared = next_shared(list, shared + 1);
            j++;
        }
    }
}

static struct json *merge_elements(struct arena *arena, const struct schema *schema,
                                   const struct json *live, const struct json *config)
{
    struct list_merge list = {.arena = arena, .schema = schema, .merged = json_array(arena)};
    /* Elements without identity cannot be merged. */
    if (typed_items(arena, schema, live, &list.live, NULL) < 0 ||
        typed_items(arena, schema, config, &list.config, NULL) < 0)
        return json_clone(arena, config);
    list.live_order = in_order(arena, &list.live);
    list.config_order = in_order(arena, &list.config);
    list.done = ARENA_ARRAY(arena, bool, list.config.count);
    merge_in_order(&list);
    return list.merged;
}

/* ---- Values ---------------------------------------------------------------------------------- */

/* Merges two values. At most one of them may be NULL. */
static struct json *typed_merge_values(struct arena *arena, const struct schema *schema,
                                       const struct json *live, const struct json *config)
{
    if (!live || !config)
        return json_clone(arena, config ? config : live);
    enum typed_shape shape = typed_shape(schema, config);
    if (shape == TYPED_WHOLE || typed_shape(schema, live) != shape ||
        (json_count(live) == 0 && json_count(config) == 0))
        return json_clone(arena, config);
    return shape == TYPED_LIST ? merge_elements(arena, schema, live, config)
                               : merge_members(arena, schema, live, config);
}

struct json *typed_merge(struct arena *arena, const struct schema_object *type,
                         const struct json *live, const struct json *config)
{
    return typed_merge_values(arena, TYPED_ROOT(type), live, config);
}

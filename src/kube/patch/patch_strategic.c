/* Applies a strategic merge patch: a merge patch that has directives and merges lists of objects by
 * a key; see patch.h. The built-in types (kube/types/) give the key of each list. Pure.
 *
 * The results, including the order of list elements, are the same as in Kubernetes. Elements that
 * $setElementOrder lists get the order of that list. All other elements keep the order of the
 * object. An unlisted element comes before a listed element only if both were in the object in this
 * order. Without $setElementOrder, the elements of the patch count as listed.
 *
 *   $patch: replace | delete       in an object or in an element of a merged list
 *   $setElementOrder/LIST          the new order of the elements
 *   $deleteFromPrimitiveList/LIST  values to remove from a list of plain values
 *   $retainKeys                    members that are not listed are removed */
#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/str.h"
#include "kube/patch/patch.h"
#include "kube/patch/patch_internal.h"

#include <string.h>

static const char SET_ORDER[] = "$setElementOrder/", DELETE_VALUES[] = "$deleteFromPrimitiveList/";

struct merging {
    struct arena *arena;
    struct err *err;
};

/* Pointers to the elements of a list, so that they can be selected and reordered. */
struct items {
    struct json **at;
    size_t count;
};

static int merge_objects(struct merging *merging, struct json *original, struct json *patch,
                         const struct schema_object *type, struct json **ret);

/* Returns the schema of a member. A member without a schema is merged as in Kubernetes: an object
 * is merged member by member, and a list is replaced. */
static const struct schema *member_schema(const struct schema_object *type, const char *name)
{
    static const struct schema unknown = {.type = SCHEMA_ANY};
    const struct schema_field *field = type ? schema_field(type, name) : NULL;
    return field ? &field->value : &unknown;
}

/* Returns the merge key of a list. Returns NULL if the list has none or its elements are plain
 * values. */
static const char *merge_key(const struct schema *list)
{
    return str_is_empty(list->merge_key) ? NULL : list->merge_key;
}

static struct items items_of(struct merging *merging, const struct json *array)
{
    struct items items = {.at = ARENA_ARRAY(merging->arena, struct json *, json_count(array) + 1)};
    JSON_EACH (item, array)
        items.at[items.count++] = item;
    return items;
}

static struct json *array_of(struct merging *merging, struct items items)
{
    struct json *array = json_array(merging->arena);
    for (size_t i = 0; i < items.count; i++)
        json_append(array, items.at[i]);
    return array;
}

/* Returns whether two elements have the same value of the field `key`. If `key` is NULL, compares
 * the whole elements. */
static bool element_is_same(const struct json *a, const struct json *b, const char *key)
{
    if (!key)
        return json_equal(a, b);
    const struct json *key_a = json_get(a, key);
    return key_a && json_equal(key_a, json_get(b, key));
}

static size_t items_find(struct items items, const struct json *wanted, const char *key)
{
    for (size_t i = 0; i < items.count; i++)
        if (element_is_same(items.at[i], wanted, key))
            return i;
    return SIZE_MAX;
}

/* ---- The order of elements ---- */

/* Splits `items`. ret_named gets the elements that are in `order`, in that order. ret_rest gets the
 * other elements. */
static void split_by_order(struct merging *merging, struct items items, struct items order,
                           const char *key, struct items *ret_named, struct items *ret_rest)
{
    *ret_named = (struct items){.at = ARENA_ARRAY(merging->arena, struct json *, items.count + 1)};
    *ret_rest = (struct items){.at = ARENA_ARRAY(merging->arena, struct json *, items.count + 1)};
    bool *taken = ARENA_ARRAY(merging->arena, bool, items.count + 1);
    for (size_t i = 0; i < order.count; i++) {
        for (size_t j = 0; j < items.count; j++) {
            if (taken[j] || !element_is_same(items.at[j], order.at[i], key))
                continue;
            taken[j] = true;
            ret_named->at[ret_named->count++] = items.at[j];
        }
    }
    for (size_t j = 0; j < items.count; j++)
        if (!taken[j])
            ret_rest->at[ret_rest->count++] = items.at[j];
}

/* Returns `merged` in the order that the top of this file describes. `live` is the list before the
 * patch. */
static struct items put_in_order(struct merging *merging, struct items merged, struct items order,
                                 struct items live, const char *key)
{
    struct items named, rest;
    split_by_order(merging, merged, order, key, &named, &rest);
    struct items result = {.at = ARENA_ARRAY(merging->arena, struct json *, merged.count + 1)};
    size_t i = 0, j = 0;
    while (i < rest.count && j < named.count) {
        size_t place_rest = items_find(live, rest.at[i], key);
        size_t place_named = items_find(live, named.at[j], key);
        bool rest_first =
            place_rest != SIZE_MAX && place_named != SIZE_MAX && place_rest < place_named;
        result.at[result.count++] = rest_first ? rest.at[i++] : named.at[j++];
    }
    while (i < rest.count)
        result.at[result.count++] = rest.at[i++];
    while (j < named.count)
        result.at[result.count++] = named.at[j++];
    return result;
}

/* ---- Lists ---- */

/* Checks that the elements of a list can be merged: objects with the field `key`, or plain values
 * if `key` is NULL. An element {"$patch":"replace"} needs no key. */
static int check_elements(struct merging *merging, const struct json *array, const char *name,
                          const char *key)
{
    if (json_count(array) > KUBE_PATCH_ELEMENTS_MAX)
        return err_set(merging->err, ERR_TOO_LARGE,
                       "strategic patch: list '%s' has %zu elements, but the limit is %d", name,
                       json_count(array), (int)KUBE_PATCH_ELEMENTS_MAX);
    JSON_EACH (item, array) {
        bool object = item->type == JSON_OBJECT;
        if (object != (key != NULL) || item->type == JSON_ARRAY || item->type == JSON_NULL)
            return err_set(merging->err, ERR_INVALID,
                           "strategic patch: an element of list '%s' must not be %s", name,
                           json_type_name(item->type));
        if (object && !json_get(item, key) &&
            !str_eq(json_get_string(item, "$patch", NULL), "replace"))
            return err_set(merging->err, ERR_INVALID,
                           "strategic patch: an element of list '%s' lacks its key '%s'", name,
                           key);
    }
    return 0;
}

/* Returns the plain values of both lists without duplicates. */
static struct items merge_values(struct merging *merging, struct items live, struct items patch)
{
    size_t room = live.count + patch.count + 1;
    struct items merged = {.at = ARENA_ARRAY(merging->arena, struct json *, room)};
    for (size_t i = 0; i < live.count; i++)
        if (items_find(merged, live.at[i], NULL) == SIZE_MAX)
            merged.at[merged.count++] = live.at[i];
    for (size_t i = 0; i < patch.count; i++)
        if (items_find(merged, patch.at[i], NULL) == SIZE_MAX)
            merged.at[merged.count++] = patch.at[i];
    return merged;
}

/* Applies the elements of `patch` that are directives, and removes them from `patch`. Sets
 * *ret_replace to whether one of them replaces the whole list. */
static int apply_element_directives(struct merging *merging, const char *name, const char *key,
                                    struct items *live, struct items *patch, bool *ret_replace)
{
    size_t kept = 0;
    *ret_replace = false;
    for (size_t i = 0; i < patch->count; i++) {
        struct json *element = patch->at[i];
        const struct json *directive = json_get(element, "$patch");
        const char *word = json_text(directive);
        if (!directive) {
            patch->at[kept++] = element;
        } else if (str_eq(word, "replace")) {
            *ret_replace = true;
        } else if (str_eq(word, "delete")) {
            size_t left = 0;
            for (size_t j = 0; j < live->count; j++)
                if (!element_is_same(live->at[j], element, key))
                    live->at[left++] = live->at[j];
            live->count = left;
        } else {
            return err_set(merging->err, ERR_BAD_REQUEST,
                           "strategic patch: unknown directive '$patch: %s' in list '%s': expected "
                           "replace or delete",
                           word ? word : "?", name);
        }
    }
    patch->count = kept;
    return 0;
}

static int merge_elements(struct merging *merging, const struct schema *list, const char *name,
                          struct items *live, struct items *patch, struct items *ret)
{
    bool replace;
    int result = apply_element_directives(merging, name, merge_key(list), live, patch, &replace);
    if (result < 0)
        return result;
    if (replace)
        live->count = 0;
    size_t room = live->count + patch->count + 1;
    struct items merged = {.at = ARENA_ARRAY(merging->arena, struct json *, room)};
    for (size_t i = 0; i < live->count; i++)
        merged.at[merged.count++] = live->at[i];
    for (size_t i = 0; i < patch->count; i++) {
        size_t place = items_find(merged, patch->at[i], merge_key(list));
        struct json *base = place == SIZE_MAX ? json_object(merging->arena) : merged.at[place];
        result = merge_objects(merging, base, patch->at[i], list->items->object, &base);
        if (result < 0)
            return result;
        merged.at[place == SIZE_MAX ? merged.count++ : place] = base;
    }
    *ret = merged;
    return 0;
}

/* Merges the list `patch` into the list `original`. If list->merge_key is NULL, the result is
 * `patch`. `original` may be NULL. The elements of both lists are moved into the result. */
static int merge_lists(struct merging *merging, const struct schema *list, const char *name,
                       struct json *original, struct json *patch, struct json **ret)
{
    const char *key = merge_key(list);
    if (!list->merge_key) {
        *ret = patch;
        return 0;
    }
    int result = check_elements(merging, original, name, key);
    if (result == 0)
        result = check_elements(merging, patch, name, key);
    if (result < 0)
        return result;
    struct items live = items_of(merging, original), changes = items_of(merging, patch), merged;
    if (key) {
        result = merge_elements(merging, list, name, &live, &changes, &merged);
        if (result < 0)
            return result;
    } else {
        merged = merge_values(merging, live, changes);
    }
    *ret = array_of(merging, put_in_order(merging, merged, changes, live, key));
    return 0;
}

/* ---- Directives of an object ---- */

static bool names_contain(const struct json *names, const char *name)
{
    JSON_EACH (item, names)
        if (str_eq(json_text(item), name))
            return true;
    return false;
}

static int apply_retain_keys(struct merging *merging, struct json *original, struct json *patch)
{
    const struct json *names = json_get(patch, "$retainKeys");
    if (!names)
        return 0;
    if (names->type != JSON_ARRAY)
        return err_set(merging->err, ERR_BAD_REQUEST,
                       "strategic patch: '$retainKeys' must be a list, not %s",
                       json_type_name(names->type));
    if (names->count > KUBE_PATCH_DIRECTIVES_MAX)
        return err_set(merging->err, ERR_TOO_LARGE,
                       "strategic patch: '$retainKeys' has %zu names, but the limit is %d",
                       json_count(names), (int)KUBE_PATCH_DIRECTIVES_MAX);
    JSON_EACH (member, patch) {
        if (member->name[0] != '$' && member->type != JSON_NULL &&
            !names_contain(names, member->name))
            return err_set(merging->err, ERR_BAD_REQUEST,
                           "strategic patch: '%s' is set but not listed in '$retainKeys'",
                           member->name);
    }
    for (struct json *member = json_first(original), *next; member; member = next) {
        next = member->next;
        if (!names_contain(names, member->name))
            json_remove(original, member->name);
    }
    json_remove(patch, "$retainKeys");
    return 0;
}

/* Checks that the elements of the patch are also in its $setElementOrder list, in the same order.
 * Otherwise the patch contradicts itself. */
static int check_order(struct merging *merging, const char *name, const struct json *changes,
                       const struct json *order, const char *key)
{
    const struct json *place = json_first(order);
    JSON_EACH (element, changes) {
        if (json_get(element, "$patch"))
            continue;
        while (place && !element_is_same(element, place, key))
            place = place->next;
        if (!place)
            return err_set(merging->err, ERR_INVALID,
                           "strategic patch: the order in list '%s' does not match its "
                           "$setElementOrder",
                           name);
        place = place->next;
    }
    return 0;
}

/* Applies one $setElementOrder/NAME and the changes of that list, and removes the changes from
 * `patch`. */
static int apply_order(struct merging *merging, struct json *original, struct json *patch,
                       const char *name, const struct json *order, const struct schema_object *type)
{
    const struct schema *list = member_schema(type, name);
    const char *key = merge_key(list);
    struct json *live = json_get(original, name), *changes = json_get(patch, name);
    if (order->type != JSON_ARRAY)
        return err_set(merging->err, ERR_BAD_REQUEST,
                       "strategic patch: the order of list '%s' must be a list, not %s", name,
                       json_type_name(order->type));
    if ((live && live->type != JSON_ARRAY && live->type != JSON_NULL) ||
        (changes && changes->type != JSON_ARRAY))
        return 0; /* one of the values is not a list, so the order has no effect */
    if (!live && !changes)
        return 0;
    int result = check_elements(merging, order, name, key);
    if (result == 0)
        result = check_order(merging, name, changes, order, key);
    if (result < 0)
        return result;
    /* Saves the old order, because merging moves the elements. */
    struct items before = items_of(merging, live);
    struct json *merged = live;
    if (changes) {
        json_remove(patch, name);
        result = merge_lists(merging, list, name, live, changes, &merged);
        if (result < 0)
            return result;
    } else {
        result = check_elements(merging, live, name, key);
        if (result < 0)
            return result;
    }
    struct items ordered =
        put_in_order(merging, items_of(merging, merged), items_of(merging, order), before, key);
    json_set(merging->arena, original, name, array_of(merging, ordered));
    return 0;
}

static int apply_orders(struct merging *merging, struct json *original, struct json *patch,
                        const struct schema_object *type)
{
    struct items members = items_of(merging, patch);
    for (size_t i = 0; i < members.count; i++) {
        struct json *order = members.at[i];
        if (!str_has_prefix(order->name, SET_ORDER))
            continue;
        json_remove(patch, order->name);
        int result =
            apply_order(merging, original, patch, order->name + strlen(SET_ORDER), order, type);
        if (result < 0)
            return result;
    }
    return 0;
}

static int delete_values(struct merging *merging, struct json *original, const char *name,
                         const struct json *values)
{
    if (values->type != JSON_ARRAY)
        return err_set(
            merging->err, ERR_BAD_REQUEST,
            "strategic patch: the values to delete from list '%s' must be a list, not %s", name,
            json_type_name(values->type));
    struct json *live = json_get(original, name);
    if (!live || live->type != JSON_ARRAY)
        return 0;
    if (live->count > KUBE_PATCH_ELEMENTS_MAX || values->count > KUBE_PATCH_ELEMENTS_MAX)
        return err_set(
            merging->err, ERR_TOO_LARGE,
            "strategic patch: list '%s' or its list of values to delete has more than %d elements",
            name, (int)KUBE_PATCH_ELEMENTS_MAX);
    struct items items = items_of(merging, live), gone = items_of(merging, values);
    for (size_t i = 0; i < items.count; i++)
        if (items_find(gone, items.at[i], NULL) != SIZE_MAX)
            json_remove_element(live, items.at[i]);
    return 0;
}

/* ---- Objects ---- */

static int merge_member(struct merging *merging, struct json *original, struct json_names *names,
                        struct json *change, const struct schema_object *type)
{
    const char *name = change->name;
    const struct schema *schema = member_schema(type, name);
    struct json *place = json_names_find(names, original, name), *live = place, *merged = change;
    int result = 0;
    /* If the value is missing or has another type, the patch is merged into an empty value. So
     * directives and nulls are not copied into the object, except in a list that is replaced. */
    if (live && live->type != change->type)
        live = NULL;
    if (change->type == JSON_OBJECT)
        result = merge_objects(merging, live ? live : json_object(merging->arena), change,
                               schema->object, &merged);
    else if (change->type == JSON_ARRAY)
        result = merge_lists(merging, schema, name, live, change, &merged);
    if (result < 0)
        return result;
    if (place) {
        patch_assign(place, merged);
    } else {
        merged->name = name;
        json_names_add(names, original, merged, strlen(name));
        json_list_append(original, merged);
    }
    return 0;
}

static bool is_directive(const struct json *member)
{
    return str_has_prefix(member->name, SET_ORDER) || str_has_prefix(member->name, DELETE_VALUES);
}

/* Limits the number of directives, because each of them scans all members. */
static int check_directives(struct merging *merging, const struct json *patch)
{
    size_t count = 0;
    JSON_EACH (member, patch)
        count += is_directive(member);
    if (count > KUBE_PATCH_DIRECTIVES_MAX)
        return err_set(merging->err, ERR_TOO_LARGE,
                       "strategic patch: an object has %zu directives, but the limit is %d", count,
                       (int)KUBE_PATCH_DIRECTIVES_MAX);
    return 0;
}

static int merge_members(struct merging *merging, struct json *original, struct json *patch,
                         const struct schema_object *type)
{
    _cleanup_json_names_ struct json_names names = {0};
    struct items members = items_of(merging, patch);
    int result = 0;
    patch_drop_nulls(original, patch);
    for (size_t i = 0; result == 0 && i < members.count; i++) {
        struct json *change = members.at[i];
        if (str_has_prefix(change->name, DELETE_VALUES))
            result = delete_values(merging, original, change->name + strlen(DELETE_VALUES), change);
        else if (change->type != JSON_NULL)
            result = merge_member(merging, original, &names, change, type);
    }
    return result;
}

static int merge_objects(struct merging *merging, struct json *original, struct json *patch,
                         const struct schema_object *type, struct json **ret)
{
    const struct json *directive = json_get(patch, "$patch");
    if (directive) {
        const char *word = json_text(directive);
        bool replace = str_eq(word, "replace");
        if (!replace && !str_eq(word, "delete"))
            return err_set(
                merging->err, ERR_BAD_REQUEST,
                "strategic patch: unknown directive '$patch: %s': expected replace or delete",
                word ? word : "?");
        original = json_object(merging->arena);
        if (!replace) {
            *ret = original;
            return 0;
        }
        json_remove(patch, "$patch");
    }
    int result = check_directives(merging, patch);
    if (result == 0)
        result = apply_retain_keys(merging, original, patch);
    if (result == 0)
        result = apply_orders(merging, original, patch, type);
    if (result == 0)
        result = merge_members(merging, original, patch, type);
    *ret = original;
    return result;
}

int kube_patch_strategic(struct arena *arena, const struct json *current, const struct json *patch,
                         const struct schema_object *type, struct json **ret, struct err *err)
{
    if (!type)
        return err_set(err, ERR_MEDIA_TYPE,
                       "the body of the request was in an unknown format - accepted media types "
                       "include: application/json-patch+json, application/merge-patch+json, "
                       "application/apply-patch+yaml");
    if (patch->type != JSON_OBJECT || current->type != JSON_OBJECT)
        return err_set(err, ERR_BAD_REQUEST, "a strategic merge patch must be an object, not %s",
                       json_type_name(patch->type));
    struct merging merging = {.arena = arena, .err = err};
    struct json *result = NULL;
    int code = merge_objects(&merging, json_clone(arena, current), json_clone(arena, patch), type,
                             &result);
    if (code < 0)
        return code;
    *ret = result;
    return 0;
}

/* Finds the differences of two objects in one walk over both; see typed.h. */
#include "kube/patch/typed.h"

#include "kube/patch/typed_internal.h"

#include <string.h>

enum side { REMOVED, MODIFIED, ADDED, SIDES };

/* The result for one value, per side: whether the value itself is in the set, and the fields below
 * it. */
struct found {
    bool member[SIDES];
    struct fieldset below[SIDES];
};

/* Collects the results for the parts of one value, per side. */
struct gathered {
    struct fieldset_builder sides[SIDES];
};

static struct found typed_compare_values(struct arena *arena, const struct schema *schema,
                                         const struct json *old, const struct json *new_);

static void gathered_add(struct arena *arena, struct gathered *gathered,
                         const struct fieldset_element *element, const struct found *found)
{
    for (int side = 0; side < SIDES; side++)
        fieldset_add(arena, &gathered->sides[side], *element, found->member[side],
                     found->below[side]);
}

static void compare_whole(struct found *found, const struct json *old, const struct json *new_)
{
    found->member[ADDED] |= !old;
    found->member[REMOVED] |= !new_;
    found->member[MODIFIED] |= old && new_ && !json_equal(old, new_);
}

/* Duplicate elements have no identity, so all duplicates together count as one value. */
static void compare_repeated(struct arena *arena, const struct schema *part,
                             const struct typed_item *old, size_t old_count,
                             const struct typed_item *new_, size_t new_count, struct found *ret)
{
    struct found found = {0};
    if (old_count > 1 && new_count > 1) {
        found.member[MODIFIED] = old_count != new_count;
        for (size_t i = 0; i < old_count && !found.member[MODIFIED]; i++)
            found.member[MODIFIED] = !json_equal(old[i].json, new_[i].json);
    } else if (old_count > 1) {
        if (new_count > 0)
            found = typed_compare_values(arena, part, NULL, new_->json);
        found.member[REMOVED] = true;
    } else {
        if (old_count > 0)
            found = typed_compare_values(arena, part, old->json, NULL);
        found.member[ADDED] = true;
    }
    *ret = found;
}

/* Compares the parts of two values. One of the values may be NULL. */
static void compare_parts(struct arena *arena, const struct schema *schema, const struct json *old,
                          const struct json *new_, struct found *found)
{
    struct typed_items before, after;
    struct gathered gathered = {0};
    typed_items(arena, schema, old, &before, NULL);
    typed_items(arena, schema, new_, &after, NULL);
    for (size_t i = 0, j = 0; i < before.count || j < after.count;) {
        int order = i == before.count ? 1
                    : j == after.count
                        ? -1
                        : fieldset_element_compare(&before.at[i].element, &after.at[j].element);
        size_t olds = order <= 0 ? typed_items_same(&before, i) : 0;
        size_t news = order >= 0 ? typed_items_same(&after, j) : 0;
        const struct typed_item *item = olds ? &before.at[i] : &after.at[j];
        const struct schema *part = typed_part(schema, &item->element, NULL);
        struct found below;
        if (olds <= 1 && news <= 1)
            below = typed_compare_values(arena, part, olds ? before.at[i].json : NULL,
                                         news ? after.at[j].json : NULL);
        else
            compare_repeated(arena, part, olds ? &before.at[i] : NULL, olds,
                             news ? &after.at[j] : NULL, news, &below);
        gathered_add(arena, &gathered, &item->element, &below);
        i += olds;
        j += news;
    }
    for (int side = 0; side < SIDES; side++)
        found->below[side] = fieldset_build(arena, &gathered.sides[side]);
    found->member[ADDED] |= !old;
    found->member[REMOVED] |= !new_;
}

/* Compares two values. At most one of them may be NULL. */
static struct found typed_compare_values(struct arena *arena, const struct schema *schema,
                                         const struct json *old, const struct json *new_)
{
    struct found found = {0};
    enum typed_shape before = typed_shape(schema, old), after = typed_shape(schema, new_);
    bool has_parts = json_count(old) > 0 || json_count(new_) > 0;
    if (old && new_ && before != after) {
        /* The shape differs: the old parts are removed, the new parts are added, and the value
         * itself is modified. */
        if (before != TYPED_WHOLE)
            compare_parts(arena, schema, old, NULL, &found);
        else
            compare_parts(arena, schema, NULL, new_, &found);
        memset(found.member, 0, sizeof(found.member));
        compare_whole(&found, old, new_);
    } else if ((old ? before : after) == TYPED_WHOLE || !has_parts) {
        compare_whole(&found, old, new_);
    } else {
        compare_parts(arena, schema, old, new_, &found);
    }
    return found;
}

struct typed_comparison typed_compare(struct arena *arena, const struct schema_object *type,
                                      const struct json *old, const struct json *new_)
{
    struct found found = typed_compare_values(arena, TYPED_ROOT(type), old, new_);
    return (struct typed_comparison){.removed = found.below[REMOVED],
                                     .modified = found.below[MODIFIED],
                                     .added = found.below[ADDED]};
}

/* Finds the differences of two objects in one walk over both; see typed.h. */
#include "kube/patch/typed.h"

#include "kube/patch/typed_internal.h"

#include <string.h>

enum difference { REMOVED, MODIFIED, ADDED, DIFFERENCES };

/* The result for one value, per kind of difference. */
struct found {
    bool member[DIFFERENCES];           /* the value itself is removed, modified or added */
    struct fieldset below[DIFFERENCES]; /* the parts that are removed, modified or added */
};

/* Collects the results for the parts of one value, per kind of difference. */
struct gathered {
    struct fieldset_builder builders[DIFFERENCES];
};

static struct found typed_compare_values(struct arena *arena, const struct schema *schema,
                                         const struct json *old, const struct json *new_);

static void gathered_add(struct arena *arena, struct gathered *gathered,
                         const struct fieldset_element *element, const struct found *found)
{
    for (int kind = 0; kind < DIFFERENCES; kind++)
        fieldset_add(arena, &gathered->builders[kind], *element, found->member[kind],
                     found->below[kind]);
}

static void compare_whole(struct found *found, const struct json *old, const struct json *new_)
{
    found->member[ADDED] |= !old;
    found->member[REMOVED] |= !new_;
    found->member[MODIFIED] |= old && new_ && !json_equal(old, new_);
}

/* Compares the elements with one identity if a list has several of them. All duplicates in a list
 * together count as one value. */
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
        size_t old_count = order <= 0 ? typed_items_same(&before, i) : 0;
        size_t new_count = order >= 0 ? typed_items_same(&after, j) : 0;
        const struct typed_item *item = old_count ? &before.at[i] : &after.at[j];
        const struct schema *part = typed_part(schema, &item->element, NULL);
        struct found below;
        if (old_count <= 1 && new_count <= 1)
            below = typed_compare_values(arena, part, old_count ? before.at[i].json : NULL,
                                         new_count ? after.at[j].json : NULL);
        else
            compare_repeated(arena, part, old_count ? &before.at[i] : NULL, old_count,
                             new_count ? &after.at[j] : NULL, new_count, &below);
        gathered_add(arena, &gathered, &item->element, &below);
        i += old_count;
        j += new_count;
    }
    for (int kind = 0; kind < DIFFERENCES; kind++)
        found->below[kind] = fieldset_build(arena, &gathered.builders[kind]);
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
        /* The shape differs, so only one of the values has parts. They are removed or added, and
         * the value itself is modified. */
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

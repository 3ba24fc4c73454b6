/* Builds, combines and visits sets of paths; see fieldset.h. The recursion is as deep as the
 * longest path. Paths come from JSON, whose depth is limited. */
#include "kube/patch/fieldset.h"

#include "base/mem.h"

#include <stdlib.h>
#include <string.h>

/* ---- Order ----------------------------------------------------------------------------------- */

static int compare_integers(int64_t a, int64_t b)
{
    return (a > b) - (a < b);
}

static bool element_is_number(const struct json *value)
{
    return value->type == JSON_INT || value->type == JSON_REAL;
}

static int element_compare_numbers(const struct json *a, const struct json *b)
{
    if (a->type == JSON_INT && b->type == JSON_INT)
        return compare_integers(a->integer, b->integer);
    double x = json_number(a, 0), y = json_number(b, 0);
    return (x > y) - (x < y);
}

/* Orders values by type: numbers, strings, booleans, null. Elements have no values of other
 * types. */
static int element_rank(const struct json *value)
{
    switch (value->type) {
    case JSON_INT:
    case JSON_REAL:
        return 0;
    case JSON_STRING:
        return 1;
    case JSON_BOOL:
        return 2;
    default:
        return 3;
    }
}

static int compare_values(const struct json *a, const struct json *b)
{
    if (element_rank(a) != element_rank(b))
        return element_rank(a) - element_rank(b);
    if (element_is_number(a))
        return element_compare_numbers(a, b);
    if (a->type == JSON_STRING)
        return strcmp(a->text, b->text);
    if (a->type == JSON_BOOL)
        return (int)a->boolean - (int)b->boolean;
    return 0;
}

static int compare_keys(const struct json *a, const struct json *b)
{
    const struct json *x = json_first(a), *y = json_first(b);
    for (; x && y; x = x->next, y = y->next) {
        int order = strcmp(x->name, y->name);
        if (order == 0)
            order = compare_values(x, y);
        if (order != 0)
            return order;
    }
    return (x != NULL) - (y != NULL);
}

int fieldset_element_compare(const struct fieldset_element *a, const struct fieldset_element *b)
{
    if (a->kind != b->kind)
        return (int)a->kind - (int)b->kind;
    switch (a->kind) {
    case FIELDSET_FIELD:
        return strcmp(a->name, b->name);
    case FIELDSET_KEY:
        return compare_keys(a->value, b->value);
    case FIELDSET_VALUE:
        return compare_values(a->value, b->value);
    case FIELDSET_INDEX:
        break;
    }
    return compare_integers(a->index, b->index);
}

bool fieldset_equal(struct fieldset a, struct fieldset b)
{
    const struct fieldset_node *x = a.first, *y = b.first;
    for (; x && y; x = x->next, y = y->next) {
        if (x == y)
            return true; /* both sets share this node and the rest of the list */
        if (x->member != y->member || fieldset_element_compare(&x->element, &y->element) != 0 ||
            !fieldset_equal(x->children, y->children))
            return false;
    }
    return x == y;
}

/* ---- Making ---------------------------------------------------------------------------------- */

static void builder_append(struct fieldset_builder *builder, struct fieldset_node *node)
{
    node->next = NULL;
    if (builder->last)
        builder->last->next = node;
    else
        builder->first = node;
    builder->last = node;
}

void fieldset_add(struct arena *arena, struct fieldset_builder *builder,
                  struct fieldset_element element, bool member, struct fieldset children)
{
    if (!member && !children.first)
        return;
    if (builder->last && fieldset_element_compare(&builder->last->element, &element) >= 0)
        builder->unordered = true;
    struct fieldset_node *node = arena_alloc(arena, sizeof(*node));
    *node = (struct fieldset_node){.element = element, .member = member, .children = children};
    builder_append(builder, node);
}

static int compare_nodes(const void *a, const void *b)
{
    const struct fieldset_node *const *x = a, *const *y = b;
    return fieldset_element_compare(&(*x)->element, &(*y)->element);
}

/* Sorts the nodes. Nodes of the same element are merged into one. */
static struct fieldset fieldset_sort(struct arena *arena, struct fieldset_builder *builder)
{
    size_t count = 0;
    for (const struct fieldset_node *node = builder->first; node; node = node->next)
        count++;
    struct fieldset_node **nodes = ARENA_ARRAY(arena, struct fieldset_node *, count);
    size_t filled = 0;
    for (struct fieldset_node *node = builder->first; node;
         node = (struct fieldset_node *)node->next)
        nodes[filled++] = node;
    qsort(nodes, count, sizeof(struct fieldset_node *), compare_nodes);
    struct fieldset_builder sorted = {0};
    for (size_t i = 0; i < count; i++) {
        if (sorted.last &&
            fieldset_element_compare(&sorted.last->element, &nodes[i]->element) == 0) {
            sorted.last->member |= nodes[i]->member;
            sorted.last->children =
                fieldset_union(arena, sorted.last->children, nodes[i]->children);
        } else {
            builder_append(&sorted, nodes[i]);
        }
    }
    return (struct fieldset){sorted.first};
}

struct fieldset fieldset_build(struct arena *arena, struct fieldset_builder *builder)
{
    return builder->unordered ? fieldset_sort(arena, builder) : (struct fieldset){builder->first};
}

struct fieldset fieldset_of_path(struct arena *arena, const char *const *names)
{
    struct fieldset_builder builder = {0};
    if (names[0])
        fieldset_add(arena, &builder, (struct fieldset_element){.name = names[0]}, !names[1],
                     fieldset_of_path(arena, names + 1));
    return (struct fieldset){builder.first};
}

/* ---- Combining ------------------------------------------------------------------------------- */

enum combination { UNION, INTERSECTION, DIFFERENCE };

static bool is_member(enum combination how, bool a, bool b)
{
    return how == UNION ? a || b : how == INTERSECTION ? a && b : a && !b;
}

static struct fieldset fieldset_combine(struct arena *arena, struct fieldset a, struct fieldset b,
                                        enum combination how)
{
    const bool keeps_a = how != INTERSECTION, keeps_b = how == UNION;
    const struct fieldset_node *x = a.first, *y = b.first;
    struct fieldset_builder builder = {0};
    while (x && y) {
        int order = fieldset_element_compare(&x->element, &y->element);
        if (order < 0) {
            if (keeps_a)
                fieldset_add(arena, &builder, x->element, x->member, x->children);
            x = x->next;
        } else if (order > 0) {
            if (keeps_b)
                fieldset_add(arena, &builder, y->element, y->member, y->children);
            y = y->next;
        } else {
            fieldset_add(arena, &builder, x->element, is_member(how, x->member, y->member),
                         fieldset_combine(arena, x->children, y->children, how));
            x = x->next;
            y = y->next;
        }
    }
    /* The result shares the remaining nodes of one operand, so they are not copied. */
    const struct fieldset_node *rest = x && keeps_a ? x : y && keeps_b ? y : NULL;
    if (!builder.last)
        return (struct fieldset){rest};
    builder.last->next = rest;
    return (struct fieldset){builder.first};
}

struct fieldset fieldset_union(struct arena *arena, struct fieldset a, struct fieldset b)
{
    return fieldset_combine(arena, a, b, UNION);
}

struct fieldset fieldset_intersection(struct arena *arena, struct fieldset a, struct fieldset b)
{
    return fieldset_combine(arena, a, b, INTERSECTION);
}

struct fieldset fieldset_difference(struct arena *arena, struct fieldset a, struct fieldset b)
{
    return fieldset_combine(arena, a, b, DIFFERENCE);
}

/* ---- Paths as text --------------------------------------------------------------------------- */

static const char *path_of_key(struct arena *arena, const char *prefix, const struct json *key)
{
    const char *path = arena_printf(arena, "%s[", prefix);
    JSON_EACH (field, key)
        path = arena_printf(arena, "%s%s=%s%s", path, field->name, json_to_string(arena, field),
                            field->next ? "," : "");
    return arena_printf(arena, "%s]", path);
}

static const char *element_path(struct arena *arena, const char *prefix,
                                const struct fieldset_element *element)
{
    switch (element->kind) {
    case FIELDSET_FIELD:
        return arena_printf(arena, "%s.%s", prefix, element->name);
    case FIELDSET_KEY:
        return path_of_key(arena, prefix, element->value);
    case FIELDSET_VALUE:
        return arena_printf(arena, "%s[=%s]", prefix, json_to_string(arena, element->value));
    case FIELDSET_INDEX:
        break;
    }
    return arena_printf(arena, "%s[%lld]", prefix, (long long)element->index);
}

static void visit_below(struct arena *arena, struct fieldset set, const char *prefix,
                        fieldset_visitor *visit, void *context)
{
    for (const struct fieldset_node *node = set.first; node; node = node->next)
        if (node->member)
            visit(context, element_path(arena, prefix, &node->element));
    for (const struct fieldset_node *node = set.first; node; node = node->next)
        if (node->children.first)
            visit_below(arena, node->children, element_path(arena, prefix, &node->element), visit,
                        context);
}

void fieldset_visit(struct arena *arena, struct fieldset set, fieldset_visitor *visit,
                    void *context)
{
    visit_below(arena, set, "", visit, context);
}

/* A set of paths into an object: which fields somebody owns, which changed. It is a tree whose
 * nodes are the pieces of the paths, sorted at each level in the order of Kubernetes' FieldsV1, so
 * that two sets are combined in one walk over both and equal sets are equal text.
 *
 * Sets are values and never change once made; what comes out of an operation may share nodes with
 * what went in, so all of them live as long as the shortest-lived arena among them. */
#ifndef TRAINYARD_KUBE_FIELDSET_H
#define TRAINYARD_KUBE_FIELDSET_H

#include "base/arena.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stdint.h>

enum fieldset_kind {
    FIELDSET_FIELD, /* a member of an object, by its name: f:spec */
    FIELDSET_KEY,   /* an element of a list, by some of its fields: k:{"name":"web"} */
    FIELDSET_VALUE, /* an element of a set, by its value: v:"a" */
    FIELDSET_INDEX, /* an element of a list, by its place: i:0; read, never made here */
};

/* One piece of a path. */
struct fieldset_element {
    enum fieldset_kind kind;
    union {
        const char *name;
        const struct json *value; /* of a key an object whose members are sorted by name */
        int64_t index;
    };
};

struct fieldset {
    const struct fieldset_node *first; /* in order, each element once; NULL: the empty set */
};

/* A node is a member of the set, or has children that are, or both. */
struct fieldset_node {
    struct fieldset_element element;
    bool member;
    struct fieldset children;
    const struct fieldset_node *next;
};

/* Less than, equal to or more than 0: fields before keys before values before places. */
int fieldset_element_compare(const struct fieldset_element *a, const struct fieldset_element *b);

static inline bool fieldset_is_empty(struct fieldset set)
{
    return !set.first;
}
bool fieldset_equal(struct fieldset a, struct fieldset b);

/* ---- Making ---------------------------------------------------------------------------------- */

/* Collects the nodes of one level, in any order; starts zeroed. */
struct fieldset_builder {
    struct fieldset_node *first, *last;
    bool unordered;
};

/* Nothing is added where it is neither a member nor has children. Name and value are not copied. */
void fieldset_add(struct arena *arena, struct fieldset_builder *builder,
                  struct fieldset_element element, bool member, struct fieldset children);
struct fieldset fieldset_build(struct arena *arena, struct fieldset_builder *builder);

/* The one path of these field names, which end with NULL and are not copied. */
struct fieldset fieldset_of_path(struct arena *arena, const char *const *names);

/* ---- Combining ------------------------------------------------------------------------------- */

struct fieldset fieldset_union(struct arena *arena, struct fieldset a, struct fieldset b);
struct fieldset fieldset_intersection(struct arena *arena, struct fieldset a, struct fieldset b);
/* What is in `a` and not in `b`. What lies below a path of `b` stays. */
struct fieldset fieldset_difference(struct arena *arena, struct fieldset a, struct fieldset b);

/* ---- Telling --------------------------------------------------------------------------------- */

/* Each path as Kubernetes writes it, `.spec.containers[name="web"].image`, in the order in which
 * it lists conflicts: what is at a level before what is below it. The text lives in the arena. */
typedef void fieldset_visitor(void *context, const char *path);
void fieldset_visit(struct arena *arena, struct fieldset set, fieldset_visitor *visit,
                    void *context);

/* ---- fieldset_json.c: FieldsV1 --------------------------------------------------------------- */

/* What is not FieldsV1 is ERR_BAD_REQUEST; pieces of a kind not known are left out, as Kubernetes
 * does. The set refers to the tree. */
int fieldset_from_json(struct arena *arena, const struct json *fields, struct fieldset *ret,
                       struct err *err);
struct json *fieldset_to_json(struct arena *arena, struct fieldset set);

#endif

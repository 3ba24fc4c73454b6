/* A set of paths into an object: the fields that a manager owns, or that changed. It is a tree
 * whose nodes are the elements of the paths, sorted at each level in the order of Kubernetes'
 * FieldsV1. Thus two sets are combined in one walk over both, and equal sets have equal text.
 *
 * Sets are immutable values. A result may share nodes with the operands, so all of them are valid
 * as long as the arena that is freed first. */
#ifndef TRAINYARD_KUBE_PATCH_FIELDSET_H
#define TRAINYARD_KUBE_PATCH_FIELDSET_H

#include "base/arena.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stdint.h>

enum fieldset_kind {
    FIELDSET_FIELD, /* a member of an object, by name: f:spec */
    FIELDSET_KEY,   /* a list element, by its key fields: k:{"name":"web"} */
    FIELDSET_VALUE, /* an element of a set, by value: v:"a" */
    FIELDSET_INDEX, /* a list element, by position: i:0; read, but never written here */
};

/* One element of a path. */
struct fieldset_element {
    enum fieldset_kind kind;
    union {
        const char *name;
        const struct json *value; /* for FIELDSET_KEY an object with members sorted by name */
        int64_t index;
    };
};

struct fieldset {
    const struct fieldset_node *first; /* sorted, each element once; NULL: the empty set */
};

/* A node is a member of the set, or has children that are, or both. */
struct fieldset_node {
    struct fieldset_element element;
    bool member;
    struct fieldset children;
    const struct fieldset_node *next;
};

/* Returns less than, equal to or more than 0. Fields sort before keys, keys before values, values
 * before positions. */
int fieldset_element_compare(const struct fieldset_element *a, const struct fieldset_element *b);

static inline bool fieldset_is_empty(struct fieldset set)
{
    return !set.first;
}
bool fieldset_equal(struct fieldset a, struct fieldset b);

/* ---- Making ---------------------------------------------------------------------------------- */

/* Collects the nodes of one level in any order; zero-initialized. */
struct fieldset_builder {
    struct fieldset_node *first, *last;
    bool unordered;
};

/* Adds an element that is a member or has children; otherwise does nothing. Name and value are not
 * copied. */
void fieldset_add(struct arena *arena, struct fieldset_builder *builder,
                  struct fieldset_element element, bool member, struct fieldset children);
struct fieldset fieldset_build(struct arena *arena, struct fieldset_builder *builder);

/* Returns the set of one path of field names. The list ends with NULL; the names are not copied. */
struct fieldset fieldset_of_path(struct arena *arena, const char *const *names);

/* ---- Combining ------------------------------------------------------------------------------- */

struct fieldset fieldset_union(struct arena *arena, struct fieldset a, struct fieldset b);
struct fieldset fieldset_intersection(struct arena *arena, struct fieldset a, struct fieldset b);
/* Returns the members of `a` that are not in `b`. Paths below a member of `b` stay. */
struct fieldset fieldset_difference(struct arena *arena, struct fieldset a, struct fieldset b);

/* ---- Visiting -------------------------------------------------------------------------------- */

/* Visits each path as Kubernetes writes it, `.spec.containers[name="web"].image`, in the order in
 * which Kubernetes lists conflicts: a level before the levels below it. The text is in the arena.
 */
typedef void fieldset_visitor(void *context, const char *path);
void fieldset_visit(struct arena *arena, struct fieldset set, fieldset_visitor *visit,
                    void *context);

/* ---- fieldset_json.c: FieldsV1 --------------------------------------------------------------- */

/* Reads FieldsV1. Returns 0, or -ERR_BAD_REQUEST if it is none. Elements of an unknown kind are
 * ignored, as in Kubernetes. The set refers to the tree. */
int fieldset_from_json(struct arena *arena, const struct json *fields, struct fieldset *ret,
                       struct err *err);
struct json *fieldset_to_json(struct arena *arena, struct fieldset set);

#endif

/* A set of paths into an object: the fields that a manager owns, or that have changed. The set is a
 * tree whose nodes are the elements of the paths. Each level is sorted in the order of Kubernetes'
 * FieldsV1, so that one walk over two sets can combine them.
 *
 * Sets are immutable values. A result may share nodes with its operands, so it is valid only while
 * the arenas of all operands exist. */
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
    FIELDSET_INDEX, /* a list element, by position: i:0; only in FieldsV1 that a client sent */
};

/* One element of a path. */
struct fieldset_element {
    enum fieldset_kind kind;
    union {
        const char *name;
        const struct json *value; /* FIELDSET_KEY: an object with members sorted by name */
        int64_t index;
    };
};

struct fieldset {
    /* The nodes of one level, sorted by element. Each element occurs once. NULL: the empty set. */
    const struct fieldset_node *first;
};

/* A node of the tree. A node that is not a member has children. */
struct fieldset_node {
    struct fieldset_element element;
    bool member;              /* the path from the root to this node is in the set */
    struct fieldset children; /* the longer paths through this node */
    const struct fieldset_node *next;
};

/* Compares in the order of FieldsV1: first by kind, in the order of enum fieldset_kind. Returns a
 * value less than, equal to or greater than 0. */
int fieldset_element_compare(const struct fieldset_element *a, const struct fieldset_element *b);

static inline bool fieldset_is_empty(struct fieldset set)
{
    return !set.first;
}
bool fieldset_equal(struct fieldset a, struct fieldset b);

/* ---- Making ---------------------------------------------------------------------------------- */

/* Collects the nodes of one level in any order. The caller initializes it with zeros. */
struct fieldset_builder {
    struct fieldset_node *first, *last;
    bool unordered; /* the nodes are not sorted, or an element occurs twice */
};

/* Adds an element. Does nothing if the element is not a member and has no children. Does not copy
 * the name or value. */
void fieldset_add(struct arena *arena, struct fieldset_builder *builder,
                  struct fieldset_element element, bool member, struct fieldset children);
/* Returns the set. Sorts the nodes and merges nodes of the same element if necessary. */
struct fieldset fieldset_build(struct arena *arena, struct fieldset_builder *builder);

/* Returns a set with one path of field names. `names` is NULL-terminated. Does not copy the
 * names. */
struct fieldset fieldset_of_path(struct arena *arena, const char *const *names);

/* ---- Combining ------------------------------------------------------------------------------- */

struct fieldset fieldset_union(struct arena *arena, struct fieldset a, struct fieldset b);
struct fieldset fieldset_intersection(struct arena *arena, struct fieldset a, struct fieldset b);
/* Returns the paths of `a` that are not in `b`. A path below a path of `b` stays in the result. */
struct fieldset fieldset_difference(struct arena *arena, struct fieldset a, struct fieldset b);

/* ---- Visiting -------------------------------------------------------------------------------- */

/* Calls `visit` for each path of the set. A path has Kubernetes' notation,
 * `.spec.containers[name="web"].image`, and is in the arena. On each level of the tree, the paths
 * that end on this level come before all longer paths, as in Kubernetes' lists of conflicts. */
typedef void fieldset_visitor(void *context, const char *path);
void fieldset_visit(struct arena *arena, struct fieldset set, fieldset_visitor *visit,
                    void *context);

/* ---- fieldset_json.c: FieldsV1 --------------------------------------------------------------- */

/* Reads FieldsV1. Returns 0, or -ERR_BAD_REQUEST if `fields` is not valid FieldsV1. Ignores
 * elements of an unknown kind, as Kubernetes does. The set refers to strings of `fields`. */
int fieldset_from_json(struct arena *arena, const struct json *fields, struct fieldset *ret,
                       struct err *err);
/* Returns FieldsV1. The JSON refers to no strings of the set. */
struct json *fieldset_to_json(struct arena *arena, struct fieldset set);

#endif

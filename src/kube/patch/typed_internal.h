/* Shared by the typed_*.c files: the shape of a value, and its parts in the order of a fieldset. */
#ifndef TRAINYARD_KUBE_PATCH_TYPED_INTERNAL_H
#define TRAINYARD_KUBE_PATCH_TYPED_INTERNAL_H

#include "kube/patch/typed.h"

enum typed_shape {
    TYPED_WHOLE,  /* owned as one value */
    TYPED_OBJECT, /* owned per known field */
    TYPED_MAP,    /* owned per entry */
    TYPED_LIST,   /* owned per element; each element has an identity */
};

/* Returns how a value is owned. `value` may be NULL: then the schema decides. With SCHEMA_ANY, an
 * object is a map, and any other value is owned as a whole. */
enum typed_shape typed_shape(const struct schema *schema, const struct json *value);

/* One part of a value: a member or an element. */
struct typed_item {
    struct fieldset_element element; /* the identity of the part */
    struct json *json;
    size_t position; /* the position in the object or list */
};

struct typed_items {
    struct typed_item *at; /* sorted by element, then by position */
    size_t count;
};

/* Sets *ret to the parts of an object, map or list. NULL and the value null have no parts. Returns
 * 0, or a negative code if a list element has no identity: -ERR_BAD_REQUEST, or -ERR_INTERNAL if
 * `err` is NULL. Then *ret has the other parts. */
int typed_items(struct arena *arena, const struct schema *schema, const struct json *value,
                struct typed_items *ret, struct err *err);

/* Returns the number of consecutive parts, starting at `position`, that have the same element. */
size_t typed_items_same(const struct typed_items *items, size_t position);

/* Returns the schema of a part. If `ret_known` is not NULL, sets *ret_known to whether the part is
 * a known field of an object. */
const struct schema *typed_part(const struct schema *schema, const struct fieldset_element *element,
                                bool *ret_known);

/* The schema of a whole object of the type. Valid until the end of the enclosing block. */
#define TYPED_ROOT(type_) (&(const struct schema){.type = SCHEMA_OBJECT, .object = (type_)})

#endif

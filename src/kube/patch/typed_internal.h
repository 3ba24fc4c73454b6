/* What the walks of typed.h share: the shape of a value, and its parts in the order of a set. */
#ifndef TRAINYARD_KUBE_TYPED_INTERNAL_H
#define TRAINYARD_KUBE_TYPED_INTERNAL_H

#include "kube/patch/typed.h"

enum typed_shape {
    TYPED_WHOLE, /* owned as it is */
    TYPED_OBJECT,
    TYPED_MAP,
    TYPED_LIST,
};

/* How a value is owned. What nobody described is a map where it is an object, and else whole. */
enum typed_shape typed_shape(const struct schema *schema, const struct json *value);

/* One part of a value: a member or an element. */
struct typed_item {
    struct fieldset_element element;
    struct json *json;
    size_t position; /* among its siblings in the object or list */
};

struct typed_items {
    struct typed_item *at; /* by element, those of the same element by position */
    size_t count;
};

/* The parts of an object, map or list; none of null. ERR_BAD_REQUEST where an element of a list
 * cannot be told from others; `ret` has the rest then. */
int typed_items(struct arena *arena, const struct schema *schema, const struct json *value,
                struct typed_items *ret, struct err *err);

/* How many from `position` on have the same element. */
size_t typed_items_same(const struct typed_items *items, size_t position);

/* The description of a part. `ret_known` (or NULL): it is a known field of an object. */
const struct schema *typed_part(const struct schema *schema, const struct fieldset_element *element,
                                bool *ret_known);

#define TYPED_ROOT(type_) (&(const struct schema){.type = SCHEMA_OBJECT, .object = (type_)})

#endif

/* What a strategic merge patch must know of the built-in types: which lists are merged, and by
 * which key. Everything not said here merges as upstream's default does: objects member by member,
 * lists as a whole. */
#ifndef TRAINYARD_KUBE_PATCH_SCHEMA_H
#define TRAINYARD_KUBE_PATCH_SCHEMA_H

#include "kube/resource.h"

struct patch_type;

struct patch_field {
    const char *name; /* NULL ends the list */
    const struct patch_type *type;
    bool merge;            /* a list whose elements are merged, not replaced */
    const char *merge_key; /* NULL in a merged list: its elements are plain values */
};

struct patch_type {
    const struct patch_field *fields;
};

/* The type of a resource's objects; NULL for one that is no built-in of Kubernetes. */
const struct patch_type *patch_type_of(const struct kube_resource *resource);

/* Never NULL: a field that is not listed has a type without fields. */
const struct patch_field *patch_field_of(const struct patch_type *type, const char *name);

#endif

/* Operations on objects by their schema, for server-side apply and managedFields: lists the fields
 * of an object, compares two objects, merges objects, and removes fields. In this file, a field is
 * a value that a manager can own: a plain value, a list or object that is owned as a whole, a list
 * element with an identity, or an entry of a map. The rules are the same as in Kubernetes'
 * server-side apply (docs/design/apply.md). Pure.
 *
 * A value whose type does not match its schema is owned as a whole. Validation rejects such values
 * elsewhere. */
#ifndef TRAINYARD_KUBE_PATCH_TYPED_H
#define TRAINYARD_KUBE_PATCH_TYPED_H

#include "kube/patch/fieldset.h"
#include "kube/schema/schema.h"

/* Returns all fields of the object. A known field with parts that are owned one by one is in the
 * set only if it is null or {}; otherwise its parts are. List elements and map entries are always
 * in the set, in addition to their parts. */
struct fieldset typed_fields(struct arena *arena, const struct schema_object *type,
                             const struct json *object);

/* Returns `set` plus the known fields that are parents of its members. So "spec.strategy" has an
 * owner if a field below it has one. */
struct fieldset typed_with_parents(struct arena *arena, const struct schema_object *type,
                                   struct fieldset set);

struct typed_comparison {
    struct fieldset removed;  /* fields that only the old object has */
    struct fieldset modified; /* fields whose values differ */
    struct fieldset added;    /* fields that only the new object has */
};
struct typed_comparison typed_compare(struct arena *arena, const struct schema_object *type,
                                      const struct json *old, const struct json *new_);

/* Returns `live` with the values of `config`. Keeps the fields that `config` does not have. If the
 * order of list elements differs, the order of `config` is used. The result shares no memory with
 * `live` and `config`. */
struct json *typed_merge(struct arena *arena, const struct schema_object *type,
                         const struct json *live, const struct json *config);

/* Removes the fields in the set with all fields below them. Also removes objects and lists that
 * become empty. */
void typed_remove(struct arena *arena, const struct schema_object *type, struct json *object,
                  struct fieldset set);

/* Checks that the object can be applied: all fields are in the schema and have the right JSON type,
 * and the elements of lists with keys or `set` are unique and have a key. Returns 0, or
 * -ERR_BAD_REQUEST with Kubernetes' message and the path of the first error. */
int typed_check(struct arena *arena, const struct schema_object *type, const struct json *object,
                struct err *err);

/* Returns the JSON that Kubernetes writes for an object in which no field is set:
 * {"metadata":{"creationTimestamp":null},"spec":{"containers":null}}. A comparison with it gives
 * the fields that a new object sets. */
struct json *typed_zero(struct arena *arena, const struct schema_object *type);

#endif

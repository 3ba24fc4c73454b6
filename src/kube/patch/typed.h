/* Operations on an object with its description: its set of fields, the difference of two objects,
 * merging, removing fields. A field here is what a manager can own: a plain value, a list or object
 * that is owned as a whole, a list element with an identity, or an entry of a map. The rules are
 * those of Kubernetes' server-side apply (docs/design/apply.md). Pure; used by
 * kube/patch/managed_fields.h and kube/patch/apply.h.
 *
 * A value whose type differs from its description is treated as one whole value; validation rejects
 * it elsewhere. */
#ifndef TRAINYARD_KUBE_PATCH_TYPED_H
#define TRAINYARD_KUBE_PATCH_TYPED_H

#include "kube/patch/fieldset.h"
#include "kube/schema/schema.h"

/* Returns every field of the object. Objects with known fields are not members themselves, but list
 * elements and map entries are. */
struct fieldset typed_fields(struct arena *arena, const struct schema_object *type,
                             const struct json *object);

/* Returns `set` with the known fields on the way to its members. If no manager owns anything below
 * "spec.strategy", no manager owns "spec.strategy" either. */
struct fieldset typed_with_parents(struct arena *arena, const struct schema_object *type,
                                   struct fieldset set);

struct typed_comparison {
    struct fieldset removed, modified, added;
};
struct typed_comparison typed_compare(struct arena *arena, const struct schema_object *type,
                                      const struct json *old, const struct json *new_);

/* Merges `config` into `live`; nothing is removed. List elements keep their order, or get that of
 * `config` if it differs. The result shares no nodes with either. */
struct json *typed_merge(struct arena *arena, const struct schema_object *type,
                         const struct json *live, const struct json *config);

/* Removes the members of the set with everything below them, and what becomes empty by that. */
void typed_remove(struct arena *arena, const struct schema_object *type, struct json *object,
                  struct fieldset set);

/* Checks that the object can be applied: known fields have the right shape, and list elements have
 * their keys and are unique. Returns 0, or -ERR_BAD_REQUEST with the path, with the message of
 * Kubernetes. */
int typed_check(struct arena *arena, const struct schema_object *type, const struct json *object,
                struct err *err);

/* Returns what Kubernetes writes for an object without any set field:
 * {"metadata":{"creationTimestamp":null},"spec":{"containers":null}}. Fields that a new object sets
 * are found by comparison with it. */
struct json *typed_zero(struct arena *arena, const struct schema_object *type);

#endif

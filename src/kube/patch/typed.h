/* An object seen through its description: which fields it has, what differs between two of them,
 * one laid over another, fields taken away. A field here is what somebody can own: a plain value, a
 * list or object that is owned as a whole, an element of a list whose elements are told apart, an
 * entry of a map. The rules are those of Kubernetes' server-side apply (docs/design/apply.md).
 * Pure; kube/patch/managed_fields.h and kube/patch/apply.h are made of these.
 *
 * A value that is of another type than its description says is taken as a whole: to refuse it is
 * somebody else's business. */
#ifndef TRAINYARD_KUBE_TYPED_H
#define TRAINYARD_KUBE_TYPED_H

#include "kube/patch/fieldset.h"
#include "kube/schema/schema.h"

/* Every field of the object. The parts of an object with known fields are not among them, but the
 * elements of lists and the entries of maps are. */
struct fieldset typed_fields(struct arena *arena, const struct schema_object *type,
                             const struct json *object);

/* `set` and with it the known fields on the way to what is in it: where nobody owns anything below
 * "spec.strategy", that is not wanted either. */
struct fieldset typed_with_parents(struct arena *arena, const struct schema_object *type,
                                   struct fieldset set);

struct typed_comparison {
    struct fieldset removed, modified, added;
};
struct typed_comparison typed_compare(struct arena *arena, const struct schema_object *type,
                                      const struct json *old, const struct json *new_);

/* `config` over `live`; nothing goes away by it. Elements of lists keep their order, or get that of
 * `config` where it says another. The result shares no nodes with either. */
struct json *typed_merge(struct arena *arena, const struct schema_object *type,
                         const struct json *live, const struct json *config);

/* Take away what is in the set, with all that is below, and what is left empty by that. */
void typed_remove(struct arena *arena, const struct schema_object *type, struct json *object,
                  struct fieldset set);

/* Whether the object can be applied: known fields of the right shape, and elements of lists that
 * have their keys and are each there once. ERR_BAD_REQUEST with the path, in Kubernetes' words. */
int typed_check(struct arena *arena, const struct schema_object *type, const struct json *object,
                struct err *err);

/* What Kubernetes' own type writes of an object nobody has said anything about: {"metadata":
 * {"creationTimestamp":null},"spec":{"containers":null}}. New fields are told apart from it. */
struct json *typed_zero(struct arena *arena, const struct schema_object *type);

#endif

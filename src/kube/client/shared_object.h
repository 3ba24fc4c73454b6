/* An immutable, reference-counted API object, shared by an informer, its callbacks and API calls in
 * flight. A function that stores an object for later takes a reference. Not thread-safe. */
#ifndef TRAINYARD_KUBE_CLIENT_SHARED_OBJECT_H
#define TRAINYARD_KUBE_CLIENT_SHARED_OBJECT_H

#include "base/arena.h"
#include "base/json/json.h"

struct kube_object {
    int references;           /* number of references; the object is freed at 0 */
    struct arena *arena;      /* holds the tree, except for the parts that are shared with `base` */
    struct kube_object *base; /* the object whose parts this tree uses; or NULL */
    struct json *json;
    const char *namespace_; /* "" for a cluster-wide object */
    const char *name;
    const char *uid;
};

/* Makes an object with a deep copy of the tree. */
struct kube_object *kube_object_new(const struct json *json);
/* Makes an object from the tree itself. The object takes over the arena, which must hold nothing
 * else. */
struct kube_object *kube_object_adopt(struct arena *arena, struct json *json);
struct kube_object *kube_object_ref(struct kube_object *object);
void kube_object_unref(struct kube_object *object); /* NULL-safe */

/* Saves memory for similar objects, such as the pods of a job. One object of each family is stored
 * completely, and the others share its equal parts. Objects belong to one family if they are in one
 * namespace, their names differ only after the last dash, and their status has the same number of
 * fields. The table has one slot per hash of a family. Families with the same hash replace the
 * stored objects of each other, so that less is shared. */
enum { KUBE_OBJECT_FAMILIES_MAX = 64 };
/* Zeroed memory is an empty table. */
struct kube_object_families {
    struct kube_object *bases[KUBE_OBJECT_FAMILIES_MAX]; /* the stored objects */
};
void kube_object_families_release(struct kube_object_families *families);

/* Makes an object with a copy of the tree. The copy shares parts with the stored object of its
 * family if that saves at least half of the memory. Otherwise it shares nothing and becomes the
 * stored object. */
struct kube_object *kube_object_families_add(struct kube_object_families *families,
                                             const struct json *json);
/* Releases stored objects that only this table references. */
void kube_object_families_drop_unused(struct kube_object_families *families);

#endif

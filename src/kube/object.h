/* Reads and edits the metadata of an object that is a JSON tree. A getter returns "" for a missing
 * field (NULL, 0 or false where stated), so that a caller need not check each level. A setter
 * creates missing parent objects and changes nothing else. */
#ifndef TRAINYARD_KUBE_OBJECT_H
#define TRAINYARD_KUBE_OBJECT_H

#include "base/json/json.h"
#include "kube/resource.h"

const char *kube_meta_name(const struct json *object);
const char *kube_meta_namespace(const struct json *object); /* "" for a cluster-wide object */
const char *kube_meta_uid(const struct json *object);
const char *kube_meta_resource_version(const struct json *object);
int64_t kube_meta_generation(const struct json *object); /* 0 if missing */
/* Returns creationTimestamp as wall time; 0 if it is missing or not a valid time. */
int64_t kube_meta_created_ms(const struct json *object);
/* Returns deletionTimestamp as wall time; 0 if it is missing or not a valid time. */
int64_t kube_meta_deleting_ms(const struct json *object);
/* Returns whether the object has a deletionTimestamp. */
bool kube_meta_is_deleting(const struct json *object);

/* These functions return NULL if the field is missing. kube_meta_labels() returns the whole map. */
const struct json *kube_meta_labels(const struct json *object);
const char *kube_meta_label(const struct json *object, const char *key);
const char *kube_meta_annotation(const struct json *object, const char *key);

/* In the following setters, a value of NULL removes the field, or the entry of the map. If the map
 * is empty then, it is removed, too. */
void kube_meta_set_name(struct arena *arena, struct json *object, const char *name);
void kube_meta_set_namespace(struct arena *arena, struct json *object, const char *namespace_);
void kube_meta_set_label(struct arena *arena, struct json *object, const char *key,
                         const char *value);
void kube_meta_set_annotation(struct arena *arena, struct json *object, const char *key,
                              const char *value);

bool kube_meta_has_finalizer(const struct json *object, const char *finalizer);
/* Does nothing if the object has the finalizer already. */
void kube_meta_add_finalizer(struct arena *arena, struct json *object, const char *finalizer);
/* Returns whether the object had the finalizer. */
bool kube_meta_remove_finalizer(struct json *object, const char *finalizer);

/* Returns the owner reference with controller: true, or NULL. */
const struct json *kube_meta_controller(const struct json *object);
/* Returns whether the controller has this uid. */
bool kube_meta_is_controlled_by(const struct json *object, const char *uid);
/* Returns whether any owner has this uid. */
bool kube_meta_is_owned_by(const struct json *object, const char *uid);

/* Returns a new reference to `owner`, which must have apiVersion, kind, name and uid. If
 * `controller` is set, the reference names the owner as the controller and also blocks its
 * foreground deletion, as in Kubernetes. */
struct json *kube_owner_reference_new(struct arena *arena, const struct json *owner,
                                      bool controller);
/* Adds the reference, or replaces the one with the same uid. */
void kube_meta_add_owner(struct arena *arena, struct json *object, struct json *reference);

/* Returns a new {apiVersion, kind, metadata: {name, namespace}}. namespace_ NULL or "": without
 * namespace. */
struct json *kube_object_make(struct arena *arena, const struct kube_resource *resource,
                              const char *namespace_, const char *name);

/* Inserts apiVersion and kind in front if they are missing. A server leaves them out in the items
 * of a list. */
void kube_object_set_kind(struct arena *arena, struct json *object,
                          const struct kube_resource *resource);

#endif

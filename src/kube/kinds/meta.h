/* Completes and validates the metadata of objects of any kind, as the API server does. Pure. */
#ifndef TRAINYARD_KUBE_KINDS_META_H
#define TRAINYARD_KUBE_KINDS_META_H

#include "base/json/json.h"
#include "kube/kinds/kind.h"
#include "kube/schema/field_error.h"

/* Completes the metadata of a new object: sets uid, creationTimestamp and, if the kind has one,
 * generation, and removes the fields that clients may not set. */
void meta_prepare_create(struct arena *arena, const struct kube_kind *resource, struct json *object,
                         int64_t now_ms);

/* Completes the metadata of a changed object: takes the fields that no client may change from
 * `old`, and increments the generation, if the kind has one and the object changed outside of its
 * metadata and status. */
void meta_prepare_update(struct arena *arena, const struct kube_kind *resource, struct json *object,
                         const struct json *old);

/* Returns generateName, cut to 58 bytes, followed by five random characters. */
char *meta_generate_name(struct arena *arena, const char *generate_name);

/* Validates the name, labels, annotations, finalizers and owner references. `old` is NULL on
 * create. The name is checked in full only on create, because it cannot change. */
void meta_validate(struct field_errors *errors, const struct kube_kind *resource,
                   const struct json *object, const struct json *old);

/* Validates a map of labels, or the matchLabels of a selector. `field` is its path in errors. */
void meta_validate_labels(struct field_errors *errors, const struct json *labels,
                          const char *field);

/* Validates the key of a label: "name" or "prefix.example/name". */
void meta_validate_label_name(struct field_errors *errors, const char *name, const char *field);
void meta_validate_label_value(struct field_errors *errors, const char *value, const char *field);
/* Validates the keys of annotations, which have the form of the keys of labels, and their total
 * size. */
void meta_validate_annotations(struct field_errors *errors, const struct json *annotations,
                               const char *field);

/* Returns Kubernetes' message about an invalid name, or NULL if the name is valid. */
const char *meta_name_complaint(enum kube_name_rule rule, const char *name);

/* Returns whether the text is of the form "prefix.example/name" or "name". */
bool meta_is_qualified_name(const char *text);

/* Returns whether the object is being deleted and can be removed now, because it has neither
 * finalizers nor a grace period left. */
bool meta_is_finished(const struct json *object);

/* Sets the member `name` to the time in the format of Kubernetes. */
void meta_set_time(struct arena *arena, struct json *object, const char *name, int64_t wall_ms);

#endif

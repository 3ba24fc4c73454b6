/* The metadata of every object: what the server sets, keeps and refuses. Pure. */
#ifndef TRAINYARD_KUBE_KINDS_META_H
#define TRAINYARD_KUBE_KINDS_META_H

#include "base/json/json.h"
#include "kube/kinds/kind.h"
#include "kube/schema/field_error.h"

/* A new object: uid, creationTimestamp, generation; what a client may not set is taken away. */
void meta_prepare_create(struct arena *arena, const struct kube_kind *resource, struct json *object,
                         int64_t now_ms);

/* Keep of `old` what no client may change; the generation rises if the object changed outside of
 * its metadata and status. */
void meta_prepare_update(struct arena *arena, const struct kube_kind *resource, struct json *object,
                         const struct json *old);

/* generateName and five random letters. */
char *meta_generate_name(struct arena *arena, const char *generate_name);

/* Names, labels, annotations, finalizers, owners; `old` NULL on create. */
void meta_validate(struct field_errors *errors, const struct kube_kind *resource,
                   const struct json *object, const struct json *old);

/* A map of strings as labels are; `field` names it in errors. Used for selectors too. */
void meta_validate_labels(struct field_errors *errors, const struct json *labels,
                          const char *field);

/* The key of a label, "name" or "prefix.example/name", and its value; and annotations, which have
 * such keys. */
void meta_validate_label_name(struct field_errors *errors, const char *name, const char *field);
void meta_validate_label_value(struct field_errors *errors, const char *value, const char *field);
void meta_validate_annotations(struct field_errors *errors, const struct json *annotations,
                               const char *field);

/* What is wrong with a name, in upstream's words; NULL if nothing is. */
const char *meta_name_complaint(enum kube_name_rule rule, const char *name);

/* "name" or "prefix.example/name". */
bool meta_is_qualified_name(const char *text);

/* Deleted, and nothing waits any more: no finalizer and no grace. */
bool meta_is_finished(const struct json *object);

void meta_set_time(struct arena *arena, struct json *object, const char *name, int64_t wall_ms);

#endif

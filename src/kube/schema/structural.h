/* Writes a description as the openAPIV3Schema of a CustomResourceDefinition: the inverse of
 * kube/schema/compile.h. It gives other API servers the rules of our tables. The result is a
 * structural schema for Kubernetes 1.20 and newer. */
#ifndef TRAINYARD_KUBE_SCHEMA_STRUCTURAL_H
#define TRAINYARD_KUBE_SCHEMA_STRUCTURAL_H

#include "kube/schema/schema.h"

/* Returns the schema of a value. It has no descriptions, because kubectl stores the whole
 * definition in an annotation of limited size. Defaults are written for types with rules
 * (schema_has_rules()) and for list keys, where the API server requires them; a default in a pod
 * template would be stored in every job. */
struct json *schema_structural(struct arena *arena, const struct schema *value);

/* Returns {"type": …, "format": …}; without format if it is NULL. */
struct json *schema_plain(struct arena *arena, const char *type, const char *format);

/* Like schema_plain(), for SCHEMA_STRING, _BOOL, _INT32, _INT64 and _BYTES, which all schemas write
 * in the same way. */
struct json *schema_scalar(struct arena *arena, enum schema_type type);

#endif

/* From a description to the openAPIV3Schema of a CustomResourceDefinition: the way back of
 * kube/schema/compile.h, for definitions that tell other API servers what the tables say. The
 * result is a structural schema for Kubernetes 1.20 and newer. */
#ifndef TRAINYARD_KUBE_SCHEMA_STRUCTURAL_H
#define TRAINYARD_KUBE_SCHEMA_STRUCTURAL_H

#include "kube/schema/schema.h"

/* Without descriptions: kubectl keeps the whole definition in an annotation, whose size is limited.
 * Defaults are written for types that have rules (schema_has_rules()), and for the keys of lists,
 * which the API server requires; a default in a pod template would be stored in every job. */
struct json *schema_structural(struct arena *arena, const struct schema *value);

/* {"type": …, "format": …}, the latter if it is not NULL. */
struct json *schema_plain(struct arena *arena, const char *type, const char *format);

/* The same for SCHEMA_STRING, _BOOL, _INT32, _INT64 or _BYTES, which all schemas write alike. */
struct json *schema_scalar(struct arena *arena, enum schema_type type);

#endif

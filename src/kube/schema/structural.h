/* Writes a struct schema as the openAPIV3Schema of a CustomResourceDefinition: the inverse of
 * kube/schema/compile.h. With the definition, other API servers can check the rules of Trainyard's
 * kinds. The result is a structural schema for Kubernetes 1.20 and newer. */
#ifndef TRAINYARD_KUBE_SCHEMA_STRUCTURAL_H
#define TRAINYARD_KUBE_SCHEMA_STRUCTURAL_H

#include "kube/schema/schema.h"

/* Returns the OpenAPI schema of a value. It has no "description" keywords, because kubectl stores
 * the whole definition in an annotation of limited size. Defaults are written only for types with
 * rules (schema_has_rules()) and for list keys that are not required fields, because the API server
 * demands a default there. Other defaults are left out: a default in a pod template would be stored
 * in every job. */
struct json *schema_structural(struct arena *arena, const struct schema *value);

/* Returns {"type": …, "format": …}, without "format" if `format` is NULL. */
struct json *schema_plain(struct arena *arena, const char *type, const char *format);

/* Returns the OpenAPI schema of SCHEMA_STRING, SCHEMA_BOOL, SCHEMA_INT32, SCHEMA_INT64 or
 * SCHEMA_BYTES. */
struct json *schema_scalar(struct arena *arena, enum schema_type type);

#endif

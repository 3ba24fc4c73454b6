/* CustomResourceDefinitions (apiextensions.k8s.io/v1): their validation, their status, and the rows
 * that the registry serves of them. All functions are pure. definitions.h keeps the registry in
 * step with the store. controllers/definition_controller.c deletes the objects of a deleted
 * definition. */
#ifndef TRAINYARD_ENGINE_CRD_DEFINITION_H
#define TRAINYARD_ENGINE_CRD_DEFINITION_H

#include "engine/kinds/registry.h"
#include "kube/schema/field_error.h"

#define DEFINITION_GROUP     "apiextensions.k8s.io"
#define DEFINITION_STORAGE   "customresourcedefinitions." DEFINITION_GROUP
#define DEFINITION_FINALIZER "customresourcecleanup." DEFINITION_GROUP

/* ---- definition_kind.c: how the API serves definitions */
extern const struct kube_resource DEFINITION_RESOURCE;
extern const struct kube_kind DEFINITION_KIND;

/* ---- definition_validate.c: names, versions, columns, subresources; hooks of the row */
void definition_defaults(struct arena *arena, struct json *definition);
void definition_validate(struct field_errors *errors, const struct json *definition,
                         const struct json *old);
/* A registry hook: runs when the deletion of the definition is requested. Adds the finalizer that
 * keeps the definition until its objects are deleted. */
void definition_mark_deleted(const struct registry *registry, struct arena *arena,
                             struct json *definition, int64_t now_ms);

/* ---- definition_keywords.c, definition_structure.c, definition_fallbacks.c: checks of an
 * openAPIV3Schema, in the order in which they must run. The first returns false if the others
 * cannot read the schema. The last must only run if the second added no error. */
bool definition_check_keywords(struct field_errors *errors, const char *path,
                               const struct json *schema);
void definition_check_structure(struct field_errors *errors, const char *path,
                                const struct json *schema);
void definition_check_fallbacks(struct field_errors *errors, const char *path,
                                const struct json *schema);
/* Whether the schema has rules in CEL, which are stored but not evaluated. */
bool definition_has_cel(const struct json *schema);

/* ---- definition_scale.c: checks the values of an object that its Scale shows */
void definition_check_scale(struct field_errors *errors, const struct kube_scale_paths *scale,
                            const struct json *object);

/* ---- definition_status.c */

/* Sets the status: the accepted names, which no other resource of the group has, the conditions,
 * and the stored versions. */
void definition_set_status(struct arena *arena, const struct registry *registry,
                           struct json *definition, int64_t now_ms);
bool definition_is_established(const struct json *definition);

/* ---- definition_rows.c */

/* The rows that the registry serves, one per served version; NULL if none is served. The caller
 * owns the reference. */
struct registry_definition *definition_rows(const struct json *definition);
/* One row without a schema: the version in which controllers watch the objects; NULL if there is
 * none, or if the kind is built in. The caller owns the reference. */
struct registry_definition *definition_watched_row(const struct registry *registry,
                                                   const struct json *definition);

#endif

/* CustomResourceDefinitions (apiextensions.k8s.io/v1), called definitions in this code: their
 * validation, their status, and the rows (struct kube_kind) that the registry serves for them. All
 * functions are pure. definitions.h updates the registry when the store changes.
 * controllers/definition_controller.c deletes the objects of a deleted definition. */
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

/* ---- definition_validate.c: hooks of DEFINITION_KIND. definition_validate() also calls the
 * checks of schemas below */
void definition_defaults(struct arena *arena, struct json *definition);
void definition_validate(struct field_errors *errors, const struct json *definition,
                         const struct json *old);
/* A registry hook in definition_status.c that runs when a client deletes the definition. Adds
 * the condition Terminating, and the finalizer that keeps the definition until its objects are
 * deleted. Does nothing if the kind is built in. */
void definition_mark_deleted(const struct registry *registry, struct arena *arena,
                             struct json *definition, int64_t now_ms);

/* ---- definition_keywords.c, definition_structure.c, definition_fallbacks.c: checks of the
 * keywords, the structure and the defaults (fallbacks) of an openAPIV3Schema, in the order in
 * which they must run. If definition_check_keywords() returns false, the other two must not run.
 * definition_check_fallbacks() must run only if definition_check_structure() has added no error. */
bool definition_check_keywords(struct field_errors *errors, const char *path,
                               const struct json *schema);
void definition_check_structure(struct field_errors *errors, const char *path,
                                const struct json *schema);
void definition_check_fallbacks(struct field_errors *errors, const char *path,
                                const struct json *schema);
/* Whether the schema has CEL rules. They are stored but not evaluated. */
bool definition_has_cel(const struct json *schema);

/* ---- definition_scale.c: checks the values of a custom resource that its Scale shows */
void definition_check_scale(struct field_errors *errors, const struct kube_scale_paths *scale,
                            const struct json *object);

/* ---- definition_status.c */

/* Sets the status: the accepted names, the conditions and the stored versions. A name is accepted
 * if no other resource of the group has it. */
void definition_set_status(struct arena *arena, const struct registry *registry,
                           struct json *definition, int64_t now_ms);
bool definition_is_established(const struct json *definition);

/* ---- definition_rows.c */

/* Returns the rows for the registry, one per served version. Returns NULL if the definition is
 * not established or serves no version. The caller owns the reference. */
struct registry_definition *definition_rows(const struct json *definition);
/* Returns one row without a schema, for the version in which controllers watch the objects. This
 * is the stored version if it is served. Returns NULL if the definition is not established,
 * serves no version, or has the name of a built-in kind. The caller owns the reference. */
struct registry_definition *definition_watched_row(const struct registry *registry,
                                                   const struct json *definition);

#endif

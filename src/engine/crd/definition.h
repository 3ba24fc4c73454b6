/* CustomResourceDefinitions (apiextensions.k8s.io/v1), which this code calls definitions: their
 * validation, their status, and the rows (struct kube_kind) that the registry serves for them. The
 * handlers of the API, definitions.c and the built-in controllers call these functions. All of
 * them are pure. definitions.c updates the registry when the store changes.
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

/* ---- definition_validate.c: hooks of DEFINITION_KIND */

/* Sets the singular name and the list kind of a definition that lacks them. */
void definition_defaults(struct arena *arena, struct json *definition);
/* Adds an error for each field that is not valid. Also checks the schemas with the functions below.
 */
void definition_validate(struct field_errors *errors, const struct json *definition,
                         const struct json *old);
/* A registry hook in definition_status.c that runs on the first DELETE of the definition. Adds the
 * condition Terminating, and the finalizer that keeps the definition until its objects are deleted.
 * Does nothing if the kind is built in. */
void definition_mark_deleted(const struct registry *registry, struct arena *arena,
                             struct json *definition, int64_t now_ms);

/* ---- definition_keywords.c, definition_structure.c, definition_fallbacks.c: three checks of an
 * openAPIV3Schema, in the order in which they must run. Each adds its errors to `errors`, with
 * paths that begin with `path`. */

/* Checks the keywords. Returns whether the schema can be structural; if not, the other two checks
 * must not run. */
bool definition_check_keywords(struct field_errors *errors, const char *path,
                               const struct json *schema);
/* Checks that the schema is structural. If this adds an error, definition_check_fallbacks() must
 * not run. */
void definition_check_structure(struct field_errors *errors, const char *path,
                                const struct json *schema);
/* Checks the fallbacks: the values of the keyword "default". */
void definition_check_fallbacks(struct field_errors *errors, const char *path,
                                const struct json *schema);
/* Returns whether the schema has CEL rules, which this server stores but does not evaluate. */
bool definition_has_cel(const struct json *schema);

/* ---- definition_scale.c: checks the values of a custom resource that its Scale shows */
void definition_check_scale(struct field_errors *errors, const struct kube_scale_paths *scale,
                            const struct json *object);

/* ---- definition_status.c */

/* Sets the status of a definition that is written: the accepted names, the conditions and the
 * stored versions. A name is accepted if no other resource of the group has it. An established
 * definition stays established, even if its new names are rejected later. */
void definition_set_status(struct arena *arena, const struct registry *registry,
                           struct json *definition, int64_t now_ms);
/* Returns whether the condition Established is true. If not, the resource is not served. */
bool definition_is_established(const struct json *definition);

/* ---- definition_rows.c */

/* Returns the rows for the registry, one per served version. If a definition that is being deleted
 * serves no version, returns the row of its stored version. Returns NULL if the definition is not
 * established, or serves no version and is not being deleted. The caller owns the reference. */
struct registry_definition *definition_rows(const struct json *definition);
/* Returns one row without a schema, for the version in which controllers watch the objects. This is
 * the stored version if definition_rows() has its row, otherwise the first version in the
 * definition that has a row. Returns NULL if definition_rows() returns NULL, or if the definition
 * has the name of a built-in kind. The caller owns the reference. */
struct registry_definition *definition_watched_row(const struct registry *registry,
                                                   const struct json *definition);

#endif

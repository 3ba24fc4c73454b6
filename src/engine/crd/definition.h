/* Definitions of custom resources (apiextensions.k8s.io/v1): the rules they keep, and what they
 * become for the rest of the API. All here is pure; definitions.h keeps the registry in step with
 * the store, and definition_controller.c removes what is left of a definition that goes. */
#ifndef TRAINYARD_ENGINE_DEFINITION_H
#define TRAINYARD_ENGINE_DEFINITION_H

#include "engine/kinds/registry.h"
#include "kube/schema/field_error.h"

#define DEFINITION_GROUP     "apiextensions.k8s.io"
#define DEFINITION_STORAGE   "customresourcedefinitions." DEFINITION_GROUP
#define DEFINITION_FINALIZER "customresourcecleanup." DEFINITION_GROUP

/* ---- kind.c: how the API serves definitions */
extern const struct kube_resource DEFINITION_RESOURCE;
extern const struct kube_kind DEFINITION_KIND;

/* ---- definition_validate.c: names, versions, columns, subresources; the hooks of the kind */
void definition_defaults(struct arena *arena, struct json *definition);
void definition_validate(struct field_errors *errors, const struct json *definition,
                         const struct json *old);
/* Runs when its deletion is requested: its objects go first. */
void definition_mark_deleted(const struct registry *registry, struct arena *arena,
                             struct json *definition, int64_t now_ms);

/* ---- definition_keywords.c, definition_structure.c, definition_fallbacks.c: an openAPIV3Schema,
 * in the order in which they are asked. The first is false for what the others cannot look at; the
 * last expects that the second found nothing. */
bool definition_check_keywords(struct field_errors *errors, const char *path,
                               const struct json *schema);
void definition_check_structure(struct field_errors *errors, const char *path,
                                const struct json *schema);
void definition_check_fallbacks(struct field_errors *errors, const char *path,
                                const struct json *schema);
/* Whether there are rules in CEL in it, which are kept and not evaluated. */
bool definition_has_cel(const struct json *schema);

/* ---- definition_scale.c: an object of which a Scale is shown */
void definition_check_scale(struct field_errors *errors, const struct kube_scale_paths *scale,
                            const struct json *object);

/* ---- definition_status.c */

/* The names it may have beside all others of its group in the registry, its conditions and stored
 * versions: its new status. */
void definition_set_status(struct arena *arena, const struct registry *registry,
                           struct json *definition, int64_t now_ms);
bool definition_is_established(const struct json *definition);

/* ---- definition_rows.c */

/* What the registry serves of it; NULL: nothing. */
struct registry_definition *definition_rows(const struct json *definition);
/* The one version in which its objects are watched, without a schema; NULL: none. */
struct registry_definition *definition_watched_row(const struct registry *registry,
                                                   const struct json *definition);

#endif

/* Computes the new object for a PATCH request from the current object and the patch. Pure: changes
 * neither of them. Called by the API server (engine/api/patch.c), which then sets defaults in the
 * result, validates it and stores it. Server-side apply is in apply.h, because it needs the owners
 * of fields. */
#ifndef TRAINYARD_KUBE_PATCH_PATCH_H
#define TRAINYARD_KUBE_PATCH_PATCH_H

#include "base/json/json.h"
#include "kube/schema/schema.h"

enum kube_patch_type {
    KUBE_PATCH_JSON,      /* RFC 6902 */
    KUBE_PATCH_MERGE,     /* RFC 7386 */
    KUBE_PATCH_STRATEGIC, /* a merge that uses the list keys of built-in types */
};

enum {
    KUBE_PATCH_OPERATIONS_MAX = 10000,     /* operations of a JSON patch, as in Kubernetes */
    KUBE_PATCH_DEPTH_MAX = JSON_DEPTH_MAX, /* nesting levels of the result */
    /* Bytes that the copy operations of a JSON patch may add. Each copy can double the object. */
    KUBE_PATCH_COPIED_MAX = 16 << 20,
    /* The elements of a list that a strategic patch merges or deletes from, in quadratic time. */
    KUBE_PATCH_ELEMENTS_MAX = 4096,
    /* The directives of one object and the names in one $retainKeys. Each may scan all members. */
    KUBE_PATCH_DIRECTIVES_MAX = 256,
    /* The members that the paths of a JSON patch may scan in total. */
    KUBE_PATCH_SCANNED_MAX = 100 * 1000 * 1000,
};

/* Finds the patch type of a Content-Type. Ignores the parameters of the Content-Type. Returns 0, or
 * -ERR_MEDIA_TYPE with the supported types if it is not one of them. NULL is not supported. */
int kube_patch_type_parse(const char *content_type, enum kube_patch_type *ret, struct err *err);

/* Applies a patch. The result shares no memory with the inputs. Returns 0, or
 * -ERR_BAD_REQUEST  for a malformed patch,
 * -ERR_INVALID      for a patch that does not fit the object: a missing path, a failed test, a list
 *                   element without its key, or a result that is nested too deeply or no object,
 * -ERR_TOO_LARGE    for a patch that exceeds one of the other limits above,
 * -ERR_MEDIA_TYPE   for a strategic patch if `schema` is NULL, as Kubernetes does. `schema` is the
 *                   type of the object, or NULL for a custom resource. */
int kube_patch_apply(struct arena *arena, enum kube_patch_type type, const struct json *current,
                     const struct json *patch, const struct schema_object *schema,
                     struct json **ret, struct err *err);

/* One function per patch type. kube_patch_apply() and tests call them. kube_patch_merge() cannot
 * fail. */
struct json *kube_patch_merge(struct arena *arena, const struct json *current,
                              const struct json *patch);
int kube_patch_json(struct arena *arena, const struct json *current, const struct json *operations,
                    struct json **ret, struct err *err);
int kube_patch_strategic(struct arena *arena, const struct json *current, const struct json *patch,
                         const struct schema_object *type, struct json **ret, struct err *err);

#endif

/* Patches of the API: computes a new object from the current object and a patch; neither is
 * changed. Pure; the API server validates, defaults and stores the result. Server-side apply is in
 * apply.h, because it needs the owners of fields. */
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
    KUBE_PATCH_OPERATIONS_MAX = 10000,     /* operations of a JSON patch, as upstream */
    KUBE_PATCH_DEPTH_MAX = JSON_DEPTH_MAX, /* of the result */
    KUBE_PATCH_COPIED_MAX =
        16 << 20, /* bytes of memory, because copy operations can double an object */
    KUBE_PATCH_ELEMENTS_MAX =
        4096, /* elements of a list that is merged by key, which takes quadratic time */
    KUBE_PATCH_DIRECTIVES_MAX = 256, /* directives of an object, each of which scans all members */
    KUBE_PATCH_LOOKED_MAX =
        100 * 1000 * 1000, /* members that the paths of a JSON patch scan in total */
};

/* Returns the type for a Content-Type, whose parameters are ignored. Returns -ERR_MEDIA_TYPE with
 * the supported types for any other. */
int kube_patch_type_parse(const char *content_type, enum kube_patch_type *ret, struct err *err);

/* Applies a patch. The result shares nothing with its inputs. Returns -ERR_BAD_REQUEST for a
 * malformed patch, and -ERR_INVALID for a patch that does not fit the object (a missing path, a
 * failed test, a list element without its key). A strategic patch needs the object's type; if that
 * is NULL, as for a custom resource, it returns -ERR_MEDIA_TYPE, as upstream. */
int kube_patch_apply(struct arena *arena, enum kube_patch_type type, const struct json *current,
                     const struct json *patch, const struct schema_object *object,
                     struct json **ret, struct err *err);

/* The single types, for tests and for callers that know the type. */
struct json *kube_patch_merge(struct arena *arena, const struct json *current,
                              const struct json *patch);
int kube_patch_json(struct arena *arena, const struct json *current, const struct json *operations,
                    struct json **ret, struct err *err);
int kube_patch_strategic(struct arena *arena, const struct json *current, const struct json *patch,
                         const struct schema_object *object, struct json **ret, struct err *err);

#endif

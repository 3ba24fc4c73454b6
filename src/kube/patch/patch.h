/* Patches of the API: computes a new object from the current object and a patch, without changing
 * them. Pure. The API server sets defaults in the result, validates it and stores it. Server-side
 * apply is in apply.h, because it needs the owners of fields. */
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
    KUBE_PATCH_DEPTH_MAX = JSON_DEPTH_MAX, /* the depth of the result */
    KUBE_PATCH_COPIED_MAX =
        16 << 20, /* bytes that copy operations may add; each can double the object */
    KUBE_PATCH_ELEMENTS_MAX = 4096, /* elements of a list that is merged by key in quadratic time */
    KUBE_PATCH_DIRECTIVES_MAX = 256, /* directives of an object, each of which scans all members */
    KUBE_PATCH_LOOKED_MAX = 100 * 1000 * 1000, /* members that all paths of a JSON patch scan */
};

/* Finds the patch type of a Content-Type, whose parameters are ignored. Returns -ERR_MEDIA_TYPE
 * with the supported types if it is not supported. */
int kube_patch_type_parse(const char *content_type, enum kube_patch_type *ret, struct err *err);

/* Applies a patch. The result shares no memory with the inputs. Returns -ERR_BAD_REQUEST for a
 * malformed patch, -ERR_INVALID for a patch that does not fit the object (a missing path, a failed
 * test, a list element without its key), and -ERR_TOO_LARGE for a patch that exceeds one of the
 * limits above. A strategic patch needs the type of the object. If `object` is NULL, as for a
 * custom resource, returns -ERR_MEDIA_TYPE, as Kubernetes does. */
int kube_patch_apply(struct arena *arena, enum kube_patch_type type, const struct json *current,
                     const struct json *patch, const struct schema_object *object,
                     struct json **ret, struct err *err);

/* One function per patch type, for tests and for callers that know the type. */
struct json *kube_patch_merge(struct arena *arena, const struct json *current,
                              const struct json *patch);
int kube_patch_json(struct arena *arena, const struct json *current, const struct json *operations,
                    struct json **ret, struct err *err);
int kube_patch_strategic(struct arena *arena, const struct json *current, const struct json *patch,
                         const struct schema_object *object, struct json **ret, struct err *err);

#endif

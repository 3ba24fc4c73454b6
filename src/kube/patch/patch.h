/* The patches of the API: a current object and a patch make a new object, and neither is changed.
 * Pure; the API server calls it and then validates, defaults and stores what came out. Server-side
 * apply is not here: it needs the owners of fields, which are the server's. */
#ifndef TRAINYARD_KUBE_PATCH_H
#define TRAINYARD_KUBE_PATCH_H

#include "base/json/json.h"
#include "kube/schema/schema.h"

enum kube_patch_type {
    KUBE_PATCH_JSON,      /* RFC 6902 */
    KUBE_PATCH_MERGE,     /* RFC 7386 */
    KUBE_PATCH_STRATEGIC, /* merge that knows the keys of the lists of built-in types */
};

enum {
    KUBE_PATCH_OPERATIONS_MAX = 10000,     /* of a JSON patch, as upstream */
    KUBE_PATCH_DEPTH_MAX = JSON_DEPTH_MAX, /* of what comes out */
    KUBE_PATCH_COPIED_MAX = 16 << 20, /* bytes of memory: copy operations can double an object */
    KUBE_PATCH_ELEMENTS_MAX = 4096,   /* of a list merged by key, which takes their square */
    KUBE_PATCH_DIRECTIVES_MAX = 256,  /* of an object: each looks through all of its members */
    KUBE_PATCH_LOOKED_MAX = 100 * 1000 * 1000, /* members that the paths of a JSON patch pass by */
};

/* By Content-Type, parameters ignored; ERR_MEDIA_TYPE for any other, with those that are read. */
int kube_patch_type_parse(const char *content_type, enum kube_patch_type *ret, struct err *err);

/* The result shares nothing with its inputs. A patch that cannot be understood is ERR_BAD_REQUEST,
 * one that does not fit the object (a path that is not there, a test that fails, a list element
 * without its key) ERR_INVALID. A strategic patch must know the object's type; where that is NULL,
 * as for a custom resource, it is ERR_MEDIA_TYPE, as upstream. */
int kube_patch_apply(struct arena *arena, enum kube_patch_type type, const struct json *current,
                     const struct json *patch, const struct schema_object *object,
                     struct json **ret, struct err *err);

/* The parts, for tests and for those who know which they want. */
struct json *kube_patch_merge(struct arena *arena, const struct json *current,
                              const struct json *patch);
int kube_patch_json(struct arena *arena, const struct json *current, const struct json *operations,
                    struct json **ret, struct err *err);
int kube_patch_strategic(struct arena *arena, const struct json *current, const struct json *patch,
                         const struct schema_object *object, struct json **ret, struct err *err);

#endif

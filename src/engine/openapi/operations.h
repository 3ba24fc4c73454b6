/* One operation of a path; what openapi_paths.c and openapi_operations.c share. */
#ifndef TRAINYARD_ENGINE_OPENAPI_OPERATIONS_H
#define TRAINYARD_ENGINE_OPENAPI_OPERATIONS_H

#include "engine/openapi/schema.h"

struct openapi_operation {
    const struct kube_kind *resource;
    const char *version;
    const struct kube_subresource *sub; /* NULL: the object itself */
    enum kube_verb verb;
    bool everywhere; /* across namespaces */
};

/* "get", "post": the member of a path. */
const char *openapi_method(enum kube_verb verb);

struct json *openapi_write_operation(struct openapi_types *types,
                                     const struct openapi_operation *operation);
/* Of a path itself: "name", "namespace". */
struct json *openapi_path_parameter(struct openapi_types *types, const char *name, const char *doc);

#endif

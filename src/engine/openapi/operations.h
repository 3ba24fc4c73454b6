/* Makes one operation of a path in an OpenAPI document, such as the list of pods in a namespace.
 * paths.c calls these functions. */
#ifndef TRAINYARD_ENGINE_OPENAPI_OPERATIONS_H
#define TRAINYARD_ENGINE_OPENAPI_OPERATIONS_H

#include "engine/openapi/schema.h"

struct openapi_operation {
    const struct kube_kind *resource;
    const char *version;                /* the version of the API in the path */
    const struct kube_subresource *sub; /* NULL: the object itself */
    enum kube_verb verb;
    bool everywhere; /* the operation lists the objects of all namespaces */
};

/* Returns the HTTP method of the verb in lower case, which is the key of the operation in a path.
 * Returns NULL for the verb watch, which has no operation. */
const char *openapi_method(enum kube_verb verb);

/* Returns the operation, and defines the types that it refers to. */
struct json *openapi_write_operation(struct openapi_types *types,
                                     const struct openapi_operation *operation);
/* Returns the definition of a parameter in the path: "name" or "namespace". `doc` is its
 * description. */
struct json *openapi_path_parameter(struct openapi_types *types, const char *name, const char *doc);

#endif

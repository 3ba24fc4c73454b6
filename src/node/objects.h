/* The objects of the API that a pod may refer to, behind functions: informers in a cluster, a
 * table in tests. */
#ifndef TRAINYARD_NODE_OBJECTS_H
#define TRAINYARD_NODE_OBJECTS_H

#include "base/json/json.h"
#include "kube/resource.h"

struct node_objects {
    /* Returns the object, or NULL. It lives until the loop's next turn. */
    const struct json *(*get)(void *context, const struct kube_resource *resource,
                              const char *namespace_, const char *name);
    void *context;
    /* Iterates over the services of a namespace: start with *position = 0; NULL follows the last.
     * The function may be NULL. */
    const struct json *(*next_service)(void *context, const char *namespace_, size_t *position);
};

/* Returns the same objects as versions that the caller can keep. Must be called on the loop
 * thread. */
struct kube_object;
struct node_object_source {
    struct kube_object *(*get)(void *context, const struct kube_resource *resource,
                               const char *namespace_, const char *name);
    struct kube_object *(*next_service)(void *context, const char *namespace_, size_t *position);
    void *context;
};

static inline const struct json *node_objects_get(const struct node_objects *objects,
                                                  const struct kube_resource *resource,
                                                  const char *namespace_, const char *name)
{
    return objects->get(objects->context, resource, namespace_, name);
}

#endif

/* Gets the objects of the API that a pod may refer to, through function pointers. In a cluster the
 * functions read informers, in tests a table. Used by the planner and by volumes. */
#ifndef TRAINYARD_NODE_OBJECTS_H
#define TRAINYARD_NODE_OBJECTS_H

#include "base/json/json.h"
#include "kube/resource.h"

struct node_objects {
    /* Returns the object, or NULL if it does not exist. The object is valid until the caller
     * returns to the event loop. */
    const struct json *(*get)(void *context, const struct kube_resource *resource,
                              const char *namespace_, const char *name);
    void *context;
    /* Returns the next service of the namespace, or NULL after the last one. Start with *position =
     * 0. This pointer is NULL if there are no services. */
    const struct json *(*next_service)(void *context, const char *namespace_, size_t *position);
};

/* Like struct node_objects, but returns objects to which the caller can take a reference
 * (kube_object_ref()). The functions must be called on the loop thread. */
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

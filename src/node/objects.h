/* Gets the objects of the API that a pod may refer to, through function pointers. On the loop
 * thread the functions read informers. While a pod is planned, they read the objects that the loop
 * thread has collected for the plan (plan/preparation.c). In tests they read a table. Used by the
 * planner and by volumes. */
#ifndef TRAINYARD_NODE_OBJECTS_H
#define TRAINYARD_NODE_OBJECTS_H

#include "base/json/json.h"
#include "kube/resource.h"

struct node_objects {
    /* Returns the object, or NULL if it does not exist. During planning, NULL may also mean that
     * the object is not collected yet; the pod is then planned again. On the loop thread the object
     * is valid until the caller returns to the event loop. */
    const struct json *(*get)(void *context, const struct kube_resource *resource,
                              const char *namespace_, const char *name);
    void *context;
    /* Returns the next service of the namespace, or NULL after the last one. `*position` must be 0
     * in the first call. The pointer itself may be NULL: then there are no services. */
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

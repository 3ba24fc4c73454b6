/* Finds the API resource of the manifest in a resource template. Pure. */
#ifndef TRAINYARD_PIPELINE_RECONCILE_RESOURCE_KIND_H
#define TRAINYARD_PIPELINE_RECONCILE_RESOURCE_KIND_H

#include "base/json/json.h"
#include "kube/resource.h"

/* Sets *ret to the resource of the object's kind. The resource of an unknown kind is guessed as in
 * Kubernetes: its name is the plural of the kind in lower case, and it is namespaced. Rejects every
 * known cluster-scoped kind with -ERR_FORBIDDEN: the controller acts with its own rights, but the
 * author of a workflow has rights in one namespace only. Returns 0, -ERR_FORBIDDEN or -ERR_INVALID.
 */
int workflow_resource_kind(struct arena *arena, const struct json *object,
                           struct kube_resource *ret, struct err *err);

#endif

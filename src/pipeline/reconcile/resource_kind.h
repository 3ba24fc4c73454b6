/* Finds the API resource of a manifest. */
#ifndef TRAINYARD_PIPELINE_RECONCILE_RESOURCE_KIND_H
#define TRAINYARD_PIPELINE_RECONCILE_RESOURCE_KIND_H

#include "base/json/json.h"
#include "kube/resource.h"

/* Returns the resource of a known kind, or else guesses it as Kubernetes does: the plural of the
 * kind in lower case. Rejects a cluster-scoped kind: the controller acts with its own rights, but
 * the author of a workflow has rights in one namespace only. */
int workflow_resource_kind(struct arena *arena, const struct json *object,
                           struct kube_resource *ret, struct err *err);

#endif

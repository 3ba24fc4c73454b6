/* Where the API serves the objects of a manifest. */
#ifndef TRAINYARD_PIPELINE_RESOURCE_KIND_H
#define TRAINYARD_PIPELINE_RESOURCE_KIND_H

#include "base/json/json.h"
#include "kube/resource.h"

/* Of a kind this program knows, or else as Kubernetes itself guesses: the plural of the kind in
 * lower case. A kind that is in no namespace is refused: the controller acts with its own rights,
 * and those of whoever may write a workflow end at its namespace. */
int workflow_resource_kind(struct arena *arena, const struct json *object,
                           struct kube_resource *ret, struct err *err);

#endif

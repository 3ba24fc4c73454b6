/* autoscaling/v1 Scale: the number of replicas of an object. It is a subresource of each kind that
 * can be scaled. */
#ifndef TRAINYARD_KUBE_KINDS_SCALE_H
#define TRAINYARD_KUBE_KINDS_SCALE_H

#include "kube/resource.h"
#include "kube/table/table.h"

extern const struct kube_resource KUBE_SCALES;
/* What `kubectl get` shows of a Scale. */
extern const struct kube_columns KUBE_SCALE_COLUMNS;

#endif

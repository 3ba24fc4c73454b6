/* Which claims the volumes of a pod stand for: those they name, and those that are made from the
 * template of an ephemeral volume and are called "<pod>-<volume>". Pure. */
#ifndef TRAINYARD_KUBE_POD_CLAIM_H
#define TRAINYARD_KUBE_POD_CLAIM_H

#include "base/arena.h"
#include "base/json/json.h"

/* The name of the claim; NULL: the volume is something else. */
const char *kube_pod_claim_name(struct arena *arena, const struct json *pod,
                                const struct json *volume);

/* Why the pod may not use this claim for an ephemeral volume, in the words of Kubernetes; NULL: the
 * claim was made for it. A claim of somebody else may have the name. */
const char *kube_pod_claim_rejection(struct arena *arena, const struct json *pod,
                                     const struct json *claim);

#endif

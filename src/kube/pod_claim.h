/* Finds the PersistentVolumeClaims of a pod's volumes: the claims that volumes name, and the claims
 * "<pod>-<volume>" that are created from the template of an ephemeral volume. Pure. */
#ifndef TRAINYARD_KUBE_POD_CLAIM_H
#define TRAINYARD_KUBE_POD_CLAIM_H

#include "base/arena.h"
#include "base/json/json.h"

/* Returns the name of the volume's claim; NULL if the volume has none. */
const char *kube_pod_claim_name(struct arena *arena, const struct json *pod,
                                const struct json *volume);

/* Returns why the pod may not use this claim for an ephemeral volume, with the message of
 * Kubernetes; NULL if the claim was created for the pod. A claim of another owner may have the same
 * name. */
const char *kube_pod_claim_rejection(struct arena *arena, const struct json *pod,
                                     const struct json *claim);

#endif

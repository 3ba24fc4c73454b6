/* PersistentVolumeClaims and PersistentVolumes: the names that their rows, the controller that
 * binds them and the node share. */
#ifndef TRAINYARD_KUBE_KINDS_VOLUME_H
#define TRAINYARD_KUBE_KINDS_VOLUME_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

/* The storage class of claims that name none, and the provisioner of its volumes. */
#define CLAIM_CLASS       "standard"
#define CLAIM_PROVISIONER "trainyard.dev/directory"

/* The annotation of a volume that holds the path of its directory. The node reads it, `kubectl
 * describe pv` shows it. The directory has the name of the claim. The directory of an ephemeral
 * claim has the name of the volume, so that the next pod of the same name starts with an empty
 * one. */
#define CLAIM_WHERE "trainyard.dev/volume"

/* The finalizers that keep a claim that a pod uses, and a volume that is bound. */
#define CLAIM_PROTECTION        "kubernetes.io/pvc-protection"
#define CLAIM_VOLUME_PROTECTION "kubernetes.io/pv-protection"

/* Checks the spec of a claim, which stands at `field`. */
void kube_claim_validate_spec(struct field_errors *errors, const struct json *spec,
                              const char *field);

#endif

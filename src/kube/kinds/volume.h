/* PersistentVolumeClaims and PersistentVolumes: the names that their rows, the controller that
 * binds them and the node share. */
#ifndef TRAINYARD_KUBE_KINDS_VOLUME_H
#define TRAINYARD_KUBE_KINDS_VOLUME_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

/* The StorageClass that the server creates as the default class, and the provisioner of that
 * class. */
#define CLAIM_CLASS       "standard"
#define CLAIM_PROVISIONER "trainyard.dev/directory"

/* The annotation of a volume with the path of its directory below <state>/volumes:
 * "namespace/name". The claim controller writes the annotation, and the node reads it
 * (node/volume/claim_data.h). The directory has the name of the claim. The directory of an
 * ephemeral claim has the name of the volume, so that the next pod of the same name starts with an
 * empty directory. */
#define VOLUME_DIRECTORY_ANNOTATION "trainyard.dev/volume"

/* The finalizers that protect a claim while a pod uses it, and a volume while it is bound. */
#define CLAIM_PROTECTION        "kubernetes.io/pvc-protection"
#define CLAIM_VOLUME_PROTECTION "kubernetes.io/pv-protection"

/* Validates the spec of a claim. `field` is the path of the spec in errors. */
void kube_claim_validate_spec(struct field_errors *errors, const struct json *spec,
                              const char *field);

#endif

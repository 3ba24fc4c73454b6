/* Reads a StorageClass, for the admission of claims and for the tables of `kubectl get`. Pure. */
#ifndef TRAINYARD_KUBE_STORAGE_CLASS_H
#define TRAINYARD_KUBE_STORAGE_CLASS_H

#include "base/json/json.h"

#define KUBE_CLASS_DEFAULT_ANNOTATION "storageclass.kubernetes.io/is-default-class"

/* Returns whether the class is marked as the default for claims that name no class. If several
 * classes are marked, the newest one is used (engine/admission/class.c). */
bool kube_class_is_default(const struct json *class_);

#endif

/* Reads a StorageClass, for the API server, its tables and the claim controller. */
#ifndef TRAINYARD_KUBE_STORAGE_CLASS_H
#define TRAINYARD_KUBE_STORAGE_CLASS_H

#include "base/json/json.h"

#define KUBE_CLASS_DEFAULT_ANNOTATION "storageclass.kubernetes.io/is-default-class"

/* Returns whether a claim without a class gets this class. */
bool kube_class_is_default(const struct json *class_);

#endif

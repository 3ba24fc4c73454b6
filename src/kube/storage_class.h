/* What the API server, its tables and whoever binds claims ask of a StorageClass. */
#ifndef TRAINYARD_KUBE_STORAGE_CLASS_H
#define TRAINYARD_KUBE_STORAGE_CLASS_H

#include "base/json/json.h"

#define KUBE_CLASS_DEFAULT_ANNOTATION "storageclass.kubernetes.io/is-default-class"

/* Whether a claim that names no class gets this one. */
bool kube_class_is_default(const struct json *class_);

#endif

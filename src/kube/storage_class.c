/* Reads the annotations of a StorageClass; see storage_class.h. */
#include "kube/storage_class.h"

#include "base/str.h"
#include "kube/object.h"

bool kube_class_is_default(const struct json *class_)
{
    return str_eq(kube_meta_annotation(class_, KUBE_CLASS_DEFAULT_ANNOTATION), "true") ||
           str_eq(kube_meta_annotation(class_, "storageclass.beta.kubernetes.io/is-default-class"),
                  "true");
}

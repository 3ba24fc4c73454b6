/* Pods: the hooks of their row, and the defaults of a pod spec, which are also set in pod
 * templates. */
#ifndef TRAINYARD_KUBE_KINDS_POD_POD_H
#define TRAINYARD_KUBE_KINDS_POD_POD_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

/* defaults.c */
void kube_pod_spec_defaults(struct arena *arena, struct json *spec);
void kube_pod_defaults(struct arena *arena, struct json *pod);
void kube_pod_create(struct arena *arena, struct json *pod);

/* validate.c */
void kube_pod_validate(struct field_errors *errors, const struct json *pod, const struct json *old);

#endif

/* The hooks of the row of Pods (kube/kinds/kind.h): set defaults, prepare a new pod, validate.
 * kube_pod_spec_defaults() is also used for pod templates. */
#ifndef TRAINYARD_KUBE_KINDS_POD_POD_H
#define TRAINYARD_KUBE_KINDS_POD_POD_H

#include "base/json/json.h"
#include "kube/schema/field_error.h"

/* defaults.c */
void kube_pod_spec_defaults(struct arena *arena, struct json *spec);
void kube_pod_defaults(struct arena *arena, struct json *pod);
/* Called for a new pod: sets its first status, and replaces a negative grace period. */
void kube_pod_prepare_new(struct arena *arena, struct json *pod);

/* validate.c */
/* `old` is the stored pod on an update, NULL on creation. */
void kube_pod_validate(struct field_errors *errors, const struct json *pod, const struct json *old);

#endif

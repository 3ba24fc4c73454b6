/* What a pod's status says of one of its containers. */
#ifndef TRAINYARD_KUBE_POD_CONTAINER_H
#define TRAINYARD_KUBE_POD_CONTAINER_H

#include "base/json.h"

/* Its entry in status, whichever kind of container it is; NULL: nothing is known of it yet. */
const struct json *kube_pod_container_status(const struct json *pod, const char *container);

#endif

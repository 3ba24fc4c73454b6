/* Facts about one container of a pod: its entry in the pod's status, and the default path of its
 * termination message. Pure. */
#ifndef TRAINYARD_KUBE_POD_CONTAINER_H
#define TRAINYARD_KUBE_POD_CONTAINER_H

#include "base/json/json.h"

/* The default of terminationMessagePath. */
#define KUBE_MESSAGE_PATH "/dev/termination-log"

/* Returns the container's entry in the pod's status, or NULL if it has none yet. The container may
 * be an init container. */
const struct json *kube_pod_container_status(const struct json *pod, const char *container);

#endif

/* What a pod says of one of its containers. */
#ifndef TRAINYARD_KUBE_POD_CONTAINER_H
#define TRAINYARD_KUBE_POD_CONTAINER_H

#include "base/json/json.h"

/* Where it leaves its last words, if its terminationMessagePath names no other place. */
#define KUBE_MESSAGE_PATH "/dev/termination-log"

/* Its entry in status, whichever kind of container it is; NULL: nothing is known of it yet. */
const struct json *kube_pod_container_status(const struct json *pod, const char *container);

#endif

/* Assigns the GPUs of a machine to containers. The scheduler assigns them when it has chosen the
 * node of a pod, and writes the assignment as an annotation of the pod, in the same request as the
 * binding. So the assignment survives restarts. Nodes on one machine share its GPUs, and no GPU is
 * assigned to two pods at a time. Pure. */
#ifndef TRAINYARD_KUBE_DEVICES_H
#define TRAINYARD_KUBE_DEVICES_H

#include "base/arena.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

#define KUBE_DEVICES_RESOURCE "nvidia.com/gpu"

/* The GPU numbers of each container, counted from 0: {"main":[0,1]}. */
#define KUBE_DEVICES_ANNOTATION "trainyard.dev/gpus"

enum { KUBE_DEVICES_MAX = 64 }; /* per machine */

/* The GPUs of a machine by their number. */
struct kube_devices {
    bool taken[KUBE_DEVICES_MAX]; /* assigned to a pod */
};

/* Marks the GPUs of an annotation as taken. A NULL or invalid annotation marks none. */
void kube_devices_take(struct kube_devices *devices, const char *annotation);

/* Returns the annotation that assigns the first free GPUs to the pod; NULL if the pod requests
 * none. The caller has checked that enough GPUs are free. Containers that run at the same time get
 * different GPUs. An init container that is no sidecar (restartPolicy Always) ends before the later
 * containers start, so they may get its GPUs. */
const char *kube_devices_assign(struct arena *arena, const struct json *pod,
                                const struct kube_devices *devices);

/* Returns the GPUs of a container as "0,1"; "" if it has none. */
const char *kube_devices_of(struct arena *arena, const char *annotation, const char *container);

/* Returns how many GPUs a container requests; 0 if it requests none. */
int64_t kube_devices_requested(const struct json *container);

#endif

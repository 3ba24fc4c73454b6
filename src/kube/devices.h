/* Which of a machine's GPUs belong to which container. The scheduler decides it with the node, and
 * it is written with the binding, as an annotation of the pod: one writer, in one write, read again
 * after any restart. Nodes of one machine share its devices, and none is given out twice. Pure. */
#ifndef TRAINYARD_KUBE_DEVICES_H
#define TRAINYARD_KUBE_DEVICES_H

#include "base/arena.h"
#include "base/json/json.h"

#include <stdbool.h>
#include <stddef.h>

#define KUBE_DEVICES_RESOURCE "nvidia.com/gpu"

/* {"main":[0,1]}: the numbers of a container's devices, from 0 on. */
#define KUBE_DEVICES_ANNOTATION "trainyard.dev/gpus"

enum { KUBE_DEVICES_MAX = 64 }; /* of a machine */

struct kube_devices {
    bool taken[KUBE_DEVICES_MAX];
};

/* Those of an annotation's text are taken; NULL or what is no such text: none. */
void kube_devices_take(struct kube_devices *devices, const char *annotation);

/* The text for a pod, with the first that are free; NULL where it asks for none. Init containers
 * run before the others and get what those have later. */
const char *kube_devices_assign(struct arena *arena, const struct json *pod,
                                const struct kube_devices *devices);

/* "0,1" of a container, "" where it has none. */
const char *kube_devices_of(struct arena *arena, const char *annotation, const char *container);

/* How many a container asks for. */
int64_t kube_devices_requested(const struct json *container);

#endif

/* Finds the GPUs of this machine by their device files. The node runtime reports their number to
 * the API, and the planner (plan/gpus.c) gives their device files to pods. */
#ifndef TRAINYARD_NODE_GPUS_H
#define TRAINYARD_NODE_GPUS_H

#include "node/pod/record/spec.h"

/* Returns the number of device files nvidia0, nvidia1, … in the directory `root`, at most
 * KUBE_DEVICES_MAX. Returns 0 if the directory cannot be read. `root` is "/dev" except in tests. */
int gpus_count(const char *root);

/* Appends to `ret` the paths of the device files in `root` that a program needs to use the GPUs:
 * those of all GPUs and those of the driver. */
void gpus_devices(struct arena *arena, const char *root, struct pod_strings *ret);

#endif

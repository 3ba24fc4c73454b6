/* The GPUs of this machine, as their device files show them. */
#ifndef TRAINYARD_NODE_GPUS_H
#define TRAINYARD_NODE_GPUS_H

#include "node/pod/record/spec.h"

/* Returns the number of GPUs, counted by their device files nvidia0, nvidia1, … below `root`. The
 * machine's `root` is "/dev". */
int gpus_count(const char *root);

/* Adds the device files that a program needs to use the GPUs: those of all GPUs and those of the
 * driver. */
void gpus_devices(struct arena *arena, const char *root, struct pod_strings *ret);

#endif

/* The GPUs of this machine, as their device files show them. */
#ifndef TRAINYARD_NODE_GPUS_H
#define TRAINYARD_NODE_GPUS_H

#include "node/pod/spec.h"

/* How many there are below `root` (the machine's is "/dev"): nvidia0, nvidia1, … */
int gpus_count(const char *root);

/* The device files that a program needs which uses them: those of all, and of the driver. */
void gpus_devices(struct arena *arena, const char *root, struct pod_strings *ret);

#endif

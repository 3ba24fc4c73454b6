/* The places of the machine that no pod sees. Secrets of the cluster that lie elsewhere are in a
 * list of their own (pod/secrets.h). */
#ifndef TRAINYARD_NODE_POD_MASKS_H
#define TRAINYARD_NODE_POD_MASKS_H

#include "node/plan/strings.h"

/* Adds their paths to `ret`, the state directory first. `home` is that of the machine's user, or
 * NULL. */
void plan_masks_add(struct arena *arena, const char *state_dir, const char *home,
                    struct pod_strings *ret);

#endif

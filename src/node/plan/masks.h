/* Lists paths of the machine that no pod sees. pod/secrets.h lists secrets of the cluster in other
 * places. */
#ifndef TRAINYARD_NODE_PLAN_MASKS_H
#define TRAINYARD_NODE_PLAN_MASKS_H

#include "node/plan/strings.h"

/* Adds the paths to `ret`, the state directory first. `home` is the home directory of the user who
 * runs the cluster, or NULL. */
void plan_masks_add(struct arena *arena, const char *state_dir, const char *home,
                    struct pod_strings *ret);

#endif

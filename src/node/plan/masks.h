/* Lists paths of the machine whose content pods must not see. The supervisor masks them in each
 * sandbox (step/sandbox/root.c). A hostPath volume that is itself such a path is not masked, and
 * pods without namespaces see all files. pod/secrets.h lists further paths: files with secrets of
 * the cluster. */
#ifndef TRAINYARD_NODE_PLAN_MASKS_H
#define TRAINYARD_NODE_PLAN_MASKS_H

#include "node/plan/strings.h"

/* Appends the paths to `ret`, first the state directory. `home` is the home directory of the user
 * who runs the cluster, or NULL. */
void plan_masks_add(struct arena *arena, const char *state_dir, const char *home,
                    struct pod_strings *ret);

#endif

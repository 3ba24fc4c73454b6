/* The list of files outside of the state directory that contain the cluster's secrets. These are
 * the kubeconfig files of the admin that this and earlier runs of `up --kubeconfig` have written.
 * The list is stored in <state>/secrets. The supervisor reads it at each start of a container, so
 * that a new entry also applies to pods that were planned before. */
#ifndef TRAINYARD_NODE_POD_SECRETS_H
#define TRAINYARD_NODE_POD_SECRETS_H

#include "base/err.h"
#include "node/plan/strings.h"

/* Appends the paths in the list to `ret`. A missing list is empty. */
int pod_secrets_load(struct arena *arena, const char *list, struct pod_strings *ret,
                     struct err *err);

/* Adds a path to the list unless the list contains it. The list is on the disk when this
 * returns. */
int pod_secrets_add(const char *list, const char *path, struct err *err);

#endif

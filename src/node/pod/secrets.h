/* The files outside of the state directory that hold the cluster's secrets: the admin's kubeconfig
 * wherever `up --kubeconfig` has put it, including those of earlier runs. The list is the file
 * <state>/secrets. The supervisor reads it at each start of a container, so that a new entry also
 * counts for pods that were planned before. */
#ifndef TRAINYARD_NODE_POD_SECRETS_H
#define TRAINYARD_NODE_POD_SECRETS_H

#include "base/err.h"
#include "node/plan/strings.h"

/* Appends the paths in the list to `ret`. A missing list is empty. */
int pod_secrets_load(struct arena *arena, const char *list, struct pod_strings *ret,
                     struct err *err);

/* Adds a path to the list unless it is there. The list is on the disk when this returns. */
int pod_secrets_add(const char *list, const char *path, struct err *err);

#endif

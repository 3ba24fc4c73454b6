/* The files outside of the state directory that hold the cluster's secrets: the admin's kubeconfig
 * wherever `up --kubeconfig` put it, also those of earlier runs. The list is one file,
 * <state>/secrets, which every container is started with, so that what is added to it counts for
 * containers that start later, whenever their pod was planned. */
#ifndef TRAINYARD_NODE_POD_SECRETS_H
#define TRAINYARD_NODE_POD_SECRETS_H

#include "base/err.h"
#include "node/plan/strings.h"

/* Append the paths in the list to `ret`. A list that does not exist is an empty one. */
int pod_secrets_load(struct arena *arena, const char *list, struct pod_strings *ret,
                     struct err *err);

/* Add a path to the list unless it is there; on disk when this returns. */
int pod_secrets_add(const char *list, const char *path, struct err *err);

#endif

/* Stores the list of files outside of the state directory that contain secrets of the cluster: the
 * admin's kubeconfig files that 'trainyard up --kubeconfig FILE' has written, now or earlier. The
 * list is the file <state>/secrets. The sandbox of each container masks these files, except in pods
 * without namespaces. The list is read at each start of a container, so that a new entry also
 * applies to pods that were planned before. */
#ifndef TRAINYARD_NODE_POD_SECRETS_H
#define TRAINYARD_NODE_POD_SECRETS_H

#include "base/err.h"
#include "node/plan/strings.h"

/* Appends the paths in the list file `list` to `ret`. Returns 0 also if the file does not exist. */
int pod_secrets_load(struct arena *arena, const char *list, struct pod_strings *ret,
                     struct err *err);

/* Adds a path to the list file, unless the list contains it. Returns 0 after the new list is on the
 * disk. */
int pod_secrets_add(const char *list, const char *path, struct err *err);

#endif

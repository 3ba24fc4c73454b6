/* hostPath volumes: a file, directory, socket or device of the machine, checked in the kubelet's
 * words. */
#ifndef TRAINYARD_NODE_VOLUME_HOST_PATH_H
#define TRAINYARD_NODE_VOLUME_HOST_PATH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

/* The real path of what the source names, made where its type says so. What lies in `state_dir` is
 * refused: it holds the cluster's own secrets. */
int volume_host_path(struct arena *arena, const struct json *source, const char *state_dir,
                     const char **ret, struct err *err);

#endif

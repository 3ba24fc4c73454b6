/* Checks and creates the source of hostPath volumes: a file, directory, socket or device of the
 * machine. Checks and messages are those of the kubelet. */
#ifndef TRAINYARD_NODE_VOLUME_HOST_PATH_H
#define TRAINYARD_NODE_VOLUME_HOST_PATH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

/* Returns the real path of the source. Creates the source if its type requires that. Refuses paths
 * inside `state_dir`, which contains the cluster's secrets. */
int volume_host_path(struct arena *arena, const struct json *source, const char *state_dir,
                     const char **ret, struct err *err);

#endif

/* hostPath volumes: a file, directory, socket or device of the machine, with the kubelet's checks
 * and messages. */
#ifndef TRAINYARD_NODE_VOLUME_HOST_PATH_H
#define TRAINYARD_NODE_VOLUME_HOST_PATH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

/* Returns the real path of the source, which is created if its type says so. Paths inside
 * `state_dir` are refused, because it holds the cluster's secrets. */
int volume_host_path(struct arena *arena, const struct json *source, const char *state_dir,
                     const char **ret, struct err *err);

#endif

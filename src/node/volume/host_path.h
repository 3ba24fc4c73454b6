/* Checks the source of a hostPath volume, which is a file, directory, socket or device of the
 * machine, and creates it if its type requires that. The check of the type and its error message
 * are those of the kubelet. */
#ifndef TRAINYARD_NODE_VOLUME_HOST_PATH_H
#define TRAINYARD_NODE_VOLUME_HOST_PATH_H

#include "base/arena.h"
#include "base/err.h"
#include "base/json/json.h"

/* `source` is the hostPath of a volume, or the hostPath or local source of a persistent volume.
 * Sets *ret to the path in `source` with symbolic links resolved, allocated in `arena`. A missing
 * source of type DirectoryOrCreate or FileOrCreate is created. Paths inside `state_dir`, which
 * contains the cluster's secrets, are refused, and nothing is created there. Returns 0 or a
 * negative code. */
int volume_host_path(struct arena *arena, const struct json *source, const char *state_dir,
                     const char **ret, struct err *err);

#endif

/* Makes mounts for the sandbox: detached clones, whose attributes are set before a process can
 * reach them, and mount points in read-only file systems. The sandbox's first process uses it, in a
 * mount namespace of its own. The supervisor and the first process of a shared PID namespace use
 * only mount_memory(), also in mount namespaces of their own. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_MOUNT_H
#define TRAINYARD_NODE_STEP_SANDBOX_MOUNT_H

#include "base/err.h"
#include "node/pod/record/spec.h"

#include <stdbool.h>

/* Clones the file or directory at `path`, and everything mounted below it, as a detached mount with
 * nosuid and nodev. If `path` is "", clones `directory_fd` itself. The caller closes *ret_fd. */
int mount_clone(int directory_fd, const char *path, bool read_only, int *ret_fd, struct err *err);
/* Like mount_clone(), but for the volume <source>/<sub_path>. A missing sub-path is created as a
 * directory; the source must exist. Fails if the path of the source contains a symbolic link, or if
 * a link in the sub-path leads out of the source. `ret_path` is the path on the machine, without
 * links; the caller frees it. */
int mount_clone_volume(const struct pod_mount *mount, int *ret_fd, char **ret_path,
                       struct err *err);
/* Mounts a detached mount at `target`. The caller closes `tree_fd`. */
int mount_attach(int tree_fd, const char *target, struct err *err);

/* Mounts a file system in memory; `options` are as in mount(8): "mode=0755". */
int mount_memory(const char *target, unsigned long flags, const char *options, struct err *err);
/* Makes the mount at `target` read-only, but not the mounts below it. */
int mount_read_only(const char *target, struct err *err);

/* The directories that are writable while mount points are created in them.
 * mount_layers_make_read_only() makes them read-only. */
enum { MOUNT_LAYERS_MAX = 64 };
struct mount_layers {
    int fds[MOUNT_LAYERS_MAX];
    int count;
};

/* Mounts a layer over `directory`, so that new entries can be created there. This layer is a
 * writable file system in memory; it is not the layer of step/sandbox/layer.h. It shows the entries
 * of the directory, read-only, except those in `without`, which ends with NULL or is NULL. An entry
 * that cannot be cloned is shown empty. The working directory becomes "/". Returns 0, -ERR_TOO_MANY
 * if the directory has too many entries, or another negative code. */
int mount_layer_over(struct mount_layers *layers, const char *directory, const char *const *without,
                     struct err *err);
/* Makes sure that the mount point `target` exists. Creates missing components of the path, on a new
 * layer if they cannot be created in the directory itself. If `directory` is false, the last
 * component is created as a file. */
int mount_make_target(struct mount_layers *layers, const char *target, bool directory,
                      struct err *err);
/* Adds a directory that is writable already. */
int mount_layers_add(struct mount_layers *layers, const char *directory, struct err *err);
/* Makes all directories of `layers` read-only and empties `layers`. */
int mount_layers_make_read_only(struct mount_layers *layers, struct err *err);

#endif

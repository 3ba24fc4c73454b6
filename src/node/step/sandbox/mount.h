/* Makes mounts for the sandbox: detached clones, whose attributes are set before a process can
 * reach them, and mount points in read-only file systems. Used only by the sandbox's first process,
 * in a mount namespace of its own. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_MOUNT_H
#define TRAINYARD_NODE_STEP_SANDBOX_MOUNT_H

#include "base/err.h"
#include "node/pod/record/spec.h"

#include <stdbool.h>

/* Clones the file or directory at `path`, and everything mounted below it, as a detached mount with
 * nosuid and nodev. */
int mount_clone(int directory_fd, const char *path, bool read_only, int *ret_fd, struct err *err);
/* Like mount_clone(), for the volume <source>/<sub_path>, which is created if missing. Fails if the
 * path of the source contains a symbolic link, or if a link in the sub-path leads out of the
 * source. `ret_path` is the path on the machine, without links; the caller frees it. */
int mount_clone_volume(const struct pod_mount *mount, int *ret_fd, char **ret_path,
                       struct err *err);
int mount_attach(int tree_fd, const char *target, struct err *err);

/* Mounts a file system in memory; `options` are as in mount(8): "mode=0755". */
int mount_memory(const char *target, unsigned long flags, const char *options, struct err *err);
int mount_read_only(const char *target, struct err *err);

/* The directories that were made writable. mount_layers_seal() makes them read-only again. */
enum { MOUNT_LAYERS_MAX = 64 };
struct mount_layers {
    int fds[MOUNT_LAYERS_MAX];
    int count;
};

/* Mounts a writable file system in memory over `directory`, so that new entries can be created
 * there. It shows all entries of the directory except those in `without`, which ends with NULL. */
int mount_layer_over(struct mount_layers *layers, const char *directory, const char *const *without,
                     struct err *err);
/* Makes sure that the mount point `target` exists. Creates missing components of the path, on a new
 * layer if the file system is read-only. If `directory` is false, the last component is created as
 * a file. */
int mount_make_target(struct mount_layers *layers, const char *target, bool directory,
                      struct err *err);
/* Adds a writable directory, which mount_layers_seal() makes read-only. */
int mount_layers_add(struct mount_layers *layers, const char *directory, struct err *err);
int mount_layers_seal(struct mount_layers *layers, struct err *err);

#endif

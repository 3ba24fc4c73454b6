/* Mounts for the sandbox: detached clones of trees, whose rights are set before a process can
 * reach them, and mount points where the file system below is read-only. Used only by the
 * sandbox's first process, in a mount namespace of its own. */
#ifndef TRAINYARD_NODE_STEP_SANDBOX_MOUNT_H
#define TRAINYARD_NODE_STEP_SANDBOX_MOUNT_H

#include "base/err.h"
#include "node/pod/record/spec.h"

#include <stdbool.h>

/* Clones what is at `path`, and everything mounted below it, as a detached mount with nosuid and
 * nodev. */
int mount_clone(int directory_fd, const char *path, bool read_only, int *ret_fd, struct err *err);
/* Like mount_clone(), for the volume <source>/<sub_path>, which is created if missing. The source
 * must contain no symbolic link, and no link below it may lead outside. `ret_path` is the place on
 * the machine, without links; the caller frees it. */
int mount_clone_volume(const struct pod_mount *mount, int *ret_fd, char **ret_path,
                       struct err *err);
int mount_attach(int tree_fd, const char *target, struct err *err);

/* Mounts a file system in memory; `options` are as in mount(8): "mode=0755". */
int mount_memory(const char *target, unsigned long flags, const char *options, struct err *err);
int mount_read_only(const char *target, struct err *err);

/* Directories that were made writable; mount_layers_seal() makes them read-only again. */
enum { MOUNT_LAYERS_MAX = 64 };
struct mount_layers {
    int fds[MOUNT_LAYERS_MAX];
    int count;
};

/* Mounts a file system in memory over `directory` that shows all its entries except those in
 * `without` (ends with NULL), so that new entries can be made beside them. */
int mount_layer_over(struct mount_layers *layers, const char *directory, const char *const *without,
                     struct err *err);
/* Makes sure that something can be mounted at `target`, a directory or a file. What is missing is
 * created, on a new layer if the file system is read-only. */
int mount_make_target(struct mount_layers *layers, const char *target, bool directory,
                      struct err *err);
/* `directory` is writable until mount_layers_seal(). */
int mount_layers_add(struct mount_layers *layers, const char *directory, struct err *err);
int mount_layers_seal(struct mount_layers *layers, struct err *err);

#endif

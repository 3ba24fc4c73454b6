/* Mounts as the sandbox needs them: detached clones of trees, whose rights are set before anybody
 * can reach them, and places for them where the file system below is read-only. Used by the
 * sandbox's first process only, in a mount namespace of its own. */
#ifndef TRAINYARD_NODE_STEP_MOUNT_H
#define TRAINYARD_NODE_STEP_MOUNT_H

#include "base/err.h"
#include "node/pod/spec.h"

#include <stdbool.h>

/* A detached clone of what lies at `path` (and everything mounted below it), nosuid and nodev. */
int mount_clone(int directory_fd, const char *path, bool read_only, int *ret_fd, struct err *err);
/* The same for the volume <source>/<sub_path>, made if missing. The source must have no symbolic
 * link in it, and none below it leads out of it. `ret_path` is where that is on the machine,
 * without links; the caller frees it. */
int mount_clone_volume(const struct pod_mount *mount, int *ret_fd, char **ret_path,
                       struct err *err);
int mount_attach(int tree_fd, const char *target, struct err *err);

/* A file system of memory; `options` as in mount(8): "mode=0755". */
int mount_memory(const char *target, unsigned long flags, const char *options, struct err *err);
int mount_read_only(const char *target, struct err *err);

/* Directories that were opened for change, to be closed again with mount_layers_seal(). */
enum { MOUNT_LAYERS_MAX = 64 };
struct mount_layers {
    int fds[MOUNT_LAYERS_MAX];
    int count;
};

/* Put a memory file system over `directory` that shows all its entries, except those named in
 * `without` (NULL-terminated), so that new ones can be made beside them. */
int mount_layer_over(struct mount_layers *layers, const char *directory, const char *const *without,
                     struct err *err);
/* Make sure that something can be mounted at `target`, a directory or a file: what is missing is
 * made, on a layer where the file system is read-only. */
int mount_make_target(struct mount_layers *layers, const char *target, bool directory,
                      struct err *err);
/* `directory` is one that can be changed until then. */
int mount_layers_add(struct mount_layers *layers, const char *directory, struct err *err);
int mount_layers_seal(struct mount_layers *layers, struct err *err);

#endif

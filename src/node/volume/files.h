/* Writes volumes that show API objects as files: configMap, secret, downwardAPI, projected. Called
 * by volumes.c, and by node/pod/refresh.c to find the volumes that show a changed object. All files
 * of a volume are replaced at once, when the pod starts and after each change of an object. */
#ifndef TRAINYARD_NODE_VOLUME_FILES_H
#define TRAINYARD_NODE_VOLUME_FILES_H

#include "node/volume/volumes.h"

/* Returns true if the volume is of one of these types. */
bool volume_files_is(const struct json *volume);

/* Writes the files to `directory`. Returns -ERR_NOT_FOUND if an object or key that is not optional
 * does not exist, or if a token has not been issued yet. If an object cannot be read or a file
 * cannot be written, the directory keeps its content. */
int volume_files_write(struct arena *arena, const struct volume_context *context,
                       const struct json *volume, const char *directory, struct err *err);

/* Returns true if the volume shows data of the object `name`, which is a secret if `resource` is
 * KUBE_SECRETS, and else a config map. */
bool volume_files_show(const struct json *volume, const struct kube_resource *resource,
                       const char *name);
/* Returns true if the volume shows fields of the pod itself, such as labels and annotations, which
 * may change. */
bool volume_files_show_pod(const struct json *volume);

#endif

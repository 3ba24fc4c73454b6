/* Writes volumes that show API objects as files: configMap, secret, downwardAPI, projected. All
 * files of a volume are replaced at once, when the pod starts and after each change of an object.
 */
#ifndef TRAINYARD_NODE_VOLUME_FILES_H
#define TRAINYARD_NODE_VOLUME_FILES_H

#include "node/volume/volumes.h"

bool volume_files_is(const struct json *volume);

/* Writes the files to `directory`. On failure the directory keeps its content. */
int volume_files_write(struct arena *arena, const struct volume_context *context,
                       const struct json *volume, const char *directory, struct err *err);

/* Whether the volume shows data of this config map or secret. */
bool volume_files_show(const struct json *volume, const struct kube_resource *resource,
                       const char *name);
/* Whether the volume shows fields of the pod itself, such as labels and annotations, which may
 * change. */
bool volume_files_show_pod(const struct json *volume);

#endif

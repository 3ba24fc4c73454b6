/* Volumes that show objects of the API as files: configMap, secret, downwardAPI, projected. What
 * they show is gathered whole and published at once, when the pod starts and whenever something of
 * it changes. */
#ifndef TRAINYARD_NODE_VOLUME_FILES_H
#define TRAINYARD_NODE_VOLUME_FILES_H

#include "node/volume/volumes.h"

bool volume_files_is(const struct json *volume);

/* Show the files in `directory`. On failure it keeps showing what it did. */
int volume_files_write(struct arena *arena, const struct volume_context *context,
                       const struct json *volume, const char *directory, struct err *err);

/* True if the volume shows something of the config map or secret. */
bool volume_files_show(const struct json *volume, const struct kube_resource *resource,
                       const char *name);
/* True if it shows something of the pod itself that may change: labels and annotations. */
bool volume_files_show_pod(const struct json *volume);

#endif

/* A projection of an object: a copy with some of its fields. */
#ifndef TRAINYARD_KUBE_PATCH_PROJECTION_H
#define TRAINYARD_KUBE_PATCH_PROJECTION_H

#include "base/json/json.h"

/* Returns a new tree with only the named fields: "metadata.labels" keeps everything below it,
 * "status.containerStatuses.name" keeps the name of every list element. The list ends with NULL. */
struct json *kube_project_fields(struct arena *arena, const struct json *object,
                                 const char *const *fields);

#endif

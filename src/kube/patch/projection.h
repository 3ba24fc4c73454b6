/* Copies selected fields of an object. */
#ifndef TRAINYARD_KUBE_PATCH_PROJECTION_H
#define TRAINYARD_KUBE_PATCH_PROJECTION_H

#include "base/json/json.h"

/* Returns a new tree with only the given fields. "metadata.labels" keeps all labels, and
 * "status.containerStatuses.name" keeps the name of every list element. `fields` is
 * NULL-terminated. */
struct json *kube_project_fields(struct arena *arena, const struct json *object,
                                 const char *const *fields);

#endif

/* Copies selected fields of an object. An informer uses it to cache only the fields that its
 * readers need (kube/client/informer.h). */
#ifndef TRAINYARD_KUBE_PATCH_PROJECTION_H
#define TRAINYARD_KUBE_PATCH_PROJECTION_H

#include "base/json/json.h"

/* Returns a new tree with only the given fields. "metadata.labels" keeps all labels, and
 * "status.containerStatuses.name" keeps the name of every list element. `fields` is NULL-terminated
 * and has at most 64 paths. */
struct json *kube_project_fields(struct arena *arena, const struct json *object,
                                 const char *const *fields);

#endif

/* A part of an object: the fields that somebody decides on, without the rest. */
#ifndef TRAINYARD_KUBE_PICK_H
#define TRAINYARD_KUBE_PICK_H

#include "base/json/json.h"

/* A new tree with only the fields named: "metadata.labels" with all that is below it,
 * "status.containerStatuses.name" of every element of a list. The list ends with NULL. */
struct json *kube_project_fields(struct arena *arena, const struct json *object,
                                 const char *const *fields);

#endif

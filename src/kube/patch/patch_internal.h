/* Shared by the merges of patch.c and patch_strategic.c. Each function takes time linear in the
 * size of the objects. */
#ifndef TRAINYARD_KUBE_PATCH_PATCH_INTERNAL_H
#define TRAINYARD_KUBE_PATCH_PATCH_INTERNAL_H

#include "base/json/json.h"

/* Removes the members of `object` that are null in `patch`. */
void patch_drop_nulls(struct json *object, const struct json *patch);

/* Replaces the value of the member or element `place`, but keeps its name and position. */
void patch_assign(struct json *place, const struct json *value);

#endif

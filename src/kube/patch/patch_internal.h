/* What the merges of patch.c and patch_strategic.c share: both go through an object once, however
 * many members it has. */
#ifndef TRAINYARD_KUBE_PATCH_INTERNAL_H
#define TRAINYARD_KUBE_PATCH_INTERNAL_H

#include "base/json/json.h"

/* Take the members out of `object` that are null in `patch`. */
void patch_drop_nulls(struct json *object, const struct json *patch);

/* What stands at `place` becomes `value`; its name and what follows it stay. */
void patch_assign(struct json *place, const struct json *value);

#endif

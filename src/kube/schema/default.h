/* Fills in the defaults that a table names. A default that depends on other fields is set by the
 * code of the kind. */
#ifndef TRAINYARD_KUBE_SCHEMA_DEFAULT_H
#define TRAINYARD_KUBE_SCHEMA_DEFAULT_H

#include "kube/schema/schema.h"

/* Changes the object in place. An object or list element that exists gets the defaults of its
 * fields; an absent object is created only if it has a default itself. */
void schema_default(struct arena *arena, const struct schema_object *type, struct json *object);

#endif

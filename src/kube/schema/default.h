/* Sets the defaults that a schema contains. A hook of the kind (kube/kinds/) sets the defaults that
 * depend on other fields. The API server calls both. */
#ifndef TRAINYARD_KUBE_SCHEMA_DEFAULT_H
#define TRAINYARD_KUBE_SCHEMA_DEFAULT_H

#include "kube/schema/schema.h"

/* Changes the object in place. The object and all objects in it get the defaults of their missing
 * fields. A field with "" or 0 counts as missing unless its presence is PRESENCE_IF_SET. A missing
 * object is created only if it has a default itself. */
void schema_default(struct arena *arena, const struct schema_object *type, struct json *object);

#endif

/* Sets the defaults that a schema contains. The code of the kind sets defaults that depend on other
 * fields. */
#ifndef TRAINYARD_KUBE_SCHEMA_DEFAULT_H
#define TRAINYARD_KUBE_SCHEMA_DEFAULT_H

#include "kube/schema/schema.h"

/* Changes the object in place. An existing object or list element gets the defaults of its missing
 * fields. A field with "" or 0 counts as missing unless its presence is PRESENCE_IF_SET. A missing
 * object is created only if it has a default itself. */
void schema_default(struct arena *arena, const struct schema_object *type, struct json *object);

#endif

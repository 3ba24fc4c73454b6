/* The defaults of a kind: what a client leaves out gets the value its table names. A default that
 * depends on other fields is the business of the kind's own code. */
#ifndef TRAINYARD_KUBE_SCHEMA_DEFAULT_H
#define TRAINYARD_KUBE_SCHEMA_DEFAULT_H

#include "kube/schema/schema.h"

/* In place; an object or list element that is there gets the defaults of what is in it, one that is
 * absent is not made unless it has a default itself. */
void schema_default(struct arena *arena, const struct schema_object *type, struct json *object);

#endif

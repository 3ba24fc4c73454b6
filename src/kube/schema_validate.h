/* Whether an object keeps the rules of its description: types, required fields, allowed values,
 * limits. What no table can say is the business of the kind's own code. */
#ifndef TRAINYARD_KUBE_SCHEMA_VALIDATE_H
#define TRAINYARD_KUBE_SCHEMA_VALIDATE_H

#include "kube/field_error.h"
#include "kube/schema.h"

/* All that is wrong, with paths from the object's root. */
void schema_validate(struct field_errors *errors, const struct schema_object *type,
                     const struct json *object);

#endif

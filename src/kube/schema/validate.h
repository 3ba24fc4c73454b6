/* Validates an object against its description: types, required fields, allowed values and limits,
 * with the messages of Kubernetes. Rules that a table cannot express are checked by the code of the
 * kind. */
#ifndef TRAINYARD_KUBE_SCHEMA_VALIDATE_H
#define TRAINYARD_KUBE_SCHEMA_VALIDATE_H

#include "kube/schema/field_error.h"
#include "kube/schema/schema.h"

/* Returns the type of a JSON value as schemas name it: "integer", "object". */
const char *schema_type_name(const struct json *value);

/* Reports everything that is wrong with a value. `path` ("" for a whole object) is put in front of
 * each field. A schema of type SCHEMA_ANY that has an `object` or `items` checks the members or
 * elements of any value that has them, as the parts of allOf do. */
void schema_validate_value(struct field_errors *errors, const struct schema *schema,
                           const char *path, const struct json *value);
/* Like schema_validate_value(), for an update. A value that `old` has at the same place is not
 * reported, so that an object older than a rule can still be changed. `old` may be NULL. */
void schema_validate_change(struct field_errors *errors, const struct schema *schema,
                            const char *path, const struct json *value, const struct json *old);

/* Checks only that each text of a built-in type is one of the words that its field allows. */
void schema_validate_words(struct field_errors *errors, const struct schema_object *type,
                           const struct json *object);

/* Checks rules for custom resources only: lists that are sets or maps have no duplicate elements,
 * and embedded objects have apiVersion and kind. */
void schema_validate_structure(struct field_errors *errors, const struct schema *schema,
                               const char *path, const struct json *value);

#endif

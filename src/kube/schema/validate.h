/* Validates an object against its schema: types, required fields, allowed values and limits, with
 * the messages of Kubernetes. A hook of the kind checks the rules that a schema cannot express. */
#ifndef TRAINYARD_KUBE_SCHEMA_VALIDATE_H
#define TRAINYARD_KUBE_SCHEMA_VALIDATE_H

#include "kube/schema/field_error.h"
#include "kube/schema/schema.h"

/* Returns the OpenAPI name of the type of a JSON value: "integer", "object". A whole number such as
 * 1.0 is an "integer". */
const char *schema_type_name(const struct json *value);

/* Adds all errors of a value to `errors`. `path` ("" for a whole object) is put in front of each
 * field. A schema of type SCHEMA_ANY accepts a value of any type. If the schema also has `object`
 * or `items`, the members of an object and the elements of a list are checked. The parts of allOf
 * are such schemas. */
void schema_validate_value(struct field_errors *errors, const struct schema *schema,
                           const char *path, const struct json *value);
/* Like schema_validate_value(), but for an update of `old`. Does not report a value that is equal
 * in `old`, or a missing schema_field that `old` does not have either. So an object that is older
 * than a rule can still be changed. `old` may be NULL. */
void schema_validate_change(struct field_errors *errors, const struct schema *schema,
                            const char *path, const struct json *value, const struct json *old);

/* Checks only that each string of a built-in type is one of the words that its field allows. Skips
 * the status, because a controller writes it. */
void schema_validate_words(struct field_errors *errors, const struct schema_object *type,
                           const struct json *object);

/* Checks two rules that only custom resources have. Lists of type set or map must have no duplicate
 * elements. Embedded objects must have a valid apiVersion and a kind; their metadata must be an
 * object or missing. */
void schema_validate_structure(struct field_errors *errors, const struct schema *schema,
                               const char *path, const struct json *value);

#endif

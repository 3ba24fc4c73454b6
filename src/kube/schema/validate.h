/* Whether an object keeps the rules of its description: types, required fields, allowed values,
 * limits; in Kubernetes' words. What no table can say is the business of the kind's own code. */
#ifndef TRAINYARD_KUBE_SCHEMA_VALIDATE_H
#define TRAINYARD_KUBE_SCHEMA_VALIDATE_H

#include "kube/schema/field_error.h"
#include "kube/schema/schema.h"

/* As schemas call what it is: "integer", "object". */
const char *schema_type_name(const struct json *value);

/* All that is wrong with a value; `path` ("" for a whole object) goes before all others. A schema
 * of type SCHEMA_ANY that has an `object` or `items` says something of the members or elements of
 * whatever has them, as the parts of allOf and its kin do. */
void schema_validate_value(struct field_errors *errors, const struct schema *schema,
                           const char *path, const struct json *value);
/* The same of an update. What `old` has at the same place stays as it is, right or wrong, so that
 * the rest of an object that is older than a rule can be changed. `old` may be NULL. */
void schema_validate_change(struct field_errors *errors, const struct schema *schema,
                            const char *path, const struct json *value, const struct json *old);

/* Only whether each text is one of the words its field allows, of a type built in. */
void schema_validate_words(struct field_errors *errors, const struct schema_object *type,
                           const struct json *object);

/* What is asked of custom resources besides: no element twice in lists that are sets or maps, and
 * embedded objects that say what they are. */
void schema_validate_structure(struct field_errors *errors, const struct schema *schema,
                               const char *path, const struct json *value);

#endif

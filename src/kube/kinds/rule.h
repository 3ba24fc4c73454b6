/* Validation rules for fields of several kinds, with Kubernetes' messages. The values have the
 * right types, because decoding has checked them. `field` is the path of the value, or of the
 * object that contains it, for error messages. */
#ifndef TRAINYARD_KUBE_KINDS_RULE_H
#define TRAINYARD_KUBE_KINDS_RULE_H

#include "base/json/json.h"
#include "base/map.h"
#include "kube/kinds/kind.h"
#include "kube/schema/field_error.h"

/* The member `name` of the object at `field` must not be negative. */
void rule_nonnegative(struct field_errors *errors, const struct json *object, const char *name,
                      const char *field);
/* Both values must be equal, or both absent or null. Otherwise adds the error "field is immutable".
 */
void rule_immutable(struct field_errors *errors, const struct json *value, const struct json *old,
                    const char *field);
/* Returns whether both values are equal, or both absent or null. */
bool rule_same(const struct json *a, const struct json *b);
/* Returns whether the value is set: it is neither absent, null, "", an empty list nor an empty
 * object. */
bool rule_is_set(const struct json *value);
/* Adds the name to the set. Returns whether the name was in the set before; always false for "".
 * Used for lists whose elements must differ. Comparing all pairs would take minutes for 100,000
 * elements. */
bool rule_seen(struct map *seen, const char *name);

/* Returns whether the object has the member and its value is not null. */
bool rule_has(const struct json *object, const char *name);

/* The member must be one of the words (NULL-terminated), absent or "". Otherwise adds an error by
 * field_unsupported(). */
void rule_word(struct field_errors *errors, const struct json *object, const char *name,
               const char *const *words, const char *field);
/* The member must be a number within the bounds, or absent. */
void rule_range(struct field_errors *errors, const struct json *object, const char *name,
                int64_t min, int64_t max, const char *field);
/* The member must be greater than 0. An absent member counts as 0. */
void rule_positive(struct field_errors *errors, const struct json *object, const char *name,
                   const char *field);
/* The number must be from 1 to 65535. An absent number counts as 0. */
void rule_port(struct field_errors *errors, const struct json *number, const char *field);
/* Validates the name of a container port. */
void rule_port_name(struct field_errors *errors, const char *name, const char *field);
/* Validates a port that is either a number or the name of a container port. */
void rule_port_or_name(struct field_errors *errors, const struct json *port, const char *field);
/* Validates a key of a ConfigMap or Secret. */
void rule_config_key(struct field_errors *errors, const char *key, const char *field);
/* The member must be a name that is valid by `rule`. An empty or absent name is an error only if
 * `needed` is set. */
void rule_name(struct field_errors *errors, const struct json *object, const char *name,
               enum kube_name_rule rule, bool needed, const char *field);
/* Validates an IP address. Returns whether the address is valid. */
bool rule_address(struct field_errors *errors, const struct json *address, const char *field);
/* Refuses an address that is unspecified, loopback, link-local or link-local multicast. The caller
 * has checked the address with rule_address(). */
void rule_address_outside(struct field_errors *errors, const struct json *address,
                          const char *field);
/* Validates a range of addresses such as "10.9.8.0/24". */
void rule_address_range(struct field_errors *errors, const struct json *range, const char *field);
/* Refuses an absolute path and a path with a part "..". */
void rule_relative_path(struct field_errors *errors, const char *path, const char *field);
/* Refuses a path with a part "..". */
void rule_no_backsteps(struct field_errors *errors, const char *path, const char *field);
/* Validates the relative path of a file in a volume. Refuses a path that starts with "..", because
 * the node uses such names. */
void rule_file_path(struct field_errors *errors, const char *path, const char *field);

/* Validates a LabelSelector {matchLabels, matchExpressions}. */
void rule_selector(struct field_errors *errors, const struct json *selector, const char *field);
/* Validates a PodTemplateSpec with its labels, annotations and pod spec. */
void rule_template(struct field_errors *errors, const struct json *template_, const char *field);
/* Like rule_template(), but for a kind whose objects are stored as the client wrote them, without
 * defaults. The restart policy of the template is not validated, because the controller of the kind
 * sets it. */
void rule_template_written(struct field_errors *errors, const struct json *template_,
                           const char *field);

#endif

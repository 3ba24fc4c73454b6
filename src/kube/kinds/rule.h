/* Rules that the fields of several kinds keep, in Kubernetes' words. Values have the types of their
 * tables by now; what has another is passed over, since decoding complains of it. */
#ifndef TRAINYARD_KUBE_KINDS_RULE_H
#define TRAINYARD_KUBE_KINDS_RULE_H

#include "base/json/json.h"
#include "base/map.h"
#include "kube/kinds/kind.h"
#include "kube/schema/field_error.h"

/* The number `name` of the object, which stands at `field`. */
void rule_nonnegative(struct field_errors *errors, const struct json *object, const char *name,
                      const char *field);
/* "field is immutable" unless both are the same, absent included. */
void rule_immutable(struct field_errors *errors, const struct json *value, const struct json *old,
                    const char *field);
bool rule_same(const struct json *a, const struct json *b);
/* Whether somebody said something there: null, "" and empty lists say nothing. */
bool rule_is_set(const struct json *value);
/* Whether the name was asked for before; "" never was. For lists whose elements must differ: each
 * with each would take minutes where somebody sends a hundred thousand. */
bool rule_seen(struct map *seen, const char *name);

/* There, and not null. */
bool rule_has(const struct json *object, const char *name);

/* One of the words (NULL-terminated), as field_unsupported() words it. Nothing: not asked. */
void rule_word(struct field_errors *errors, const struct json *object, const char *name,
               const char *const *words, const char *field);
/* A number within bounds, or absent. */
void rule_range(struct field_errors *errors, const struct json *object, const char *name,
                int64_t min, int64_t max, const char *field);
/* Above nought, absent included. */
void rule_positive(struct field_errors *errors, const struct json *object, const char *name,
                   const char *field);
/* 1 … 65535. */
void rule_port(struct field_errors *errors, const struct json *number, const char *field);
/* The name of a port of a container, and a port by number or by such a name. */
void rule_port_name(struct field_errors *errors, const char *name, const char *field);
void rule_port_or_name(struct field_errors *errors, const struct json *port, const char *field);
/* A key of a ConfigMap or Secret. */
void rule_config_key(struct field_errors *errors, const char *key, const char *field);
/* The name of another object, of this sort; where it is needed and "" it is missed. */
void rule_name(struct field_errors *errors, const struct json *object, const char *name,
               enum kube_name_rule rule, bool needed, const char *field);
/* rule_address.c: an IP address, false if not; and one that leads to another machine, which is
 * asked of those that are right in themselves. */
bool rule_address(struct field_errors *errors, const struct json *address, const char *field);
void rule_address_outside(struct field_errors *errors, const struct json *address,
                          const char *field);
/* A range of addresses, "10.9.8.0/24". */
void rule_address_range(struct field_errors *errors, const struct json *range, const char *field);
/* A path below some directory; and one that does not climb out of it. */
void rule_relative_path(struct field_errors *errors, const char *path, const char *field);
void rule_no_backsteps(struct field_errors *errors, const char *path, const char *field);
/* A relative path of a file in a volume, where names that start with ".." are the node's own. */
void rule_file_path(struct field_errors *errors, const char *path, const char *field);

/* A LabelSelector {matchLabels, matchExpressions}. */
void rule_selector(struct field_errors *errors, const struct json *selector, const char *field);
/* rule_template.c. A PodTemplateSpec: labels, annotations and all of its pod. */
void rule_template(struct field_errors *errors, const struct json *template_, const char *field);
/* The same of a kind whose objects stay as they were written: types are right, defaults are
 * missing. The restart policy of the template is not looked at, since the kind's controller sets
 * it. */
void rule_template_written(struct field_errors *errors, const struct json *template_,
                           const char *field);

#endif

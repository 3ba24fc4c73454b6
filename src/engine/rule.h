/* Rules that the fields of several kinds keep, in Kubernetes' words. Values have the types of their
 * tables by now; what has another is passed over, since decoding complains of it. */
#ifndef TRAINYARD_ENGINE_RULE_H
#define TRAINYARD_ENGINE_RULE_H

#include "base/json.h"
#include "kube/field_error.h"

/* The number `name` of the object, which stands at `field`. */
void rule_nonnegative(struct field_errors *errors, const struct json *object, const char *name,
                      const char *field);
/* "field is immutable" unless both are the same, absent included. */
void rule_immutable(struct field_errors *errors, const struct json *value, const struct json *old,
                    const char *field);
bool rule_same(const struct json *a, const struct json *b);

/* A LabelSelector {matchLabels, matchExpressions}. */
void rule_selector(struct field_errors *errors, const struct json *selector, const char *field);
/* A PodTemplateSpec: labels, annotations and all of its pod. */
void rule_template(struct field_errors *errors, const struct json *template_, const char *field);

#endif

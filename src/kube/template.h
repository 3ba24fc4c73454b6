/* OpenShift Templates: a list of objects with ${PARAMETER} references, filled in like `oc process`.
 * Called by `trainyard process`. Pure, except that values with `generate` are random. */
#ifndef TRAINYARD_KUBE_TEMPLATE_H
#define TRAINYARD_KUBE_TEMPLATE_H

#include "base/json/json.h"

enum {
    KUBE_TEMPLATE_PARAMETERS_MAX = 1000,
    KUBE_TEMPLATE_VALUE_MAX = 1 << 20, /* bytes of a string after substitution */
    KUBE_TEMPLATE_GENERATED_MAX = 255, /* characters of a generated value */
};

/* Fills in a template. `values` is an object of strings, by parameter; ret_list is a List of the
 * objects. "${NAME}" inside a string is replaced by the value's text, and a string that is
 * "${{NAME}}" by the value parsed as JSON. A reference that is no parameter of the template stays.
 * Returns -ERR_INVALID for a value without a parameter and for a required parameter without a
 * value; then `ret_wrong` is the part of the template that the error is about, or NULL if it is
 * about `values`. */
int kube_template_process(struct arena *arena, const struct json *template_,
                          const struct json *values, struct json **ret_list,
                          const struct json **ret_wrong, struct err *err);

/* Generates a value for "generate: expression": literal text and classes such as "[a-z0-9]{8}" or
 * "\w{5}". */
int kube_template_generate(struct arena *arena, const char *from, const char **ret,
                           struct err *err);

#endif

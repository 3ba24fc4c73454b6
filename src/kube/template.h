/* Processes OpenShift Templates as `oc process` does: replaces the ${PARAMETER} references in a
 * list of objects. Called by `trainyard process`. Pure, except that values with `generate` are
 * random. */
#ifndef TRAINYARD_KUBE_TEMPLATE_H
#define TRAINYARD_KUBE_TEMPLATE_H

#include "base/json/json.h"

enum {
    KUBE_TEMPLATE_PARAMETERS_MAX = 1000,
    KUBE_TEMPLATE_VALUE_MAX = 1 << 20, /* bytes of a string after substitution */
    KUBE_TEMPLATE_GENERATED_MAX = 255, /* characters of a generated value */
};

/* Fills in a template. `values` maps the names of parameters to strings. *ret_list is a List of the
 * objects. "${NAME}" inside a string is replaced by the text of the value. A string that is exactly
 * "${{NAME}}" is replaced by the value parsed as JSON, or by its text if it is not JSON. A
 * reference to an unknown parameter stays. Returns 0; -ERR_TOO_LARGE if a string with
 * "${NAME}" becomes longer than KUBE_TEMPLATE_VALUE_MAX; or -ERR_INVALID if the template is
 * invalid, if `values` has a name that is not a parameter, or if a required parameter has no value.
 * On error, *ret_wrong is the part of the template that the error is about, or NULL if the error is
 * about `values`. */
int kube_template_process(struct arena *arena, const struct json *template_,
                          const struct json *values, struct json **ret_list,
                          const struct json **ret_wrong, struct err *err);

/* Generates the value of a parameter with "generate: expression". `from` is the expression: literal
 * text and classes such as "[a-z0-9]{8}" or "\w{5}". *ret is in the arena. Returns 0, or
 * -ERR_INVALID if the expression is invalid, or generates no text or more than
 * KUBE_TEMPLATE_GENERATED_MAX characters. */
int kube_template_generate(struct arena *arena, const char *from, const char **ret,
                           struct err *err);

#endif

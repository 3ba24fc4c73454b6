/* OpenShift Templates: a list of objects with ${PARAMETER} in them, filled in as `oc process` does.
 * A pure function of the template and the values given; only a value that the template wants
 * generated is drawn by chance. Called by `trainyard process`. */
#ifndef TRAINYARD_KUBE_TEMPLATE_H
#define TRAINYARD_KUBE_TEMPLATE_H

#include "base/json/json.h"

enum {
    KUBE_TEMPLATE_PARAMETERS_MAX = 1000,
    KUBE_TEMPLATE_VALUE_MAX = 1 << 20, /* bytes of a string after filling in */
    KUBE_TEMPLATE_GENERATED_MAX = 255, /* characters of a generated value */
};

/* `template` is the parsed document; `values` an object of strings, by parameter. ret_list is a
 * List of the filled-in objects. "${NAME}" inside a string is replaced by the value's text, a
 * string that is "${{NAME}}" by the value read as JSON; what names no parameter of the template
 * stays as it is. A value for a parameter the template does not have, and a required one without
 * value, are ERR_INVALID. Of a refusal `ret_wrong` is the part of the template that it is about, or
 * NULL: of the values given. */
int kube_template_process(struct arena *arena, const struct json *template_,
                          const struct json *values, struct json **ret_list,
                          const struct json **ret_wrong, struct err *err);

/* A value for "generate: expression": literal text, and classes such as "[a-z0-9]{8}" or "\w{5}".
 */
int kube_template_generate(struct arena *arena, const char *from, const char **ret,
                           struct err *err);

#endif

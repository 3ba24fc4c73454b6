/* Names of resources that can be counted and limited: "cpu", "requests.storage",
 * "example.com/gpu". */
#ifndef TRAINYARD_KUBE_KINDS_RESOURCE_NAME_H
#define TRAINYARD_KUBE_KINDS_RESOURCE_NAME_H

#include "kube/schema/field_error.h"

enum resource_use {
    RESOURCE_ANY,       /* any resource, as a claim may request it */
    RESOURCE_CONTAINER, /* resources that a container or pod may request */
    RESOURCE_QUOTA,     /* resources that a quota may count */
};

/* Adds an error if the name is malformed, or unknown and without a domain. */
void resource_name_validate(struct field_errors *errors, enum resource_use use, const char *name,
                            const char *field);
/* Whether the resource only comes in whole units. */
bool resource_name_is_integer(const char *name);
/* Whether a quota with a scope, which counts some pods only, can count the resource. */
bool resource_name_is_of_pods(const char *name, bool best_effort);

#endif

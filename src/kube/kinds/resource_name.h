/* Validates the names of resources that can be counted and limited: "cpu", "requests.storage",
 * "example.com/gpu". */
#ifndef TRAINYARD_KUBE_KINDS_RESOURCE_NAME_H
#define TRAINYARD_KUBE_KINDS_RESOURCE_NAME_H

#include "kube/schema/field_error.h"

enum resource_use {
    RESOURCE_ANY,       /* any resource; used for LimitRanges of claims */
    RESOURCE_CONTAINER, /* resources that a container or pod may request */
    RESOURCE_QUOTA,     /* resources that a quota may count */
};

/* Adds an error if the name is malformed, or if it has no domain and is unknown or not for this
 * use. */
void resource_name_validate(struct field_errors *errors, enum resource_use use, const char *name,
                            const char *field);
/* Returns whether amounts of the resource must be integers. */
bool resource_name_is_integer(const char *name);
/* Returns whether a quota whose scope selects pods can count the resource. Such a quota counts no
 * other objects. Returns true for an unknown resource. `best_effort`: the scope is BestEffort. */
bool resource_name_is_of_pods(const char *name, bool best_effort);

#endif

/* The names of resources that can be requested, limited and counted: "cpu", "requests.storage",
 * "example.com/gpu". */
#ifndef TRAINYARD_ENGINE_RESOURCE_NAME_H
#define TRAINYARD_ENGINE_RESOURCE_NAME_H

#include "kube/schema/field_error.h"

enum resource_use {
    RESOURCE_ANY,       /* resources of a claim */
    RESOURCE_CONTAINER, /* resources of a container or pod */
    RESOURCE_QUOTA,     /* resources that a quota counts */
};

/* Adds an error if the name has a wrong form or is not a known name. */
void resource_name_validate(struct field_errors *errors, enum resource_use use, const char *name,
                            const char *field);
/* Whether amounts of the resource must be whole numbers. */
bool resource_name_is_integer(const char *name);
/* Whether a quota whose scopes select only some pods can count the resource. */
bool resource_name_is_of_pods(const char *name, bool best_effort);

#endif

/* What can be counted and limited: "cpu", "requests.storage", "example.com/gpu". */
#ifndef TRAINYARD_KUBE_KINDS_RESOURCE_NAME_H
#define TRAINYARD_KUBE_KINDS_RESOURCE_NAME_H

#include "kube/schema/field_error.h"

enum resource_use {
    RESOURCE_ANY,       /* what a claim may ask for */
    RESOURCE_CONTAINER, /* what a container or pod may ask for */
    RESOURCE_QUOTA,     /* what a quota may count */
};

/* Complain of a name that has another form, or none of the known ones. */
void resource_name_validate(struct field_errors *errors, enum resource_use use, const char *name,
                            const char *field);
/* Of such things there are only whole ones. */
bool resource_name_is_integer(const char *name);
/* A quota that counts only some pods can count this. */
bool resource_name_is_of_pods(const char *name, bool best_effort);

#endif

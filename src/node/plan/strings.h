/* Defines a list of strings in an arena. After the first pod_strings_add(), items[count] is NULL,
 * so that execve() accepts `items`. A list of zeros is empty. */
#ifndef TRAINYARD_NODE_PLAN_STRINGS_H
#define TRAINYARD_NODE_PLAN_STRINGS_H

#include "base/arena.h"

struct pod_strings {
    const char **items;
    size_t count, capacity;
};

/* Does not copy `text`: it must live as long as the list. Implemented in pod/record/spec.c. */
void pod_strings_add(struct arena *arena, struct pod_strings *list, const char *text);

#endif

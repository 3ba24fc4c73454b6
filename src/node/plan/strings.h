/* Defines a list of strings that execve() accepts: items[count] is NULL. */
#ifndef TRAINYARD_NODE_PLAN_STRINGS_H
#define TRAINYARD_NODE_PLAN_STRINGS_H

#include "base/arena.h"

struct pod_strings {
    const char **items;
    size_t count, capacity;
};

void pod_strings_add(struct arena *arena, struct pod_strings *list, const char *text);

#endif

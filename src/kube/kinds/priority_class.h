/* The PriorityClasses that every cluster has. */
#ifndef TRAINYARD_KUBE_KINDS_PRIORITY_CLASS_H
#define TRAINYARD_KUBE_KINDS_PRIORITY_CLASS_H

#include "base/json/json.h"

/* Returns the built-in class at `position`, counted from 0, as a new object in the arena; NULL
 * after the last class. */
struct json *kube_priority_class_system(struct arena *arena, size_t position);

#endif

/* PriorityClasses that every cluster has. */
#ifndef TRAINYARD_KUBE_KINDS_PRIORITY_CLASS_H
#define TRAINYARD_KUBE_KINDS_PRIORITY_CLASS_H

#include "base/json/json.h"

/* The system's class at `position`, counted from 0, as a new object; NULL after the last. */
struct json *kube_priority_class_system(struct arena *arena, size_t position);

#endif

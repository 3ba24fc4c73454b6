/* The hooks of the engine: functions that run when an object of a certain kind is written, and that
 * need the store or the engine. The type struct registry_hooks says when each hook runs. */
#ifndef TRAINYARD_ENGINE_HOOKS_H
#define TRAINYARD_ENGINE_HOOKS_H

#include "engine/kinds/registry.h"

/* The argument of registry_new(). The last element has kind NULL; its `admit` runs for every
 * kind. */
extern const struct registry_hooks ENGINE_HOOKS[];

#endif

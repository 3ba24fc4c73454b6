/* Hooks for writes of certain kinds that need the store or the state of the engine. */
#ifndef TRAINYARD_ENGINE_HOOKS_H
#define TRAINYARD_ENGINE_HOOKS_H

#include "engine/kinds/registry.h"

/* For registry_new(). The last element has kind NULL; its `admit` runs for every kind. */
extern const struct registry_hooks ENGINE_HOOKS[];

#endif

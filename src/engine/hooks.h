/* What the engine adds to the rows of kinds: hooks that need the store or the engine's state. */
#ifndef TRAINYARD_ENGINE_HOOKS_H
#define TRAINYARD_ENGINE_HOOKS_H

#include "engine/kinds/registry.h"

/* For registry_new(); ends with kind NULL. */
extern const struct registry_hooks ENGINE_HOOKS[];

#endif

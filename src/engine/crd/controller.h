/* The controller that deletes the objects of a definition together with the definition. */
#ifndef TRAINYARD_ENGINE_CRD_CONTROLLER_H
#define TRAINYARD_ENGINE_CRD_CONTROLLER_H

#include "engine/hub/hub.h"

extern const struct controller DEFINITION_CONTROLLER;

#endif

/* The controller that binds pods to nodes. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_CONTROLLER_H
#define TRAINYARD_ENGINE_SCHEDULER_CONTROLLER_H

#include "engine/hub/hub.h"

extern const struct controller SCHEDULER_CONTROLLER;

#endif

/* The controller that chooses nodes for pods and binds the pods to them. The hub runs it. */
#ifndef TRAINYARD_ENGINE_SCHEDULER_CONTROLLER_H
#define TRAINYARD_ENGINE_SCHEDULER_CONTROLLER_H

#include "engine/hub/hub.h"

extern const struct controller SCHEDULER_CONTROLLER;

#endif

/* Declares the built-in controllers of this folder. Each is defined in the file that carries its
 * name: JOB_ORPHAN_CONTROLLER in job/orphan_controller.c, DEPLOYMENT_CONTROLLER in
 * deployment/controller.c. controllers.c lists them, and the hub (engine/hub/hub.h) starts and
 * calls them. */
#ifndef TRAINYARD_ENGINE_CONTROLLERS_CONTROLLERS_H
#define TRAINYARD_ENGINE_CONTROLLERS_CONTROLLERS_H

#include "engine/hub/hub.h"

extern const struct controller GARBAGE_CONTROLLER, NAMESPACE_CONTROLLER, ENDPOINTS_CONTROLLER,
    CLAIM_CONTROLLER, EVENT_CONTROLLER, POD_GC_CONTROLLER, JOB_CONTROLLER, JOB_ORPHAN_CONTROLLER,
    POD_GROUP_CONTROLLER, REPLICA_SET_CONTROLLER, DEPLOYMENT_CONTROLLER, ENDPOINT_SLICE_CONTROLLER,
    DEFINITION_CONTROLLER, TAINT_CONTROLLER, TAINT_EVICTION_CONTROLLER, QUOTA_CONTROLLER,
    EPHEMERAL_CONTROLLER;

#endif

/* Getters for the parts of an engine, for the files of this module. Other modules use engine.h.
 * All functions except engine_registry() must run on the loop thread. */
#ifndef TRAINYARD_ENGINE_INTERNAL_H
#define TRAINYARD_ENGINE_INTERNAL_H

#include "engine/bootstrap.h"
#include "engine/engine.h"

struct list_head;

struct store *engine_store(struct engine *engine);
struct loop *engine_loop(struct engine *engine);
const struct engine_pod_backend *engine_backend(struct engine *engine);
struct bootstrap engine_bootstrap(struct engine *engine);
const struct engine_seal *engine_seal(struct engine *engine);
/* The policy is valid until the next turn of the loop. */
const struct access_policy *engine_policy(struct engine *engine);
struct service_addresses *engine_service_addresses(struct engine *engine);
struct registry *engine_registry(struct engine *engine);
struct version_trees *engine_version_trees(struct engine *engine);
struct watch_events *engine_watch_events(struct engine *engine);
struct list_head *engine_open_calls(struct engine *engine); /* struct open_call */

#endif

/* Getters for the parts of an engine, for the files of this module. Other modules use engine.h. The
 * engine owns what the getters return, except the store and the loop. engine_registry() and
 * engine_loop() may run on any thread, all other functions only on the loop thread. */
#ifndef TRAINYARD_ENGINE_INTERNAL_H
#define TRAINYARD_ENGINE_INTERNAL_H

#include "engine/bootstrap.h"
#include "engine/engine.h"

struct list_head;

struct store *engine_store(struct engine *engine);
struct loop *engine_loop(struct engine *engine);
/* Never returns NULL. The functions of the backend are NULL if no node runs pods. */
const struct engine_pod_backend *engine_backend(struct engine *engine);
/* Returns the struct that the functions of bootstrap.h take. */
struct bootstrap engine_bootstrap(struct engine *engine);
const struct engine_signer *engine_signer(struct engine *engine);
/* Returns the committed roles and bindings that can be read. They are valid until the next turn of
 * the loop. */
const struct access_policy *engine_policy(struct engine *engine);
struct service_addresses *engine_service_addresses(struct engine *engine);
struct registry *engine_registry(struct engine *engine);
struct version_trees *engine_version_trees(struct engine *engine);
struct watch_events *engine_watch_events(struct engine *engine);
struct list_head *engine_open_calls(struct engine *engine); /* struct open_call */

#endif

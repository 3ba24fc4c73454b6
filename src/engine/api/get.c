/* Handles GET of one object: responds with its newest committed state, without pending writes, or
 * with an error if the object cannot be read. */
#include "engine/api/handlers.h"

void api_handle_get(struct api_call *call)
{
    struct err err = ERR_INIT;
    int64_t version;
    if (api_check_version(call, &version, &err) < 0) {
        api_respond_error(call, &err);
        return;
    }
    const char *key =
        stored_key(call->arena, call->route.resource, call->route.namespace_, call->route.name);
    struct store_object *stored = store_get(engine_store(call->engine), key);
    if (!stored) {
        api_not_found(call, call->route.name, &err);
        api_respond_error(call, &err);
        return;
    }
    struct json *tree;
    if (!stored_is_readable(stored) && stored_read(call->arena, stored, &tree, &err) < 0)
        api_respond_error(call, &err);
    else
        api_respond_bytes(call, 200, store_object_data(stored, call->arena), stored->size);
    store_object_unref(stored);
}

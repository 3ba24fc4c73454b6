/* GET of one object: the stored bytes as they are, if they can be read at all. */
#include "engine/api/rest.h"

void rest_get(struct rest *rest)
{
    struct err err = ERR_INIT;
    int64_t version;
    if (rest_check_version(rest, &version, &err) < 0) {
        rest_respond_error(rest, &err);
        return;
    }
    const char *key =
        registry_key(rest->arena, rest->route.resource, rest->route.namespace_, rest->route.name);
    struct store_object *stored = store_get(engine_store(rest->engine), key);
    if (!stored) {
        rest_not_found(rest, rest->route.name, &err);
        rest_respond_error(rest, &err);
        return;
    }
    struct json *tree;
    if (!stored_is_readable(stored) && stored_read(rest->arena, stored, &tree, &err) < 0)
        rest_respond_error(rest, &err);
    else
        rest_respond_bytes(rest, 200, store_object_data(stored, rest->arena), stored->size);
    store_object_unref(stored);
}

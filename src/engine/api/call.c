/* Makes calls, and reads and converts stored objects for them; see call.h. */
#include "engine/api/call.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

/* The warnings of one response name at most this many unreadable objects. */
enum { UNREADABLE_NAMED = 5 };

struct api_call *api_call_new(struct engine *engine, struct http_exchange *exchange,
                              const struct identity *identity, const struct route *route)
{
    struct api_call *call = ARENA_NEW(exchange->arena, struct api_call);
    call->engine = engine;
    call->exchange = exchange;
    call->arena = exchange->arena;
    call->identity = identity;
    call->route = *route;
    registry_hold(call->arena, route->resource);
    field_errors_init(&call->invalid, call->arena);
    return call;
}

int api_reserve(struct api_call *call, size_t bytes, struct err *err)
{
    if (http_reserve(call->exchange, bytes))
        return 0;
    http_header_add(call->arena, &call->warnings, "Retry-After", HTTP_RETRY_AFTER_S);
    return err_set(err, ERR_TOO_MANY, HTTP_NO_MEMORY);
}

const char *api_query(const struct api_call *call, const char *name)
{
    return http_query_get(call->arena, call->exchange->request->query, name);
}

int api_not_found(struct api_call *call, const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "%s \"%s\" not found",
                   kube_resource_text(call->arena, &call->route.resource->id), name);
}

int api_conflict(struct api_call *call, const char *name, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "Operation cannot be fulfilled on %s \"%s\": the object has been modified; "
                   "please apply your changes to the latest version and try again",
                   kube_resource_text(call->arena, &call->route.resource->id), name);
}

bool api_read_stored(struct api_call *call, struct arena *arena, struct store_object *stored,
                     struct json **ret)
{
    struct err err = ERR_INIT;
    if (stored_read(arena, stored, ret, &err) == 0)
        return true;
    call->unreadable++;
    if (call->unreadable <= UNREADABLE_NAMED)
        api_warn(call, err.message);
    else if (call->unreadable == UNREADABLE_NAMED + 1)
        api_warn(call, "more objects cannot be read: see the log of the server");
    return false;
}

bool api_is_readable(struct api_call *call, struct store_object *stored)
{
    if (stored_is_readable(stored))
        return true;
    _cleanup_(cleanup_arena) struct arena *scratch = arena_new();
    struct json *tree;
    return api_read_stored(call, scratch, stored, &tree);
}

int api_load(struct api_call *call, const char *name, struct json **ret, int64_t *ret_revision,
             struct err *err)
{
    const char *key = stored_key(call->arena, call->route.resource, call->route.namespace_, name);
    struct store_object *stored = store_get_pending(engine_store(call->engine), key);
    if (!stored)
        return api_not_found(call, name, err);
    int result = stored_read(call->arena, stored, ret, err);
    *ret_revision = stored->revision;
    store_object_unref(stored);
    if (result == 0 && call->route.resource->definition)
        api_convert_out(call, call->arena, *ret);
    return result;
}

const char *api_call_version(const struct api_call *call)
{
    return call->route.older ? call->route.older->api_version : call->route.resource->api_version;
}

void api_convert_in(struct api_call *call, struct arena *arena, struct json *object)
{
    if (!call->route.older)
        return;
    call->route.older->convert(arena, object);
    json_set_string(arena, object, "apiVersion", call->route.resource->api_version);
}

void api_convert_out(const struct api_call *call, struct arena *arena, struct json *object)
{
    if ((call->route.older || call->route.resource->definition) &&
        str_eq(json_get_string(object, "kind", ""), call->route.resource->id.kind))
        json_set_string(arena, object, "apiVersion", api_call_version(call));
}

/* A custom resource may be stored in any version that its definition ever had. */
bool api_needs_conversion(const struct api_call *call, const char *data, size_t size)
{
    static const char begin[] = "{\"apiVersion\":\"";
    const struct kube_kind *resource = call->route.resource;
    size_t head = sizeof(begin) - 1, length = strlen(resource->api_version);
    if (!resource->definition)
        return call->route.older != NULL;
    return size <= head + length || memcmp(data, begin, head) != 0 ||
           memcmp(data + head, resource->api_version, length) != 0 || data[head + length] != '"';
}

void api_append_stored(const struct api_call *call, struct arena *scratch,
                       const struct store_object *stored, struct buf *buf)
{
    const char *data = store_object_data(stored, scratch);
    struct json *object;
    if (api_needs_conversion(call, data, stored->size) &&
        json_parse(scratch, data, stored->size, NULL, &object, NULL) == 0) {
        api_convert_out(call, scratch, object);
        json_write(object, buf);
    } else {
        buf_append(buf, data, stored->size);
    }
}

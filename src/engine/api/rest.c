/* What the verbs share: keys, reading the store, the common errors, and the way from a route to its
 * verb. */
#include "engine/api/rest.h"

#include "base/mem.h"
#include "base/str.h"
#include "kube/object.h"

#include <string.h>

enum { UNREADABLE_NAMED = 5 }; /* in Warning headers of one answer */

int rest_reserve(struct rest *rest, size_t bytes, struct err *err)
{
    if (http_reserve(rest->exchange, bytes))
        return 0;
    http_header_add(rest->arena, &rest->warnings, "Retry-After", HTTP_RETRY_AFTER_S);
    return err_set(err, ERR_TOO_MANY, HTTP_NO_MEMORY);
}

const char *rest_query(const struct rest *rest, const char *name)
{
    return http_query_get(rest->arena, rest->exchange->request->query, name);
}

int rest_not_found(struct rest *rest, const char *name, struct err *err)
{
    return err_set(err, ERR_NOT_FOUND, "%s \"%s\" not found",
                   kube_resource_text(rest->arena, &rest->route.resource->id), name);
}

int rest_conflict(struct rest *rest, const char *name, struct err *err)
{
    return err_set(err, ERR_CONFLICT,
                   "Operation cannot be fulfilled on %s \"%s\": the object has been modified; "
                   "please apply your changes to the latest version and try again",
                   kube_resource_text(rest->arena, &rest->route.resource->id), name);
}

bool rest_read_one(struct rest *rest, struct arena *arena, struct store_object *stored,
                   struct json **ret)
{
    struct err err = ERR_INIT;
    if (stored_read(arena, stored, ret, &err) == 0)
        return true;
    rest->unreadable++;
    if (rest->unreadable <= UNREADABLE_NAMED)
        rest_warn(rest, err.message);
    else if (rest->unreadable == UNREADABLE_NAMED + 1)
        rest_warn(rest, "more objects cannot be read: the log of the server names them");
    return false;
}

bool rest_is_readable(struct rest *rest, struct store_object *stored)
{
    if (stored_is_readable(stored))
        return true;
    _cleanup_(cleanup_arena) struct arena *scratch = arena_new();
    struct json *tree;
    return rest_read_one(rest, scratch, stored, &tree);
}

int rest_load(struct rest *rest, const char *name, struct json **ret, int64_t *ret_revision,
              struct err *err)
{
    const char *key = registry_key(rest->arena, rest->route.resource, rest->route.namespace_, name);
    struct store_object *stored = store_get_pending(engine_store(rest->engine), key);
    if (!stored)
        return rest_not_found(rest, name, err);
    int r = stored_read(rest->arena, stored, ret, err);
    *ret_revision = stored->revision;
    store_object_unref(stored);
    if (r == 0 && rest->route.resource->definition)
        rest_convert_out(rest, rest->arena, *ret);
    return r;
}

const char *rest_api_version(const struct rest *rest)
{
    return rest->route.older ? rest->route.older->api_version : rest->route.resource->api_version;
}

void rest_convert_in(struct rest *rest, struct arena *arena, struct json *object)
{
    if (!rest->route.older)
        return;
    rest->route.older->convert(arena, object);
    json_set_string(arena, object, "apiVersion", rest->route.resource->api_version);
}

void rest_convert_out(const struct rest *rest, struct arena *arena, struct json *object)
{
    if ((rest->route.older || rest->route.resource->definition) &&
        str_eq(json_get_string(object, "kind", ""), rest->route.resource->id.kind))
        json_set_string(arena, object, "apiVersion", rest_api_version(rest));
}

/* A custom resource may be stored in any version its definition ever had. */
bool rest_converts(const struct rest *rest, const char *data, size_t size)
{
    static const char begin[] = "{\"apiVersion\":\"";
    const struct kube_kind *resource = rest->route.resource;
    size_t head = sizeof(begin) - 1, length = strlen(resource->api_version);
    if (!resource->definition)
        return rest->route.older != NULL;
    return size <= head + length || memcmp(data, begin, head) != 0 ||
           memcmp(data + head, resource->api_version, length) != 0 || data[head + length] != '"';
}

void rest_append_stored(const struct rest *rest, struct arena *scratch,
                        const struct store_object *stored, struct buf *buf)
{
    const char *data = store_object_data(stored, scratch);
    struct json *object;
    if (rest_converts(rest, data, stored->size) &&
        json_parse(scratch, data, stored->size, NULL, &object, NULL) == 0) {
        rest_convert_out(rest, scratch, object);
        json_write(object, buf);
    } else {
        buf_append(buf, data, stored->size);
    }
}

static void dispatch(struct rest *rest)
{
    switch (rest->route.sub) {
    case SUB_LOG:
        rest_log(rest);
        return;
    case SUB_PORT_FORWARD:
        rest_port_forward(rest);
        return;
    case SUB_ATTACH:
    case SUB_EXEC:
        rest_exec(rest);
        return;
    case SUB_BINDING:
        rest_bind(rest);
        return;
    case SUB_TOKEN:
        rest_token(rest);
        return;
    case SUB_PROXY:
        rest_proxy(rest);
        return;
    case SUB_EVICTION:
        rest_evict(rest);
        return;
    case SUB_SCALE:
        rest_scale(rest);
        return;
    case SUB_NONE:
    case SUB_STATUS:
    case SUB_FINALIZE:
        break;
    }
    if (rest->route.resource->transient && rest->route.verb != VERB_CREATE) {
        rest_metrics(rest);
        return;
    }
    switch (rest->route.verb) {
    case VERB_GET:
        rest_get(rest);
        return;
    case VERB_LIST:
        rest_list(rest);
        return;
    case VERB_WATCH:
        rest_watch(rest);
        return;
    case VERB_CREATE:
        if (rest->route.resource->transient)
            rest_review(rest);
        else
            rest_create(rest);
        return;
    case VERB_UPDATE:
        rest_update(rest);
        return;
    case VERB_PATCH:
        rest_patch(rest);
        return;
    case VERB_DELETE:
        rest_delete(rest);
        return;
    case VERB_DELETE_COLLECTION:
        rest_delete_collection(rest);
        return;
    }
}

static bool answers_with_objects(enum kube_subresource_id sub)
{
    return sub != SUB_LOG && sub != SUB_PORT_FORWARD && sub != SUB_PROXY;
}

static struct rest *rest_of(struct engine *engine, struct http_exchange *exchange,
                            const struct identity *identity, const struct route *route)
{
    struct rest *rest = ARENA_NEW(exchange->arena, struct rest);
    rest->engine = engine;
    rest->exchange = exchange;
    rest->arena = exchange->arena;
    rest->identity = identity;
    rest->route = *route;
    registry_hold(rest->arena, route->resource);
    field_errors_init(&rest->invalid, rest->arena);
    return rest;
}

void rest_admit(struct engine *engine, struct http_exchange *exchange,
                const struct identity *identity, const struct route *route)
{
    rest_is_allowed(rest_of(engine, exchange, identity, route));
}

void rest_handle(struct engine *engine, struct http_exchange *exchange,
                 const struct identity *identity, const struct route *route)
{
    struct rest *rest = rest_of(engine, exchange, identity, route);
    struct err err = ERR_INIT;
    if (!rest_is_allowed(rest))
        return;
    if (route->resource->warning)
        rest_warn(rest, route->resource->warning);
    /* Behind a proxy the query is the other server's. */
    if ((route->sub != SUB_PROXY && rest_read_options(rest, &err) < 0) ||
        (answers_with_objects(route->sub) &&
         (rest_choose_form(rest, &err) < 0 || rest_reserve_body(rest, &err) < 0)))
        rest_respond_error(rest, &err);
    else
        dispatch(rest);
}

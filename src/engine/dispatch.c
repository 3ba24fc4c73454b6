/* Selects the handler of a request; see dispatch.h. */
#include "engine/dispatch.h"

#include "engine/api/handlers.h"
#include "engine/api/write.h"
#include "engine/stream/handlers.h"
#include "engine/watch/watch.h"

static void dispatch_call(struct api_call *call)
{
    switch (call->route.sub) {
    case SUB_LOG:
        api_handle_log(call);
        return;
    case SUB_PORT_FORWARD:
        port_forward_handle(call);
        return;
    case SUB_ATTACH:
    case SUB_EXEC:
        exec_handle(call);
        return;
    case SUB_BINDING:
        api_handle_bind(call);
        return;
    case SUB_TOKEN:
        api_handle_token(call);
        return;
    case SUB_PROXY:
        http_proxy_handle(call);
        return;
    case SUB_EVICTION:
        api_handle_evict(call);
        return;
    case SUB_SCALE:
        api_handle_scale(call);
        return;
    case SUB_NONE:
    case SUB_STATUS:
    case SUB_FINALIZE:
        break;
    }
    if (call->route.resource->transient && call->route.verb != VERB_CREATE) {
        api_handle_metrics(call);
        return;
    }
    switch (call->route.verb) {
    case VERB_GET:
        api_handle_get(call);
        return;
    case VERB_LIST:
        api_handle_list(call);
        return;
    case VERB_WATCH:
        watch_handle(call);
        return;
    case VERB_CREATE:
        if (call->route.resource->transient)
            api_handle_review(call);
        else
            api_handle_create(call);
        return;
    case VERB_UPDATE:
        api_handle_update(call);
        return;
    case VERB_PATCH:
        api_handle_patch(call);
        return;
    case VERB_DELETE:
        api_handle_delete(call);
        return;
    case VERB_DELETE_COLLECTION:
        api_handle_delete_collection(call);
        return;
    }
}

/* Returns whether the Accept header must allow JSON, and memory is reserved for the JSON tree of
 * the body. Returns false for a log, which is text, and for port forwarding and the proxy, which
 * transfer bytes. */
static bool dispatch_returns_objects(enum kube_subresource_id sub)
{
    return sub != SUB_LOG && sub != SUB_PORT_FORWARD && sub != SUB_PROXY;
}

void dispatch_admit(struct engine *engine, struct http_exchange *exchange,
                    const struct identity *identity, const struct route *route)
{
    api_is_allowed(api_call_new(engine, exchange, identity, route));
}

void dispatch_handle(struct engine *engine, struct http_exchange *exchange,
                     const struct identity *identity, const struct route *route)
{
    struct api_call *call = api_call_new(engine, exchange, identity, route);
    struct err err = ERR_INIT;
    if (!api_is_allowed(call))
        return;
    if (route->resource->warning)
        api_warn(call, route->resource->warning);
    /* The query of a proxy request is for the server behind the proxy. */
    if ((route->sub != SUB_PROXY && api_read_options(call, &err) < 0) ||
        (dispatch_returns_objects(route->sub) &&
         (api_choose_form(call, &err) < 0 || api_reserve_body(call, &err) < 0)))
        api_respond_error(call, &err);
    else
        dispatch_call(call);
}

/* Implements the API server without a socket: identifies the user of a request and passes the
 * request to the handler of its path; see engine.h. */
#include "engine/engine.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/access/auth.h"
#include "engine/access/cache.h"
#include "engine/access/impersonation.h"
#include "engine/api/handlers.h"
#include "engine/api/open_calls.h"
#include "engine/bootstrap.h"
#include "engine/crd/definition.h"
#include "engine/crd/definitions.h"
#include "engine/dispatch.h"
#include "engine/health.h"
#include "engine/hooks.h"
#include "engine/kinds/service_addresses.h"
#include "engine/metrics.h"
#include "engine/openapi/discovery.h"
#include "engine/stored/version_trees.h"
#include "engine/watch/events.h"

#include <stdlib.h>
#include <string.h>

/* The user of a request without a token. The server accepts such a request only if auth_is_open()
 * returns true for its path. */
static const struct identity ANONYMOUS = {.name = "system:anonymous"};

struct engine {
    struct loop *loop;
    struct store *store;
    char *token;
    char *version;
    char *ca_pem; /* or NULL */
    struct engine_signer signer;
    const struct budget_group *http_memory; /* or NULL */
    struct access_cache *access;
    struct engine_pod_backend backend;
    struct list_head open_calls; /* struct open_call */
    struct version_trees *version_trees;
    struct watch_events *watch_events;
    struct service_addresses *service_addresses;
    struct registry *registry;
    struct definitions *definitions;
};

struct store *engine_store(struct engine *engine)
{
    return engine->store;
}

struct loop *engine_loop(struct engine *engine)
{
    return engine->loop;
}

const struct engine_pod_backend *engine_backend(struct engine *engine)
{
    return &engine->backend;
}

const struct engine_signer *engine_signer(struct engine *engine)
{
    return &engine->signer;
}

const struct access_policy *engine_policy(struct engine *engine)
{
    return access_cache_get(engine->access);
}

struct bootstrap engine_bootstrap(struct engine *engine)
{
    return (struct bootstrap){
        .store = engine->store, .now_ms = loop_wall_ms(engine->loop), .ca_pem = engine->ca_pem};
}

struct service_addresses *engine_service_addresses(struct engine *engine)
{
    return engine->service_addresses;
}

struct registry *engine_registry(struct engine *engine)
{
    return engine->registry;
}

struct list_head *engine_open_calls(struct engine *engine)
{
    return &engine->open_calls;
}

struct version_trees *engine_version_trees(struct engine *engine)
{
    return engine->version_trees;
}

struct watch_events *engine_watch_events(struct engine *engine)
{
    return engine->watch_events;
}

/* Ends the open calls of a resource that is no longer served. */
static void on_resource_retired(void *context, const char *storage)
{
    struct engine *engine = context;
    LIST_EACH_SAFE (struct open_call, each, &engine->open_calls, link)
        if (str_eq(each->storage, storage))
            each->end(each);
}

int engine_new(struct loop *loop, struct store *store, const struct engine_options *options,
               struct engine **ret, struct err *err)
{
    if (str_is_empty(options->token))
        return err_set(err, ERR_USAGE, "the API server needs a token");
    struct engine *engine = mem_zalloc(sizeof(*engine));
    engine->loop = loop;
    engine->store = store;
    engine->token = mem_strdup(options->token);
    engine->version = mem_strdup(options->version ? options->version : "0");
    engine->registry = registry_new(options->kinds, ENGINE_HOOKS);
    registry_add(engine->registry, &DEFINITION_KIND);
    engine->version_trees = version_trees_new();
    engine->watch_events = watch_events_new(
        loop, options->watch_events_max ? options->watch_events_max : WATCH_EVENTS_MAX);
    engine->service_addresses = service_addresses_new(store);
    engine->ca_pem = options->ca_pem ? mem_strdup(options->ca_pem) : NULL;
    engine->signer = options->signer;
    engine->http_memory = options->http_memory;
    engine->access = access_cache_new(store);
    struct bootstrap bootstrap = engine_bootstrap(engine);
    int result = bootstrap_cluster(&bootstrap, err);
    if (result == 0)
        result = definitions_new(store, engine->registry, on_resource_retired, engine,
                                 &engine->definitions, err);
    if (result < 0) {
        engine_free(engine);
        return result;
    }
    *ret = engine;
    return 0;
}

struct engine *engine_free(struct engine *engine)
{
    if (!engine)
        return NULL;
    while (!list_is_empty(&engine->open_calls)) {
        struct open_call *first = LIST_FIRST(&engine->open_calls, struct open_call, link);
        first->end(first);
    }
    watch_events_free(engine->watch_events);
    version_trees_free(engine->version_trees);
    definitions_free(engine->definitions);
    service_addresses_free(engine->service_addresses);
    free(engine->token);
    free(engine->version);
    free(engine->ca_pem);
    access_cache_free(engine->access);
    registry_free(engine->registry);
    free(engine);
    return NULL;
}

void engine_set_pod_backend(struct engine *engine, const struct engine_pod_backend *backend)
{
    engine->backend = backend ? *backend : (struct engine_pod_backend){0};
}

/* Returns the user of a request, after impersonation. Sets exchange->user to the name of the user
 * before impersonation, if the request has a token. If the path needs a token and is not a
 * resource, also checks that the roles allow the request. Returns NULL with the reason in `err` if
 * the request is rejected. */
static const struct identity *engine_identify_sender(struct engine *engine,
                                                     struct http_exchange *exchange,
                                                     const struct http_request *request,
                                                     struct err *err)
{
    const struct auth auth = {.token = engine->token,
                              .signer = &engine->signer,
                              .store = engine->store,
                              .now_ms = loop_wall_ms(engine->loop)};
    const struct identity *identity = auth_identify(exchange->arena, &auth, request);
    bool is_open = auth_is_open(request->path);
    /* An invalid token is an error on every path, also on paths that need no token. */
    if (!identity && (!is_open || auth_shows_token(request))) {
        err_set(err, ERR_UNAUTHORIZED, "Unauthorized");
        return NULL;
    }
    if (identity)
        exchange->user = identity->name;
    else
        identity = &ANONYMOUS;
    if (impersonation_header(request->headers) &&
        impersonation_apply(exchange->arena, engine_policy(engine), identity, request->headers,
                            &identity, err) < 0)
        return NULL;
    if (!is_open && !route_is_resource(request->path) &&
        api_check_path(engine, exchange->arena, identity, request, err) < 0)
        return NULL;
    return identity;
}

/* If the path is /version, or is below /api or /apis and not a proxy path, returns the request
 * without the slashes at the end of the path, because Kubernetes ignores them there. Otherwise
 * returns the request unchanged. */
static const struct http_request *strip_trailing_slashes(struct arena *arena,
                                                         const struct http_request *request)
{
    const char *path = request->path;
    size_t size = strlen(path), kept = size;
    while (kept > 1 && path[kept - 1] == '/')
        kept--;
    if (kept == size ||
        !(str_has_prefix(path, "/api/") || str_has_prefix(path, "/apis/") ||
          (kept == strlen("/version") && str_has_prefix(path, "/version"))) ||
        route_proxy_rest(path)) /* the slash may have a meaning for the server behind the proxy */
        return request;
    struct http_request *stripped = ARENA_NEW(arena, struct http_request);
    *stripped = *request;
    stripped->path = arena_strndup(arena, path, kept);
    return stripped;
}

/* Returns whether the headers announce a body, which the server would read into memory. */
static bool announces_body(const struct http_request *request)
{
    const char *length = http_header_get(request->headers, "Content-Length");
    return (length && strspn(length, "0") < strlen(length)) ||
           http_header_get(request->headers, "Transfer-Encoding");
}

void engine_admit(struct http_exchange *exchange, void *context)
{
    struct engine *engine = context;
    /* exchange->request must not be replaced yet, because the body will be read into it. */
    const struct http_request *request = strip_trailing_slashes(exchange->arena, exchange->request);
    struct err err = ERR_INIT;
    struct route route;
    const struct identity *identity = engine_identify_sender(engine, exchange, request, &err);
    if (!identity) {
        engine_respond_error(exchange, &err);
        return;
    }
    exchange->admission = identity;
    if (identity == &ANONYMOUS)
        exchange->body_max = 0;
    /* engine_handle() checks the roles again, because they may change while the body arrives. It
     * also rejects paths that do not exist. */
    if (announces_body(request) && route_is_resource(request->path) &&
        route_parse(exchange->arena, engine->registry, request->method, request->path,
                    request->query, &route, NULL) == 0)
        dispatch_admit(engine, exchange, identity, &route);
}

void engine_handle(struct http_exchange *exchange, void *context)
{
    struct engine *engine = context;
    const struct http_request *request = strip_trailing_slashes(exchange->arena, exchange->request);
    exchange->request = request;
    struct err err = ERR_INIT;
    struct route route;
    const struct identity *identity = exchange->admission;
    if (!identity)
        identity = engine_identify_sender(engine, exchange, request, &err);
    if (!identity) {
        engine_respond_error(exchange, &err);
        return;
    }
    if (str_eq(request->path, "/metrics")) {
        engine_metrics_answer(exchange, loop_turns(engine->loop), engine->watch_events,
                              engine->http_memory);
        return;
    }
    if (health_handle(exchange, engine->store) ||
        discovery_handle(exchange, engine->registry, engine->version))
        return;
    if (route_parse(exchange->arena, engine->registry, request->method, request->path,
                    request->query, &route, &err) < 0)
        engine_respond_error(exchange, &err);
    else
        dispatch_handle(engine, exchange, identity, &route);
}

/* The API server as a function; see engine.h. Who asks, what is asked, and who answers it. */
#include "engine/engine.h"

#include "base/mem.h"
#include "base/str.h"
#include "engine/auth.h"
#include "engine/discovery.h"
#include "engine/kinds.h"
#include "engine/meta.h"
#include "engine/rest.h"
#include "engine/watchers.h"
#include "kube/object.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

struct engine {
    struct loop *loop;
    struct store *store;
    char *token;
    char *version;
    struct engine_pod_backend backend;
    struct watcher_link watchers;
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

struct watcher_link *engine_watchers(struct engine *engine)
{
    return &engine->watchers;
}

/* A commit that failed is told to every later write by the store itself. */
static void bootstrap_done(void *context, const struct store_object *object, const struct err *err)
{
}

/* The namespaces every cluster has, made on the first start. */
static int bootstrap_namespace(struct engine *engine, const char *name, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct registry_resource *namespaces = registry_find("", "v1", "namespaces");
    const char *key = rest_key(arena, namespaces, "", name);
    struct store_object *stored = store_get_pending(engine->store, key);
    if (stored) {
        store_object_unref(stored);
        return 0;
    }
    struct json *object = kube_object_make(arena, &namespaces->id, NULL, name);
    meta_prepare_create(arena, namespaces, object, loop_wall_ms(engine->loop));
    kind_namespace_create(arena, object);
    json_set(arena, json_get(object, "metadata"), "resourceVersion",
             json_stringf(arena, "%" PRId64, store_next_revision(engine->store)));
    const char *text = json_to_string(arena, object);
    return store_put(engine->store, key, text, strlen(text), 0, bootstrap_done, NULL, err);
}

int engine_new(struct loop *loop, struct store *store, const struct engine_options *options,
               struct engine **ret, struct err *err)
{
    static const char *const namespaces[] = {"default", "kube-public", "kube-system"};
    if (str_is_empty(options->token))
        return err_set(err, ERR_USAGE, "the API server needs a token");
    struct engine *engine = mem_zalloc(sizeof(*engine));
    engine->loop = loop;
    engine->store = store;
    engine->token = mem_strdup(options->token);
    engine->version = mem_strdup(options->version ? options->version : "0");
    watcher_ring_init(&engine->watchers);
    for (size_t i = 0; i < ARRAY_SIZE(namespaces); i++) {
        int r = bootstrap_namespace(engine, namespaces[i], err);
        if (r < 0) {
            engine_free(engine);
            return err_wrap(err, "cannot make namespace '%s'", namespaces[i]);
        }
    }
    *ret = engine;
    return 0;
}

struct engine *engine_free(struct engine *engine)
{
    if (!engine)
        return NULL;
    while (engine->watchers.next != &engine->watchers)
        engine->watchers.next->end(engine->watchers.next);
    free(engine->token);
    free(engine->version);
    free(engine);
    return NULL;
}

void engine_set_pod_backend(struct engine *engine, const struct engine_pod_backend *backend)
{
    engine->backend = backend ? *backend : (struct engine_pod_backend){0};
}

void engine_handle(struct http_exchange *exchange, void *context)
{
    struct engine *engine = context;
    const struct http_request *request = exchange->request;
    struct err err = ERR_INIT;
    exchange->user = auth_user(request, engine->token);
    if (!exchange->user && !auth_is_open(request->path)) {
        err_set(&err, ERR_UNAUTHORIZED, "Unauthorized");
        engine_respond_error(exchange, &err);
        return;
    }
    if (discovery_handle(exchange, engine->version))
        return;
    struct route route;
    if (route_parse(exchange->arena, request->method, request->path, request->query, &route, &err) <
        0)
        engine_respond_error(exchange, &err);
    else
        rest_handle(engine, exchange, &route);
}

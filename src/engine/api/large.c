/* Handles requests with a large body, partly on a pool thread; see write.h. A ConfigMap may have
 * hundreds of thousands of keys. Parsing, checking and encoding it takes 100 milliseconds, during
 * which the loop would serve no other client. So a pool thread does this work in the arena of the
 * request, which the loop thread does not use meanwhile. Then the loop thread runs the checks that
 * need the store or the engine, and queues the write in the same turn of the loop. Therefore no
 * other request can change the store between these checks and the write. */
#include "base/mem.h"
#include "engine/api/open_calls.h"
#include "engine/api/write.h"
#include "kube/kinds/meta.h"

#include <stdlib.h>

/* In bytes. Handling a body of this size takes about 5 ms if it consists of keys. */
enum { LARGE_BODY = 128 * 1024 };

/* A request with a large body. */
struct large {
    struct loop_work work; /* large_prepare() on a pool thread, then on_large_prepared() */
    struct open_call link; /* reports that the engine is freed or the kind is removed */
    struct api_call *call;
    bool is_abandoned;           /* the engine was freed or the kind was removed */
    struct store_object *stored; /* the object to update; NULL: the request creates an object */
    struct json *object;         /* the object from the body, later the object to store */
    struct json *old;            /* `stored` as a tree; NULL: the request creates an object */
    bool is_same;                /* the update changes nothing */
    struct api_encoded encoded;  /* the bytes to store; empty on a dry run or with is_same */
    struct err err;              /* the first error; code 0: none */
};

/* ---- On the pool thread ---- */

static int large_prepare_update(struct large *large)
{
    struct api_call *call = large->call;
    int result = stored_parse(call->arena, large->stored, &large->old, &large->err);
    if (result < 0)
        return result;
    if (call->route.resource->definition)
        api_convert_out(call, call->arena, large->old);
    result = api_prepare_update_local(call, large->object, large->old, &large->err);
    large->is_same = result == 0 && json_equal(large->object, large->old);
    return result;
}

static void large_prepare(struct loop_work *work)
{
    struct large *large = CONTAINER_OF(work, struct large, work);
    struct api_call *call = large->call;
    if (api_read_body(call, &large->object, &large->err) < 0 ||
        (large->stored ? large_prepare_update(large)
                       : api_prepare_create_local(call, large->object, &large->err)) < 0)
        return;
    int result = call->dry_run || large->is_same
                     ? stored_check(large->object, &large->err)
                     : api_encode(call, large->object, &large->encoded, &large->err);
    call->is_measured = result == 0;
}

/* ---- On the loop thread ---- */

static void large_finish_create(struct large *large)
{
    struct api_call *call = large->call;
    if (api_prepare_create_stored(call, large->object, &large->err) < 0)
        api_respond_error(call, &large->err);
    else if (call->dry_run)
        api_commit(call, large->object, NULL, 0, 201);
    else
        api_commit_encoded(call, large->object, &large->encoded, 0, 201);
}

/* Returns a reference to the newest version of the object to update, or NULL. */
static struct store_object *large_get_pending(struct api_call *call)
{
    const char *key =
        stored_key(call->arena, call->route.resource, call->route.namespace_, call->route.name);
    return store_get_pending(engine_store(call->engine), key);
}

static void large_finish_update(struct large *large)
{
    struct api_call *call = large->call;
    int64_t revision = large->stored->revision;
    struct store_object *newest = large_get_pending(call);
    bool is_other = !newest || newest->revision != revision;
    store_object_unref(newest);
    /* Another request has changed or deleted the object since the pool thread started. The client
     * gets a conflict, even if it sent no resourceVersion, and may retry. */
    if (is_other)
        api_conflict(call, call->route.name, &large->err);
    if (is_other || api_prepare_update_stored(call, large->object, large->old, &large->err) < 0)
        api_respond_error(call, &large->err);
    else if (call->dry_run || large->is_same || meta_is_finished(large->object))
        api_commit(call, large->object, large->old, revision, 200);
    else
        api_commit_encoded(call, large->object, &large->encoded, revision, 200);
}

static void on_large_prepared(struct loop_work *work)
{
    struct large *large = CONTAINER_OF(work, struct large, work);
    struct api_call *call = large->call;
    call->is_off_loop = call->exchange->arena_is_lent = false;
    if (large->is_abandoned) {
        err_set(&large->err, ERR_UNAVAILABLE,
                "the server is shutting down, or the kind is being removed: try again");
        engine_respond_error(call->exchange, &large->err);
    } else {
        open_call_remove(&large->link);
        if (large->err.code)
            api_respond_error(call, &large->err);
        else if (large->stored)
            large_finish_update(large);
        else
            large_finish_create(large);
    }
    store_object_unref(large->stored);
    buf_release(&large->encoded.data);
    free(large);
}

/* Called when the engine is freed or the kind is removed. The pool thread cannot be stopped, so
 * on_large_prepared() responds with an error when the thread is done. */
static void on_large_abandoned(struct open_call *link)
{
    struct large *large = CONTAINER_OF(link, struct large, link);
    open_call_remove(link);
    large->is_abandoned = true;
}

/* Returns whether a pool thread may prepare the request: the body is large, and the kind has no
 * hook `assign` or `admit`. These hooks use the engine and may change the object, so a pool thread
 * cannot encode the object before they have run. */
static bool is_for_pool(const struct api_call *call)
{
    const struct registry_hooks *hooks = api_hooks(call);
    return call->exchange->request->body_size >= LARGE_BODY && !hooks->assign && !hooks->admit;
}

/* Starts the work of the pool thread and returns at once. Takes over the reference to `stored`. */
static void large_start(struct api_call *call, struct store_object *stored)
{
    struct large *large = mem_zalloc(sizeof(*large));
    large->work = (struct loop_work){.work = large_prepare, .done = on_large_prepared};
    large->call = call;
    large->stored = stored;
    call->is_off_loop = call->exchange->arena_is_lent = true;
    buf_init(&large->encoded.data, 0);
    open_call_add(engine_open_calls(call->engine), &large->link, call->route.resource->storage,
                  on_large_abandoned);
    loop_work_start(engine_loop(call->engine), &large->work);
}

bool api_create_large(struct api_call *call)
{
    if (!is_for_pool(call))
        return false;
    large_start(call, NULL);
    return true;
}

bool api_update_large(struct api_call *call)
{
    struct store_object *stored =
        is_for_pool(call) && call->route.sub == SUB_NONE ? large_get_pending(call) : NULL;
    if (!stored)
        return false;
    bool readable = stored_is_readable(stored);
    if (readable)
        large_start(call, stored);
    else
        store_object_unref(stored);
    return readable;
}

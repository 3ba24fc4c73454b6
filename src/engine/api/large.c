/* Objects whose body takes long to read. A ConfigMap may have hundreds of thousands of keys; to
 * parse, check and write it takes a hundred milliseconds, in which the loop would serve no other
 * client. A thread of the pool does it in the arena of the request, which nobody else touches
 * meanwhile. The loop then asks the store and the engine whether the object may be written, as it
 * would have before: what one handler reads from the store and writes back stays one step. */
#include "base/mem.h"
#include "engine/api/rest.h"
#include "engine/watch/watchers.h"
#include "kube/kinds/meta.h"

#include <stdlib.h>

enum { LARGE_BODY = 128 * 1024 }; /* bytes; about 5 ms of work if all of it is keys */

struct large {
    struct loop_work work;
    struct watcher_link link; /* so that the engine can be freed, or the kind removed, meanwhile */
    struct rest *rest;
    bool is_abandoned;           /* the engine or the kind is gone */
    struct store_object *stored; /* what is to be updated; NULL: it is to be created */
    struct json *object, *old;
    bool is_same; /* the update changes nothing */
    struct rest_encoded encoded;
    struct err err;
};

/* ---- On the pool ---- */

static int shape_update(struct large *large)
{
    struct rest *rest = large->rest;
    int r = stored_parse(rest->arena, large->stored, &large->old, &large->err);
    if (r < 0)
        return r;
    if (rest->route.resource->definition)
        rest_convert_out(rest, rest->arena, large->old);
    r = rest_shape_update(rest, large->object, large->old, &large->err);
    large->is_same = r == 0 && json_equal(large->object, large->old);
    return r;
}

static void shape(struct loop_work *work)
{
    struct large *large = CONTAINER_OF(work, struct large, work);
    struct rest *rest = large->rest;
    if (rest_read_body(rest, &large->object, &large->err) < 0 ||
        (large->stored ? shape_update(large)
                       : rest_shape_create(rest, large->object, &large->err)) < 0)
        return;
    int r = rest->dry_run || large->is_same
                ? stored_check(large->object, &large->err)
                : rest_encode(rest, large->object, &large->encoded, &large->err);
    rest->is_measured = r == 0;
}

/* ---- On the loop ---- */

static void finish_create(struct large *large)
{
    struct rest *rest = large->rest;
    if (rest_admit_create(rest, large->object, &large->err) < 0)
        rest_respond_error(rest, &large->err);
    else if (rest->dry_run)
        rest_commit(rest, large->object, NULL, 0, 201);
    else
        rest_commit_encoded(rest, large->object, &large->encoded, 0, 201);
}

static struct store_object *get_pending(struct rest *rest)
{
    const char *key =
        registry_key(rest->arena, rest->route.resource, rest->route.namespace_, rest->route.name);
    return store_get_pending(engine_store(rest->engine), key);
}

static void finish_update(struct large *large)
{
    struct rest *rest = large->rest;
    int64_t revision = large->stored->revision;
    struct store_object *now = get_pending(rest);
    bool is_other = !now || now->revision != revision;
    store_object_unref(now);
    if (is_other) /* also for a client that named no version: it may try again */
        rest_conflict(rest, rest->route.name, &large->err);
    if (is_other || rest_admit_update(rest, large->object, large->old, &large->err) < 0)
        rest_respond_error(rest, &large->err);
    else if (rest->dry_run || large->is_same || meta_is_finished(large->object))
        rest_commit(rest, large->object, large->old, revision, 200);
    else
        rest_commit_encoded(rest, large->object, &large->encoded, revision, 200);
}

static void on_shaped(struct loop_work *work)
{
    struct large *large = CONTAINER_OF(work, struct large, work);
    struct rest *rest = large->rest;
    rest->is_off_loop = rest->exchange->arena_is_lent = false;
    if (large->is_abandoned) {
        err_set(&large->err, ERR_UNAVAILABLE,
                "the server ends, or the kind of the object is removed: try again");
        engine_respond_error(rest->exchange, &large->err);
    } else {
        watcher_link_remove(&large->link);
        if (large->err.code)
            rest_respond_error(rest, &large->err);
        else if (large->stored)
            finish_update(large);
        else
            finish_create(large);
    }
    store_object_unref(large->stored);
    buf_release(&large->encoded.data);
    free(large);
}

static void abandon(struct watcher_link *link)
{
    struct large *large = CONTAINER_OF(link, struct large, link);
    watcher_link_remove(link);
    large->is_abandoned = true;
}

/* The hooks `assign` and `admit` ask the engine and may change the object, so an object of a kind
 * that has one of them cannot be encoded before the loop has it. */
static bool is_large(const struct rest *rest)
{
    const struct registry_hooks *hooks = rest_hooks(rest);
    return rest->exchange->request->body_size >= LARGE_BODY && !hooks->assign && !hooks->admit;
}

static void start(struct rest *rest, struct store_object *stored)
{
    struct large *large = mem_zalloc(sizeof(*large));
    large->work = (struct loop_work){.work = shape, .done = on_shaped};
    large->rest = rest;
    large->stored = stored;
    rest->is_off_loop = rest->exchange->arena_is_lent = true;
    buf_init(&large->encoded.data, 0);
    watcher_link_add(engine_watchers(rest->engine), &large->link, rest->route.resource->storage,
                     abandon);
    loop_work_start(engine_loop(rest->engine), &large->work);
}

bool rest_create_large(struct rest *rest)
{
    if (!is_large(rest))
        return false;
    start(rest, NULL);
    return true;
}

bool rest_update_large(struct rest *rest)
{
    struct store_object *stored =
        is_large(rest) && rest->route.sub == SUB_NONE ? get_pending(rest) : NULL;
    if (!stored)
        return false;
    bool readable = stored_is_readable(stored);
    if (readable)
        start(rest, stored);
    else
        store_object_unref(stored);
    return readable;
}

/* Objects whose body takes long to read. A ConfigMap may have hundreds of thousands of keys; to
 * parse, check and write it takes a hundred milliseconds, in which the loop would serve no other
 * client. A thread of the pool does it in the arena of the request, which nobody else touches
 * meanwhile. The loop then asks the store and the engine whether the object may be made, as it
 * would have before: what one handler reads from the store and writes back stays one step. */
#include "base/mem.h"
#include "engine/rest.h"
#include "engine/watchers.h"

#include <stdlib.h>

enum { LARGE_BODY = 128 * 1024 }; /* bytes; about 5 ms of work if all of it is keys */

struct large {
    struct loop_work work;
    struct watcher_link link; /* so that the engine can be freed meanwhile */
    struct rest *rest;
    bool is_abandoned; /* the engine is gone */
    struct json *object;
    struct rest_encoded encoded;
    struct err err;
};

static void shape(struct loop_work *work)
{
    struct large *large = CONTAINER_OF(work, struct large, work);
    struct rest *rest = large->rest;
    if (rest_read_body(rest, &large->object, &large->err) == 0 &&
        rest_shape_create(rest, large->object, &large->err) == 0 && !rest->dry_run)
        (void)rest_encode(rest, large->object, &large->encoded, &large->err);
}

static void on_shaped(struct loop_work *work)
{
    struct large *large = CONTAINER_OF(work, struct large, work);
    struct rest *rest = large->rest;
    rest->is_off_loop = false;
    if (large->is_abandoned) {
        err_set(&large->err, ERR_UNAVAILABLE, "the server is going down");
        engine_respond_error(rest->exchange, &large->err);
    } else {
        watcher_link_remove(&large->link);
        if (large->err.code || rest_admit_create(rest, large->object, &large->err) < 0)
            rest_respond_error(rest, &large->err);
        else if (rest->dry_run)
            rest_commit(rest, large->object, NULL, 0, 201);
        else
            rest_commit_encoded(rest, large->object, &large->encoded);
    }
    buf_release(&large->encoded.data);
    free(large);
}

static void abandon(struct watcher_link *link)
{
    struct large *large = CONTAINER_OF(link, struct large, link);
    watcher_link_remove(link);
    large->is_abandoned = true;
}

bool rest_create_large(struct rest *rest)
{
    if (rest->exchange->request->body_size < LARGE_BODY || rest->route.resource->hooks.assign)
        return false;
    struct large *large = mem_zalloc(sizeof(*large));
    large->work = (struct loop_work){.work = shape, .done = on_shaped};
    large->rest = rest;
    rest->is_off_loop = true;
    buf_init(&large->encoded.data, 0);
    watcher_link_add(engine_watchers(rest->engine), &large->link, "", abandon);
    loop_work_start(engine_loop(rest->engine), &large->work);
    return true;
}

/* Implements the part of port forwarding that SPDY and WebSocket share; see forward_session.h. */
#include "engine/stream/forward_session.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/api/open_calls.h"
#include "engine/internal.h"
#include "engine/stored/stored.h"

/* The time in which the client can read the last bytes of a pod that has ended. */
enum { END_GRACE_MS = 5 * 1000 };

static void forward_session_free_if_done(struct forward_session *self)
{
    if (!self->peer_gone || !list_is_empty(&self->connections))
        return;
    arena_free(self->arena);
    self->ops->free(self);
}

/* After this call the session does not use the engine any more, so the engine may be freed. */
static void forward_session_detach(struct forward_session *self)
{
    if (self->over)
        return;
    self->over = true;
    loop_timer_stop(&self->end_timer);
    open_call_remove(&self->link);
    store_watch_stop(TAKE(self->watch));
}

static void forward_session_close(struct forward_session *self)
{
    forward_session_detach(self);
    if (!self->peer_gone)
        self->ops->close(self);
}

void forward_session_end(struct forward_session *self, const struct err *err)
{
    if (err && err->code != ERR_CANCELED)
        log_debug("port-forward", "%s: %s", self->key, err->message);
    forward_session_detach(self);
}

void forward_session_peer_gone(struct forward_session *self)
{
    self->peer_gone = true;
    forward_session_detach(self);
    forward_session_free_if_done(self);
}

/* ---- Connections ----------------------------------------------------------------------------- */

static size_t forward_session_pending(void *context)
{
    const struct forward_session *self = context;
    return self->peer_gone ? 0 : self->ops->pending(self);
}

static void on_forward_connection_gone(void *context, struct forward_connection *connection)
{
    struct forward_session *self = context;
    list_remove(&connection->link);
    if ((self->end_timer.running || self->ops->channel.ends_together) &&
        list_is_empty(&self->connections))
        forward_session_close(self);
    forward_session_free_if_done(self);
}

bool forward_session_is_open(const struct forward_session *self)
{
    return !self->over && !self->end_timer.running;
}

struct forward_connection *forward_session_add(struct forward_session *self, const char *request_id,
                                               int port)
{
    struct forward_connection *connection = forward_connection_new(&self->owner, request_id, port);
    list_push(&self->connections, &connection->link);
    return connection;
}

void forward_session_drained(struct forward_session *self)
{
    LIST_EACH (struct forward_connection, connection, &self->connections, link)
        forward_connection_resume(connection);
}

/* ---- The pod's side -------------------------------------------------------------------------- */

/* Called when the pod has ended. Closes the session when all connections are closed, but at the
 * latest after END_GRACE_MS. kubectl prints "lost connection to pod" and exits. */
static void forward_session_begin_end(struct forward_session *self)
{
    if (!list_is_empty(&self->connections))
        loop_timer_start(&self->end_timer, END_GRACE_MS);
    else
        forward_session_close(self);
}

static void on_forward_session_timer(struct loop_timer *timer)
{
    forward_session_close(CONTAINER_OF(timer, struct forward_session, end_timer));
}

static void on_forward_session_end(struct open_call *link)
{
    forward_session_close(CONTAINER_OF(link, struct forward_session, link));
}

static bool forward_session_pod_has_ended(struct store_object *stored)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod;
    if (stored_read(arena, stored, &pod, NULL) < 0)
        return false;
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

static void on_forward_session_pod_event(void *context, const struct store_event *event)
{
    struct forward_session *self = context;
    /* The watch is on a prefix, so it also reports pods whose name begins with this pod's name. */
    if (str_eq(event->object->key, self->key) &&
        (event->type == STORE_DELETED || forward_session_pod_has_ended(event->object)) &&
        !self->end_timer.running)
        forward_session_begin_end(self);
}

void forward_session_init(struct forward_session *self, struct engine *engine,
                          const struct forward_session_ops *ops, const char *key,
                          const struct json *pod)
{
    self->ops = ops;
    self->arena = arena_new();
    self->key = arena_strdup(self->arena, key);
    self->owner = (struct forward_owner){
        .loop = engine_loop(engine),
        .backend = *engine_backend(engine),
        .pod = json_clone(self->arena, pod),
        .ops = &ops->channel,
        .pending = forward_session_pending,
        .gone = on_forward_connection_gone,
        .context = self,
    };
    loop_timer_init(self->owner.loop, &self->end_timer, on_forward_session_timer);
    open_call_add(engine_open_calls(engine), &self->link, "pods", on_forward_session_end);
    /* A watch without a start revision needs no history, so it cannot fail. */
    (void)store_watch(engine_store(engine), self->key, -1, on_forward_session_pod_event, self,
                      &self->watch, NULL);
}

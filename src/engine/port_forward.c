/* Port forwarding; see port_forward.h. */
#include "engine/port_forward.h"

#include "base/log.h"
#include "base/mem.h"
#include "base/str.h"
#include "engine/forward_line.h"
#include "engine/rest.h"
#include "engine/watchers.h"
#include "kube/object.h"

#include <stdlib.h>
#include <string.h>

enum { END_GRACE_MS = 5 * 1000 }; /* for what an ended pod said to be read */

struct port_forward {
    struct forward_site site;
    struct arena *arena; /* of the pod and the key */
    const char *key;
    struct spdy_session *session; /* NULL: gone */
    struct forward_line *lines;
    struct store_watch *watch;
    struct watcher_link link;
    struct loop_timer end_timer; /* runs once the pod has ended */
    bool over;                   /* nothing new; what is left closes */
};

static void free_if_done(struct port_forward *self)
{
    if (self->session || self->lines)
        return;
    arena_free(self->arena);
    free(self);
}

/* From here on the engine may go: only streams that close are waited for. */
static void detach(struct port_forward *self)
{
    if (self->over)
        return;
    self->over = true;
    loop_timer_stop(&self->end_timer);
    watcher_link_remove(&self->link);
    store_watch_stop(TAKE(self->watch));
}

static void close_session(struct port_forward *self)
{
    detach(self);
    if (self->session)
        spdy_session_close(self->session);
}

/* ---- lines ----------------------------------------------------------------------------------- */

static size_t pending(void *context)
{
    const struct port_forward *self = context;
    return self->session ? spdy_session_pending(self->session) : 0;
}

static void on_line_gone(void *context, struct forward_line *line)
{
    struct port_forward *self = context;
    if (line->next)
        line->next->previous = line->previous;
    if (line->previous)
        line->previous->next = line->next;
    else
        self->lines = line->next;
    if (self->end_timer.running && !self->lines)
        close_session(self);
    free_if_done(self);
}

static struct forward_line *add_line(struct port_forward *self, const char *request_id, int port)
{
    struct forward_line *line = forward_line_new(&self->site, request_id, port);
    line->next = self->lines;
    if (self->lines)
        self->lines->previous = line;
    self->lines = line;
    return line;
}

/* The line that this stream completes, or NULL. */
static struct forward_line *find_line(struct port_forward *self, const char *request_id, int port,
                                      enum forward_stream which)
{
    struct forward_line *line = self->lines;
    while (line && (line->opened || line->streams[which] || line->port != port ||
                    !str_eq(line->request_id, request_id)))
        line = line->next;
    return line;
}

/* ---- the session's side ---------------------------------------------------------------------- */

static void on_stream(void *context, struct spdy_stream *stream, const struct http_header *headers)
{
    struct port_forward *self = context;
    const char *type = http_header_get(headers, "streamtype");
    const char *request_id = http_header_get(headers, "requestid");
    int64_t port;
    const char *port_text = http_header_get(headers, "port");
    if (self->over || self->end_timer.running || !port_text ||
        str_to_int64(port_text, 1, 65535, &port, NULL) < 0 ||
        !(str_eq(type, "error") || str_eq(type, "data")))
        return; /* refused */
    enum forward_stream which = str_eq(type, "error") ? FORWARD_ERROR : FORWARD_DATA;
    _cleanup_free_ char *implied = NULL;
    if (!request_id) {
        /* Clients older than the header open the pair one after the other, the error stream first.
         */
        implied = mem_printf("%u", spdy_stream_id(stream) - (which == FORWARD_DATA ? 2U : 0U));
        request_id = implied;
    }
    struct forward_line *line = find_line(self, request_id, (int)port, which);
    if (!line)
        line = add_line(self, request_id, (int)port);
    forward_line_take(line, which, stream);
}

static void on_drain(void *context)
{
    struct port_forward *self = context;
    for (struct forward_line *line = self->lines; line; line = line->next)
        forward_line_resume(line);
}

static void on_end(void *context, const struct err *err)
{
    struct port_forward *self = context;
    if (err && err->code != ERR_CANCELED)
        log_debug("port-forward", "%s: %s", self->key, err->message);
    detach(self);
}

static void on_closed(void *context)
{
    struct port_forward *self = context;
    self->session = NULL;
    detach(self);
    free_if_done(self);
}

static const struct spdy_session_handler SESSION_HANDLER = {
    .on_stream = on_stream,
    .on_drain = on_drain,
    .on_end = on_end,
    .on_closed = on_closed,
};

/* ---- the pod's side -------------------------------------------------------------------------- */

/* kubectl says "lost connection to pod" and ends, after it was given what the pod still said. */
static void begin_end(struct port_forward *self)
{
    if (self->lines)
        loop_timer_start(&self->end_timer, END_GRACE_MS);
    else
        close_session(self);
}

static void on_end_timer(struct loop_timer *timer)
{
    close_session(CONTAINER_OF(timer, struct port_forward, end_timer));
}

static void end_link(struct watcher_link *link)
{
    close_session(CONTAINER_OF(link, struct port_forward, link));
}

static bool has_ended(const struct store_object *stored)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *pod;
    if (rest_parse(arena, stored, &pod, NULL) < 0)
        return false;
    const char *phase = json_get_string(json_get(pod, "status"), "phase", "");
    return str_eq(phase, "Succeeded") || str_eq(phase, "Failed");
}

static void on_pod_event(void *context, const struct store_event *event)
{
    struct port_forward *self = context;
    /* The watch is of a prefix, which other pods' names may share. */
    if (str_eq(event->object->key, self->key) &&
        (event->type == STORE_DELETED || has_ended(event->object)) && !self->end_timer.running)
        begin_end(self);
}

void port_forward_new(struct engine *engine, struct stream *line, const char *key,
                      const struct json *pod)
{
    struct port_forward *self = mem_zalloc(sizeof(*self));
    self->arena = arena_new();
    self->key = arena_strdup(self->arena, key);
    self->site = (struct forward_site){
        .loop = engine_loop(engine),
        .backend = *engine_backend(engine),
        .pod = json_clone(self->arena, pod),
        .pending = pending,
        .gone = on_line_gone,
        .context = self,
    };
    loop_timer_init(self->site.loop, &self->end_timer, on_end_timer);
    watcher_link_add(engine_watchers(engine), &self->link, "pods", end_link);
    /* From now on: cannot fail, for that needs no history. */
    (void)store_watch(engine_store(engine), self->key, -1, on_pod_event, self, &self->watch, NULL);
    self->session = spdy_session_new(line, &SESSION_HANDLER, self);
}

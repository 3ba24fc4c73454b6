/* Forwards bytes between a client and a pod after a switch of protocol; see http_proxy.h. */
#include "engine/stream/http_proxy.h"

#include "base/mem.h"
#include "engine/api/open_calls.h"
#include "net/stream/stream.h"

#include <stdlib.h>

/* Above this many bytes that one side has not read, reading from the other side pauses. */
enum { PENDING_HIGH = 256 * 1024 };

struct http_proxy_tunnel;

struct side {
    struct http_proxy_tunnel *tunnel;
    struct side *other;
    struct stream *stream; /* NULL: closed */
    bool ended;            /* the side sends no more bytes */
    bool closing;          /* the stream is being closed */
};

struct http_proxy_tunnel {
    struct side client, pod;
    struct open_call link;
    bool over; /* removed from the open calls */
};

static void close_side(struct side *side)
{
    if (side->stream && !side->closing) {
        side->closing = true;
        stream_close(side->stream);
    }
}

static void close_tunnel(struct http_proxy_tunnel *self)
{
    if (!self->over) {
        self->over = true;
        open_call_remove(&self->link);
    }
    close_side(&self->client);
    close_side(&self->pod);
}

static void on_http_proxy_tunnel_server_end(struct open_call *link)
{
    close_tunnel(CONTAINER_OF(link, struct http_proxy_tunnel, link));
}

static void on_http_proxy_tunnel_open(void *context)
{
}

static void on_http_proxy_tunnel_data(void *context, const char *data, size_t size)
{
    struct side *side = context, *other = side->other;
    if (!other->stream || other->closing)
        return;
    stream_write(other->stream, data, size);
    if (stream_pending(other->stream) > PENDING_HIGH)
        stream_pause(side->stream, true);
}

static void on_http_proxy_tunnel_sent(void *context)
{
    const struct side *other = ((struct side *)context)->other;
    if (other->stream && !other->closing)
        stream_pause(other->stream, false);
}

static void finish_side(struct side *side)
{
    if (side->stream && !side->closing) {
        side->closing = true;
        stream_finish(side->stream);
    }
}

static void on_http_proxy_tunnel_end(void *context, const struct err *err)
{
    struct side *side = context, *other = side->other;
    side->ended = true;
    if (err || !other->stream) {
        close_tunnel(side->tunnel);
    } else if (other->ended) {
        finish_side(side);
        finish_side(other);
    } else if (!other->closing) {
        stream_shut(other->stream);
    }
}

static void on_http_proxy_tunnel_closed(void *context)
{
    struct side *side = context;
    struct http_proxy_tunnel *self = side->tunnel;
    bool finished = side->ended && side->other->ended;
    side->stream = NULL;
    if (!finished)
        close_tunnel(self); /* also closes the other side */
    if (self->client.stream || self->pod.stream)
        return;
    close_tunnel(self);
    free(self);
}

static const struct stream_handler HANDLER = {
    .on_open = on_http_proxy_tunnel_open,
    .on_data = on_http_proxy_tunnel_data,
    .on_sent = on_http_proxy_tunnel_sent,
    .on_end = on_http_proxy_tunnel_end,
    .on_closed = on_http_proxy_tunnel_closed,
};

void http_proxy_tunnel_new(struct list_head *open_calls, struct stream *client, struct stream *pod,
                           const char *early, size_t early_size)
{
    struct http_proxy_tunnel *self = mem_zalloc(sizeof(*self));
    self->client = (struct side){.tunnel = self, .other = &self->pod, .stream = client};
    self->pod = (struct side){.tunnel = self, .other = &self->client, .stream = pod};
    open_call_add(open_calls, &self->link, "pods", on_http_proxy_tunnel_server_end);
    pod->handler = &HANDLER;
    pod->context = &self->pod;
    stream_start(client, &HANDLER, &self->client);
    if (early_size)
        stream_write(client, early, early_size);
}

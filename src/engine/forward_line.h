/* One forwarded connection: the pair of SPDY streams that kubectl opens for it, and the connection
 * to the pod's port. Bytes go both ways, each side ends by itself, a slow reader slows the other
 * side, and why a connection could not be made is said on the error stream. */
#ifndef TRAINYARD_ENGINE_FORWARD_LINE_H
#define TRAINYARD_ENGINE_FORWARD_LINE_H

#include "engine/engine.h"
#include "net/spdy_session.h"

enum forward_stream { FORWARD_ERROR, FORWARD_DATA, FORWARD_STREAMS };

struct forward_line;

/* What the lines of a session share. */
struct forward_site {
    struct loop *loop;
    struct engine_pod_backend backend;
    const struct json *pod;
    size_t (*pending)(void *context); /* bytes that the peer has not taken */
    void (*gone)(void *context, struct forward_line *line);
    void *context;
};

struct forward_line {
    struct forward_line *next, *previous; /* the site's */
    const struct forward_site *site;
    char *request_id;
    int port;
    struct spdy_stream *streams[FORWARD_STREAMS]; /* NULL: not there yet, or no more */
    bool peer_ended[FORWARD_STREAMS];
    bool opened;             /* both streams were there */
    struct loop_timer timer; /* for the second stream to come */
    void *connecting;        /* the backend's */
    struct stream *target;   /* NULL: none yet, or no more */
    bool target_open, target_ended, target_closing;
    struct buf early; /* for the target, before it is there */
};

/* A line of which one stream is known. */
struct forward_line *forward_line_new(const struct forward_site *site, const char *request_id,
                                      int port);
/* Take a stream that is not there yet; with the second one the connection is made. */
void forward_line_take(struct forward_line *line, enum forward_stream which,
                       struct spdy_stream *stream);
/* The peer has taken everything: go on reading from the pod. */
void forward_line_resume(struct forward_line *line);

#endif

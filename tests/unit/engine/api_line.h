/* An API server in virtual time and a client's line to it as a stream in memory: requests go in as
 * bytes, answers are read from it. For tests of what becomes of a connection after its request
 * (exec, port-forward, proxy). */
#ifndef TRAINYARD_TESTS_UNIT_ENGINE_API_LINE_H
#define TRAINYARD_TESTS_UNIT_ENGINE_API_LINE_H

#include "engine/engine.h"
#include "loop/loop.h"
#include "memory_stream.h"
#include "net/http/connection.h"

struct api_line {
    struct loop *loop;
    struct store *store;
    struct engine *engine;
    struct http_service service;
    struct memory_stream *peer; /* the client's line */
    bool peer_closed;
};

/* Start a server whose pods are `backend`, and connect a client from this address to it. The line
 * must stay where it is. */
void api_line_open(struct api_line *line, const struct engine_pod_backend *backend,
                   const char *address);
/* End all connections and the server. */
void api_line_close(struct api_line *line);

/* Let everything happen that follows at once. */
void api_line_run(struct api_line *line);

/* Forget what the client was sent. */
void api_line_clear(struct api_line *line);

/* One request without a body; its status. */
int api_line_ask(struct api_line *line, const char *method, const char *path, const char *headers);
/* One with a body, JSON or a merge patch, which must succeed. */
void api_line_put(struct api_line *line, const char *method, const char *path, const char *body);

#endif

/* An API server in virtual time and a client's connection to it as a stream in memory: requests go
 * in as bytes, and responses are read from it. For tests of connections that stay open after their
 * request (exec, port-forward, proxy). */
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
    struct memory_stream *peer; /* the client's end of the connection */
    bool peer_closed;
};

/* Starts a server whose pods are `backend`, and connects a client from this address to it. The
 * struct must not move until it is closed. */
void api_line_open(struct api_line *line, const struct engine_pod_backend *backend,
                   const char *address);
/* Closes all connections and the server. */
void api_line_close(struct api_line *line);

/* Runs the loop until all immediate effects have happened. */
void api_line_run(struct api_line *line);

/* Discards the bytes that the client has received. */
void api_line_clear(struct api_line *line);

/* Sends one request without a body. Returns the status of its response. */
int api_line_ask(struct api_line *line, const char *method, const char *path, const char *headers);
/* Sends one request with a body, JSON or a merge patch. It must succeed. */
void api_line_put(struct api_line *line, const char *method, const char *path, const char *body);

#endif

/* The API behind a server's connections, in memory and in virtual time: request bytes go in,
 * response bytes come out. For tests of effects that api.h cannot show, because it calls the engine
 * directly. */
#ifndef TRAINYARD_TESTS_UNIT_ENGINE_API_SERVER_H
#define TRAINYARD_TESTS_UNIT_ENGINE_API_SERVER_H

#include "engine/engine.h"
#include "memory_stream.h"
#include "net/http/connection.h"

#define API_SERVER_TOKEN "secret"

struct api_server {
    struct loop *loop;
    struct store *store;
    struct engine *engine;
    struct arena *arena;
    struct http_service service;
};

/* A connection whose client reads nothing until the test lets it. */
struct api_peer {
    struct memory_stream *stream;
    bool closed;
};

struct api_server *api_server_new(size_t watch_events_max);
void api_server_free(struct api_server *server);
void api_server_run(struct api_server *server);

/* Connects and sends this text. Returns the bytes of the response so far. */
const char *api_peer_open(struct api_peer *peer, struct api_server *server, const char *text);
void api_peer_close(struct api_peer *peer, struct api_server *server);

/* Returns a whole request of the administrator, or only its header if `body` is NULL. */
char *api_peer_request(struct api_server *server, const char *method, const char *path,
                       const char *body);

#endif

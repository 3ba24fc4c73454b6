/* The API behind connections of a server in memory and in virtual time: request bytes go in, answer
 * bytes come out. For tests of what api.h, which calls the engine directly, cannot see. */
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

/* A connection whose peer reads no answer until it is told to. */
struct api_peer {
    struct memory_stream *stream;
    bool closed;
};

struct api_server *api_server_new(size_t watch_events_max);
void api_server_free(struct api_server *server);
void api_server_run(struct api_server *server);

/* Connect and say this; what is answered. */
const char *api_peer_open(struct api_peer *peer, struct api_server *server, const char *text);
void api_peer_close(struct api_peer *peer, struct api_server *server);

/* A whole request of the owner's, or only its header where there is no body (NULL). */
char *api_peer_request(struct api_server *server, const char *method, const char *path,
                       const char *body);

#endif

/* An API server for a test: a loop in virtual time, a store in memory, and calls that run the loop
 * until they are answered. */
#ifndef TRAINYARD_TESTS_UNIT_ENGINE_API_H
#define TRAINYARD_TESTS_UNIT_ENGINE_API_H

#include "base/arena.h"
#include "base/json/json.h"
#include "engine/engine.h"
#include "loop/loop.h"
#include "net/http/http.h"
#include "store/store.h"

#define API_TOKEN "secret"

struct api {
    struct loop *loop;
    struct store *store;
    struct engine *engine;
    struct http_transport *transport;
    struct arena *arena;      /* the memory of the answers */
    const char *agent;        /* the User-Agent of calls; NULL: none is sent */
    const char *has_tag;      /* sent as If-None-Match; NULL: not sent */
    struct http_header *more; /* further headers of calls */
};

/* The seed decides the order of events that have no defined order. */
void api_open(struct api *api, uint64_t seed);
/* Opens a server with a certificate authority, whose certificate each namespace gets. */
void api_open_with_ca(struct api *api, uint64_t seed, const char *ca_pem);
/* Starts another server on the same store, as after `down` and `up`. */
void api_restart(struct api *api, const char *ca_pem);
void api_close(struct api *api);
/* Fixtures for cmocka: the state is a struct api. */
int api_setup(void **state);
int api_teardown(void **state);

/* Fixtures with the built-in controllers, for tests that run once per seed. */
enum { API_SEEDS = 5 };
extern uint64_t api_seed;
struct api_controlled {
    struct api api; /* must be first: the state is also used as a struct api */
    struct engine_controllers *controllers;
};
int api_controlled_setup(void **state);
int api_controlled_teardown(void **state);

struct answer {
    int status;
    const char *content_type;
    const char *warning;  /* the first Warning header, or "" */
    const char *tag;      /* the ETag header, or "" */
    const char *location; /* the Location header, or "" */
    const char *retry_after;
    const char *body;
    size_t size;
    struct json *json; /* the parsed body; NULL: it is not JSON */
};

/* Sends a request and waits for its response. `path` may have a query. `body` NULL: no body.
 * `accept` and `type` NULL: header not sent. */
struct answer api_call(struct api *api, const char *method, const char *path, const char *type,
                       const char *accept, const char *body);
/* Like api_call(), but with this bearer token instead of the administrator's. */
struct answer api_call_as(struct api *api, const char *token, const char *method, const char *path,
                          const char *body);
struct answer api_get(struct api *api, const char *path);
struct answer api_post(struct api *api, const char *path, const char *body);
struct answer api_put(struct api *api, const char *path, const char *body);
struct answer api_delete(struct api *api, const char *path, const char *body);
/* Sends a merge patch. */
struct answer api_merge(struct api *api, const char *path, const char *body);

/* A response that stays open, with the lines received so far. Run the loop with api_run(). */
struct stream;
struct stream *stream_open(struct api *api, const char *path, const char *accept);
void stream_close(struct stream *stream);
size_t stream_count(const struct stream *stream);
struct json *stream_event(struct stream *stream, size_t position);
/* Returns the events from this position on, such as "ADDED a", joined with ", ". */
const char *stream_text(struct stream *stream, size_t from);
bool stream_ended(const struct stream *stream);
const char *stream_body(const struct stream *stream); /* the body so far */

/* Signs tokens in tests: a keyed hash with a public key. */
int api_sign(void *context, const void *data, size_t size, unsigned char ret[ENGINE_SIGNATURE_SIZE],
             struct err *err);

void api_run(struct api *api, int64_t virtual_ms);

/* The message of a Status, such as "pods "x" not found"; "" if the body is no Status. */
const char *answer_message(const struct answer *answer);
const char *answer_reason(const struct answer *answer);
/* Returns the text at a dotted path, such as "spec.containers.0.name", or "" if missing. Numbers
 * are converted to text. */
const char *answer_at(struct api *api, const struct answer *answer, const char *path);
/* Like answer_at(), for the object at `path`, which is read by GET. */
const char *api_at(struct api *api, const char *path, const char *field);

#define POD_X                                                                                      \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"},\"spec\":"              \
    "{\"containers\":[{\"name\":\"main\",\"image\":\"busybox\"}]}}"

#endif

/* An API server of one's own for a test: loop in virtual time, store in memory, and calls that run
 * the loop until they are answered. */
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
    struct arena *arena;      /* of the answers */
    const char *agent;        /* the User-Agent of calls; NULL: none is sent */
    const char *has_tag;      /* sent as If-None-Match; NULL: not */
    struct http_header *more; /* headers of calls besides */
};

/* The same seed gives the same order of everything that has none of its own. */
void api_open(struct api *api, uint64_t seed);
/* With a certificate authority, of which each namespace gets a copy. */
void api_open_with_ca(struct api *api, uint64_t seed, const char *ca_pem);
/* Another server on the same store, as after `down` and `up`. */
void api_start_anew(struct api *api, const char *ca_pem);
void api_close(struct api *api);
/* cmocka fixtures: the state is a struct api. */
int api_setup(void **state);
int api_teardown(void **state);

/* The same with the built-in controllers, for tests that are run once with each seed. */
enum { API_SEEDS = 5 };
extern uint64_t api_seed;
struct api_controlled {
    struct api api; /* first: the state is a struct api, too */
    struct engine_controllers *controllers;
};
int api_controlled_setup(void **state);
int api_controlled_teardown(void **state);

struct answer {
    int status;
    const char *content_type;
    const char *warning;  /* the first Warning header, or "" */
    const char *tag;      /* ETag, or "" */
    const char *location; /* or "" */
    const char *retry_after;
    const char *body;
    size_t size;
    struct json *json; /* NULL if it is none */
};

/* `path` may have a query; body NULL: none. `accept` and `type` NULL: not sent. */
struct answer api_call(struct api *api, const char *method, const char *path, const char *type,
                       const char *accept, const char *body);
/* The same with another bearer token than the owner's. */
struct answer api_call_as(struct api *api, const char *token, const char *method, const char *path,
                          const char *body);
struct answer api_get(struct api *api, const char *path);
struct answer api_post(struct api *api, const char *path, const char *body);
struct answer api_put(struct api *api, const char *path, const char *body);
struct answer api_delete(struct api *api, const char *path, const char *body);
/* A merge patch. */
struct answer api_merge(struct api *api, const char *path, const char *body);

/* A stream that stays open: its lines so far. Run the loop with api_run(). */
struct stream;
struct stream *stream_open(struct api *api, const char *path, const char *accept);
void stream_close(struct stream *stream);
size_t stream_count(const struct stream *stream);
struct json *stream_event(struct stream *stream, size_t position);
/* "ADDED a", from the position on, joined with ", ". */
const char *stream_text(struct stream *stream, size_t from);
bool stream_ended(const struct stream *stream);
const char *stream_body(const struct stream *stream); /* as it is, so far */

/* What seals tokens here: a keyed hash, not a secret one. */
int api_seal(void *context, const void *data, size_t size, unsigned char ret[ENGINE_SEAL_SIZE],
             struct err *err);

void api_run(struct api *api, int64_t virtual_ms);

/* "pods "x" not found" and the like; "" if it is no Status. */
const char *answer_message(const struct answer *answer);
const char *answer_reason(const struct answer *answer);
/* The text at a dotted path, "" if missing: "spec.containers.0.name". Numbers are written out. */
const char *answer_at(struct api *api, const struct answer *answer, const char *path);
/* The same of the object that a GET answers. */
const char *api_at(struct api *api, const char *path, const char *field);

#define POD_X                                                                                      \
    "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"x\"},\"spec\":"              \
    "{\"containers\":[{\"name\":\"main\",\"image\":\"busybox\"}]}}"

#endif

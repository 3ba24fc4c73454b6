/* An API server for a test; see api.h. */
#include "api.h"

#include "base/hash.h"
#include "base/mem.h"
#include "base/str.h"
#include "base/vec.h"
#include "kube/object.h"
#include "loop/sim/sim_loop.h"
#include "served_kinds.h"

#include <inttypes.h>
#include <setjmp.h>
#include <stdarg.h>
#include <string.h>

#include <cmocka.h>

enum { WALL_START_MS = 1700000000, RUN_MS = 1000, ANSWER_MAX = 64 * 1024 * 1024 };

int api_sign(void *context, const void *data, size_t size, unsigned char ret[ENGINE_SIGNATURE_SIZE],
             struct err *err)
{
    for (size_t i = 0; i < ENGINE_SIGNATURE_SIZE / sizeof(uint64_t); i++) {
        const struct hash_key key = {{i, 42}};
        uint64_t part = hash_bytes(&key, data, size);
        memcpy(ret + i * sizeof(part), &part, sizeof(part));
    }
    return 0;
}

static void start(struct api *api, const char *ca_pem)
{
    struct err err = ERR_INIT;
    struct engine_options options = {.token = API_TOKEN,
                                     .version = "0.1.0",
                                     .kinds = SERVED_KINDS,
                                     .ca_pem = ca_pem,
                                     .signer = {api_sign, NULL}};
    if (engine_new(api->loop, api->store, &options, &api->engine, &err) < 0)
        fail_msg("%s", err.message);
    api->transport = http_local_new(api->loop, engine_handle, api->engine, API_TOKEN);
    api_run(api, RUN_MS);
}

void api_restart(struct api *api, const char *ca_pem)
{
    http_transport_free(api->transport);
    engine_free(api->engine);
    start(api, ca_pem);
}

void api_open_with_ca(struct api *api, uint64_t seed, const char *ca_pem)
{
    struct err err = ERR_INIT;
    struct store_options store = {.path = NULL};
    *api = (struct api){0};
    api->arena = arena_new();
    api->loop = sim_loop_new(seed, WALL_START_MS * (int64_t)1000);
    if (store_open(api->loop, &store, &api->store, &err) < 0)
        fail_msg("%s", err.message);
    start(api, ca_pem);
}

void api_open(struct api *api, uint64_t seed)
{
    api_open_with_ca(api, seed, NULL);
}

static void closed(void *context)
{
    *(bool *)context = true;
}

void api_close(struct api *api)
{
    bool done = false;
    http_transport_free(api->transport);
    engine_free(api->engine);
    store_close(api->store, closed, &done);
    api_run(api, RUN_MS);
    assert_true(done);
    loop_free(api->loop);
    arena_free(api->arena);
}

int api_setup(void **state)
{
    struct api *api = mem_zalloc(sizeof(*api));
    api_open(api, 1);
    *state = api;
    return 0;
}

int api_teardown(void **state)
{
    api_close(*state);
    free(*state);
    return 0;
}

uint64_t api_seed = 1;

int api_controlled_setup(void **state)
{
    struct api_controlled *fixture = mem_zalloc(sizeof(*fixture));
    api_open(&fixture->api, api_seed);
    fixture->controllers =
        engine_controllers_new(fixture->api.loop, fixture->api.transport, SERVED_KINDS);
    *state = fixture;
    return 0;
}

int api_controlled_teardown(void **state)
{
    struct api_controlled *fixture = *state;
    engine_controllers_free(fixture->controllers);
    api_close(&fixture->api);
    free(fixture);
    return 0;
}

void api_run(struct api *api, int64_t virtual_ms)
{
    sim_loop_run_for(api->loop, virtual_ms);
}

/* ---- One call -------------------------------------------------------------------------------- */

struct pending {
    struct api *api;
    struct answer answer;
    struct buf body;
    bool ended;
};

static const char *header_text(struct api *api, const struct http_header *headers, const char *name)
{
    const char *value = http_header_get(headers, name);
    return arena_strdup(api->arena, value ? value : "");
}

static void on_head(void *context, int status, const struct http_header *headers)
{
    struct pending *pending = context;
    struct answer *answer = &pending->answer;
    answer->status = status;
    answer->warning = header_text(pending->api, headers, "Warning");
    answer->content_type = header_text(pending->api, headers, "Content-Type");
    answer->tag = header_text(pending->api, headers, "ETag");
    answer->location = header_text(pending->api, headers, "Location");
    answer->retry_after = header_text(pending->api, headers, "Retry-After");
}

static void on_data(void *context, const void *data, size_t size)
{
    struct pending *pending = context;
    buf_append(&pending->body, data, size);
}

static void on_end(void *context, const struct err *err)
{
    struct pending *pending = context;
    assert_null(err);
    pending->ended = true;
}

static const struct http_callbacks LISTENER = {on_head, on_data, on_end};

static struct http_request make_request(struct api *api, const char *method, const char *path,
                                        const char *type, const char *accept, const char *body)
{
    const char *query = strchr(path, '?');
    struct http_request request = {
        .method = method,
        .path = query ? arena_strndup(api->arena, path, (size_t)(query - path)) : path,
        .query = query ? query + 1 : "",
        .body = body ? body : "",
        .body_size = body ? strlen(body) : 0,
    };
    if (type)
        http_header_add(api->arena, &request.headers, "Content-Type", type);
    if (accept)
        http_header_add(api->arena, &request.headers, "Accept", accept);
    if (api->agent)
        http_header_add(api->arena, &request.headers, "User-Agent", api->agent);
    if (api->has_tag)
        http_header_add(api->arena, &request.headers, "If-None-Match", api->has_tag);
    for (const struct http_header *header = api->more; header; header = header->next)
        http_header_add(api->arena, &request.headers, header->name, header->value);
    return request;
}

struct answer api_call(struct api *api, const char *method, const char *path, const char *type,
                       const char *accept, const char *body)
{
    struct pending pending = {.api = api};
    buf_init(&pending.body, ANSWER_MAX);
    struct http_request request = make_request(api, method, path, type, accept, body);
    http_start(api->transport, &request, 0, &LISTENER, &pending);
    api_run(api, RUN_MS);
    if (!pending.ended)
        fail_msg("%s %s was not answered", method, path);
    struct answer *answer = &pending.answer;
    answer->size = pending.body.size;
    answer->body = arena_strndup(api->arena, pending.body.data, pending.body.size);
    if (str_has_prefix(answer->content_type, "application/json"))
        assert_int_equal(
            json_parse(api->arena, answer->body, answer->size, NULL, &answer->json, NULL), 0);
    buf_release(&pending.body);
    return *answer;
}

struct answer api_call_as(struct api *api, const char *token, const char *method, const char *path,
                          const char *body)
{
    struct http_transport *own = api->transport;
    api->transport = http_local_new(api->loop, engine_handle, api->engine, token);
    struct answer answer = api_call(
        api, method, path,
        str_eq(method, "PATCH") ? "application/merge-patch+json" : "application/json", NULL, body);
    http_transport_free(api->transport);
    api->transport = own;
    return answer;
}

struct answer api_get(struct api *api, const char *path)
{
    return api_call(api, "GET", path, NULL, "application/json", NULL);
}

struct answer api_post(struct api *api, const char *path, const char *body)
{
    return api_call(api, "POST", path, "application/json", "application/json", body);
}

struct answer api_put(struct api *api, const char *path, const char *body)
{
    return api_call(api, "PUT", path, "application/json", "application/json", body);
}

struct answer api_delete(struct api *api, const char *path, const char *body)
{
    return api_call(api, "DELETE", path, "application/json", "application/json", body);
}

struct answer api_merge(struct api *api, const char *path, const char *body)
{
    return api_call(api, "PATCH", path, "application/merge-patch+json", "application/json", body);
}

/* ---- A stream -------------------------------------------------------------------------------- */

struct stream {
    struct pending pending; /* must be first: it is the context of the callbacks */
    struct http_call *call;
};

struct stream *stream_open(struct api *api, const char *path, const char *accept)
{
    struct stream *stream = mem_zalloc(sizeof(*stream));
    stream->pending.api = api;
    buf_init(&stream->pending.body, ANSWER_MAX);
    struct http_request request =
        make_request(api, "GET", path, NULL, accept ? accept : "application/json", NULL);
    stream->call = http_start(api->transport, &request, 0, &LISTENER, &stream->pending);
    api_run(api, RUN_MS);
    return stream;
}

void stream_close(struct stream *stream)
{
    struct api *api = stream->pending.api;
    if (!stream->pending.ended) {
        http_cancel(api->transport, stream->call);
        api_run(api, RUN_MS);
    }
    buf_release(&stream->pending.body);
    free(stream);
}

bool stream_ended(const struct stream *stream)
{
    return stream->pending.ended;
}

const char *stream_body(const struct stream *stream)
{
    return stream->pending.body.size ? stream->pending.body.data : "";
}

size_t stream_count(const struct stream *stream)
{
    size_t count = 0;
    for (size_t i = 0; i < stream->pending.body.size; i++)
        count += stream->pending.body.data[i] == '\n';
    return count;
}

struct json *stream_event(struct stream *stream, size_t position)
{
    const char *line = stream->pending.body.data;
    for (; position > 0; position--)
        line = strchr(line, '\n') + 1;
    struct json *event;
    assert_int_equal(json_parse(stream->pending.api->arena, line,
                                (size_t)(strchr(line, '\n') - line), NULL, &event, NULL),
                     0);
    return event;
}

const char *stream_text(struct stream *stream, size_t from)
{
    struct arena *arena = stream->pending.api->arena;
    const char *text = "";
    for (size_t i = from; i < stream_count(stream); i++) {
        struct json *event = stream_event(stream, i);
        text = arena_printf(arena, "%s%s%s %s", text, text[0] ? ", " : "",
                            json_get_string(event, "type", "?"),
                            kube_meta_name(json_get(event, "object")));
    }
    return text;
}

/* ---- Responses ------------------------------------------------------------------------------- */

const char *answer_message(const struct answer *answer)
{
    return json_get_string(answer->json, "message", "");
}

const char *answer_reason(const struct answer *answer)
{
    return json_get_string(answer->json, "reason", "");
}

const char *answer_at(struct api *api, const struct answer *answer, const char *path)
{
    struct json *json = answer->json;
    size_t count;
    char **pieces = str_split(api->arena, path, '.', &count);
    for (size_t i = 0; i < count && json; i++) {
        int64_t position;
        if (json->type == JSON_ARRAY && str_to_int64(pieces[i], 0, 1000, &position, NULL) == 0)
            json = json_element(json, (size_t)position);
        else
            json = json_get(json, pieces[i]);
    }
    if (!json)
        return "";
    return json->type == JSON_STRING ? json->text : json_to_string(api->arena, json);
}

const char *api_at(struct api *api, const char *path, const char *field)
{
    struct answer answer = api_get(api, path);
    return answer_at(api, &answer, field);
}

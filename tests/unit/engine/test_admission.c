/* The API behind a server's connection, request bytes in and answer bytes out: what the header
 * alone decides is decided before a byte of the body is kept. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/hash.h"
#include "base/mem.h"
#include "engine/engine.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/http_connection.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TOKEN "secret"
#define MAPS  "/api/v1/namespaces/default/configmaps"

struct world {
    struct loop *loop;
    struct store *store;
    struct engine *engine;
    struct arena *arena;
    struct http_service service;
    struct memory_stream *peer; /* of the connection that is open */
    bool closed;
};

static void on_connection_closed(struct http_service *service)
{
}

static int seal(void *context, const void *data, size_t size, unsigned char ret[ENGINE_SEAL_SIZE],
                struct err *err)
{
    static const struct hash_key key = {{1, 2}};
    uint64_t sum = hash_bytes(&key, data, size);
    memset(ret, 0, ENGINE_SEAL_SIZE);
    memcpy(ret, &sum, sizeof(sum));
    return 0;
}

static int setup(void **state)
{
    static const struct engine_options options = {.token = TOKEN, .version = "0", .seal = {seal}};
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(3, 1700000000000);
    world->arena = arena_new();
    assert_int_equal(store_open(world->loop, &(struct store_options){0}, &world->store, NULL), 0);
    assert_int_equal(engine_new(world->loop, world->store, &options, &world->engine, NULL), 0);
    world->service = (struct http_service){.loop = world->loop,
                                           .handler = engine_handle,
                                           .admit = engine_admit,
                                           .context = world->engine,
                                           .header_max = 64 * 1024,
                                           .body_max = 3 * 1024 * 1024,
                                           .handshake_timeout_ms = 1000,
                                           .header_timeout_ms = 1000,
                                           .body_timeout_ms = 1000,
                                           .idle_timeout_ms = 1000,
                                           .write_refusal = engine_write_refusal,
                                           .on_closed = on_connection_closed,
                                           .date_second = -1};
    sim_loop_run_for(world->loop, 10);
    *state = world;
    return 0;
}

static void on_store_closed(void *context)
{
}

static int teardown(void **state)
{
    struct world *world = *state;
    engine_free(world->engine);
    store_close(world->store, on_store_closed, NULL);
    loop_run(world->loop);
    loop_free(world->loop);
    arena_free(world->arena);
    free(world);
    return 0;
}

/* Say this on a connection of its own, whose peer reads no answer yet; what is answered. */
static const char *line_open(struct world *world, const char *text)
{
    world->closed = false;
    world->peer = memory_stream_new(world->loop, &world->closed);
    http_connection_new(&world->service, &world->peer->stream, "10.0.0.1:5");
    memory_stream_hold(world->peer, true);
    memory_stream_send(world->peer, text, strlen(text));
    sim_loop_run_for(world->loop, 10);
    return world->peer->out.data;
}

static void line_close(struct world *world)
{
    memory_stream_break(world->peer);
    sim_loop_run_for(world->loop, 10);
    assert_true(world->closed);
}

/* A whole POST of the owner. */
static char *whole_post(struct arena *arena, const char *path, const char *body)
{
    return arena_printf(arena,
                        "POST %s HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer " TOKEN "\r\n"
                        "Content-Type: application/json\r\nContent-Length: %zu\r\n\r\n%s",
                        path, strlen(body), body);
}

/* The token of a new service account, which has no rights. */
static char *make_account(struct world *world)
{
    static const char accounts[] = "/api/v1/namespaces/default/serviceaccounts";
    const char *heard =
        line_open(world, whole_post(world->arena, accounts, "{\"metadata\":{\"name\":\"plain\"}}"));
    assert_memory_equal(heard, "HTTP/1.1 201", 12);
    line_close(world);
    heard = line_open(world, whole_post(world->arena,
                                        arena_printf(world->arena, "%s/plain/token", accounts),
                                        "{\"kind\":\"TokenRequest\","
                                        "\"apiVersion\":\"authentication.k8s.io/v1\"}"));
    const char *token = strstr(heard, "\"token\":\"");
    assert_non_null(token);
    token += strlen("\"token\":\"");
    char *copy = arena_strndup(world->arena, token, strcspn(token, "\""));
    line_close(world);
    return copy;
}

/* A POST that announces the largest body there may be, and sends a part of it. */
static char *unfinished_post(struct arena *arena, const char *path, const char *token)
{
    return arena_printf(arena,
                        "POST %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n"
                        "Content-Length: 3145728\r\n\r\n{\"metadata\":",
                        path, token ? "Authorization: Bearer " : "X: y", token ? token : "");
}

struct row {
    const char *path, *token;
    int status; /* 0: the body is waited for */
    const char *message;
};

static void a_body_is_read_of_those_who_may_send_it(void **state)
{
    struct world *world = *state;
    const char *account = make_account(world);
    const struct row rows[] = {
        {MAPS, NULL, 401, "Unauthorized"},
        {MAPS "/", NULL, 401, "Unauthorized"},
        {MAPS, "wrong", 401, "Unauthorized"},
        {"/healthz", "wrong", 401, "Unauthorized"},
        {"/nowhere", NULL, 401, "Unauthorized"},
        {"/healthz", NULL, 413, "longer than 0 bytes"},
        {"/version", NULL, 413, "longer than 0 bytes"},
        {MAPS, account, 403, "cannot create resource \\\"configmaps\\\""},
        {MAPS "/", account, 403, "cannot create resource \\\"configmaps\\\""},
        {"/nowhere", account, 403, "cannot post path"},
        {"/apis/authorization.k8s.io/v1/selfsubjectaccessreviews", account, 0, NULL},
        {MAPS, TOKEN, 0, NULL},
        {MAPS "/", TOKEN, 0, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        int status = 0;
        const char *heard =
            line_open(world, unfinished_post(world->arena, rows[i].path, rows[i].token));
        (void)sscanf(heard, "HTTP/1.1 %d", &status);
        if (status != rows[i].status)
            fail_msg("%s with %s: %s", rows[i].path, rows[i].token, heard);
        size_t kept = world->service.connections->parse.body.size;
        assert_true(status ? kept == 0 : kept > 0);
        if (status) {
            assert_non_null(strstr(heard, "\r\nConnection: close\r\n"));
            assert_non_null(strstr(heard, rows[i].message));
        }
        line_close(world);
    }
}

/* What the admission found out is what the handler goes by. */
static void an_admitted_request_is_answered(void **state)
{
    struct world *world = *state;
    const char *post = whole_post(world->arena, MAPS "/", "{\"metadata\":{\"name\":\"a\"}}");
    const char *heard =
        line_open(world, arena_printf(world->arena,
                                      "%sGET " MAPS "/a HTTP/1.1\r\nHost: x\r\n"
                                      "Authorization: Bearer " TOKEN "\r\n\r\n"
                                      "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                                      "GET /api/v1/pods HTTP/1.1\r\nHost: x\r\n\r\n",
                                      post));
    assert_memory_equal(heard, "HTTP/1.1 201 Created", 20);
    heard = strstr(heard, "HTTP/1.1 200 OK");
    assert_non_null(heard);
    heard = strstr(heard + 1, "HTTP/1.1 200 OK");
    assert_non_null(heard);
    assert_non_null(strstr(heard, "HTTP/1.1 401 Unauthorized"));
    line_close(world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_body_is_read_of_those_who_may_send_it, setup, teardown),
        cmocka_unit_test_setup_teardown(an_admitted_request_is_answered, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

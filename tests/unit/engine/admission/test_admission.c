/* Tests the API behind a server's connection, with request bytes in and response bytes out. A
 * request that its headers reject is rejected before its body is kept. The memory for the tree of a
 * body and for a response is reserved before it is used. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "api_server.h"
#include "base/buf.h"
#include "base/mem.h"

#include <stdio.h>
#include <string.h>

#define MAPS "/api/v1/namespaces/default/configmaps"

static int setup(void **state)
{
    *state = api_server_new(0);
    return 0;
}

static int teardown(void **state)
{
    api_server_free(*state);
    return 0;
}

/* Returns the token of a new service account, which has no permissions. */
static char *make_account(struct api_server *server)
{
    static const char accounts[] = "/api/v1/namespaces/default/serviceaccounts";
    struct api_peer peer;
    const char *heard = api_peer_open(
        &peer, server,
        api_peer_request(server, "POST", accounts, "{\"metadata\":{\"name\":\"plain\"}}"));
    assert_memory_equal(heard, "HTTP/1.1 201", 12);
    api_peer_close(&peer, server);
    heard = api_peer_open(&peer, server,
                          api_peer_request(server, "POST",
                                           arena_printf(server->arena, "%s/plain/token", accounts),
                                           "{\"kind\":\"TokenRequest\","
                                           "\"apiVersion\":\"authentication.k8s.io/v1\"}"));
    const char *token = strstr(heard, "\"token\":\"");
    assert_non_null(token);
    token += strlen("\"token\":\"");
    char *copy = arena_strndup(server->arena, token, strcspn(token, "\""));
    api_peer_close(&peer, server);
    return copy;
}

/* Returns a POST that announces the largest allowed body, and sends only a part of it. */
static char *unfinished_post(struct arena *arena, const char *path, const char *token)
{
    return arena_printf(arena,
                        "POST %s HTTP/1.1\r\nHost: x\r\n%s%s\r\n"
                        "Content-Length: 3145728\r\n\r\n{\"metadata\":",
                        path, token ? "Authorization: Bearer " : "X: y", token ? token : "");
}

struct row {
    const char *path, *token;
    int status; /* 0: the server waits for the body */
    const char *message;
};

static void a_body_is_read_only_from_permitted_clients(void **state)
{
    struct api_server *server = *state;
    struct api_peer peer;
    const char *account = make_account(server);
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
        {MAPS, API_SERVER_TOKEN, 0, NULL},
        {MAPS "/", API_SERVER_TOKEN, 0, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        int status = 0;
        const char *heard = api_peer_open(
            &peer, server, unfinished_post(server->arena, rows[i].path, rows[i].token));
        (void)sscanf(heard, "HTTP/1.1 %d", &status);
        if (status != rows[i].status)
            fail_msg("%s with %s: %s", rows[i].path, rows[i].token, heard);
        size_t kept =
            LIST_FIRST(&server->service.connections, struct http_connection, link)->parse.body.size;
        assert_true(status ? kept == 0 : kept > 0);
        if (status) {
            assert_non_null(strstr(heard, "\r\nConnection: close\r\n"));
            assert_non_null(strstr(heard, rows[i].message));
        }
        api_peer_close(&peer, server);
    }
}

/* The handler uses the identity that was found at admission. */
static void an_admitted_request_is_answered(void **state)
{
    struct api_server *server = *state;
    struct api_peer peer;
    const char *post =
        api_peer_request(server, "POST", MAPS "/", "{\"metadata\":{\"name\":\"a\"}}");
    const char *heard =
        api_peer_open(&peer, server,
                      arena_printf(server->arena,
                                   "%sGET " MAPS "/a HTTP/1.1\r\nHost: x\r\n"
                                   "Authorization: Bearer " API_SERVER_TOKEN "\r\n\r\n"
                                   "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
                                   "GET /api/v1/pods HTTP/1.1\r\nHost: x\r\n\r\n",
                                   post));
    assert_memory_equal(heard, "HTTP/1.1 201 Created", 20);
    heard = strstr(heard, "HTTP/1.1 200 OK");
    assert_non_null(heard);
    heard = strstr(heard + 1, "HTTP/1.1 200 OK");
    assert_non_null(heard);
    assert_non_null(strstr(heard, "HTTP/1.1 401 Unauthorized"));
    api_peer_close(&peer, server);
}

/* /metrics shows the memory that is kept for clients to a client that may read it. */
static void metrics_show_kept_memory(void **state)
{
    struct api_server *server = *state;
    struct api_peer peer;
    const char *heard = api_peer_open(&peer, server, "GET /metrics HTTP/1.1\r\nHost: x\r\n\r\n");
    assert_memory_equal(heard, "HTTP/1.1 401", 12);
    api_peer_close(&peer, server);
    heard = api_peer_open(&peer, server, api_peer_request(server, "GET", "/metrics", NULL));
    assert_non_null(strstr(heard, "\ntrainyard_client_memory_bytes{of=\"watches\"} 0\n"));
    assert_non_null(
        strstr(heard, "\ntrainyard_client_memory_max_bytes{of=\"watches\"} 16777216\n"));
    assert_non_null(strstr(heard, "\ntrainyard_watches_expired_total 0\n"));
    api_peer_close(&peer, server);
}

/* ---- Lists ----------------------------------------------------------------------------------- */

/* bytes kept for clients when the handler has returned and the list is not complete */
static size_t held;

static void handle(struct http_exchange *exchange, void *context)
{
    const struct api_server *server = context;
    engine_handle(exchange, server->engine);
    held = server->service.memory->total.used;
}

static void admit(struct http_exchange *exchange, void *context)
{
    engine_admit(exchange, ((const struct api_server *)context)->engine);
}

static void the_memory_of_a_list_is_counted_while_it_is_built(void **state)
{
    /* So many objects that one turn can filter them all, but not write them all. */
    enum { OBJECTS = 150, SIZE = 3000, MEMORY = OBJECTS * SIZE };
    struct api_server *server = *state;
    struct budget_group memory;
    struct api_peer peer, other;
    budget_group_init(&memory, 2 * MEMORY, MEMORY);
    char *text = arena_alloc(server->arena, SIZE + 1);
    memset(text, 'x', SIZE);
    text[SIZE] = '\0';
    for (int i = 0; i < OBJECTS; i++) {
        const char *body = arena_printf(
            server->arena, "{\"metadata\":{\"name\":\"m-%d\"},\"data\":{\"a\":\"%s\"}}", i, text);
        assert_memory_equal(
            api_peer_open(&peer, server, api_peer_request(server, "POST", MAPS, body)),
            "HTTP/1.1 201", 12);
        api_peer_close(&peer, server);
    }
    server->service.memory = &memory;
    server->service.handler = handle;
    server->service.admit = admit;
    server->service.context = server;
    const char *list = api_peer_request(server, "GET", MAPS, NULL);
    assert_memory_equal(api_peer_open(&peer, server, list), "HTTP/1.1 200", 12);
    assert_in_range(held, 2 * OBJECTS * SIZE, 3 * OBJECTS * SIZE); /* the connection keeps a copy */
    /* The first client has not read its list yet. */
    const char *told = api_peer_open(&other, server, list);
    assert_memory_equal(told, "HTTP/1.1 429", 12);
    assert_non_null(strstr(told, "\r\nRetry-After: 1\r\n"));
    assert_non_null(strstr(told, HTTP_NO_MEMORY));
    api_peer_close(&peer, server);
    api_peer_close(&other, server);
    assert_int_equal(memory.total.used, 0);
    budget_group_release(&memory);
}

/* Returns a ConfigMap with `count` keys, or with one text that has as many commas and brackets. */
static const char *make_map(struct api_server *server, const char *name, int count, bool as_keys)
{
    struct buf body;
    buf_init(&body, 1024 * 1024);
    buf_printf(&body, "{\"metadata\":{\"name\":\"%s\"},\"data\":{\"a\":\"", name);
    for (int i = 0; i < count; i++)
        if (as_keys)
            buf_printf(&body, "\",\"k%d\":\"", i);
        else
            buf_append_str(&body, ",\\\"{");
    buf_append_str(&body, "\"}}");
    const char *text = arena_strdup(server->arena, body.data);
    buf_release(&body);
    return text;
}

static void the_tree_of_a_body_is_counted_before_parsing(void **state)
{
    enum { VALUES = 10000, MEMORY = 512 * 1024 };
    struct api_server *server = *state;
    struct budget_group memory;
    struct api_peer reader, peer;
    const char *text =
        api_peer_request(server, "POST", MAPS, make_map(server, "text", VALUES, false));
    const char *keys =
        api_peer_request(server, "POST", MAPS, make_map(server, "keys", VALUES, true));
    const char *more =
        api_peer_request(server, "POST", MAPS, make_map(server, "more", VALUES, true));
    budget_group_init(&memory, MEMORY, MEMORY);
    server->service.memory = &memory;
    /* Commas and brackets within a string are no values. */
    assert_memory_equal(api_peer_open(&peer, server, text), "HTTP/1.1 201", 12);
    api_peer_close(&peer, server);
    /* A user without other requests may exceed the limit with one request. */
    assert_memory_equal(api_peer_open(&peer, server, keys), "HTTP/1.1 201", 12);
    api_peer_close(&peer, server);
    api_peer_open(&reader, server, api_peer_request(server, "GET", MAPS, NULL));
    assert_true(memory.total.used > 0);
    const char *told = api_peer_open(&peer, server, more);
    assert_memory_equal(told, "HTTP/1.1 429", 12);
    assert_non_null(strstr(told, "\r\nRetry-After: 1\r\n"));
    api_peer_close(&peer, server);
    api_peer_close(&reader, server);
    assert_int_equal(memory.total.used, 0);
    assert_memory_equal(api_peer_open(&peer, server, more), "HTTP/1.1 201", 12);
    api_peer_close(&peer, server);
    budget_group_release(&memory);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(a_body_is_read_only_from_permitted_clients, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(an_admitted_request_is_answered, setup, teardown),
        cmocka_unit_test_setup_teardown(the_memory_of_a_list_is_counted_while_it_is_built, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(the_tree_of_a_body_is_counted_before_parsing, setup,
                                        teardown),
        cmocka_unit_test_setup_teardown(metrics_show_kept_memory, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

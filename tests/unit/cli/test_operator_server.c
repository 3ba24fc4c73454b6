/* Tests the paths and addresses of the operator's HTTP server. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "../comm/members.h"
#include "base/mem.h"
#include "base/str.h"
#include "cli/trainyard/operator_server.h"
#include "net/http/client.h"
#include "net/http/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static void addresses_in_go_notation_are_parsed(void **state)
{
    static const struct {
        const char *text, *host;
        int port; /* -2: rejected */
    } rows[] = {
        {":8080", "", 8080},
        {"8080", "", 8080},
        {"0.0.0.0:1", "0.0.0.0", 1},
        {"[::1]:8081", "::1", 8081},
        {"localhost:9", "127.0.0.1", 9},
        {"0", "", -1},
        {"", "", -1},
        {":0", "", 0},
        {":65536", "", -2},
        {"here", "", -2},
        {"here:", "", -2},
        {":-1", "", -2},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        struct err err = ERR_INIT;
        const char *host = NULL;
        int port = -3;
        int result = operator_server_parse(arena, rows[i].text, &host, &port, &err);
        assert_int_equal(result, rows[i].port == -2 ? -ERR_USAGE : 0);
        if (result == 0) {
            assert_int_equal(port, rows[i].port);
            assert_string_equal(host, rows[i].host);
        }
    }
}

struct world {
    struct loop *loop;
    struct operator_server *server;
    struct prometheus *metrics;
    struct http_transport *client;
    bool ready;
    int status;
    char body[4096];
};

static bool is_ready(void *context, struct buf *sentence)
{
    struct world *world = context;
    buf_append_str(sentence, world->ready ? "works" : "waits for something");
    return world->ready;
}

static void on_head(void *context, int status, const struct http_header *headers)
{
    ((struct world *)context)->status = status;
}

static void on_data(void *context, const void *data, size_t size)
{
    struct world *world = context;
    size_t used = strlen(world->body);
    snprintf(world->body + used, sizeof(world->body) - used, "%.*s", (int)size, (const char *)data);
}

static void on_end(void *context, const struct err *err)
{
    struct world *world = context;
    if (err)
        fail_msg("%s", err->message);
    loop_stop(world->loop);
}

static void stop(void *context)
{
    loop_stop(((struct world *)context)->loop);
}

static int send_request(struct world *world, const char *method, const char *path)
{
    static const struct http_callbacks LISTENER = {on_head, on_data, on_end};
    struct http_request request = {.method = method, .path = path, .query = ""};
    world->body[0] = '\0';
    http_start(world->client, &request, 60000, &LISTENER, world);
    loop_run(world->loop);
    return world->status;
}

static void metrics_and_health_paths_are_served(void **state)
{
    struct world world = {.metrics = prometheus_new()};
    struct err err = ERR_INIT;
    struct members members; /* one member, to get a free port */
    char address[64], url[96];
    assert_int_equal(loop_new(&world.loop, &err), 0);
    members_init(&members, 1);
    snprintf(address, sizeof(address), "127.0.0.1:%d", members.ports[0]);
    snprintf(url, sizeof(url), "http://%s", address);
    struct operator_server_options options = {.metrics_address = address,
                                              .health_address = address,
                                              .metrics = world.metrics,
                                              .is_ready = is_ready,
                                              .context = &world};
    if (operator_server_new(world.loop, &options, &world.server, &err) < 0)
        fail_msg("%s", err.message);
    struct http_client_options client = {.base_url = url};
    assert_int_equal(http_client_new(world.loop, &client, &world.client, &err), 0);

    assert_int_equal(send_request(&world, "GET", "/healthz"), 200);
    assert_string_equal(world.body, "ok\n");
    assert_int_equal(send_request(&world, "GET", "/readyz"), 503);
    assert_string_equal(world.body, "waits for something\n");
    world.ready = true;
    assert_int_equal(send_request(&world, "GET", "/readyz"), 200);
    assert_int_equal(send_request(&world, "GET", "/metrics"), 200);
    assert_non_null(strstr(world.body, "\nprocess_resident_memory_bytes "));
    assert_int_equal(send_request(&world, "GET", "/"), 404);
    assert_int_equal(send_request(&world, "POST", "/metrics"), 405);

    /* A second server finds the address in use, and its error names the option. */
    struct operator_server *second = NULL;
    assert_true(operator_server_new(world.loop, &options, &second, &err) < 0);
    assert_non_null(strstr(err.message, "--metrics-bind-address: cannot listen on 127.0.0.1"));
    operator_server_close(second, stop, &world);
    loop_run(world.loop);

    http_transport_free(world.client);
    operator_server_close(world.server, stop, &world);
    loop_run(world.loop);
    loop_free(world.loop);
    prometheus_free(world.metrics);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_in_go_notation_are_parsed),
        cmocka_unit_test(metrics_and_health_paths_are_served),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

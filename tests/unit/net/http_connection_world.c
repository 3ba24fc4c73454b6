/* The fixture of the tests of a connection; see http_connection_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_connection_world.h"

#include "base/mem.h"
#include "loop/sim/sim_loop.h"
#include "small_service.h"

#include <stdlib.h>
#include <string.h>

static void on_cancel(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->cancelled++;
    world->held = NULL;
}

static void on_drain(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->drained++;
}

enum { PIECES_SIZE = 100000, PIECE = 20000 };

/* Sends the rest of a response in pieces. */
static void on_piece_drain(struct http_exchange *exchange)
{
    static const char rest[PIECES_SIZE - PIECE];
    http_write(exchange, rest, sizeof(rest));
    http_end(exchange);
}

static void on_task(struct loop_task *task)
{
    struct world *world = CONTAINER_OF(task, struct world, task);
    struct http_exchange *exchange = TAKE(world->held);
    http_respond(exchange, 200, "text/plain", exchange->request->body,
                 exchange->request->body_size);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    const struct http_request *request = exchange->request;
    world->requests++;
    strncat(world->log, request->path, sizeof(world->log) - strlen(world->log) - 1);
    exchange->context = world;
    assert_string_equal(request->peer, "test:1");
    if (strcmp(request->path, "/echo") == 0) {
        if (world->end_in_later_turn) {
            world->held = exchange;
            loop_defer(world->loop, &world->task);
            return;
        }
        http_respond(exchange, 200, "text/plain", request->body, request->body_size);
        assert_string_equal(request->path, "/echo"); /* the request is still valid */
    } else if (strcmp(request->path, "/stream") == 0 || strcmp(request->path, "/hold") == 0) {
        world->held = exchange;
        exchange->on_cancel = request->path[1] == 's' ? on_cancel : NULL;
        exchange->on_drain = on_drain;
        if (request->path[1] == 's')
            http_begin(exchange, 200, "text/plain", NULL, -1);
    } else if (strcmp(request->path, "/short") == 0) {
        http_begin(exchange, 200, NULL, NULL, 10);
        http_write(exchange, "12345", 5);
        http_end(exchange);
    } else if (strcmp(request->path, "/long") == 0) {
        http_begin(exchange, 200, NULL, NULL, 3);
        http_write(exchange, "12345", 5);
        http_write(exchange, "12345", 5);
        http_end(exchange);
    } else if (strcmp(request->path, "/big") == 0) {
        static const char block[100000];
        http_respond(exchange, 200, NULL, block, sizeof(block));
    } else if (strcmp(request->path, "/pieces") == 0) {
        static const char piece[PIECE];
        exchange->on_cancel = on_cancel;
        exchange->on_drain = on_piece_drain;
        http_begin(exchange, 200, NULL, NULL, PIECES_SIZE);
        http_write(exchange, piece, sizeof(piece));
    } else if (strcmp(request->path, "/parsed") == 0 || strcmp(request->path, "/lent") == 0) {
        (void)arena_alloc(exchange->arena, 50000);
        exchange->arena_is_lent = request->path[1] == 'l';
        exchange->on_cancel = on_cancel;
    } else if (strcmp(request->path, "/none") == 0) {
        http_begin(exchange, 204, NULL, NULL, -1);
        http_end(exchange);
    } else {
        struct http_header header = {"X-Evil", "a\r\nSet-Cookie: b", NULL};
        http_begin(exchange, 404, NULL, &header, 0);
        http_end(exchange);
    }
}

static void on_connection_closed(struct http_service *service)
{
    CONTAINER_OF(service, struct world, service)->closed_count++;
}

int connection_world_setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    world->loop = sim_loop_new(5, 1700000000000);
    world->task.callback = on_task;
    world->service = small_service(world->loop, handler, world, on_connection_closed);
    world->peer = memory_stream_new(world->loop, &world->closed);
    http_connection_new(&world->service, &world->peer->stream, "test:1");
    *state = world;
    return 0;
}

void run(struct world *world)
{
    sim_loop_run_for(world->loop, 10);
}

int connection_world_teardown(void **state)
{
    struct world *world = *state;
    if (!world->closed)
        memory_stream_break(world->peer);
    run(world);
    assert_true(world->closed);
    assert_int_equal(world->closed_count, 1);
    assert_int_equal(world->service.connection_count, 0);
    assert_true(list_is_empty(&world->service.connections));
    loop_free(world->loop);
    free(world);
    return 0;
}

void say(struct world *world, const char *text)
{
    memory_stream_send(world->peer, text, strlen(text));
    run(world);
}

const char *heard(struct world *world)
{
    static char text[4096];
    char *end = text;
    const char *data = world->peer->out.data;
    while (*data) {
        size_t line = strcspn(data, "\n") + (strchr(data, '\n') != NULL);
        if (strncmp(data, "Date: ", 6) == 0)
            assert_memory_equal(data, "Date: Tue, 14 Nov 2023 22:13:2", 30);
        else
            end = (char *)memcpy(end, data, line) + line;
        data += line;
    }
    *end = '\0';
    buf_clear(&world->peer->out);
    world->peer->taken = 0;
    return text;
}

/* The fixture of the tests of port forwarding; see forward_world.h. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "forward_world.h"

#include "base/mem.h"
#include "kube/object.h"

#include <stdio.h>
#include <stdlib.h>

const unsigned char MASK[4] = {9, 8, 7, 6};

static void *on_connect(void *context, const struct json *pod, int port, engine_connect_done *done,
                        void *done_context)
{
    struct world *world = context;
    struct connect *connect = &world->connects[world->connect_count++];
    assert_string_equal(kube_meta_name(pod), "x");
    *connect = (struct connect){port, done, done_context, false};
    return connect;
}

static void on_connect_cancel(void *connect)
{
    ((struct connect *)connect)->canceled = true;
}

void run(struct world *world)
{
    api_line_run(&world->line);
}

void connected(struct world *world, int number)
{
    struct connect *connect = &world->connects[number];
    world->pod = memory_stream_new(world->line.loop, &world->pod_closed);
    connect->done(connect->context, &world->pod->stream, NULL);
    run(world);
}

int ask(struct world *world, const char *method, const char *path, const char *headers)
{
    return api_line_ask(&world->line, method, path, headers);
}

static void put(struct world *world, const char *method, const char *path, const char *body)
{
    api_line_put(&world->line, method, path, body);
}

void set_phase(struct world *world, const char *phase)
{
    char body[128];
    snprintf(body, sizeof(body), "{\"status\":{\"phase\":\"%s\"}}", phase);
    put(world, "PATCH", "/api/v1/namespaces/default/pods/x/status", body);
}

void end_pod(struct world *world)
{
    static bool other_closed; /* the connection is closed after the test */
    struct memory_stream *line = world->line.peer;
    world->line.peer = memory_stream_new(world->line.loop, &other_closed);
    http_connection_new(&world->line.service, &world->line.peer->stream, "test:1");
    set_phase(world, "Failed");
    world->line.peer = line;
}

int forward_world_setup(void **state)
{
    struct world *world = mem_zalloc(sizeof(*world));
    struct engine_pod_backend backend = {
        .connect = on_connect, .connect_cancel = on_connect_cancel, .context = world};
    api_line_open(&world->line, &backend, "test:1");
    spdy_writer_init(&world->writer);
    spdy_reader_init(&world->reader);
    put(world, "POST", "/api/v1/namespaces/default/pods",
        "{\"metadata\":{\"name\":\"x\"},\"spec\":{\"nodeName\":\"n\",\"containers\":[{\"name\":"
        "\"main\",\"image\":\"i\"}]}}");
    set_phase(world, "Running");
    *state = world;
    return 0;
}

int forward_world_teardown(void **state)
{
    struct world *world = *state;
    api_line_close(&world->line);
    if (world->pod)
        assert_true(world->pod_closed);
    spdy_writer_release(&world->writer);
    spdy_reader_release(&world->reader);
    free(world);
    return 0;
}

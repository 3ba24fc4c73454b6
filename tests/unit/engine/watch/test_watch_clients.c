/* Tests a thousand watches on real sockets whose clients vanish: one process closes its
 * connections, the other is killed. Their watches and descriptors must be released. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "engine/api/open_calls.h"
#include "engine/engine.h"
#include "engine/internal.h"
#include "loop/loop.h"
#include "net/http/server.h"
#include "served_kinds.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

enum {
    CLIENTS = 2,
    WATCHES = 500, /* per client */
    LOOK_MS = 5,
    GUARD_MS = 60 * 1000, /* reached only if there is a defect */
    OTHERS = 10,          /* descriptors that the loop may open for itself */
};

struct client {
    pid_t pid;
    int to, from; /* pipes to and from the client */
    bool ready;   /* all its watches have begun */
};

struct world {
    struct loop *loop;
    struct store *store;
    struct engine *engine;
    struct http_server *server;
    struct client clients[CLIENTS];
    struct loop_timer options, guard;
    size_t descriptors; /* before the first connection */
    size_t watches_seen;
    bool told; /* the clients were told to vanish */
};

/* ---- a client: a process --------------------------------------------------------------------- */

static int open_watch(int port)
{
    static const char REQUEST[] = "GET /api/v1/pods?watch=true HTTP/1.1\r\nHost: x\r\n"
                                  "Authorization: Bearer secret\r\n\r\n";
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)port)};
    char data[1000];
    inet_pton(AF_INET, "127.0.0.1", &address.sin_addr);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0 ||
        send(fd, REQUEST, sizeof(REQUEST) - 1, MSG_NOSIGNAL) < 0 ||
        recv(fd, data, sizeof(data), 0) < 12 || strncmp(data, "HTTP/1.1 200", 12) != 0)
        _exit(1);
    return fd;
}

static void run_client(int from, int to)
{
    int fds[WATCHES], port;
    if (read(from, &port, sizeof(port)) != sizeof(port))
        _exit(1);
    for (int i = 0; i < WATCHES; i++)
        fds[i] = open_watch(port);
    char byte = 'r';
    /* Waits until the test tells the client to leave. */
    if (write(to, &byte, 1) != 1 || read(from, &byte, 1) != 1)
        _exit(1);
    for (int i = 0; i < WATCHES; i++)
        close(fds[i]);
    /* Must not exit yet, so that close() ends the connections and not the end of the process. */
    while (read(from, &byte, 1) > 0)
        continue;
    _exit(0);
}

static void start_client(struct client *client)
{
    int to[2], from[2];
    assert_int_equal(pipe(to), 0);
    assert_int_equal(pipe(from), 0);
    client->pid = fork();
    if (client->pid == 0) {
        close(to[1]);
        close(from[0]);
        run_client(to[0], from[1]);
    }
    close(to[0]);
    close(from[1]);
    client->to = to[1];
    client->from = from[0];
    fcntl(client->from, F_SETFL, O_NONBLOCK);
}

/* ---- the server ------------------------------------------------------------------------------ */

static size_t count_watches(struct world *world)
{
    size_t count = 0;
    LIST_EACH (const struct open_call, each, engine_open_calls(world->engine), link)
        count++;
    return count;
}

static size_t count_descriptors(void)
{
    size_t count = 0;
    DIR *directory = opendir("/proc/self/fd");
    while (readdir(directory))
        count++;
    closedir(directory);
    return count;
}

static void on_look(struct loop_timer *timer)
{
    struct world *world = CONTAINER_OF(timer, struct world, options);
    bool ready = true;
    for (int i = 0; i < CLIENTS; i++) {
        char byte;
        ssize_t size = world->clients[i].ready ? 1 : read(world->clients[i].from, &byte, 1);
        assert_int_not_equal(size, 0); /* 0: a watch was rejected and the client ended */
        world->clients[i].ready = size == 1;
        ready = ready && size == 1;
    }
    if (ready && !world->told) {
        world->told = true;
        world->watches_seen = count_watches(world);
        assert_true(count_descriptors() >= world->descriptors + (size_t)CLIENTS * WATCHES);
        kill(world->clients[0].pid, SIGKILL);
        assert_int_equal(write(world->clients[1].to, "x", 1), 1);
    }
    if (world->told && count_watches(world) == 0 &&
        count_descriptors() < world->descriptors + OTHERS)
        loop_stop(world->loop);
    else
        loop_timer_start(timer, LOOK_MS);
}

static void on_guard(struct loop_timer *timer)
{
    fail_msg("a watch or a descriptor stays");
}

static void on_closed(void *context)
{
    loop_stop(((struct world *)context)->loop);
}

static void watches_end_with_their_clients(void **state)
{
    const struct engine_options options = {
        .token = "secret", .version = "0", .kinds = SERVED_KINDS};
    const struct store_options store = {0};
    struct http_server_options server = {0};
    struct world world = {0};
    struct rlimit limit;
    int port;
    getrlimit(RLIMIT_NOFILE, &limit);
    limit.rlim_cur =
        2 * CLIENTS * WATCHES < limit.rlim_max ? 2 * CLIENTS * WATCHES : limit.rlim_max;
    if (limit.rlim_cur < CLIENTS * WATCHES + 100 || setrlimit(RLIMIT_NOFILE, &limit) < 0)
        skip();
    for (int i = 0; i < CLIENTS; i++)
        start_client(&world.clients[i]); /* must be before threads start */
    assert_int_equal(loop_new(&world.loop, NULL), 0);
    assert_int_equal(store_open(world.loop, &store, &world.store, NULL), 0);
    assert_int_equal(engine_new(world.loop, world.store, &options, &world.engine, NULL), 0);
    assert_int_equal(http_listen("127.0.0.1", 0, &server.listen_fd, &port, NULL), 0);
    assert_int_equal(
        http_server_new(world.loop, &server, engine_handle, world.engine, &world.server, NULL), 0);
    loop_timer_init(world.loop, &world.options, on_look);
    loop_timer_start(&world.options, LOOK_MS);
    loop_timer_init(world.loop, &world.guard, on_guard);
    loop_timer_start(&world.guard, GUARD_MS);
    world.descriptors = count_descriptors();
    for (int i = 0; i < CLIENTS; i++)
        assert_int_equal(write(world.clients[i].to, &port, sizeof(port)), sizeof(port));
    loop_run(world.loop);
    loop_timer_stop(&world.guard);
    assert_int_equal(world.watches_seen, CLIENTS * WATCHES);
    for (int i = 0; i < CLIENTS; i++) {
        close(world.clients[i].to);
        close(world.clients[i].from);
        waitpid(world.clients[i].pid, NULL, 0);
    }
    http_server_close(world.server, on_closed, &world);
    loop_run(world.loop);
    engine_free(world.engine);
    store_close(world.store, on_closed, &world);
    loop_run(world.loop);
    loop_free(world.loop);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(watches_end_with_their_clients),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* The responder on real sockets of the loopback; the asker blocks on a thread of its own. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "loop/loop.h"
#include "net/dns_server.h"

#include <arpa/inet.h>
#include <pthread.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static const uint8_t QUERY[] = {0x12, 0x34, 1,   0,   0,   1, 0, 0, 0, 0, 0,
                                0,    3,    'o', 'n', 'e', 0, 0, 1, 0, 1};
static const uint8_t ADDRESS[] = {10, 1, 2, 3};

struct world {
    struct loop *loop;
    struct dns_server *server;
    struct loop_task done;
    struct sockaddr_in udp, tcp;
    bool has_tcp;
    int good; /* answers that were right */
};

static int lookup(void *context, const char *name, struct dns_found *ret)
{
    memcpy(&ret->addresses[0], ADDRESS, sizeof(ADDRESS));
    return strcmp(name, "one") == 0 ? 1 : -1;
}

static int bound(int type, struct sockaddr_in *ret)
{
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    socklen_t size = sizeof(*ret);
    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    assert_int_equal(bind(fd, (struct sockaddr *)ret, size), 0);
    if (type == SOCK_STREAM)
        listen(fd, 10);
    getsockname(fd, (struct sockaddr *)ret, &size);
    return fd;
}

static int connected(int type, const struct sockaddr_in *address)
{
    int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
    if (connect(fd, (const struct sockaddr *)address, sizeof(*address)) < 0)
        mem_panic("test: cannot connect");
    return fd;
}

static bool is_good(const uint8_t *answer, ssize_t size)
{
    return size == (ssize_t)sizeof(QUERY) + 16 &&
           memcmp(answer + size - sizeof(ADDRESS), ADDRESS, sizeof(ADDRESS)) == 0;
}

static void ask_udp(struct world *world)
{
    uint8_t answer[512];
    int fd = connected(SOCK_DGRAM, &world->udp);
    send(fd, "garbage", 7, 0); /* gets no answer */
    for (int i = 0; i < 100; i++) {
        send(fd, QUERY, sizeof(QUERY), 0);
        world->good += is_good(answer, recv(fd, answer, sizeof(answer), 0));
    }
    close(fd);
}

static ssize_t read_all(int fd, uint8_t *data, size_t size)
{
    size_t got = 0;
    ssize_t n;
    while (got < size && (n = recv(fd, data + got, size - got, 0)) > 0)
        got += (size_t)n;
    return (ssize_t)got;
}

static void ask_tcp(struct world *world)
{
    uint8_t query[2 + sizeof(QUERY)] = {0, sizeof(QUERY)}, answer[2 + sizeof(QUERY) + 16];
    memcpy(query + 2, QUERY, sizeof(QUERY));
    int fd = connected(SOCK_STREAM, &world->tcp);
    for (size_t i = 0; i < sizeof(query); i++) /* in pieces */
        send(fd, query + i, 1, 0);
    world->good += is_good(answer + 2, read_all(fd, answer, sizeof(answer)) - 2);
    for (int i = 0; i < 10; i++) /* and ahead of the answers */
        send(fd, query, sizeof(query), 0);
    shutdown(fd, SHUT_WR);
    for (int i = 0; i < 10; i++)
        world->good += is_good(answer + 2, read_all(fd, answer, sizeof(answer)) - 2);
    world->good += recv(fd, answer, 1, 0) == 0;
    close(fd);

    fd = connected(SOCK_STREAM, &world->tcp);
    send(fd, "\xff\xff too long", 11, 0);
    world->good += recv(fd, answer, 1, 0) <= 0;
    close(fd);

    fd = connected(SOCK_STREAM, &world->tcp); /* left open when the server closes */
    send(fd, query, 5, 0);
}

static void *asker_main(void *argument)
{
    struct world *world = argument;
    ask_udp(world);
    if (world->has_tcp)
        ask_tcp(world);
    loop_post(world->loop, &world->done);
    return NULL;
}

static void on_done(struct loop_task *task)
{
    struct world *world = CONTAINER_OF(task, struct world, done);
    dns_server_close(world->server);
}

static void serve(bool has_tcp)
{
    struct world world = {.done.callback = on_done, .has_tcp = has_tcp};
    struct err err = ERR_INIT;
    assert_int_equal(loop_new(&world.loop, &err), 0);
    int udp = bound(SOCK_DGRAM, &world.udp), tcp = has_tcp ? bound(SOCK_STREAM, &world.tcp) : -1;
    assert_int_equal(dns_server_new(world.loop, udp, tcp, lookup, NULL, &world.server, &err), 0);
    pthread_t thread;
    pthread_create(&thread, NULL, asker_main, &world);
    loop_run(world.loop);
    pthread_join(thread, NULL);
    assert_int_equal(world.good, has_tcp ? 113 : 100);
    loop_free(world.loop);
}

static void answers_over_udp_and_tcp(void **state)
{
    serve(true);
    serve(false);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_over_udp_and_tcp),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

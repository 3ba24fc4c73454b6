/* The proxy on loopback sockets: whole answers, half ends, turns, places that do not answer, a
 * table that changes under open connections, a slow reader. */
#include "node_test.h"

#include "node/service/proxy.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

struct fixture {
    struct proxy *proxy;
    struct arena *arena;
    struct proxy_table table;
    int news_count;
    int news_sys; /* errno of the last news, 0: it works now */
    char news_owner[64];
};

static void on_news(void *context, const char *owner, const struct proxy_place *listen, int type,
                    const struct err *err)
{
    struct fixture *fixture = context;
    (void)listen;
    fixture->news_count++;
    fixture->news_sys = err ? err->sys : 0;
    str_copy(fixture->news_owner, sizeof(fixture->news_owner), owner);
}

static int set_up(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof(*fixture));
    struct err err = ERR_INIT;
    const struct proxy_options options = {.news = on_news, .context = fixture};
    fixture->arena = arena_new();
    assert_int_equal(proxy_new(&options, &fixture->proxy, &err), 0);
    *state = fixture;
    return 0;
}

static int tear_down(void **state)
{
    struct fixture *fixture = *state;
    proxy_free(fixture->proxy);
    arena_free(fixture->arena);
    free(fixture);
    return 0;
}

/* A listening socket on any port of loopback. */
static int make_server(struct proxy_place *ret)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(listen(fd, 64), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *ret = (struct proxy_place){address.sin_addr, ntohs(address.sin_port)};
    return fd;
}

/* A place where nobody listens. */
static struct proxy_place make_void(void)
{
    struct proxy_place place;
    close(make_server(&place));
    return place;
}

static void serve(struct fixture *fixture, struct proxy_place listen, const struct proxy_place *to,
                  size_t count)
{
    fixture->table = (struct proxy_table){0};
    struct proxy_route *route = proxy_table_add(fixture->arena, &fixture->table, listen);
    route->owner = "Service/default/s";
    for (size_t i = 0; i < count; i++)
        proxy_route_add(fixture->arena, route, to[i]);
    proxy_set(fixture->proxy, &fixture->table);
}

/* Let the proxy do all there is to do. */
static void run(struct fixture *fixture)
{
    struct pollfd busy = {.fd = proxy_fd(fixture->proxy), .events = POLLIN};
    do {
        proxy_run(fixture->proxy, 0, NULL);
    } while (poll(&busy, 1, 10) > 0);
}

static int call(struct proxy_place place)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(place.port), .sin_addr = place.address};
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(fd, (struct sockaddr *)&address, sizeof(address)) < 0) {
        int error = errno;
        close(fd);
        errno = error;
        return -1;
    }
    return fd;
}

static void say(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static const char *hear(int fd)
{
    static char text[64];
    ssize_t size = read(fd, text, sizeof(text) - 1);
    text[size > 0 ? size : 0] = '\0';
    return size < 0 ? "error" : size == 0 ? "end" : text;
}

static void half_ends(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_void(), place;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = call(listen);
    run(fixture);
    int peer = accept(server, NULL, NULL);
    say(caller, "question");
    run(fixture);
    assert_string_equal(hear(peer), "question");
    shutdown(caller, SHUT_WR);
    run(fixture);
    assert_string_equal(hear(peer), "end");
    assert_int_equal(proxy_connections(fixture->proxy), 1);
    /* The other half still works. */
    say(peer, "answer");
    run(fixture);
    assert_string_equal(hear(caller), "answer");
    close(peer);
    run(fixture);
    assert_string_equal(hear(caller), "end");
    assert_int_equal(proxy_connections(fixture->proxy), 0);
    close(caller);
    close(server);
}

static void resets(void **state)
{
    struct fixture *fixture = *state;
    const struct linger at_once = {.l_onoff = 1};
    struct proxy_place listen = make_void(), place;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = call(listen);
    run(fixture);
    int peer = accept(server, NULL, NULL);
    /* Also after its own half has ended. */
    shutdown(caller, SHUT_WR);
    run(fixture);
    setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(peer);
    run(fixture);
    assert_string_equal(hear(caller), "error");
    assert_int_equal(proxy_connections(fixture->proxy), 0);
    close(caller);
    close(server);
}

static void in_turn_and_past_the_dead(void **state)
{
    enum { LIVING = 2, CALLS = 6 };
    struct fixture *fixture = *state;
    struct proxy_place listen = make_void(), places[LIVING + 1];
    int servers[LIVING], callers[CALLS], counts[LIVING] = {0};
    for (int i = 0; i < LIVING; i++)
        servers[i] = make_server(&places[i]);
    places[LIVING] = make_void();
    serve(fixture, listen, places, LIVING + 1);
    for (int i = 0; i < CALLS; i++) {
        callers[i] = call(listen);
        assert_true(callers[i] >= 0);
        run(fixture);
    }
    assert_int_equal(proxy_connections(fixture->proxy), CALLS);
    for (int i = 0; i < LIVING; i++) {
        fcntl(servers[i], F_SETFL, O_NONBLOCK);
        for (int fd; (fd = accept(servers[i], NULL, NULL)) >= 0; close(fd))
            counts[i]++;
        close(servers[i]);
    }
    assert_int_equal(counts[0] + counts[1], CALLS);
    assert_true(counts[0] >= 2 && counts[1] >= 2);
    for (int i = 0; i < CALLS; i++)
        close(callers[i]);
    run(fixture);
    assert_int_equal(proxy_connections(fixture->proxy), 0);
}

static void stays_with_one(void **state)
{
    enum { CALLS = 5 };
    struct fixture *fixture = *state;
    struct proxy_place listen = make_void(), places[2];
    int servers[2] = {make_server(&places[0]), make_server(&places[1])}, callers[CALLS];
    struct proxy_route *route = proxy_table_add(fixture->arena, &fixture->table, listen);
    route->sticky = true;
    proxy_route_add(fixture->arena, route, places[0]);
    proxy_route_add(fixture->arena, route, places[1]);
    proxy_set(fixture->proxy, &fixture->table);
    for (int i = 0; i < CALLS; i++) {
        callers[i] = call(listen);
        run(fixture);
    }
    int counts[2] = {0};
    for (int i = 0; i < 2; i++) {
        fcntl(servers[i], F_SETFL, O_NONBLOCK);
        for (int fd; (fd = accept(servers[i], NULL, NULL)) >= 0; close(fd))
            counts[i]++;
        close(servers[i]);
    }
    assert_int_equal(counts[0] + counts[1], CALLS);
    assert_true(counts[0] == 0 || counts[1] == 0);
    for (int i = 0; i < CALLS; i++)
        close(callers[i]);
}

static void nobody_behind(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_void(), place = make_void();
    /* Nowhere to lead: refused as if nothing were there. */
    serve(fixture, listen, NULL, 0);
    assert_int_equal(call(listen), -1);
    assert_int_equal(errno, ECONNREFUSED);
    /* Places that are all dead: the caller is let in and reset. */
    serve(fixture, listen, &place, 1);
    int caller = call(listen);
    assert_true(caller >= 0);
    run(fixture);
    assert_string_equal(hear(caller), "error");
    assert_int_equal(errno, ECONNRESET);
    assert_int_equal(proxy_connections(fixture->proxy), 0);
    close(caller);
}

static void table_changes(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_void(), first, second;
    int first_server = make_server(&first), second_server = make_server(&second);
    serve(fixture, listen, &first, 1);
    int caller = call(listen);
    run(fixture);
    int peer = accept(first_server, NULL, NULL);
    serve(fixture, listen, &second, 1);
    int later = call(listen);
    run(fixture);
    int later_peer = accept(second_server, NULL, NULL);
    say(caller, "old");
    say(later, "new");
    run(fixture);
    assert_string_equal(hear(peer), "old");
    assert_string_equal(hear(later_peer), "new");
    /* The route goes; what is open stays. */
    proxy_set(fixture->proxy, &(struct proxy_table){0});
    assert_int_equal(call(listen), -1);
    say(peer, "still here");
    run(fixture);
    assert_string_equal(hear(caller), "still here");
    const int fds[] = {caller, peer, later, later_peer, first_server, second_server};
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        close(fds[i]);
}

/* A reader that does not read stops the writer, and loses nothing. */
static void slow_reader(void **state)
{
    enum { TOTAL = 64 * 1024 * 1024, STEP = 65536 };
    struct fixture *fixture = *state;
    struct proxy_place listen = make_void(), place;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = call(listen);
    run(fixture);
    int peer = accept(server, NULL, NULL);
    fcntl(peer, F_SETFL, O_NONBLOCK);
    static unsigned char block[STEP], got[STEP];
    size_t written = 0, read_ = 0;
    bool stalled = false;
    fcntl(caller, F_SETFL, O_NONBLOCK);
    while (read_ < TOTAL) {
        for (size_t i = 0; i < STEP; i++)
            block[i] = (unsigned char)((written + i) * 31 >> 3);
        size_t left = TOTAL - written < STEP ? TOTAL - written : STEP;
        ssize_t sent = left ? write(caller, block, left) : 0;
        if (sent > 0)
            written += (size_t)sent;
        if (written == TOTAL && left)
            shutdown(caller, SHUT_WR);
        proxy_run(fixture->proxy, 0, NULL);
        if (sent < 0 || written == TOTAL)
            stalled = true; /* only now is anything read */
        for (ssize_t size; stalled && (size = read(peer, got, sizeof(got))) > 0;) {
            for (ssize_t i = 0; i < size; i++)
                if (got[i] != (unsigned char)((read_ + (size_t)i) * 31 >> 3))
                    fail_msg("wrong byte at %zu", read_ + (size_t)i);
            read_ += (size_t)size;
        }
    }
    assert_true(stalled);
    run(fixture);
    assert_string_equal(hear(peer), "end");
    close(peer);
    close(caller);
    run(fixture);
    assert_int_equal(proxy_connections(fixture->proxy), 0);
    close(server);
}

static void taken_port(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen, place;
    int squatter = make_server(&listen), server = make_server(&place);
    serve(fixture, listen, &place, 1);
    assert_int_equal(fixture->news_count, 1);
    assert_int_equal(fixture->news_sys, EADDRINUSE);
    assert_string_equal(fixture->news_owner, "Service/default/s");
    /* Tried again, told no more, until it works. */
    int again = proxy_run(fixture->proxy, 0, NULL);
    assert_true(again > 0);
    serve(fixture, listen, &place, 1);
    assert_int_equal(fixture->news_count, 1);
    close(squatter);
    while (fixture->news_count == 1)
        proxy_run(fixture->proxy, -1, NULL);
    assert_int_equal(fixture->news_sys, 0);
    int caller = call(listen);
    assert_true(caller >= 0);
    close(caller);
    close(server);
}

/* Out of descriptors callers wait, and are served when there are some again. */
static void out_of_descriptors(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_void(), place;
    struct rlimit before, few;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = call(listen);
    getrlimit(RLIMIT_NOFILE, &before);
    few = before;
    few.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &few);
    int again = proxy_run(fixture->proxy, -1, NULL);
    assert_true(again >= 0);
    setrlimit(RLIMIT_NOFILE, &before);
    while (proxy_connections(fixture->proxy) == 0)
        proxy_run(fixture->proxy, -1, NULL);
    run(fixture);
    int peer = accept(server, NULL, NULL);
    say(caller, "hello");
    run(fixture);
    assert_string_equal(hear(peer), "hello");
    close(peer);
    close(caller);
    close(server);
}

/* ---- datagrams ---- */

static int make_udp(struct proxy_place *ret)
{
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t size = sizeof(address);
    int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(bind(fd, (struct sockaddr *)&address, size), 0);
    assert_int_equal(getsockname(fd, (struct sockaddr *)&address, &size), 0);
    *ret = (struct proxy_place){address.sin_addr, ntohs(address.sin_port)};
    return fd;
}

static void serve_udp(struct fixture *fixture, struct proxy_place listen,
                      const struct proxy_place *to, size_t count)
{
    fixture->table = (struct proxy_table){0};
    struct proxy_route *route = proxy_table_add(fixture->arena, &fixture->table, listen);
    route->udp = true;
    for (size_t i = 0; i < count; i++)
        proxy_route_add(fixture->arena, route, to[i]);
    proxy_set(fixture->proxy, &fixture->table);
}

static int call_udp(struct proxy_place place)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(place.port), .sin_addr = place.address};
    struct proxy_place own;
    int fd = make_udp(&own);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* What the place hears, answered with a word of its own; the number of the place, or -1. */
static int answer_one(const int servers[], int count, const char *expected)
{
    for (int i = 0; i < count; i++) {
        char text[64];
        struct sockaddr_in peer;
        socklen_t size = sizeof(peer);
        ssize_t got =
            recvfrom(servers[i], text, sizeof(text) - 1, 0, (struct sockaddr *)&peer, &size);
        if (got < 0)
            continue;
        text[got] = '\0';
        assert_string_equal(text, expected);
        assert_true(sendto(servers[i], "answer", 6, 0, (struct sockaddr *)&peer, size) == 6);
        return i;
    }
    return -1;
}

static void datagrams(void **state)
{
    enum { PLACES = 2, CALLERS = 4 };
    struct fixture *fixture = *state;
    struct proxy_place places[PLACES], listen;
    int servers[PLACES], callers[CALLERS], chosen[CALLERS], counts[PLACES] = {0};
    close(make_udp(&listen));
    for (int i = 0; i < PLACES; i++)
        servers[i] = make_udp(&places[i]);
    serve_udp(fixture, listen, places, PLACES);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = call_udp(listen);
        say(callers[i], "question");
        run(fixture);
        chosen[i] = answer_one(servers, PLACES, "question");
        assert_true(chosen[i] >= 0);
        counts[chosen[i]]++;
        run(fixture);
        /* Connected: only what comes from the address that was called is heard. */
        assert_string_equal(hear(callers[i]), "answer");
    }
    assert_int_equal(counts[0], CALLERS / PLACES);
    /* A caller stays where it is, while its place is there. */
    say(callers[0], "again");
    run(fixture);
    assert_int_equal(answer_one(servers, PLACES, "again"), chosen[0]);
    run(fixture);
    assert_string_equal(hear(callers[0]), "answer");
    serve_udp(fixture, listen, &places[!chosen[0]], 1);
    say(callers[0], "moved");
    run(fixture);
    assert_int_equal(answer_one(servers, PLACES, "moved"), !chosen[0]);
    run(fixture);
    assert_string_equal(hear(callers[0]), "answer");
    /* A place that is gone: the datagram is lost, the next one goes elsewhere. */
    int gone = !chosen[0];
    close(servers[gone]);
    servers[gone] = -1;
    say(callers[0], "lost");
    run(fixture);
    serve_udp(fixture, listen, &places[!gone], 1);
    say(callers[0], "found");
    run(fixture);
    assert_int_equal(answer_one(servers, PLACES, "found"), !gone);
    for (int i = 0; i < CALLERS; i++)
        close(callers[i]);
    close(servers[!gone]);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(datagrams, set_up, tear_down),
        TEST(half_ends),
        TEST(resets),
        TEST(in_turn_and_past_the_dead),
        TEST(nobody_behind),
        TEST(stays_with_one),
        TEST(table_changes),
        TEST(slow_reader),
        TEST(taken_port),
        TEST(out_of_descriptors),
    };
    signal(SIGPIPE, SIG_IGN);
    return cmocka_run_group_tests(tests, NULL, NULL);
}

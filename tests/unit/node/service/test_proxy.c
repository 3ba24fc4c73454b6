/* Tests the proxy on loopback sockets: whole answers, directions that end separately, balancing,
 * targets that do not answer, a table that changes while connections are open, and a slow
 * reader. */
#include "node_test.h"
#include "own_network.h"

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

enum { TURN_MS = 10 };

struct fixture {
    struct proxy *proxy;
    struct arena *arena;
    struct proxy_table table;
    int report_count;
    int report_sys; /* errno of the last report; 0: it works again */
    char report_owner[64];
};

static void on_proxy_report(void *context, const char *owner, const struct proxy_place *listen,
                            int type, const struct err *err)
{
    struct fixture *fixture = context;
    (void)listen;
    fixture->report_count++;
    fixture->report_sys = err ? err->sys : 0;
    str_copy(fixture->report_owner, sizeof(fixture->report_owner), owner);
}

static int set_up(void **state)
{
    struct fixture *fixture = mem_zalloc(sizeof(*fixture));
    struct err err = ERR_INIT;
    const struct proxy_options options = {.report = on_proxy_report, .context = fixture};
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

/* Returns a listening socket on any port of the loopback. */
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

/* Returns an address where no process listens. */
static struct proxy_place make_unused_place(void)
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
        proxy_route_add_backend(fixture->arena, route, to[i]);
    proxy_set(fixture->proxy, &fixture->table);
}

/* Runs the proxy until one of the sockets is readable. Returns its index. The kernel may deliver
 * bytes on the loopback with a delay. */
static size_t await_any(struct fixture *fixture, const int fds[], size_t count)
{
    for (;; proxy_run(fixture->proxy, TURN_MS, NULL))
        for (size_t i = 0; i < count; i++) {
            struct pollfd one = {.fd = fds[i], .events = POLLIN};
            if (poll(&one, 1, 0) > 0)
                return i;
        }
}

static void await_connections(struct fixture *fixture, size_t count)
{
    while (proxy_connections(fixture->proxy) != count)
        proxy_run(fixture->proxy, TURN_MS, NULL);
}

/* Accepts the next connection at the server. */
static int accept_connection(struct fixture *fixture, int server)
{
    await_any(fixture, &server, 1);
    return accept(server, NULL, NULL);
}

static int connect_to(struct proxy_place place)
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

static void send_text(int fd, const char *text)
{
    assert_int_equal(write(fd, text, strlen(text)), (ssize_t)strlen(text));
}

static const char *receive_text(struct fixture *fixture, int fd)
{
    static char text[64];
    await_any(fixture, &fd, 1);
    ssize_t size = read(fd, text, sizeof(text) - 1);
    text[size > 0 ? size : 0] = '\0';
    return size < 0 ? "error" : size == 0 ? "end" : text;
}

static void each_direction_ends_separately(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_unused_place(), place;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = connect_to(listen), peer = accept_connection(fixture, server);
    send_text(caller, "question");
    assert_string_equal(receive_text(fixture, peer), "question");
    shutdown(caller, SHUT_WR);
    assert_string_equal(receive_text(fixture, peer), "end");
    assert_int_equal(proxy_connections(fixture->proxy), 1);
    /* The other direction still works. */
    send_text(peer, "answer");
    assert_string_equal(receive_text(fixture, caller), "answer");
    close(peer);
    assert_string_equal(receive_text(fixture, caller), "end");
    await_connections(fixture, 0);
    close(caller);
    close(server);
}

static void resets_are_forwarded(void **state)
{
    struct fixture *fixture = *state;
    const struct linger at_once = {.l_onoff = 1};
    struct proxy_place listen = make_unused_place(), place;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = connect_to(listen), peer = accept_connection(fixture, server);
    /* A reset is also forwarded after the client's own direction has ended. */
    shutdown(caller, SHUT_WR);
    assert_string_equal(receive_text(fixture, peer), "end");
    setsockopt(peer, SOL_SOCKET, SO_LINGER, &at_once, sizeof(at_once));
    close(peer);
    assert_string_equal(receive_text(fixture, caller), "error");
    await_connections(fixture, 0);
    close(caller);
    close(server);
}

/* Makes connections one after the other, and keeps them open. Counts how many reach each of two
 * servers. */
static void connect_repeatedly(struct fixture *fixture, struct proxy_place listen,
                               const int servers[2], size_t counts[2])
{
    enum { CALLS = 6 };
    int callers[CALLS], peers[CALLS];
    for (int i = 0; i < CALLS; i++) {
        callers[i] = connect_to(listen);
        assert_true(callers[i] >= 0);
        size_t which = await_any(fixture, servers, 2);
        peers[i] = accept(servers[which], NULL, NULL);
        counts[which]++;
    }
    assert_int_equal(proxy_connections(fixture->proxy), CALLS);
    for (int i = 0; i < CALLS; i++) {
        close(callers[i]);
        close(peers[i]);
    }
    await_connections(fixture, 0);
}

static void dead_targets_are_skipped(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_unused_place(), places[3];
    const int servers[] = {make_server(&places[0]), make_server(&places[1])};
    size_t counts[2] = {0};
    places[2] = make_unused_place();
    serve(fixture, listen, places, 3);
    connect_repeatedly(fixture, listen, servers, counts);
    assert_true(counts[0] >= 2 && counts[1] >= 2);
    close(servers[0]);
    close(servers[1]);
}

static void sticky_route_keeps_its_target(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_unused_place(), places[2];
    const int servers[] = {make_server(&places[0]), make_server(&places[1])};
    size_t counts[2] = {0};
    struct proxy_route *route = proxy_table_add(fixture->arena, &fixture->table, listen);
    route->sticky = true;
    proxy_route_add_backend(fixture->arena, route, places[0]);
    proxy_route_add_backend(fixture->arena, route, places[1]);
    proxy_set(fixture->proxy, &fixture->table);
    connect_repeatedly(fixture, listen, servers, counts);
    assert_true(counts[0] == 0 || counts[1] == 0);
    close(servers[0]);
    close(servers[1]);
}

static void route_without_live_targets_is_refused(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_unused_place(), place = make_unused_place();
    /* A route without targets is refused as if no process listened. */
    serve(fixture, listen, NULL, 0);
    assert_int_equal(connect_to(listen), -1);
    assert_int_equal(errno, ECONNREFUSED);
    /* If all targets are dead, the connection is accepted and then reset. */
    serve(fixture, listen, &place, 1);
    int caller = connect_to(listen);
    assert_true(caller >= 0);
    assert_string_equal(receive_text(fixture, caller), "error");
    assert_int_equal(errno, ECONNRESET);
    await_connections(fixture, 0);
    close(caller);
}

static void open_connections_survive_table_changes(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_unused_place(), first, second;
    int first_server = make_server(&first), second_server = make_server(&second);
    serve(fixture, listen, &first, 1);
    int caller = connect_to(listen), peer = accept_connection(fixture, first_server);
    serve(fixture, listen, &second, 1);
    int later = connect_to(listen), later_peer = accept_connection(fixture, second_server);
    send_text(caller, "old");
    send_text(later, "new");
    assert_string_equal(receive_text(fixture, peer), "old");
    assert_string_equal(receive_text(fixture, later_peer), "new");
    /* The route is removed, but open connections stay. */
    proxy_set(fixture->proxy, &(struct proxy_table){0});
    assert_int_equal(connect_to(listen), -1);
    send_text(peer, "still here");
    assert_string_equal(receive_text(fixture, caller), "still here");
    const int fds[] = {caller, peer, later, later_peer, first_server, second_server};
    for (size_t i = 0; i < ARRAY_SIZE(fds); i++)
        close(fds[i]);
}

/* A client that does not read stops the writer, and loses no bytes. */
static void slow_reader_loses_no_bytes(void **state)
{
    enum { TOTAL = 64 * 1024 * 1024, STEP = 65536 };
    struct fixture *fixture = *state;
    struct proxy_place listen = make_unused_place(), place;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = connect_to(listen), peer = accept_connection(fixture, server);
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
            stalled = true; /* nothing is read before this */
        for (ssize_t size; stalled && (size = read(peer, got, sizeof(got))) > 0;) {
            for (ssize_t i = 0; i < size; i++)
                if (got[i] != (unsigned char)((read_ + (size_t)i) * 31 >> 3))
                    fail_msg("wrong byte at %zu", read_ + (size_t)i);
            read_ += (size_t)size;
        }
    }
    assert_true(stalled);
    assert_string_equal(receive_text(fixture, peer), "end");
    close(peer);
    close(caller);
    await_connections(fixture, 0);
    close(server);
}

static void port_in_use_is_reported_and_retried(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen, place;
    int squatter = make_server(&listen), server = make_server(&place);
    serve(fixture, listen, &place, 1);
    assert_int_equal(fixture->report_count, 1);
    assert_int_equal(fixture->report_sys, EADDRINUSE);
    assert_string_equal(fixture->report_owner, "Service/default/s");
    /* The proxy tries again without another report, until it works. */
    int again = proxy_run(fixture->proxy, 0, NULL);
    assert_true(again >= 0);
    serve(fixture, listen, &place, 1);
    assert_int_equal(fixture->report_count, 1);
    close(squatter);
    while (fixture->report_count == 1)
        proxy_run(fixture->proxy, -1, NULL);
    assert_int_equal(fixture->report_sys, 0);
    int caller = connect_to(listen);
    assert_true(caller >= 0);
    close(caller);
    close(server);
}

/* Without free descriptors clients wait, and are served when there are some again. */
static void clients_wait_for_free_descriptors(void **state)
{
    struct fixture *fixture = *state;
    struct proxy_place listen = make_unused_place(), place;
    struct rlimit before;
    int server = make_server(&place);
    serve(fixture, listen, &place, 1);
    int caller = connect_to(listen);
    getrlimit(RLIMIT_NOFILE, &before);
    struct rlimit few = before;
    few.rlim_cur = 3;
    setrlimit(RLIMIT_NOFILE, &few);
    int again = proxy_run(fixture->proxy, -1, NULL);
    assert_true(again >= 0);
    setrlimit(RLIMIT_NOFILE, &before);
    int peer = accept_connection(fixture, server);
    send_text(caller, "hello");
    assert_string_equal(receive_text(fixture, peer), "hello");
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
        proxy_route_add_backend(fixture->arena, route, to[i]);
    proxy_set(fixture->proxy, &fixture->table);
}

static int connect_udp(struct proxy_place place)
{
    struct sockaddr_in address = {
        .sin_family = AF_INET, .sin_port = htons(place.port), .sin_addr = place.address};
    struct proxy_place own;
    int fd = make_udp(&own);
    assert_int_equal(connect(fd, (struct sockaddr *)&address, sizeof(address)), 0);
    return fd;
}

/* Waits for a datagram at a server and answers it. Returns the index of the server. */
static size_t answer_one(struct fixture *fixture, const int servers[], size_t count,
                         const char *expected)
{
    char text[64];
    struct sockaddr_in peer;
    socklen_t size = sizeof(peer);
    size_t which = await_any(fixture, servers, count);
    ssize_t got =
        recvfrom(servers[which], text, sizeof(text) - 1, 0, (struct sockaddr *)&peer, &size);
    assert_true(got >= 0);
    text[got] = '\0';
    assert_string_equal(text, expected);
    assert_true(sendto(servers[which], "answer", 6, 0, (struct sockaddr *)&peer, size) == 6);
    return which;
}

static void datagrams_keep_their_target(void **state)
{
    enum { PLACES = 2, CALLERS = 4 };
    struct fixture *fixture = *state;
    struct proxy_place places[PLACES], listen;
    int servers[PLACES], callers[CALLERS];
    size_t chosen[CALLERS], counts[PLACES] = {0};
    close(make_udp(&listen));
    for (int i = 0; i < PLACES; i++)
        servers[i] = make_udp(&places[i]);
    serve_udp(fixture, listen, places, PLACES);
    for (int i = 0; i < CALLERS; i++) {
        callers[i] = connect_udp(listen);
        send_text(callers[i], "question");
        chosen[i] = answer_one(fixture, servers, PLACES, "question");
        counts[chosen[i]]++;
        /* The socket is connected, so it receives only from the address that it sent to. */
        assert_string_equal(receive_text(fixture, callers[i]), "answer");
    }
    assert_int_equal(counts[0], CALLERS / PLACES);
    /* A client keeps its target as long as the target exists. */
    send_text(callers[0], "again");
    assert_int_equal(answer_one(fixture, servers, PLACES, "again"), chosen[0]);
    assert_string_equal(receive_text(fixture, callers[0]), "answer");
    serve_udp(fixture, listen, &places[!chosen[0]], 1);
    send_text(callers[0], "moved");
    assert_int_equal(answer_one(fixture, servers, PLACES, "moved"), !chosen[0]);
    assert_string_equal(receive_text(fixture, callers[0]), "answer");
    /* If a target is gone, its datagram is lost, and the next one goes to another target. */
    size_t gone = !chosen[0];
    int arrived = proxy_fd(fixture->proxy);
    close(servers[gone]);
    servers[gone] = -1;
    send_text(callers[0], "lost");
    assert_int_equal(poll(&(struct pollfd){.fd = arrived, .events = POLLIN}, 1, -1), 1);
    proxy_run(fixture->proxy, 0, NULL);
    serve_udp(fixture, listen, &places[!gone], 1);
    send_text(callers[0], "found");
    assert_int_equal(answer_one(fixture, servers, PLACES, "found"), !gone);
    for (int i = 0; i < CALLERS; i++)
        close(callers[i]);
    close(servers[!gone]);
}

/* Tests for which addresses a transparent proxy connects from its client's address. */
static void client_addresses_are_kept_inside_the_pod_network(void **state)
{
    static const struct {
        const char *caller, *to;
        bool keeps;
    } cases[] = {
        {"10.244.1.2", "10.244.1.3", true},  {"10.244.3.254", "10.244.1.2", true},
        {"10.244.1.2", "10.244.1.2", false}, /* a pod that connects to itself */
        {"10.244.0.1", "10.244.1.2", false}, {"10.244.1.2", "10.244.0.1", false},
        {"10.96.0.7", "10.244.1.2", false},  {"127.0.0.1", "10.244.1.2", false},
        {"10.244.1.2", "192.0.2.1", false},
    };
    for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
        struct in_addr caller, to;
        inet_pton(AF_INET, cases[i].caller, &caller);
        inet_pton(AF_INET, cases[i].to, &to);
        if (proxy_keeps_client_address(caller, to) != cases[i].keeps)
            fail_msg("%s to %s", cases[i].caller, cases[i].to);
    }
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(datagrams_keep_their_target, set_up, tear_down),
        cmocka_unit_test(client_addresses_are_kept_inside_the_pod_network),
        TEST(each_direction_ends_separately),
        TEST(resets_are_forwarded),
        TEST(dead_targets_are_skipped),
        TEST(route_without_live_targets_is_refused),
        TEST(sticky_route_keeps_its_target),
        TEST(open_connections_survive_table_changes),
        TEST(slow_reader_loses_no_bytes),
        TEST(port_in_use_is_reported_and_retried),
        TEST(clients_wait_for_free_descriptors),
    };
    signal(SIGPIPE, SIG_IGN);
    (void)own_network_enter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

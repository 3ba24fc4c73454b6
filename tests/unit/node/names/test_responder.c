/* Tests the name server on loopback sockets. The test plays an upstream name server that answers,
 * refuses, does not answer, truncates its answers, or sends forged ones. Only the test changes the
 * time, so a slow machine causes no timeout. */
#include "node_test.h"
#include "own_network.h"

#include "dns_text.h"
#include "node/names/resolvers.h"
#include "node/names/responder.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PATIENCE_MS = 5 * 1000 }; /* longer than the timeout of any server */

static int64_t now = 1;

static int64_t now_ms(void)
{
    return now;
}

struct world {
    struct responder *responder;
    struct sockaddr_in at;   /* address of the responder */
    int udp, tcp, other_udp; /* the upstream name servers: 127.0.0.1 and 127.0.0.2 */
    int asker;
    char resolv_conf[64];
    struct dns_text_message query, answer;
};

static int bound(int type, const char *address, uint16_t port, struct sockaddr_in *ret)
{
    int fd = socket(AF_INET, type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    const int on = 1;
    socklen_t size = sizeof(*ret);
    *ret = (struct sockaddr_in){.sin_family = AF_INET, .sin_port = htons(port)};
    inet_pton(AF_INET, address, &ret->sin_addr);
    if (type == SOCK_STREAM)
        setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(fd, (struct sockaddr *)ret, size) < 0 || (type == SOCK_STREAM && listen(fd, 10) < 0)) {
        close(fd);
        return -1;
    }
    getsockname(fd, (struct sockaddr *)ret, &size);
    return fd;
}

/* Binds all sockets to one port number that is free for all of them. */
static uint16_t bind_all(int fds[], const int types[], const char *const addresses[], size_t count,
                         struct sockaddr_in *ret)
{
    for (int tries = 0; tries < 100; tries++) {
        uint16_t port = 0;
        size_t i = 0;
        for (; i < count; i++) {
            struct sockaddr_in own;
            fds[i] = bound(types[i], addresses[i], port, &own);
            if (fds[i] < 0)
                break;
            port = ntohs(own.sin_port);
            if (i == 0)
                *ret = own;
        }
        if (i == count)
            return port;
        while (i > 0)
            close(fds[--i]);
    }
    fail_msg("no port is free");
    return 0;
}

static void write_resolv_conf(struct world *world, const char *text)
{
    FILE *file = fopen(world->resolv_conf, "w");
    assert_non_null(file);
    fputs(text, file);
    fclose(file);
}

static int set_up(void **state)
{
    static const char *const here[] = {"127.0.0.1", "127.0.0.1", "127.0.0.2"};
    struct world *world = mem_zalloc(sizeof(*world));
    struct sockaddr_in unused;
    struct err err = ERR_INIT;
    int ours[2], theirs[3];
    bind_all(ours, (int[]){SOCK_STREAM, SOCK_DGRAM}, here, 2, &world->at);
    uint16_t port =
        bind_all(theirs, (int[]){SOCK_STREAM, SOCK_DGRAM, SOCK_DGRAM}, here, 3, &unused);
    world->tcp = theirs[0];
    world->udp = theirs[1];
    world->other_udp = theirs[2];
    strcpy(world->resolv_conf, "/tmp/trainyard-test-resolv.XXXXXX");
    close(mkstemp(world->resolv_conf));
    write_resolv_conf(world, "nameserver 127.0.0.1\nnameserver 127.0.0.2\n");
    const struct responder_options options = {.udp_fd = ours[1],
                                              .tcp_fd = ours[0],
                                              .resolv_conf = world->resolv_conf,
                                              .port = port,
                                              .now_ms = now_ms};
    assert_int_equal(responder_new(&options, &world->responder, &err), 0);
    struct names_table table;
    names_table_init(&table);
    struct names_entry *entry = names_table_add(&table, "one.default.svc.cluster.local");
    names_entry_add_address(&table, entry, (struct in_addr){htonl(0x0A010203)});
    names_table_add(&table, "out.default.svc.cluster.local")->alias = "example.com";
    responder_set(world->responder, &table);
    world->asker = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    assert_int_equal(connect(world->asker, (struct sockaddr *)&world->at, sizeof(world->at)), 0);
    *state = world;
    return 0;
}

static int tear_down(void **state)
{
    struct world *world = *state;
    responder_free(world->responder);
    close(world->asker);
    close(world->udp);
    close(world->tcp);
    close(world->other_udp);
    unlink(world->resolv_conf);
    free(world);
    return 0;
}

/* Reads from a socket of the test while the responder runs. Returns 0 at the end of a stream. */
static size_t receive(struct world *world, int fd, void *data, size_t size,
                      struct sockaddr_in *peer)
{
    for (;;) {
        socklen_t peer_size = sizeof(*peer);
        ssize_t got =
            recvfrom(fd, data, size, 0, (struct sockaddr *)peer, peer ? &peer_size : NULL);
        if (got >= 0)
            return (size_t)got;
        assert_true(errno == EAGAIN);
        responder_run(world->responder, 10, NULL);
    }
}

static void send_query(struct world *world, const char *name, enum dns_type type)
{
    dns_text_query(&world->query, name, type);
    assert_true(send(world->asker, world->query.bytes, world->query.size, 0) > 0);
}

static void expect_answer(struct world *world, const char *expected)
{
    world->answer.size =
        receive(world, world->asker, world->answer.bytes, sizeof(world->answer.bytes), NULL);
    assert_memory_equal(world->answer.bytes, world->query.bytes, 2);
    _cleanup_free_ char *text = dns_text_of(world->answer.bytes, world->answer.size);
    assert_string_equal(text, expected);
}

/* A query that the upstream name server got, and its sender. */
struct asked {
    uint8_t bytes[512];
    size_t size;
    struct sockaddr_in peer;
    struct dns_query query;
};

static void expect_upstream_query(struct world *world, int fd, const char *name, struct asked *ret)
{
    enum dns_rcode rcode;
    ret->size = receive(world, fd, ret->bytes, sizeof(ret->bytes), &ret->peer);
    assert_true(dns_query_read(ret->bytes, ret->size, &ret->query, &rcode));
    assert_string_equal(ret->query.name, name);
}

static size_t make_answer(const struct asked *asked, uint8_t *data, size_t max,
                          enum dns_rcode rcode, size_t addresses)
{
    struct dns_answer answer;
    dns_answer_begin(&answer, &asked->query, data, max);
    for (size_t i = 0; i < addresses; i++)
        dns_answer_address(&answer, DNS_ANSWERS, asked->query.name,
                           (struct in_addr){htonl(0xC0000201)});
    return dns_answer_end(&answer, rcode, false);
}

static void send_upstream_answer(int fd, const struct asked *asked, enum dns_rcode rcode,
                                 size_t addresses)
{
    uint8_t data[512];
    size_t size = make_answer(asked, data, sizeof(data), rcode, addresses);
    assert_true(
        sendto(fd, data, size, 0, (const struct sockaddr *)&asked->peer, sizeof(asked->peer)) > 0);
}

static void cluster_names_are_answered(void **state)
{
    struct world *world = *state;
    assert_true(send(world->asker, "garbage", 7, 0) > 0); /* gets no answer */
    for (int i = 0; i < 100; i++) {
        send_query(world, "one.default.svc", DNS_A);
        expect_answer(world, "NOERROR aa: one.default.svc A 10.1.2.3");
    }
}

static int connect_tcp(struct world *world)
{
    int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    assert_int_equal(connect(fd, (struct sockaddr *)&world->at, sizeof(world->at)), 0);
    assert_int_equal(fcntl(fd, F_SETFL, O_NONBLOCK), 0);
    return fd;
}

static void receive_all(struct world *world, int fd, uint8_t *data, size_t size)
{
    for (size_t got = 0; got < size;) {
        size_t more = receive(world, fd, data + got, size - got, NULL);
        assert_true(more > 0);
        got += more;
    }
}

static void expect_tcp_answer(struct world *world, int fd, const char *expected)
{
    uint8_t prefix[2];
    receive_all(world, fd, prefix, 2);
    world->answer.size = dns_text_u16(prefix);
    receive_all(world, fd, world->answer.bytes, world->answer.size);
    _cleanup_free_ char *text = dns_text_of(world->answer.bytes, world->answer.size);
    assert_string_equal(text, expected);
}

static void send_tcp_query(struct world *world, int fd, const char *name, size_t piece)
{
    uint8_t data[600];
    dns_text_query(&world->query, name, DNS_A);
    data[0] = (uint8_t)(world->query.size >> 8);
    data[1] = (uint8_t)world->query.size;
    memcpy(data + 2, world->query.bytes, world->query.size);
    for (size_t at = 0, size = world->query.size + 2; at < size; at += piece)
        assert_true(send(fd, data + at, size - at < piece ? size - at : piece, 0) > 0);
}

static void tcp_queries_are_answered(void **state)
{
    struct world *world = *state;
    uint8_t byte;
    int fd = connect_tcp(world);
    send_tcp_query(world, fd, "one.default.svc", 1); /* in pieces */
    expect_tcp_answer(world, fd, "NOERROR aa: one.default.svc A 10.1.2.3");
    for (int i = 0; i < 10; i++) /* several queries before the answers */
        send_tcp_query(world, fd, "one.default.svc", 600);
    shutdown(fd, SHUT_WR);
    for (int i = 0; i < 10; i++)
        expect_tcp_answer(world, fd, "NOERROR aa: one.default.svc A 10.1.2.3");
    assert_int_equal(receive(world, fd, &byte, 1, NULL), 0);
    close(fd);
    fd = connect_tcp(world);
    assert_true(send(fd, "\xff\xff too long", 11, 0) > 0);
    while (recv(fd, &byte, 1, 0) < 0 && errno == EAGAIN)
        responder_run(world->responder, 10, NULL);
    assert_true(recv(fd, &byte, 1, 0) == 0 || errno == ECONNRESET);
    close(fd);
}

static void other_names_are_forwarded_upstream(void **state)
{
    struct world *world = *state;
    struct asked asked;
    send_query(world, "Example.com", DNS_A);
    expect_upstream_query(world, world->udp, "example.com", &asked);
    send_upstream_answer(world->udp, &asked, DNS_NOERROR, 1);
    expect_answer(world, "NOERROR: Example.com A 192.0.2.1");
    send_query(world, "nobody.example.com", DNS_AAAA);
    expect_upstream_query(world, world->udp, "nobody.example.com", &asked);
    send_upstream_answer(world->udp, &asked, DNS_NXDOMAIN, 0);
    expect_answer(world, "NXDOMAIN");
    /* A query for one of our names that is an alias. */
    send_query(world, "out.default.svc", DNS_A);
    expect_upstream_query(world, world->udp, "example.com", &asked);
    send_upstream_answer(world->udp, &asked, DNS_NOERROR, 2);
    expect_answer(world, "NOERROR aa: out.default.svc CNAME example.com, example.com A 192.0.2.1, "
                         "example.com A 192.0.2.1");
}

/* The second server is asked if the first cannot answer. Ids and ports are new each time. */
static void next_upstream_server_is_tried_after_a_failure(void **state)
{
    struct world *world = *state;
    struct asked first, second;
    send_query(world, "example.com", DNS_A);
    expect_upstream_query(world, world->udp, "example.com", &first);
    send_upstream_answer(world->udp, &first, DNS_SERVFAIL, 0);
    expect_upstream_query(world, world->other_udp, "example.com", &second);
    assert_true(first.query.id != second.query.id || first.peer.sin_port != second.peer.sin_port);
    send_upstream_answer(world->other_udp, &second, DNS_NOERROR, 1);
    expect_answer(world, "NOERROR: example.com A 192.0.2.1");
    /* Neither silence nor a closed port stops the lookup. */
    send_query(world, "example.com", DNS_A);
    expect_upstream_query(world, world->udp, "example.com", &first);
    now += PATIENCE_MS;
    expect_upstream_query(world, world->other_udp, "example.com", &second);
    send_upstream_answer(world->other_udp, &second, DNS_NOERROR, 1);
    expect_answer(world, "NOERROR: example.com A 192.0.2.1");
    write_resolv_conf(world, "# longer, so that the change is seen\nnameserver 127.0.0.3\n"
                             "nameserver 127.0.0.2\n");
    send_query(world, "example.com", DNS_A);
    expect_upstream_query(world, world->other_udp, "example.com", &second);
    send_upstream_answer(world->other_udp, &second, DNS_NOERROR, 1);
    expect_answer(world, "NOERROR: example.com A 192.0.2.1");
    /* No name server answers. */
    write_resolv_conf(world, "nameserver 127.0.0.3\n");
    send_query(world, "example.com", DNS_A);
    expect_answer(world, "SERVFAIL");
    write_resolv_conf(world, "");
    send_query(world, "out.default.svc", DNS_A);
    expect_answer(world, "SERVFAIL");
}

static void forged_answers_are_ignored(void **state)
{
    struct world *world = *state;
    struct asked asked;
    send_query(world, "example.com", DNS_A);
    expect_upstream_query(world, world->udp, "example.com", &asked);
    send_upstream_answer(world->other_udp, &asked, DNS_NOERROR,
                         3); /* a server that was not asked */
    struct asked lie = asked;
    lie.query.id ^= 1;
    send_upstream_answer(world->udp, &lie, DNS_NOERROR, 3);
    lie = asked;
    lie.bytes[13] ^= 3; /* another name */
    lie.query.data = lie.bytes;
    send_upstream_answer(world->udp, &lie, DNS_NOERROR, 3);
    asked.query.data = asked.bytes;
    send_upstream_answer(world->udp, &asked, DNS_NOERROR, 1);
    expect_answer(world, "NOERROR: example.com A 192.0.2.1");
}

/* A client that asked over UDP gets a truncated answer. For a client over TCP, the whole answer is
 * fetched over TCP. */
static void long_answers_are_fetched_over_tcp(void **state)
{
    struct world *world = *state;
    struct asked asked;
    uint8_t data[4096], prefix[2];
    send_query(world, "long.example.com", DNS_A);
    expect_upstream_query(world, world->udp, "long.example.com", &asked);
    send_upstream_answer(world->udp, &asked, DNS_NOERROR, 100);
    world->answer.size =
        receive(world, world->asker, world->answer.bytes, sizeof(world->answer.bytes), NULL);
    assert_true(world->answer.bytes[2] & 2);

    int fd = connect_tcp(world);
    send_tcp_query(world, fd, "long.example.com", 600);
    expect_upstream_query(world, world->udp, "long.example.com", &asked);
    send_upstream_answer(world->udp, &asked, DNS_NOERROR, 100);
    int line = -1;
    while ((line = accept4(world->tcp, NULL, NULL, SOCK_NONBLOCK)) < 0)
        responder_run(world->responder, 10, NULL);
    receive_all(world, line, prefix, 2);
    struct asked again;
    enum dns_rcode rcode;
    again.size = dns_text_u16(prefix);
    receive_all(world, line, again.bytes, again.size);
    assert_true(dns_query_read(again.bytes, again.size, &again.query, &rcode));
    size_t size = make_answer(&again, data + 2, sizeof(data) - 2, DNS_NOERROR, 100);
    data[0] = (uint8_t)(size >> 8);
    data[1] = (uint8_t)size;
    assert_true(send(line, data, 1000, 0) == 1000); /* in pieces */
    responder_run(world->responder, 10, NULL);
    assert_true(send(line, data + 1000, size + 2 - 1000, 0) > 0);
    receive_all(world, fd, prefix, 2);
    assert_int_equal(dns_text_u16(prefix), size);
    close(line);
    close(fd);
}

/* A client may disconnect while its query is at the upstream server. */
static void client_may_disconnect_during_a_query(void **state)
{
    struct world *world = *state;
    struct asked asked;
    int fd = connect_tcp(world);
    send_tcp_query(world, fd, "example.com", 600);
    expect_upstream_query(world, world->udp, "example.com", &asked);
    close(fd);
    send_upstream_answer(world->udp, &asked, DNS_NOERROR, 1);
    for (int i = 0; i < 5; i++)
        responder_run(world->responder, 10, NULL);
    send_query(world, "one.default.svc", DNS_A);
    expect_answer(world, "NOERROR aa: one.default.svc A 10.1.2.3");
}

static void resolv_conf_is_parsed(void **state)
{
    struct resolver found[RESOLVERS_MAX];
    char text[INET6_ADDRSTRLEN];
    size_t size;
    assert_int_equal(resolvers_parse("", found), 0);
    assert_int_equal(resolvers_parse("nameserver\nnameservers 1.2.3.4\nnameserver x\n", found), 0);
    assert_int_equal(resolvers_parse("# nameserver 1.1.1.1\n;\nnameserver\t1.2.3.4 # mine\r\n"
                                     "search a b\nnameserver fe80::1%lo\nnameserver 127.0.0.53",
                                     found),
                     3);
    assert_string_equal(inet_ntop(AF_INET, &found[0].ipv4.sin_addr, text, sizeof(text)), "1.2.3.4");
    assert_int_equal(ntohs(found[0].ipv4.sin_port), 53);
    assert_string_equal(inet_ntop(AF_INET6, &found[1].ipv6.sin6_addr, text, sizeof(text)),
                        "fe80::1");
    assert_int_equal(found[1].ipv6.sin6_scope_id, 1);
    assert_int_equal(resolvers_parse("nameserver 1.1.1.1\nnameserver 2.2.2.2\nnameserver 3.3.3.3\n"
                                     "nameserver 4.4.4.4\n",
                                     found),
                     3);
    const char *search =
        resolvers_search("domain a\nnameserver 1.1.1.1\nsearch  b.example  c \n", &size);
    assert_int_equal(size, strlen("b.example  c"));
    assert_memory_equal(search, "b.example  c", size);
    resolvers_search("nameserver 1.1.1.1\n", &size);
    assert_int_equal(size, 0);
    static const char OPTIONS[] = "options ndots:5 timeout:3\nnameserver 1.1.1.1\n"
                                  "options\tedns0  timeout:7 attempts:1 # timeout:8\n"
                                  "options timeout: timeout:x timeouts:9 timeout:4x\n";
    assert_int_equal(resolvers_option(OPTIONS, "timeout", 2, 30), 7);
    assert_int_equal(resolvers_option(OPTIONS, "timeout", 2, 6), 6);
    assert_int_equal(resolvers_option(OPTIONS, "attempts", 2, 30), 1);
    assert_int_equal(resolvers_option(OPTIONS, "rotate", 2, 30), 2);
    assert_int_equal(resolvers_option("options timeout:99999999999999999999", "timeout", 2, 30),
                     30);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(cluster_names_are_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(tcp_queries_are_answered, set_up, tear_down),
        cmocka_unit_test_setup_teardown(other_names_are_forwarded_upstream, set_up, tear_down),
        cmocka_unit_test_setup_teardown(next_upstream_server_is_tried_after_a_failure, set_up,
                                        tear_down),
        cmocka_unit_test_setup_teardown(forged_answers_are_ignored, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_answers_are_fetched_over_tcp, set_up, tear_down),
        cmocka_unit_test_setup_teardown(client_may_disconnect_during_a_query, set_up, tear_down),
        cmocka_unit_test(resolv_conf_is_parsed),
    };
    (void)own_network_enter();
    return cmocka_run_group_tests(tests, NULL, NULL);
}

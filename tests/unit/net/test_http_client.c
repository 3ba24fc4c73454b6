/* The https transport against our own server, both on one loop. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/buf.h"
#include "base/file.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "loop/sim/sim_loop.h"
#include "net/http_client.h"
#include "net/http_server.h"
#include "tls/tls.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { PEERS_MAX = 64 };

struct world {
    struct loop *loop;
    struct loop_timer guard; /* a test that hangs says so */
    struct tls_pair ca, other_ca, pair;
    struct tls_server *tls;
    struct http_server *server;
    struct http_transport *transport;
    char url[64];
    bool server_closed;
    int cancelled;
    struct http_exchange *held;
    char peers[PEERS_MAX][32]; /* each connection the server saw */
    size_t peer_count;
    char path[64]; /* of the last request */
};

/* ---- the server's side ----------------------------------------------------------------------- */

static void on_cancel(struct http_exchange *exchange)
{
    struct world *world = exchange->context;
    world->cancelled++;
    world->held = NULL;
    loop_stop(world->loop);
}

static void count_peer(struct world *world, const char *peer)
{
    for (size_t i = 0; i < world->peer_count; i++)
        if (strcmp(world->peers[i], peer) == 0)
            return;
    assert_true(world->peer_count < PEERS_MAX);
    snprintf(world->peers[world->peer_count++], sizeof(world->peers[0]), "%s", peer);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct world *world = context;
    const struct http_request *request = exchange->request;
    exchange->context = world;
    count_peer(world, request->peer);
    snprintf(world->path, sizeof(world->path), "%s", request->path);
    if (strcmp(request->path, "/describe") == 0) {
        const char *names[] = {"Authorization", "Content-Type", "X-Empty", "X-Evil", "Expect"};
        struct buf text;
        buf_init(&text, 10000);
        buf_printf(&text, "%s %s?%s %zu", request->method, request->path, request->query,
                   request->body_size);
        for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
            const char *value = http_header_get(request->headers, names[i]);
            buf_printf(&text, " [%s]", value ? value : "-");
        }
        http_respond(exchange, 202, "text/plain", text.data, text.size);
        buf_release(&text);
    } else if (strcmp(request->path, "/names") == 0) {
        const char *as = http_header_get(request->headers, "X-As");
        const char *host = http_header_get(request->headers, "Host");
        char text[200];
        int size = snprintf(text, sizeof(text), "[%s] [%s]", as ? as : "-", host ? host : "-");
        http_respond(exchange, 200, "text/plain", text, (size_t)size);
    } else if (strcmp(request->path, "/hold") == 0 || strcmp(request->path, "/stream") == 0) {
        exchange->on_cancel = on_cancel;
        world->held = exchange;
        if (request->path[1] == 's') {
            http_begin(exchange, 200, "text/plain", NULL, -1);
            http_write(exchange, "first", 5);
        }
    } else if (strcmp(request->path, "/refuse") == 0) {
        http_respond(exchange, 401, "text/plain", "", 0);
    } else {
        http_respond(exchange, 200, "text/plain", request->body, request->body_size);
    }
}

/* ---- the client's side ----------------------------------------------------------------------- */

struct answer {
    struct world *world;
    struct http_call *call;
    int status, ended;
    char type[32];
    struct buf body;
    struct err err;
    bool stop_on_data, cancel_on_data, free_on_data, free_on_end, go_on; /* on_end stops the loop */
    struct answer *start_on_end;
};

static void start(struct answer *answer, struct world *world, const char *method, const char *path,
                  const void *body, size_t size, int64_t timeout_ms);

static void on_head(void *context, int status, const struct http_header *headers)
{
    struct answer *answer = context;
    assert_int_equal(answer->status, 0);
    answer->status = status;
    const char *type = http_header_get(headers, "content-type");
    snprintf(answer->type, sizeof(answer->type), "%s", type ? type : "");
}

static void on_data(void *context, const void *data, size_t size)
{
    struct answer *answer = context;
    assert_int_not_equal(answer->status, 0);
    buf_append(&answer->body, data, size);
    if (answer->stop_on_data)
        loop_stop(answer->world->loop);
    if (answer->cancel_on_data)
        http_cancel(answer->world->transport, answer->call);
    if (answer->free_on_data)
        answer->world->transport = http_transport_free(answer->world->transport);
}

static void on_end(void *context, const struct err *err)
{
    struct answer *answer = context;
    answer->ended++;
    if (err)
        answer->err = *err;
    if (answer->start_on_end)
        start(answer->start_on_end, answer->world, "GET", "/echo", "", 0, 0);
    if (answer->free_on_end)
        answer->world->transport = http_transport_free(answer->world->transport);
    if (!answer->go_on && !answer->start_on_end)
        loop_stop(answer->world->loop);
}

static void start(struct answer *answer, struct world *world, const char *method, const char *path,
                  const void *body, size_t size, int64_t timeout_ms)
{
    static const struct http_listener listener = {on_head, on_data, on_end};
    struct http_header evil = {"X-Evil", "a\r\nX-More: b", NULL};
    struct http_header empty = {"X-Empty", "", &evil};
    struct http_request request = {.method = method,
                                   .path = path,
                                   .query = "a=b%20c",
                                   .headers = &empty,
                                   .body = body,
                                   .body_size = size};
    answer->world = world;
    buf_init(&answer->body, 64 << 20);
    answer->call = http_start(world->transport, &request, timeout_ms, &listener, answer);
}

static void on_guard(struct loop_timer *timer)
{
    fail_msg("nothing happened any more");
}

static void use_client(struct world *world, const struct http_client_options *options)
{
    struct err err = ERR_INIT;
    http_transport_free(world->transport);
    if (http_client_new(world->loop, options, &world->transport, &err) < 0)
        fail_msg("%s", err.message);
}

static int setup(void **state)
{
    static const char *const hosts[] = {"127.0.0.1", NULL};
    struct world *world = mem_zalloc(sizeof(*world));
    struct err err = ERR_INIT;
    struct http_server_options options = {0};
    int port = 0;
    assert_int_equal(loop_new(&world->loop, &err), 0);
    loop_timer_init(world->loop, &world->guard, on_guard);
    loop_timer_start(&world->guard, 60000);
    tls_make_ca("ca", 1, &world->ca, &err);
    tls_make_ca("other", 1, &world->other_ca, &err);
    tls_make_cert(&world->ca, "server", hosts, 1, &world->pair, &err);
    tls_server_new(world->pair.cert_pem, world->pair.key_pem, &world->tls, &err);
    options.tls = world->tls;
    assert_int_equal(http_listen("127.0.0.1", 0, &options.listen_fd, &port, &err), 0);
    assert_int_equal(http_server_new(world->loop, &options, handler, world, &world->server, &err),
                     0);
    snprintf(world->url, sizeof(world->url), "https://127.0.0.1:%d/", port);
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .bearer = "secret"});
    *state = world;
    return 0;
}

static void on_server_closed(void *context)
{
    ((struct world *)context)->server_closed = true;
}

static int teardown(void **state)
{
    struct world *world = *state;
    http_transport_free(world->transport);
    loop_timer_stop(&world->guard);
    http_server_close(world->server, on_server_closed, world);
    while (!world->server_closed)
        loop_run(world->loop);
    loop_free(world->loop);
    tls_server_free(world->tls);
    tls_pair_release(&world->ca);
    tls_pair_release(&world->other_ca);
    tls_pair_release(&world->pair);
    free(world);
    return 0;
}

/* ---- tests ----------------------------------------------------------------------------------- */

static void a_request_arrives_as_it_was_meant(void **state)
{
    struct world *world = *state;
    static const struct {
        const char *method, *body, *expected;
    } rows[] = {
        {"GET", "", "GET /describe?a=b%20c 0 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"POST", "", "POST /describe?a=b%20c 0 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"PATCH", "{}", "PATCH /describe?a=b%20c 2 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"PUT", "x", "PUT /describe?a=b%20c 1 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"DELETE", "", "DELETE /describe?a=b%20c 0 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"DELETE", "{}", "DELETE /describe?a=b%20c 2 [Bearer secret] [-] [] [a  X-More: b] [-]"},
        {"HEAD", "", ""},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct answer answer = {0};
        start(&answer, world, rows[i].method, "/describe", rows[i].body, strlen(rows[i].body),
              5000);
        assert_int_equal(answer.ended, 0);
        loop_run(world->loop);
        assert_int_equal(answer.ended, 1);
        assert_int_equal(answer.err.code, ERR_NONE);
        assert_int_equal(answer.status, 202);
        assert_string_equal(answer.type, "text/plain");
        assert_string_equal(answer.body.data, rows[i].expected);
        buf_release(&answer.body);
    }
    assert_int_equal(world->peer_count, 1); /* one connection for all */
}

static void expect_token(struct world *world, const char *path, const char *token)
{
    struct answer answer = {0};
    start(&answer, world, "GET", path, "", 0, 5000);
    loop_run(world->loop);
    assert_int_equal(answer.ended, 1);
    if (token)
        assert_non_null(strstr(answer.body.data, token));
    buf_release(&answer.body);
}

static void a_token_that_was_renewed_is_shown_after_a_refusal(void **state)
{
    struct world *world = *state;
    char path[] = "/tmp/token.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "old", 3), 3);
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .bearer_file = path});
    expect_token(world, "/describe", "[Bearer old]");
    assert_int_equal(file_replace(path, "renewed\n", 8, 0600, NULL), 0);
    expect_token(world, "/refuse", NULL);
    expect_token(world, "/describe", "[Bearer renewed]");
    close(fd);
    unlink(path);
}

static void count_refusal(void *context)
{
    ++*(int *)context;
}

/* As a plugin's are: the owner hears of a refusal, and gives another. */
static void a_credential_may_be_changed(void **state)
{
    struct world *world = *state;
    int refusals = 0;
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .bearer = "old",
                                                    .on_unauthorized = count_refusal,
                                                    .context = &refusals});
    expect_token(world, "/describe", "[Bearer old]");
    assert_int_equal(refusals, 0);
    expect_token(world, "/refuse", NULL);
    assert_int_equal(refusals, 1);
    http_client_set_credential(world->transport, "new", NULL, NULL);
    expect_token(world, "/describe", "[Bearer new]");
    http_client_set_credential(world->transport, NULL, world->pair.cert_pem, world->pair.key_pem);
    expect_token(world, "/describe", "[-] [-]");
}

static void free_transport(void *context)
{
    struct world *world = context;
    world->transport = http_transport_free(world->transport);
    loop_stop(world->loop);
}

/* As any listener may, so may who hears of a refusal: it is not told from within libcurl. */
static void who_hears_of_a_refusal_may_free_the_transport(void **state)
{
    struct world *world = *state;
    struct answer refused = {0}, other = {0};
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .on_unauthorized = free_transport,
                                                    .context = world});
    start(&other, world, "GET", "/hold", "", 0, 0);
    start(&refused, world, "GET", "/refuse", "", 0, 5000);
    loop_run(world->loop);
    assert_null(world->transport);
    assert_int_equal(refused.status + refused.ended + other.ended, 0);
}

static void a_user_and_headers_go_with_every_request(void **state)
{
    struct world *world = *state;
    const struct http_header as = {"X-As", "ann", NULL};
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .username = "ann",
                                                    .password = "secret",
                                                    .headers = &as});
    expect_token(world, "/describe", "[Basic YW5uOnNlY3JldA==]");
    expect_token(world, "/names", "[ann]");
    use_client(world, &(struct http_client_options){
                          .base_url = world->url, .ca_pem = world->ca.cert_pem, .username = "ann"});
    expect_token(world, "/describe", "[Basic YW5uOg==]");
}

/* The certificate is for 127.0.0.1: by another name the server is only found if it is told which to
 * look for, and it hears its own in requests. */
static void a_server_may_have_another_name_in_its_certificate(void **state)
{
    struct world *world = *state;
    char url[64], host[64];
    snprintf(url, sizeof(url), "https://localhost%s", strrchr(world->url, ':'));
    snprintf(host, sizeof(host), "[localhost%.*s]", (int)strcspn(strrchr(url, ':'), "/"),
             strrchr(url, ':'));
    struct answer refused = {0};
    use_client(world, &(struct http_client_options){.base_url = url, .ca_pem = world->ca.cert_pem});
    start(&refused, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(refused.err.code, ERR_UNAVAILABLE);
    use_client(world, &(struct http_client_options){.base_url = url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .server_name = "127.0.0.1"});
    expect_token(world, "/names", host);
    /* And one that is right is wrong with another. */
    struct answer other = {0};
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .server_name = "example.invalid"});
    start(&other, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(other.err.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(other.err.message, "certificate"));
}

static void on_proxy_closed(void *context)
{
    loop_stop(((struct world *)context)->loop);
}

/* A server stands for the proxy: it answers in the place of one that does not exist. */
static void a_proxy_is_asked_also_for_a_server_on_this_machine(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    struct http_server *proxy;
    struct http_server_options options = {0};
    char url[64];
    int port;
    assert_int_equal(http_listen("127.0.0.1", 0, &options.listen_fd, &port, NULL), 0);
    assert_int_equal(http_server_new(world->loop, &options, handler, world, &proxy, NULL), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    use_client(world,
               &(struct http_client_options){.base_url = "http://127.0.0.1:1", .proxy = url});
    start(&answer, world, "GET", "/echo", "", 0, 5000);
    loop_run(world->loop);
    assert_int_not_equal(answer.status, 0);
    buf_release(&answer.body);
    world->transport = http_transport_free(world->transport);
    http_server_close(proxy, on_proxy_closed, world);
    loop_run(world->loop);
}

/* A proxy that opens one tunnel, in a thread of its own. */
struct tunnel {
    int listen_fd, target_port;
    char asked[2048]; /* the head of the client's request */
    pthread_t thread;
};

/* Pass on what one side says; false at its end. */
static bool relay(int from, int to)
{
    char data[4096];
    ssize_t size = read(from, data, sizeof(data));
    return size > 0 && write(to, data, (size_t)size) == size;
}

static void *run_tunnel(void *context)
{
    static const char OPEN[] = "HTTP/1.1 200 Connection established\r\nX-Proxy: yes\r\n\r\n";
    struct tunnel *tunnel = context;
    struct pollfd accepting = {.fd = tunnel->listen_fd, .events = POLLIN};
    struct sockaddr_in target = {.sin_family = AF_INET,
                                 .sin_port = htons((uint16_t)tunnel->target_port),
                                 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    size_t size = 0;
    poll(&accepting, 1, 10000);
    int client = accept4(tunnel->listen_fd, NULL, NULL, SOCK_CLOEXEC);
    int server = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (client < 0 || connect(server, (struct sockaddr *)&target, sizeof(target)) < 0)
        return NULL;
    while (size + 1 < sizeof(tunnel->asked) && !strstr(tunnel->asked, "\r\n\r\n") &&
           read(client, tunnel->asked + size, 1) == 1)
        size++;
    bool open = write(client, OPEN, sizeof(OPEN) - 1) == (ssize_t)sizeof(OPEN) - 1;
    while (open) {
        struct pollfd ends[] = {{.fd = client, .events = POLLIN}, {.fd = server, .events = POLLIN}};
        open = poll(ends, 2, 10000) > 0 && (!ends[0].revents || relay(client, server)) &&
               (!ends[1].revents || relay(server, client));
    }
    close(client);
    close(server);
    return NULL;
}

/* What the proxy answers is not the server's answer, and what the server may know it may not. */
static void a_tunnel_through_a_proxy_is_not_the_answer(void **state)
{
    struct world *world = *state;
    struct tunnel tunnel = {0};
    struct answer answer = {0};
    char url[64];
    int port;
    assert_int_equal(http_listen("127.0.0.1", 0, &tunnel.listen_fd, &port, NULL), 0);
    assert_int_equal(sscanf(world->url, "https://127.0.0.1:%d/", &tunnel.target_port), 1);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    assert_int_equal(pthread_create(&tunnel.thread, NULL, run_tunnel, &tunnel), 0);
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .bearer = "secret",
                                                    .proxy = url});
    start(&answer, world, "GET", "/describe", "", 0, 5000);
    loop_run(world->loop);
    world->transport = http_transport_free(world->transport);
    pthread_join(tunnel.thread, NULL);
    close(tunnel.listen_fd);
    assert_int_equal(answer.err.code, ERR_NONE);
    assert_int_equal(answer.status, 202);
    assert_string_equal(answer.type, "text/plain");
    assert_non_null(strstr(answer.body.data, "[Bearer secret]"));
    assert_int_equal(strncmp(tunnel.asked, "CONNECT 127.0.0.1:", 18), 0);
    assert_null(strstr(tunnel.asked, "secret"));
    buf_release(&answer.body);
}

static void a_path_is_escaped_and_a_prefix_kept(void **state)
{
    struct world *world = *state;
    char url[100];
    snprintf(url, sizeof(url), "%sk8s/cluster//", world->url);
    use_client(world, &(struct http_client_options){.base_url = url, .ca_pem = world->ca.cert_pem});
    struct answer answer = {0};
    start(&answer, world, "GET", "/../a b?c#\xc3\xa4", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.status, 200);
    assert_string_equal(world->path, "/k8s/cluster/../a b?c#\xc3\xa4");
    buf_release(&answer.body);
}

static void large_bodies_go_and_come(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    size_t size = 3000000;
    char *body = mem_alloc(size);
    for (size_t i = 0; i < size; i++)
        body[i] = (char)(i * 7 >> 2);
    start(&answer, world, "POST", "/echo", body, size, 0);
    loop_run(world->loop);
    assert_int_equal(answer.body.size, size);
    assert_memory_equal(answer.body.data, body, size);
    free(body);
    buf_release(&answer.body);
}

static void a_stream_comes_as_it_is_written_and_a_cancel_goes_back(void **state)
{
    struct world *world = *state;
    struct answer answer = {.stop_on_data = true};
    start(&answer, world, "GET", "/stream", "", 0, 0);
    loop_run(world->loop);
    assert_string_equal(answer.body.data, "first");
    http_write(world->held, "second", 6);
    loop_run(world->loop);
    assert_string_equal(answer.body.data, "firstsecond");
    http_cancel(world->transport, answer.call);
    loop_run(world->loop);
    assert_int_equal(world->cancelled, 1);
    assert_int_equal(answer.ended, 0);
    buf_release(&answer.body);
}

static void a_listener_may_cancel_free_and_start(void **state)
{
    struct world *world = *state;
    struct answer cancels = {.cancel_on_data = true};
    start(&cancels, world, "GET", "/stream", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(world->cancelled, 1);

    struct answer second = {.free_on_end = true}, first = {.start_on_end = &second};
    start(&first, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(first.ended + second.ended, 2);
    assert_null(world->transport);

    use_client(world,
               &(struct http_client_options){.base_url = world->url, .ca_pem = world->ca.cert_pem});
    struct answer frees = {.free_on_data = true}, bystander = {0};
    start(&bystander, world, "GET", "/hold", "", 0, 0);
    start(&frees, world, "POST", "/echo", "x", 1, 0);
    loop_run(world->loop);
    assert_null(world->transport);
    assert_int_equal(frees.ended + bystander.ended, 0);
    buf_release(&cancels.body);
    buf_release(&frees.body);
}

static void a_timeout_ends_the_call_on_both_sides(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    start(&answer, world, "GET", "/hold", "", 0, 30);
    loop_run(world->loop);
    if (!world->cancelled)
        loop_run(world->loop);
    assert_int_equal(answer.ended, 1);
    assert_int_equal(answer.err.code, ERR_TIMEOUT);
    assert_non_null(strstr(answer.err.message, "/hold?a=b%20c: no whole answer within 30 ms"));
    assert_int_equal(world->cancelled, 1);
}

static void many_calls_at_once_all_end(void **state)
{
    enum { MANY = 40 };
    struct world *world = *state;
    struct answer answers[MANY] = {0};
    for (int round = 0; round < 2; round++) {
        int ended = 0;
        for (int i = 0; i < MANY; i++) {
            char body[16];
            answers[i] = (struct answer){0};
            int size = snprintf(body, sizeof(body), "body %d", i);
            start(&answers[i], world, "POST", "/echo", body, (size_t)size, 0);
        }
        while (ended < MANY) {
            loop_run(world->loop);
            ended = 0;
            for (int i = 0; i < MANY; i++)
                ended += answers[i].ended;
        }
        for (int i = 0; i < MANY; i++) {
            char body[16];
            snprintf(body, sizeof(body), "body %d", i);
            assert_string_equal(answers[i].body.data, body);
            buf_release(&answers[i].body);
        }
    }
    assert_true(world->peer_count <= MANY);
}

static void only_the_given_authority_is_trusted(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->other_ca.cert_pem});
    start(&answer, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.err.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(answer.err.message, "certificate"));
    assert_int_equal(world->peer_count, 0);

    struct answer machine = {0};
    use_client(world, &(struct http_client_options){.base_url = world->url});
    start(&machine, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(machine.err.code, ERR_UNAVAILABLE);

    struct answer insecure = {0};
    use_client(world, &(struct http_client_options){.base_url = world->url, .insecure = true});
    start(&insecure, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(insecure.status, 200);
}

static void a_client_certificate_is_taken_from_memory(void **state)
{
    struct world *world = *state;
    struct err err = ERR_INIT;
    struct tls_pair pair = {0};
    struct answer answer = {0};
    assert_int_equal(tls_make_cert(&world->ca, "admin", NULL, 1, &pair, &err), 0);
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .cert_pem = pair.cert_pem,
                                                    .key_pem = pair.key_pem});
    start(&answer, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.status, 200);
    tls_pair_release(&pair);
}

/* A server judges a connection by its certificate, so a new one needs a new connection. */
static void a_client_certificate_that_was_renewed_is_shown_on_a_new_connection(void **state)
{
    struct world *world = *state;
    struct tls_pair old = {0}, renewed = {0};
    char directory[] = "/tmp/certificate.XXXXXX", cert[64], key[64];
    assert_non_null(mkdtemp(directory));
    snprintf(cert, sizeof(cert), "%s/cert", directory);
    snprintf(key, sizeof(key), "%s/key", directory);
    assert_int_equal(tls_make_cert(&world->ca, "old", NULL, 1, &old, NULL), 0);
    assert_int_equal(tls_make_cert(&world->ca, "renewed", NULL, 1, &renewed, NULL), 0);
    assert_int_equal(file_replace(cert, old.cert_pem, strlen(old.cert_pem), 0600, NULL), 0);
    assert_int_equal(file_replace(key, old.key_pem, strlen(old.key_pem), 0600, NULL), 0);
    use_client(world, &(struct http_client_options){.base_url = world->url,
                                                    .ca_pem = world->ca.cert_pem,
                                                    .cert_file = cert,
                                                    .key_file = key});
    expect_token(world, "/describe", "GET");
    expect_token(world, "/describe", "GET");
    assert_int_equal(world->peer_count, 1);
    assert_int_equal(file_replace(cert, renewed.cert_pem, strlen(renewed.cert_pem), 0600, NULL), 0);
    assert_int_equal(file_replace(key, renewed.key_pem, strlen(renewed.key_pem), 0600, NULL), 0);
    expect_token(world, "/refuse", NULL);
    assert_int_equal(world->peer_count, 1);
    expect_token(world, "/describe", "GET");
    assert_int_equal(world->peer_count, 2);
    tls_pair_release(&old);
    tls_pair_release(&renewed);
    file_remove_tree(directory, NULL);
}

static void nobody_there_is_unavailable(void **state)
{
    struct world *world = *state;
    struct err err = ERR_INIT;
    struct answer answer = {0};
    int fd = -1, port = 0;
    char url[64];
    assert_int_equal(http_listen("127.0.0.1", 0, &fd, &port, &err), 0);
    close(fd);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    use_client(world, &(struct http_client_options){.base_url = url});
    start(&answer, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.ended, 1);
    assert_int_equal(answer.err.code, ERR_UNAVAILABLE);
    assert_memory_equal(answer.err.message, "GET http://127.0.0.1:", 21);
}

static void an_answer_that_breaks_off_is_an_error(void **state)
{
    struct world *world = *state;
    struct answer answer = {.stop_on_data = true};
    start(&answer, world, "GET", "/stream", "", 0, 0);
    loop_run(world->loop);
    assert_string_equal(answer.body.data, "first");
    http_server_close(world->server, on_server_closed, world);
    while (!answer.ended || !world->server_closed)
        loop_run(world->loop);
    assert_int_equal(answer.err.code, ERR_UNAVAILABLE);
    buf_release(&answer.body);

    /* A new server for the teardown. */
    struct err err = ERR_INIT;
    struct http_server_options options = {0};
    http_listen("127.0.0.1", 0, &options.listen_fd, NULL, &err);
    http_server_new(world->loop, &options, handler, world, &world->server, &err);
    world->server_closed = false;
}

static void what_cannot_work_is_refused_at_once(void **state)
{
    struct world *world = *state;
    struct err err = ERR_INIT;
    struct http_transport *transport = NULL;
    static const char *const bad[] = {"", "ftp://x", "127.0.0.1:80", "https://", "nonsense"};
    for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
        assert_int_equal(http_client_new(world->loop,
                                         &(struct http_client_options){.base_url = bad[i]},
                                         &transport, &err),
                         -ERR_INVALID);
    assert_string_equal(err.message, "server 'nonsense': must be like https://host:port");
    assert_int_equal(
        http_client_new(world->loop,
                        &(struct http_client_options){.base_url = world->url, .cert_pem = "x"},
                        &transport, &err),
        -ERR_INVALID);
    struct loop *sim = sim_loop_new(1, 0);
    assert_int_equal(http_client_new(sim, &(struct http_client_options){.base_url = world->url},
                                     &transport, &err),
                     -ERR_UNSUPPORTED);
    loop_free(sim);
    assert_null(transport);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_request_arrives_as_it_was_meant),
        TEST(a_token_that_was_renewed_is_shown_after_a_refusal),
        TEST(a_credential_may_be_changed),
        TEST(who_hears_of_a_refusal_may_free_the_transport),
        TEST(a_user_and_headers_go_with_every_request),
        TEST(a_server_may_have_another_name_in_its_certificate),
        TEST(a_proxy_is_asked_also_for_a_server_on_this_machine),
        TEST(a_tunnel_through_a_proxy_is_not_the_answer),
        TEST(a_path_is_escaped_and_a_prefix_kept),
        TEST(large_bodies_go_and_come),
        TEST(a_stream_comes_as_it_is_written_and_a_cancel_goes_back),
        TEST(a_listener_may_cancel_free_and_start),
        TEST(a_timeout_ends_the_call_on_both_sides),
        TEST(many_calls_at_once_all_end),
        TEST(only_the_given_authority_is_trusted),
        TEST(a_client_certificate_is_taken_from_memory),
        TEST(a_client_certificate_that_was_renewed_is_shown_on_a_new_connection),
        TEST(nobody_there_is_unavailable),
        TEST(an_answer_that_breaks_off_is_an_error),
        TEST(what_cannot_work_is_refused_at_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the https transport: its credentials, the certificates that it accepts, and what a proxy in
 * between sees. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "http_client_world.h"

#include "base/mem.h"
#include "base/system/file.h"

#include <netinet/in.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

static void expect_token(struct world *world, const char *path, const char *token)
{
    struct answer answer = {0};
    answer_start(&answer, world, "GET", path, "", 0, 60000);
    loop_run(world->loop);
    assert_int_equal(answer.ended, 1);
    if (token)
        assert_non_null(strstr(answer.body.data, token));
    buf_release(&answer.body);
}

static void a_renewed_token_is_sent_after_a_rejection(void **state)
{
    struct world *world = *state;
    char path[] = "/tmp/token.XXXXXX";
    int fd = mkstemp(path);
    assert_true(fd >= 0);
    assert_int_equal(write(fd, "old", 3), 3);
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .bearer_file = path});
    expect_token(world, "/describe", "[Bearer old]");
    assert_int_equal(file_replace(path, "renewed\n", 8, 0600, NULL), 0);
    expect_token(world, "/refuse", NULL);
    expect_token(world, "/describe", "[Bearer renewed]");
    close(fd);
    unlink(path);
}

static void count_rejection(void *context)
{
    ++*(int *)context;
}

/* Like the credentials of a plugin: the owner learns of a 401, and sets another credential. */
static void the_owner_may_change_the_credential(void **state)
{
    struct world *world = *state;
    int refusals = 0;
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .bearer = "old",
                                                          .on_unauthorized = count_rejection,
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

/* The callback for a 401 may free the transport, because it is not called from within libcurl. */
static void the_callback_for_a_401_may_free_the_transport(void **state)
{
    struct world *world = *state;
    struct answer refused = {0}, other = {0};
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .on_unauthorized = free_transport,
                                                          .context = world});
    answer_start(&other, world, "GET", "/hold", "", 0, 0);
    answer_start(&refused, world, "GET", "/refuse", "", 0, 60000);
    loop_run(world->loop);
    assert_null(world->transport);
    assert_int_equal(refused.status + refused.ended + other.ended, 0);
}

static void every_request_has_the_user_and_headers(void **state)
{
    struct world *world = *state;
    const struct http_header as = {"X-As", "ann", NULL};
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .username = "ann",
                                                          .password = "secret",
                                                          .headers = &as});
    expect_token(world, "/describe", "[Basic YW5uOnNlY3JldA==]");
    expect_token(world, "/names", "[ann]");
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .username = "ann"});
    expect_token(world, "/describe", "[Basic YW5uOg==]");
}

/* The certificate is for 127.0.0.1. A client that connects by another name must be told which name
 * to expect. Requests have the name of the URL. */
static void a_server_may_have_another_name_in_its_certificate(void **state)
{
    struct world *world = *state;
    char url[64], host[64];
    snprintf(url, sizeof(url), "https://localhost%s", strrchr(world->url, ':'));
    snprintf(host, sizeof(host), "[localhost%.*s]", (int)strcspn(strrchr(url, ':'), "/"),
             strrchr(url, ':'));
    struct answer refused = {0};
    world_use_client(world,
                     &(struct http_client_options){.base_url = url, .ca_pem = world->ca.cert_pem});
    answer_start(&refused, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(refused.err.code, ERR_UNAVAILABLE);
    world_use_client(world, &(struct http_client_options){.base_url = url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .server_name = "127.0.0.1"});
    expect_token(world, "/names", host);
    /* The correct name with an unexpected server name is rejected. */
    struct answer other = {0};
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .server_name = "example.invalid"});
    answer_start(&other, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(other.err.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(other.err.message, "certificate"));
}

static void on_proxy_closed(void *context)
{
    loop_stop(((struct world *)context)->loop);
}

/* A server plays the proxy: it answers instead of a server that does not exist. */
static void a_proxy_is_used_even_for_a_local_server(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    struct http_server *proxy;
    struct http_server_options options = {0};
    char url[64];
    int port;
    assert_int_equal(http_listen("127.0.0.1", 0, &options.listen_fd, &port, NULL), 0);
    assert_int_equal(http_server_new(world->loop, &options, world_handle, world, &proxy, NULL), 0);
    snprintf(url, sizeof(url), "http://127.0.0.1:%d", port);
    world_use_client(world,
                     &(struct http_client_options){.base_url = "http://127.0.0.1:1", .proxy = url});
    answer_start(&answer, world, "GET", "/echo", "", 0, 60000);
    loop_run(world->loop);
    assert_int_not_equal(answer.status, 0);
    buf_release(&answer.body);
    world->transport = http_transport_free(world->transport);
    http_server_close(proxy, on_proxy_closed, world);
    loop_run(world->loop);
}

/* A proxy that opens one tunnel, in its own thread. */
struct tunnel {
    int listen_fd, target_port;
    char asked[2048]; /* the head of the client's request */
    pthread_t thread;
};

/* Passes on bytes from one side. Returns false at its end. */
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
    poll(&accepting, 1, -1);
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
        open = poll(ends, 2, -1) > 0 && (!ends[0].revents || relay(client, server)) &&
               (!ends[1].revents || relay(server, client));
    }
    close(client);
    close(server);
    return NULL;
}

/* The proxy's answer is not taken for the server's, and the proxy does not see the credential. */
static void the_response_of_a_proxy_is_not_that_of_the_server(void **state)
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
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .bearer = "secret",
                                                          .proxy = url});
    answer_start(&answer, world, "GET", "/describe", "", 0, 60000);
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

static void only_the_configured_authority_is_trusted(void **state)
{
    struct world *world = *state;
    struct answer answer = {0};
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->other_ca.cert_pem});
    answer_start(&answer, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.err.code, ERR_UNAVAILABLE);
    assert_non_null(strstr(answer.err.message, "certificate"));
    assert_int_equal(world->peer_count, 0);

    struct answer machine = {0};
    world_use_client(world, &(struct http_client_options){.base_url = world->url});
    answer_start(&machine, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(machine.err.code, ERR_UNAVAILABLE);

    struct answer insecure = {0};
    world_use_client(world,
                     &(struct http_client_options){.base_url = world->url, .insecure = true});
    answer_start(&insecure, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(insecure.status, 200);
}

static void a_client_certificate_is_read_from_memory(void **state)
{
    struct world *world = *state;
    struct err err = ERR_INIT;
    struct tls_pair pair = {0};
    struct answer answer = {0};
    assert_int_equal(tls_make_cert(&world->ca, "admin", NULL, 1, &pair, &err), 0);
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
                                                          .ca_pem = world->ca.cert_pem,
                                                          .cert_pem = pair.cert_pem,
                                                          .key_pem = pair.key_pem});
    answer_start(&answer, world, "GET", "/echo", "", 0, 0);
    loop_run(world->loop);
    assert_int_equal(answer.status, 200);
    tls_pair_release(&pair);
}

/* A server authenticates a connection once by its certificate, so a new certificate needs a new
 * connection. */
static void a_renewed_certificate_is_used_on_a_new_connection(void **state)
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
    world_use_client(world, &(struct http_client_options){.base_url = world->url,
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

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, world_setup, world_teardown)
    const struct CMUnitTest tests[] = {
        TEST(a_renewed_token_is_sent_after_a_rejection),
        TEST(the_owner_may_change_the_credential),
        TEST(the_callback_for_a_401_may_free_the_transport),
        TEST(every_request_has_the_user_and_headers),
        TEST(a_server_may_have_another_name_in_its_certificate),
        TEST(a_proxy_is_used_even_for_a_local_server),
        TEST(the_response_of_a_proxy_is_not_that_of_the_server),
        TEST(only_the_configured_authority_is_trusted),
        TEST(a_client_certificate_is_read_from_memory),
        TEST(a_renewed_certificate_is_used_on_a_new_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

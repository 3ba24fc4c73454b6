/* Requests that the HTTP server answers per second of CPU time, over TLS and keep-alive
 * connections. Compared with the minimum that any such server must do: the same bytes in and out
 * through OpenSSL on an epoll loop, without parsing HTTP. Only the CPU time of the serving thread
 * counts, because the clients run on the same machine. Prints one line of JSON per figure. */
#include "base/buf.h"
#include "base/cleanup.h"
#include "base/mem.h"
#include "loop/loop.h"
#include "net/http/server.h"
#include "tls/tls.h"

#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>

enum { CONNECTIONS = 32, ROUNDS = 400, BODY_SIZE = 300, BIG_SIZE = 32 * 1024 * 1024 };

static const char REQUEST[] =
    "GET /api/v1/namespaces/default/pods/a HTTP/1.1\r\nHost: 127.0.0.1\r\n"
    "Accept: application/json\r\nAuthorization: Bearer 0123456789abcdef\r\n"
    "User-Agent: bench\r\n\r\n";
static const char BIG_REQUEST[] = "GET /big HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n";

struct bench {
    struct tls_pair pair;
    int listen_fd, port;
    struct loop *loop;
    struct http_server *server;
    struct loop_task done;
    char *big;
    atomic_bool stop;   /* stops the peer's server */
    double cpu_seconds; /* CPU time of the serving thread */
};

static double cpu_seconds(void)
{
    struct timespec time;
    clock_gettime(CLOCK_THREAD_CPUTIME_ID, &time);
    return (double)time.tv_sec + (double)time.tv_nsec / 1e9;
}

static void check(bool ok, const char *what)
{
    if (!ok)
        mem_panic("bench: %s", what);
}

/* ---- the clients ----------------------------------------------------------------------------- */

struct client {
    int fd;
    SSL *ssl;
};

static void client_open(struct client *client, SSL_CTX *context, int port)
{
    struct sockaddr_in address = {.sin_family = AF_INET,
                                  .sin_port = htons((uint16_t)port),
                                  .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    client->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(connect(client->fd, (struct sockaddr *)&address, sizeof(address)) == 0, "connect");
    int on = 1;
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    client->ssl = SSL_new(context);
    SSL_set_fd(client->ssl, client->fd);
    check(SSL_connect(client->ssl) == 1, "handshake");
}

static void client_close(struct client *client)
{
    SSL_free(client->ssl);
    close(client->fd);
}

/* Reads a whole answer. Returns the size of its body. */
static size_t client_read_answer(struct client *client)
{
    static _Thread_local char data[64 * 1024];
    size_t got = 0;
    const char *body = NULL;
    while (!body) {
        int size = SSL_read(client->ssl, data + got, (int)(sizeof(data) - got - 1));
        check(size > 0, "answer");
        got += (size_t)size;
        data[got] = '\0';
        body = strstr(data, "\r\n\r\n");
    }
    size_t length = strtoul(strstr(data, "Content-Length: ") + 16, NULL, 10);
    size_t left = length - (got - (size_t)(body + 4 - data));
    while (left) {
        int size = SSL_read(client->ssl, data, sizeof(data));
        check(size > 0, "answer");
        left -= (size_t)size;
    }
    return length;
}

static void ask_many(int port)
{
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    struct client clients[CONNECTIONS];
    for (int i = 0; i < CONNECTIONS; i++)
        client_open(&clients[i], context, port);
    for (int round = 0; round < ROUNDS; round++) {
        for (int i = 0; i < CONNECTIONS; i++)
            SSL_write(clients[i].ssl, REQUEST, sizeof(REQUEST) - 1);
        for (int i = 0; i < CONNECTIONS; i++)
            client_read_answer(&clients[i]);
    }
    for (int i = 0; i < CONNECTIONS; i++)
        client_close(&clients[i]);
    SSL_CTX_free(context);
}

static void *client_main(void *argument)
{
    struct bench *bench = argument;
    ask_many(bench->port);
    loop_post(bench->loop, &bench->done);
    return NULL;
}

static void *big_client_main(void *argument)
{
    struct bench *bench = argument;
    SSL_CTX *context = SSL_CTX_new(TLS_client_method());
    struct client client;
    client_open(&client, context, bench->port);
    SSL_write(client.ssl, BIG_REQUEST, sizeof(BIG_REQUEST) - 1);
    check(client_read_answer(&client) == BIG_SIZE, "large answer");
    client_close(&client);
    SSL_CTX_free(context);
    loop_post(bench->loop, &bench->done);
    return NULL;
}

/* ---- our server ------------------------------------------------------------------------------ */

static void handler(struct http_exchange *exchange, void *context)
{
    static const char body[BODY_SIZE] = {'{', '}'};
    struct bench *bench = context;
    if (strcmp(exchange->request->path, "/big") == 0)
        http_respond(exchange, 200, "application/json", bench->big, BIG_SIZE);
    else
        http_respond(exchange, 200, "application/json", body, sizeof(body));
}

static void on_done(struct loop_task *task)
{
    http_server_close(CONTAINER_OF(task, struct bench, done)->server, NULL, NULL);
}

/* Returns the CPU time of the server for this client. */
static double run_ours(struct bench *bench, void *(*client)(void *argument))
{
    struct err err = ERR_INIT;
    struct tls_server *tls = NULL;
    check(loop_new(&bench->loop, &err) == 0 &&
              tls_server_new(bench->pair.cert_pem, bench->pair.key_pem, &tls, &err) == 0 &&
              http_listen("127.0.0.1", 0, &bench->listen_fd, &bench->port, &err) == 0,
          err.message);
    struct http_server_options options = {.listen_fd = bench->listen_fd, .tls = tls};
    check(http_server_new(bench->loop, &options, handler, bench, &bench->server, &err) == 0,
          err.message);
    bench->done = (struct loop_task){.callback = on_done};
    pthread_t thread;
    pthread_create(&thread, NULL, client, bench);
    double start = cpu_seconds();
    loop_run(bench->loop);
    double seconds = cpu_seconds() - start;
    pthread_join(thread, NULL);
    loop_free(bench->loop);
    tls_server_free(tls);
    return seconds;
}

/* ---- the peer: OpenSSL on epoll, and nothing else -------------------------------------------- */

static void peer_accept(SSL_CTX *context, int listen_fd, int epoll)
{
    int fd = accept4(listen_fd, NULL, NULL, SOCK_CLOEXEC), on = 1;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
    SSL *ssl = SSL_new(context);
    SSL_set_fd(ssl, fd);
    check(SSL_accept(ssl) == 1, "handshake");
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = ssl};
    epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &event);
}

static void *peer_main(void *argument)
{
    struct bench *bench = argument;
    char answer[512];
    int answer_size = snprintf(answer, sizeof(answer) - BODY_SIZE,
                               "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
                               "Content-Length: %d\r\n\r\n",
                               BODY_SIZE);
    memset(answer + answer_size, 0, BODY_SIZE);
    answer_size += BODY_SIZE;
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    BIO *cert = BIO_new_mem_buf(bench->pair.cert_pem, -1);
    BIO *key = BIO_new_mem_buf(bench->pair.key_pem, -1);
    X509 *x509 = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    SSL_CTX_use_certificate(context, x509);
    SSL_CTX_use_PrivateKey(context, pkey);
    int epoll = epoll_create1(EPOLL_CLOEXEC);
    struct epoll_event event = {.events = EPOLLIN};
    epoll_ctl(epoll, EPOLL_CTL_ADD, bench->listen_fd, &event);
    double start = cpu_seconds();
    while (!bench->stop) {
        struct epoll_event events[CONNECTIONS];
        int count = epoll_wait(epoll, events, CONNECTIONS, 100);
        for (int i = 0; i < count; i++) {
            SSL *ssl = events[i].data.ptr;
            char request[1024];
            if (!ssl) {
                peer_accept(context, bench->listen_fd, epoll);
            } else if (SSL_read(ssl, request, sizeof(request)) > 0) {
                SSL_write(ssl, answer, answer_size);
            } else {
                close(SSL_get_fd(ssl));
                SSL_free(ssl);
            }
        }
    }
    bench->cpu_seconds = cpu_seconds() - start;
    close(epoll);
    X509_free(x509);
    EVP_PKEY_free(pkey);
    BIO_free(cert);
    BIO_free(key);
    SSL_CTX_free(context);
    return NULL;
}

static double run_peer(struct bench *bench)
{
    struct err err = ERR_INIT;
    check(http_listen("127.0.0.1", 0, &bench->listen_fd, &bench->port, &err) == 0, err.message);
    pthread_t thread;
    bench->stop = false;
    pthread_create(&thread, NULL, peer_main, bench);
    ask_many(bench->port);
    bench->stop = true;
    pthread_join(thread, NULL);
    close(bench->listen_fd);
    return bench->cpu_seconds;
}

int main(void)
{
    static const char *const hosts[] = {"127.0.0.1", NULL};
    struct bench bench = {0};
    struct err err = ERR_INIT;
    struct tls_pair ca = {0};
    signal(SIGPIPE, SIG_IGN);
    check(tls_make_ca("bench", 1, &ca, &err) == 0 &&
              tls_make_cert(&ca, "bench", hosts, 1, &bench.pair, &err) == 0,
          err.message);
    bench.big = mem_zalloc(BIG_SIZE);
    double ours = CONNECTIONS * ROUNDS / run_ours(&bench, client_main);
    double peer = CONNECTIONS * ROUNDS / run_peer(&bench);
    printf("{\"name\":\"api https requests, "
           "keep-alive\",\"value\":%.0f,\"unit\":\"req/s\",\"peer\":\"OpenSSL on "
           "epoll, no HTTP\",\"peer_value\":%.0f}\n",
           ours, peer);
    printf("{\"name\":\"api https large answer\",\"value\":%.0f,\"unit\":\"MB/s\"}\n",
           BIG_SIZE / 1e6 / run_ours(&bench, big_client_main));
    free(bench.big);
    tls_pair_release(&bench.pair);
    tls_pair_release(&ca);
    return 0;
}

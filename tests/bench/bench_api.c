/* The throughput of an API server, ours or another: pods of a training job are created by one
 * client and by many, read, listed, and watched by 100 clients. Each client is a thread with its
 * own connection that does as little as possible, so that the figures show the server. At the end
 * there are 10,000 pods. Prints one JSON line per figure.
 *
 *   bench_api KUBECONFIG NAMESPACE
 */
#include "base/arena.h"
#include "base/buf.h"
#include "base/mem.h"
#include "base/moment.h"
#include "kube/client/kubeconfig.h"

#include <netdb.h>
#include <netinet/tcp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

enum {
    ALONE = 500,   /* pods created by one client */
    WATCHED = 500, /* pods created while 100 clients watch */
    MANY = 9000,   /* pods created by many clients; 10,000 in total */
    GETS = 10000,
    LISTS = 3,
    CLIENTS = 32,
    WATCHERS = 100,
    ANSWER_MAX = 256 * 1024 * 1024,
};

struct target {
    char host[256], port[8];
    const char *token; /* NULL: use the client certificate */
    const char *namespace_;
    SSL_CTX *tls;
};

static void check(bool is_fine, const char *what)
{
    if (is_fine)
        return;
    fprintf(stderr, "bench_api: %s\n", what);
    exit(1);
}

static void report(const char *name, double value, const char *unit)
{
    printf("{\"name\":\"%s\",\"value\":%.4g,\"unit\":\"%s\"}\n", name, value, unit);
}

static double seconds_since(int64_t start_ns)
{
    return (double)(moment_monotonic_ns() - start_ns) / 1e9;
}

/* ---- a client -------------------------------------------------------------------------------- */

struct client {
    const struct target *target;
    SSL *tls;
    int fd;
    struct buf request, answer; /* answer: the head and the body, chunks joined */
    size_t head_size;
};

static void client_init(struct client *client, const struct target *target)
{
    struct addrinfo *found, hints = {.ai_socktype = SOCK_STREAM};
    *client = (struct client){.target = target};
    buf_init(&client->request, 64 * 1024);
    buf_init(&client->answer, ANSWER_MAX);
    check(getaddrinfo(target->host, target->port, &hints, &found) == 0, "the server's address");
    client->fd = socket(found->ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
    check(connect(client->fd, found->ai_addr, found->ai_addrlen) == 0, "connect");
    freeaddrinfo(found);
    setsockopt(client->fd, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
    client->tls = SSL_new(target->tls);
    SSL_set_fd(client->tls, client->fd);
    check(SSL_connect(client->tls) == 1, "TLS handshake");
}

static void client_release(struct client *client)
{
    SSL_free(client->tls);
    close(client->fd);
    buf_release(&client->request);
    buf_release(&client->answer);
}

static void send_request(struct client *client, const char *method, const char *path,
                         const char *body)
{
    const struct target *target = client->target;
    buf_clear(&client->request);
    buf_printf(&client->request,
               "%s /api/v1/namespaces/%s/pods%s HTTP/1.1\r\nHost: %s:%s\r\n"
               "Accept: application/json\r\nContent-Type: application/json\r\n",
               method, target->namespace_, path, target->host, target->port);
    if (target->token)
        buf_printf(&client->request, "Authorization: Bearer %s\r\n", target->token);
    buf_printf(&client->request, "Content-Length: %zu\r\n\r\n%s", strlen(body), body);
    check(SSL_write(client->tls, client->request.data, (int)client->request.size) > 0, "send");
}

static void read_some(struct client *client)
{
    char *room = buf_reserve(&client->answer, 64 * 1024);
    check(room != NULL, "an answer is too large");
    int size = SSL_read(client->tls, room, 64 * 1024);
    check(size > 0, "the server hung up");
    buf_commit(&client->answer, (size_t)size);
}

/* Returns the status code. The whole head has been read afterwards. */
static int read_head(struct client *client)
{
    const char *end;
    buf_clear(&client->answer);
    do
        read_some(client);
    while (!(end = strstr(client->answer.data, "\r\n\r\n")));
    client->head_size = (size_t)(end + 4 - client->answer.data);
    return atoi(client->answer.data + strlen("HTTP/1.1 "));
}

/* Joins the chunks in place. */
static void read_chunks(struct client *client)
{
    struct buf *answer = &client->answer;
    size_t at = client->head_size, joined = at;
    for (;;) {
        const char *line_end;
        while (!(line_end = strstr(answer->data + at, "\r\n")))
            read_some(client);
        size_t size = strtoul(answer->data + at, NULL, 16);
        at = (size_t)(line_end + 2 - answer->data);
        while (answer->size < at + size + 2)
            read_some(client);
        memmove(answer->data + joined, answer->data + at, size);
        joined += size;
        at += size + 2;
        if (size == 0)
            break;
    }
    answer->size = joined;
    answer->data[joined] = '\0';
}

static void ask(struct client *client, const char *method, const char *path, const char *body,
                int expected)
{
    send_request(client, method, path, body);
    int status = read_head(client);
    const char *length = strcasestr(client->answer.data, "\r\nContent-Length:");
    if (length && length < client->answer.data + client->head_size) {
        size_t size = client->head_size + strtoul(length + strlen("\r\nContent-Length:"), NULL, 10);
        while (client->answer.size < size)
            read_some(client);
    } else {
        read_chunks(client);
    }
    check(status == expected, client->answer.data);
}

/* ---- many clients ---------------------------------------------------------------------------- */

struct crowd {
    const struct target *target;
    void (*task)(struct client *client, int number);
    atomic_int next;
    int end;
    pthread_barrier_t start;
};

static void *crowd_member(void *argument)
{
    struct crowd *crowd = argument;
    struct client client;
    client_init(&client, crowd->target);
    pthread_barrier_wait(&crowd->start);
    for (int number; (number = atomic_fetch_add(&crowd->next, 1)) < crowd->end;)
        crowd->task(&client, number);
    client_release(&client);
    return NULL;
}

/* Runs `count` tasks, numbered from `first`, on this many clients. Returns the seconds from the
 * moment when all clients are connected. */
static double run_crowd(const struct target *target, int clients, int first, int count,
                        void (*task)(struct client *client, int number))
{
    pthread_t threads[CLIENTS];
    struct crowd crowd = {.target = target, .task = task, .next = first, .end = first + count};
    pthread_barrier_init(&crowd.start, NULL, (unsigned)clients + 1);
    for (int i = 0; i < clients; i++)
        pthread_create(&threads[i], NULL, crowd_member, &crowd);
    pthread_barrier_wait(&crowd.start);
    int64_t start = moment_monotonic_ns();
    for (int i = 0; i < clients; i++)
        pthread_join(threads[i], NULL);
    pthread_barrier_destroy(&crowd.start);
    return seconds_since(start);
}

/* A pod as an operator creates it, but for a scheduler that does not exist, so that it never
 * runs. */
static void create_pod(struct client *client, int number)
{
    static const char POD[] =
        "{\"apiVersion\":\"v1\",\"kind\":\"Pod\",\"metadata\":{\"name\":\"mnist-worker-%d\","
        "\"labels\":{\"training.kubeflow.org/job-name\":\"mnist\","
        "\"training.kubeflow.org/operator-name\":\"tfjob-controller\","
        "\"training.kubeflow.org/replica-index\":\"%d\","
        "\"training.kubeflow.org/replica-type\":\"worker\"}},"
        "\"spec\":{\"schedulerName\":\"absent\",\"restartPolicy\":\"Never\",\"containers\":[{"
        "\"name\":\"tensorflow\",\"image\":\"trainyard/trainer\","
        "\"command\":[\"trainer\",\"fit\",\"classifier\"],"
        "\"args\":[\"--batch-size\",\"64\",\"--learning-rate\",\"0.01\"],"
        "\"ports\":[{\"name\":\"tfjob-port\",\"containerPort\":2222,\"protocol\":\"TCP\"}],"
        "\"env\":[{\"name\":\"TF_CONFIG\",\"value\":\"{\\\"cluster\\\":{\\\"worker\\\":["
        "\\\"mnist-worker-0.default.svc:2222\\\",\\\"mnist-worker-1.default.svc:2222\\\","
        "\\\"mnist-worker-2.default.svc:2222\\\",\\\"mnist-worker-3.default.svc:2222\\\"]},"
        "\\\"task\\\":{\\\"type\\\":\\\"worker\\\",\\\"index\\\":%d},"
        "\\\"environment\\\":\\\"cloud\\\"}\"}],"
        "\"resources\":{\"limits\":{\"cpu\":\"1\",\"memory\":\"1Gi\"}}}]}}";
    char body[4096];
    snprintf(body, sizeof(body), POD, number, number, number);
    ask(client, "POST", "", body, 201);
}

static void get_pod(struct client *client, int number)
{
    char path[64];
    snprintf(path, sizeof(path), "/mnist-worker-%d", number % (ALONE + WATCHED + MANY));
    ask(client, "GET", path, "", 200);
}

/* ---- lists ----------------------------------------------------------------------------------- */

static int count_text(const char *text, const char *part)
{
    int count = 0;
    while ((text = strstr(text, part))) {
        text += strlen(part);
        count++;
    }
    return count;
}

static int ascending(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;
    return x < y ? -1 : x > y;
}

static void bench_lists(const struct target *target)
{
    struct client client;
    double seconds[LISTS];
    client_init(&client, target);
    for (int i = 0; i < LISTS; i++) {
        int64_t start = moment_monotonic_ns();
        ask(&client, "GET", "", "", 200);
        seconds[i] = seconds_since(start);
        check(count_text(client.answer.data, "\"schedulerName\":\"absent\"") ==
                  ALONE + WATCHED + MANY,
              "a list is incomplete");
    }
    client_release(&client);
    qsort(seconds, LISTS, sizeof(*seconds), ascending);
    report("api list of 10,000 pods", seconds[LISTS / 2] * 1e3, "ms");
}

/* ---- watches --------------------------------------------------------------------------------- */

struct watcher {
    pthread_t thread;
    const struct target *target;
    const char *path;
    pthread_barrier_t *start;
};

/* Counts events by their end: in an answer only the end of an event is "}\n". */
static void *watcher_main(void *argument)
{
    const struct watcher *watcher = argument;
    struct client client;
    client_init(&client, watcher->target);
    send_request(&client, "GET", watcher->path, "");
    check(read_head(&client) == 200, client.answer.data);
    int events = count_text(client.answer.data + client.head_size, "}\n");
    pthread_barrier_wait(watcher->start);
    while (events < WATCHED) {
        bool is_open = client.answer.data[client.answer.size - 1] == '}';
        buf_clear(&client.answer);
        if (is_open)
            buf_append_char(&client.answer, '}');
        read_some(&client);
        events += count_text(client.answer.data, "}\n");
    }
    client_release(&client);
    return NULL;
}

/* The path of a watch that starts at the newest revision. */
static void make_watch_path(const struct target *target, char path[128])
{
    struct client client;
    client_init(&client, target);
    ask(&client, "GET", "?limit=1", "", 200);
    const char *revision = strstr(client.answer.data, "\"resourceVersion\":\"");
    check(revision != NULL, "a list has no resourceVersion");
    snprintf(path, 128, "?watch=true&resourceVersion=%lld",
             strtoll(revision + strlen("\"resourceVersion\":\""), NULL, 10));
    client_release(&client);
}

/* Measures from the first create until the last watcher has received the last pod. */
static void bench_watches(const struct target *target)
{
    static struct watcher watchers[WATCHERS];
    pthread_barrier_t start;
    char path[128];
    make_watch_path(target, path);
    pthread_barrier_init(&start, NULL, WATCHERS + 1);
    for (int i = 0; i < WATCHERS; i++) {
        watchers[i] = (struct watcher){.target = target, .path = path, .start = &start};
        pthread_create(&watchers[i].thread, NULL, watcher_main, &watchers[i]);
    }
    pthread_barrier_wait(&start);
    int64_t begin = moment_monotonic_ns();
    run_crowd(target, CLIENTS, ALONE, WATCHED, create_pod);
    for (int i = 0; i < WATCHERS; i++)
        pthread_join(watchers[i].thread, NULL);
    report("api events to 100 watchers", WATCHERS * WATCHED / seconds_since(begin), "events/s");
    pthread_barrier_destroy(&start);
}

/* ---- the target server ----------------------------------------------------------------------- */

static void use_certificate(SSL_CTX *tls, const struct kubeconfig *config)
{
    BIO *cert = BIO_new_mem_buf(config->cert_pem, -1), *key = BIO_new_mem_buf(config->key_pem, -1);
    X509 *x509 = PEM_read_bio_X509(cert, NULL, NULL, NULL);
    EVP_PKEY *pkey = PEM_read_bio_PrivateKey(key, NULL, NULL, NULL);
    check(SSL_CTX_use_certificate(tls, x509) == 1 && SSL_CTX_use_PrivateKey(tls, pkey) == 1,
          "the client's certificate");
    X509_free(x509);
    EVP_PKEY_free(pkey);
    BIO_free(cert);
    BIO_free(key);
}

static void target_init(struct target *target, const struct kubeconfig *config,
                        const char *namespace_)
{
    *target = (struct target){.namespace_ = namespace_, .token = config->token};
    check(sscanf(config->server, "https://%255[^:]:%7[0-9]", target->host, target->port) == 2,
          "the server's address is not https://HOST:PORT");
    target->tls = SSL_CTX_new(TLS_client_method());
    if (config->cert_pem)
        use_certificate(target->tls, config);
}

int main(int argc, char **argv)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct kubeconfig config;
    struct target target;
    struct err err = ERR_INIT;
    if (argc != 3) {
        fputs("usage: bench_api KUBECONFIG NAMESPACE\n", stderr);
        return 2;
    }
    check(kubeconfig_read(arena, argv[1], NULL, &config, &err) == 0, err.message);
    target_init(&target, &config, argv[2]);
    report("api pod creates, 1 client", ALONE / run_crowd(&target, 1, 0, ALONE, create_pod),
           "creates/s");
    bench_watches(&target);
    report("api pod creates, 32 clients",
           MANY / run_crowd(&target, CLIENTS, ALONE + WATCHED, MANY, create_pod), "creates/s");
    report("api pod gets, 32 clients", GETS / run_crowd(&target, CLIENTS, 0, GETS, get_pod),
           "gets/s");
    bench_lists(&target);
    SSL_CTX_free(target.tls);
    return 0;
}

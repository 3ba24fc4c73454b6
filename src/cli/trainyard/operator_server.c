/* Runs the operator's HTTP server; see operator_server.h. */
#include "cli/trainyard/operator_server.h"

#include "base/mem.h"
#include "base/str.h"
#include "net/http/server.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

enum { METRICS_MAX = 16 << 20, SENTENCE_MAX = 4096, ADDRESSES = 2, CONNECTIONS_MAX = 64 };

struct operator_server {
    struct loop *loop;
    struct operator_server_options options;
    struct http_server *servers[ADDRESSES];
    int open;                     /* number of listeners that are not closed yet */
    struct loop_task closed_task; /* calls `closed` if there is no listener */
    void (*closed)(void *context);
    void *closed_context;
    struct prometheus_collector collector;
    struct prometheus_metric *memory, *cpu;
    double cpu_counted; /* the seconds that were added to `cpu` so far */
};

int operator_server_parse(struct arena *arena, const char *text, const char **ret_host,
                          int *ret_port, struct err *err)
{
    const char *colon = strrchr(text, ':');
    const char *port_text = colon ? colon + 1 : text;
    const char *host = colon ? arena_strndup(arena, text, (size_t)(colon - text)) : "";
    int64_t port = 0;
    *ret_host = "";
    *ret_port = -1;
    if (str_is_empty(text) || str_eq(text, "0"))
        return 0;
    if (str_to_int64(port_text, 0, 65535, &port, NULL) < 0)
        return err_set(err, ERR_USAGE,
                       "'%s' is not an address to listen on: write HOST:PORT or :PORT", text);
    size_t size = strlen(host);
    if (size > 1 && host[0] == '[' && host[size - 1] == ']')
        host = arena_strndup(arena, host + 1, size - 2);
    *ret_host = str_eq(host, "localhost") ? "127.0.0.1" : host;
    *ret_port = (int)port;
    return 0;
}

/* ---- Answers --------------------------------------------------------------------------------- */

static void answer_metrics(struct operator_server *server, struct http_exchange *exchange)
{
    _cleanup_buf_ struct buf text;
    buf_init(&text, METRICS_MAX);
    prometheus_write(server->options.metrics, &text);
    http_respond(exchange, 200, PROMETHEUS_CONTENT_TYPE, text.data, text.size);
}

static void answer_ready(struct operator_server *server, struct http_exchange *exchange)
{
    _cleanup_buf_ struct buf sentence;
    buf_init(&sentence, SENTENCE_MAX);
    bool ready = server->options.is_ready(server->options.context, &sentence);
    buf_append_char(&sentence, '\n');
    http_respond(exchange, ready ? 200 : 503, "text/plain; charset=utf-8", sentence.data,
                 sentence.size);
}

static void server_handle(struct http_exchange *exchange, void *context)
{
    struct operator_server *server = context;
    const char *path = exchange->request->path;
    bool reads =
        str_eq(exchange->request->method, "GET") || str_eq(exchange->request->method, "HEAD");
    static const char not_found[] =
        "not found: the paths are /healthz, /livez, /readyz and /metrics\n";
    if (!reads)
        http_respond(exchange, 405, "text/plain", "", 0);
    else if (str_eq(path, "/metrics"))
        answer_metrics(server, exchange);
    else if (str_eq(path, "/healthz") || str_eq(path, "/livez"))
        http_respond(exchange, 200, "text/plain", "ok\n", 3);
    else if (str_eq(path, "/readyz"))
        answer_ready(server, exchange);
    else
        http_respond(exchange, 404, "text/plain", not_found, strlen(not_found));
}

static double resident_bytes(void)
{
    long pages = 0;
    FILE *file = fopen("/proc/self/statm", "re");
    if (!file)
        return 0;
    if (fscanf(file, "%*d %ld", &pages) != 1)
        pages = 0;
    fclose(file);
    return (double)pages * (double)sysconf(_SC_PAGESIZE);
}

static void server_collect(struct prometheus_collector *collector)
{
    struct operator_server *server = CONTAINER_OF(collector, struct operator_server, collector);
    struct timespec used = {0};
    clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &used);
    prometheus_set(server->memory, resident_bytes(), NULL);
    double seconds = (double)used.tv_sec + (double)used.tv_nsec / 1e9;
    prometheus_add(server->cpu, seconds - server->cpu_counted, NULL);
    server->cpu_counted = seconds;
}

/* ---- Opening and closing --------------------------------------------------------------------- */

static int listen_on(struct operator_server *server, const char *host, int port,
                     struct http_server **ret, struct err *err)
{
    struct http_server_options options = {.connections_max = CONNECTIONS_MAX};
    int result;
    /* An empty host means all addresses, or only those of IPv4 if the machine has no IPv6. */
    if (*host == '\0') {
        result = http_listen("::", port, &options.listen_fd, NULL, err);
        if (result < 0)
            result = http_listen("0.0.0.0", port, &options.listen_fd, NULL, err);
    } else {
        result = http_listen(host, port, &options.listen_fd, NULL, err);
    }
    if (result < 0)
        return result;
    result = http_server_new(server->loop, &options, server_handle, server, ret, err);
    if (result == 0)
        server->open++;
    return result;
}

static int open_all(struct operator_server *server, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const struct {
        const char *option, *text;
    } ROWS[ADDRESSES] = {
        {"--metrics-bind-address", server->options.metrics_address},
        {"--health-probe-bind-address", server->options.health_address},
    };
    for (size_t i = 0; i < ADDRESSES; i++) {
        const char *host;
        int port;
        int result = operator_server_parse(arena, ROWS[i].text, &host, &port, err);
        bool same = i > 0 && str_eq(ROWS[i].text, ROWS[0].text);
        if (result == 0 && port >= 0 && !same)
            result = listen_on(server, host, port, &server->servers[i], err);
        if (result < 0)
            return err_wrap(err, "%s", ROWS[i].option);
    }
    return 0;
}

int operator_server_new(struct loop *loop, const struct operator_server_options *options,
                        struct operator_server **ret, struct err *err)
{
    struct operator_server *server = mem_zalloc(sizeof(*server));
    server->loop = loop;
    server->options = *options;
    server->memory = prometheus_gauge(options->metrics, "process_resident_memory_bytes",
                                      "Resident memory of the operator", NULL);
    server->cpu = prometheus_counter(options->metrics, "process_cpu_seconds_total",
                                     "Processor time that the operator has used", NULL);
    server->collector.collect = server_collect;
    prometheus_collector_add(options->metrics, &server->collector);
    *ret = server; /* set even on failure, so that the caller can close the server */
    return open_all(server, err);
}

static void server_finish(struct operator_server *server)
{
    void (*closed)(void *context) = server->closed;
    void *context = server->closed_context;
    prometheus_collector_remove(server->options.metrics, &server->collector);
    free(server);
    closed(context);
}

static void on_operator_server_closed(void *context)
{
    struct operator_server *server = context;
    if (--server->open == 0)
        server_finish(server);
}

static void on_no_listener(struct loop_task *task)
{
    server_finish(CONTAINER_OF(task, struct operator_server, closed_task));
}

void operator_server_close(struct operator_server *server, void (*closed)(void *context),
                           void *context)
{
    server->closed = closed;
    server->closed_context = context;
    server->closed_task.callback = on_no_listener;
    if (server->open == 0)
        loop_defer(server->loop, &server->closed_task);
    for (size_t i = 0; i < ADDRESSES; i++)
        if (server->servers[i])
            http_server_close(server->servers[i], on_operator_server_closed, server);
}

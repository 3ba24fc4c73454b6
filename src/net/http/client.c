/* Implements the HTTP client on libcurl; see client.h. libcurl reports the sockets and the timeout
 * that it waits for. The loop calls libcurl when a socket is ready or the timeout has passed, and
 * libcurl transfers the bytes.
 *
 * Code in a libcurl callback must not call libcurl, but the callbacks of an http_call may start,
 * cancel or free any http_call. Therefore the libcurl callbacks only store the received data, and
 * the callbacks of an http_call run after libcurl has returned. */
#include "net/http/client.h"

#include "base/buf.h"
#include "base/mem.h"
#include "base/str.h"
#include "net/http/client_internal.h"

#include <stdlib.h>
#include <string.h>
#include <uv.h>

enum { HEADER_MAX = 256 * 1024, CONNECTIONS_KEPT = 64 };

static struct client *client_of(struct http_transport *transport)
{
    return CONTAINER_OF(transport, struct client, transport);
}

/* ---- callbacks of libcurl -------------------------------------------------------------------- */

static void call_mark_ready(struct client_call *call)
{
    if (!list_is_linked(&call->ready_link))
        list_append(&call->client->ready_calls, &call->ready_link);
}

/* Stores one header line. Several headers may arrive for one request, because the header of "100
 * Continue" comes before the header of the final response. */
static size_t on_header(char *line, size_t unit, size_t count, void *context)
{
    struct client_call *call = context;
    size_t size = count;
    call->header_size += size;
    if (call->header_size > HEADER_MAX)
        return 0;
    while (size && strchr("\r\n", line[size - 1]))
        size--;
    if (call->head_done) /* a trailer */
        return count;
    if (size == 0) {
        call->head_done = call->status >= 200;
        if (call->head_done)
            call_mark_ready(call);
        return count;
    }
    const char *text = arena_strndup(call->arena, line, size);
    const char *colon = strchr(text, ':');
    if (str_has_prefix(text, "HTTP/")) {
        const char *status = strchr(text, ' ');
        call->status = status ? atoi(status) : 0;
        call->headers = NULL;
    } else if (colon) {
        http_header_add(call->arena, &call->headers,
                        arena_strndup(call->arena, text, (size_t)(colon - text)),
                        colon + 1 + strspn(colon + 1, " \t"));
    }
    return count;
}

static size_t on_client_body(char *data, size_t unit, size_t count, void *context)
{
    struct client_call *call = context;
    buf_append(&call->data, data, count);
    call_mark_ready(call);
    return count;
}

static int on_timeout_wanted(CURLM *multi, long timeout_ms, void *context)
{
    struct client *client = context;
    if (timeout_ms < 0)
        loop_timer_stop(&client->timer);
    else
        loop_timer_start(&client->timer, timeout_ms);
    return 0;
}

static void on_client_socket_closed(uv_handle_t *handle)
{
    free(CONTAINER_OF(handle, struct client_socket, poll));
}

static void client_socket_close(struct client_socket *watched)
{
    list_remove(&watched->link);
    uv_close((uv_handle_t *)&watched->poll, on_client_socket_closed);
}

static struct client_socket *client_socket_new(struct client *client, curl_socket_t fd)
{
    struct client_socket *watched = mem_zalloc(sizeof(*watched));
    int result = uv_poll_init_socket(loop_uv(client->loop), &watched->poll, fd);
    if (result < 0)
        mem_panic("http client: cannot watch a socket: %s", uv_strerror(result));
    watched->client = client;
    watched->fd = fd;
    list_push(&client->sockets, &watched->link);
    return watched;
}

static void on_client_poll(uv_poll_t *poll, int status, int events);

static int on_socket_wanted(CURL *easy, curl_socket_t fd, int what, void *context,
                            void *socket_context)
{
    struct client *client = context;
    struct client_socket *watched = socket_context;
    if (what == CURL_POLL_REMOVE) {
        if (watched) {
            client_socket_close(watched);
            curl_multi_assign(client->multi, fd, NULL);
        }
        return 0;
    }
    if (!watched) {
        watched = client_socket_new(client, fd);
        curl_multi_assign(client->multi, fd, watched);
    }
    int events = (what & CURL_POLL_IN ? UV_READABLE : 0) | (what & CURL_POLL_OUT ? UV_WRITABLE : 0);
    uv_poll_start(&watched->poll, events, on_client_poll);
    return 0;
}

/* ---- callbacks of calls ---------------------------------------------------------------------- */

static void client_call_free(struct client_call *call)
{
    if (list_is_linked(&call->ready_link))
        list_remove(&call->ready_link);
    list_remove(&call->link);
    curl_multi_remove_handle(call->client->multi, call->easy);
    curl_easy_cleanup(call->easy);
    curl_slist_free_all(call->lines);
    buf_release(&call->data);
    arena_free(call->arena);
    free(call);
}

static void set_error(const struct client_call *call, struct err *err)
{
    const char *reason = call->reason[0] ? call->reason : curl_easy_strerror(call->result);
    curl_off_t connect_time = 0; /* time until the connection was established; 0: it was not */
    curl_easy_getinfo(call->easy, CURLINFO_PRETRANSFER_TIME_T, &connect_time);
    switch (call->result) {
    case CURLE_OPERATION_TIMEDOUT:
        /* Either the time limit of the call has passed, or CLIENT_CONNECT_TIMEOUT_MS. */
        if (call->timeout_ms > 0 && (call->timeout_ms <= CLIENT_CONNECT_TIMEOUT_MS || connect_time))
            err_set(err, ERR_TIMEOUT, "%s %s: no complete response within %lld ms", call->method,
                    call->url, (long long)call->timeout_ms);
        else
            err_set(err, ERR_TIMEOUT, "%s %s: %s", call->method, call->url, reason);
        break;
    case CURLE_URL_MALFORMAT:
    case CURLE_UNSUPPORTED_PROTOCOL:
        err_set(err, ERR_INVALID, "%s %s: %s", call->method, call->url, reason);
        break;
    case CURLE_WRITE_ERROR: /* on_header() stopped the transfer */
        err_set(err, ERR_TOO_LARGE, "%s %s: the response's header is longer than %d bytes",
                call->method, call->url, HEADER_MAX);
        break;
    default: /* the server is not reachable or not trusted, or the connection was lost */
        err_set(err, ERR_UNAVAILABLE, "%s %s: %s", call->method, call->url, reason);
    }
}

/* Called when the server has rejected the credentials. */
static void client_reject_credential(struct client *client)
{
    http_bearer_mark_rejected(&client->bearer);
    http_certificate_mark_rejected(&client->certificate);
    if (client->on_unauthorized)
        client->on_unauthorized(client->context);
}

/* Calls the callbacks of a call. Each callback may cancel the call or free the transport. */
static void client_deliver(struct client_call *call)
{
    call->busy = true;
    if (call->head_done && !call->head_delivered) {
        call->head_delivered = true;
        if (call->status == 401)
            client_reject_credential(call->client);
        if (!call->cancelled && call->callbacks.on_head)
            call->callbacks.on_head(call->context, call->status, call->headers);
    }
    if (!call->cancelled && call->data.size) {
        struct buf data = call->data;
        buf_init(&call->data, data.max);
        if (call->callbacks.on_data)
            call->callbacks.on_data(call->context, data.data, data.size);
        buf_release(&data);
    }
    if (!call->cancelled && call->done) {
        struct err err;
        bool ok = call->result == CURLE_OK;
        if (!ok)
            set_error(call, &err);
        call->cancelled = true;
        call->callbacks.on_end(call->context, ok ? NULL : &err);
    }
    call->busy = false;
    if (call->cancelled)
        client_call_free(call);
}

static void client_release(struct client *client)
{
    LIST_EACH_SAFE (struct client_call, call, &client->calls, link)
        client_call_free(call);
    loop_timer_stop(&client->timer);
    curl_multi_cleanup(client->multi);
    loop_timer_stop(&client->timer); /* the cleanup may have started it again */
    LIST_EACH_SAFE (struct client_socket, watched, &client->sockets, link)
        client_socket_close(watched);
    free(client->base_url);
    http_bearer_release(&client->bearer);
    free(client->ca_pem);
    free(client->username);
    free(client->password);
    free(client->proxy);
    free(client->host);
    curl_slist_free_all(client->connect_to);
    arena_free(client->arena);
    http_certificate_release(&client->certificate);
    free(client);
    curl_global_cleanup();
}

/* Calls the callbacks of all calls that have received data or have ended. */
static void client_deliver_ready(struct client *client)
{
    int left;
    CURLMsg *message;
    while ((message = curl_multi_info_read(client->multi, &left))) {
        struct client_call *call = NULL;
        if (message->msg != CURLMSG_DONE)
            continue;
        curl_easy_getinfo(message->easy_handle, CURLINFO_PRIVATE, &call);
        call->done = true;
        call->result = message->data.result;
        call_mark_ready(call);
    }
    if (client->delivering)
        return;
    client->delivering = true;
    while (!list_is_empty(&client->ready_calls) && !client->freed) {
        struct client_call *call = LIST_FIRST(&client->ready_calls, struct client_call, ready_link);
        list_remove(&call->ready_link);
        client_deliver(call);
    }
    client->delivering = false;
    if (client->freed)
        client_release(client);
}

static void on_client_poll(uv_poll_t *poll, int status, int events)
{
    struct client_socket *watched = CONTAINER_OF(poll, struct client_socket, poll);
    struct client *client = watched->client;
    int what = (events & UV_READABLE ? CURL_CSELECT_IN : 0) |
               (events & UV_WRITABLE ? CURL_CSELECT_OUT : 0) | (status < 0 ? CURL_CSELECT_ERR : 0);
    int running;
    curl_multi_socket_action(client->multi, watched->fd, what, &running);
    client_deliver_ready(client);
}

static void on_client_timer(struct loop_timer *timer)
{
    struct client *client = CONTAINER_OF(timer, struct client, timer);
    int running;
    curl_multi_socket_action(client->multi, CURL_SOCKET_TIMEOUT, 0, &running);
    client_deliver_ready(client);
}

/* ---- starting and cancelling a call ---------------------------------------------------------- */

static struct http_call *client_start(struct http_transport *transport,
                                      const struct http_request *request, int64_t timeout_ms,
                                      const struct http_callbacks *callbacks, void *context)
{
    struct client *client = client_of(transport);
    struct client_call *call = mem_zalloc(sizeof(*call));
    call->call.transport = transport;
    call->client = client;
    call->callbacks = *callbacks;
    call->context = context;
    call->timeout_ms = timeout_ms > 0 ? timeout_ms : 0;
    call->arena = arena_new();
    buf_init(&call->data, SIZE_MAX / 2);
    call->easy = curl_easy_init();
    if (!call->easy)
        mem_panic("http client: out of memory");
    curl_easy_setopt(call->easy, CURLOPT_PRIVATE, call);
    curl_easy_setopt(call->easy, CURLOPT_HEADERFUNCTION, on_header);
    curl_easy_setopt(call->easy, CURLOPT_HEADERDATA, call);
    curl_easy_setopt(call->easy, CURLOPT_WRITEFUNCTION, on_client_body);
    curl_easy_setopt(call->easy, CURLOPT_WRITEDATA, call);
    http_client_set_request(call, request);

    list_push(&client->calls, &call->link);
    curl_multi_add_handle(
        client->multi,
        call->easy); /* the transfer begins when the timer fires that libcurl sets here */
    return &call->call;
}

static void client_cancel(struct http_transport *transport, struct http_call *base)
{
    struct client_call *call = CONTAINER_OF(base, struct client_call, call);
    call->cancelled = true;
    if (!call->busy)
        client_call_free(call);
}

static void client_free(struct http_transport *transport)
{
    struct client *client = client_of(transport);
    client->freed = true;
    LIST_EACH (struct client_call, call, &client->calls, link)
        call->cancelled = true;
    if (!client->delivering)
        client_release(client);
}

static const struct http_transport_ops OPS = {
    .start = client_start,
    .cancel = client_cancel,
    .free = client_free,
};

/* ---- the transport --------------------------------------------------------------------------- */

/* Checks the URL and sets is_loopback. The scheme is required. A path after the host is allowed. */
static int check_url(struct client *client, struct err *err)
{
    CURLU *url = curl_url();
    char *scheme = NULL, *host = NULL;
    int result = 0;
    if (curl_url_set(url, CURLUPART_URL, client->base_url, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_SCHEME, &scheme, 0) != CURLUE_OK ||
        curl_url_get(url, CURLUPART_HOST, &host, 0) != CURLUE_OK ||
        !(str_eq(scheme, "http") || str_eq(scheme, "https")))
        result = err_set(err, ERR_INVALID, "server '%s': must be a URL like https://host:port",
                         client->base_url);
    else
        client->is_loopback = str_eq_nocase(host, "localhost") || str_has_prefix(host, "127.") ||
                              str_eq(host, "[::1]");
    curl_free(scheme);
    curl_free(host);
    curl_url_cleanup(url);
    return result;
}

/* libcurl verifies the certificate against the host of the URL. So the URL gets the name in the
 * certificate. The real host and port and the Host header are set as separate options. */
static int rename_server(struct client *client, const char *name, struct err *err)
{
    CURLU *url = curl_url();
    char *host = NULL, *port = NULL, *renamed = NULL;
    bool done = curl_url_set(url, CURLUPART_URL, client->base_url, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_HOST, &host, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_PORT, &port, CURLU_DEFAULT_PORT) == CURLUE_OK &&
                curl_url_set(url, CURLUPART_HOST, name, 0) == CURLUE_OK &&
                curl_url_get(url, CURLUPART_URL, &renamed, 0) == CURLUE_OK;
    if (done) {
        char *target = mem_printf("::%s:%s", host, port);
        client->connect_to = curl_slist_append(NULL, target);
        client->host = mem_printf("%s:%s", host, port);
        free(target);
        free(client->base_url);
        client->base_url = mem_strdup(renamed);
        for (size_t size = strlen(client->base_url); size && client->base_url[size - 1] == '/';)
            client->base_url[--size] = '\0';
    }
    curl_free(host);
    curl_free(port);
    curl_free(renamed);
    curl_url_cleanup(url);
    return done
               ? 0
               : err_set(err, ERR_INVALID, "server '%s': the TLS server name '%.200s' is not valid",
                         client->base_url, name);
}

static char *client_copy(const char *text)
{
    return text ? mem_strdup(text) : NULL;
}

int http_client_new(struct loop *loop, const struct http_client_options *options,
                    struct http_transport **ret, struct err *err)
{
    if (!loop_uv(loop))
        return err_set(err, ERR_UNSUPPORTED, "an HTTP client needs sockets, not a simulation");
    if (!options->cert_pem != !options->key_pem || !options->cert_file != !options->key_file)
        return err_set(err, ERR_INVALID,
                       "server '%s': a client certificate and its key must be given together",
                       options->base_url);
    if (curl_global_init(CURL_GLOBAL_DEFAULT) != CURLE_OK)
        return err_set(err, ERR_INTERNAL, "cannot set up the HTTP client");
    struct client *client = mem_zalloc(sizeof(*client));
    client->transport.ops = &OPS;
    client->loop = loop;
    client->base_url = mem_strdup(options->base_url);
    for (size_t size = strlen(client->base_url); size && client->base_url[size - 1] == '/';)
        client->base_url[--size] = '\0';
    http_bearer_init(&client->bearer, options->bearer, options->bearer_file);
    client->ca_pem = client_copy(options->ca_pem);
    struct tls_pair pair = {.cert_pem = (char *)options->cert_pem,
                            .key_pem = (char *)options->key_pem};
    http_certificate_init(&client->certificate, &pair, options->cert_file, options->key_file);
    client->insecure = options->insecure;
    client->username = client_copy(options->username);
    client->password =
        client_copy(options->username && !options->password ? "" : options->password);
    client->proxy = client_copy(options->proxy);
    client->arena = arena_new();
    client->headers = http_headers_copy(client->arena, options->headers);
    client->on_unauthorized = options->on_unauthorized;
    client->context = options->context;
    client->multi = curl_multi_init();
    if (!client->multi)
        mem_panic("http client: out of memory");
    loop_timer_init(loop, &client->timer, on_client_timer);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETFUNCTION, on_socket_wanted);
    curl_multi_setopt(client->multi, CURLMOPT_SOCKETDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERFUNCTION, on_timeout_wanted);
    curl_multi_setopt(client->multi, CURLMOPT_TIMERDATA, client);
    curl_multi_setopt(client->multi, CURLMOPT_MAXCONNECTS, (long)CONNECTIONS_KEPT);
    int result = check_url(client, err);
    if (result == 0 && options->server_name)
        result = rename_server(client, options->server_name, err);
    if (result < 0) {
        client_release(client);
        return result;
    }
    *ret = &client->transport;
    return 0;
}

void http_client_set_credential(struct http_transport *transport, const char *bearer,
                                const char *cert_pem, const char *key_pem)
{
    struct client *client = CONTAINER_OF(transport, struct client, transport);
    const struct tls_pair pair = {.cert_pem = (char *)cert_pem, .key_pem = (char *)key_pem};
    http_bearer_release(&client->bearer);
    http_bearer_init(&client->bearer, bearer, NULL);
    http_certificate_release(&client->certificate);
    http_certificate_init(&client->certificate, &pair, NULL, NULL);
}

/* Declarations that client.c and client_request.c share. */
#ifndef TRAINYARD_NET_HTTP_CLIENT_INTERNAL_H
#define TRAINYARD_NET_HTTP_CLIENT_INTERNAL_H

#include "base/buf.h"
#include "base/list.h"
#include "loop/loop.h"
#include "net/http/bearer.h"
#include "net/http/certificate.h"
#include "net/http/internal.h"

#include <curl/curl.h>
#include <uv.h>

enum { CLIENT_CONNECT_TIMEOUT_MS = 10 * 1000 };

/* A socket of libcurl that the loop polls. */
struct client_socket {
    uv_poll_t poll;
    struct client *client;
    curl_socket_t fd;
    struct list_link link; /* in client.sockets */
};

struct client {
    struct http_transport transport;
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;
    struct list_head sockets; /* struct client_socket */
    struct list_head calls;   /* struct client_call */
    /* struct client_call: calls with received data or a result for their callbacks. */
    struct list_head ready_calls;
    bool delivering; /* callbacks of calls are running, so the client must not be freed */
    bool freed;      /* the transport was freed during `delivering` */
    struct http_bearer bearer;
    struct http_certificate certificate;
    char *base_url, *ca_pem;
    char *username, *password, *proxy;
    /* The real host and port if base_url has the name of the server's certificate (option
     * server_name), else NULL. */
    struct curl_slist *connect_to;
    char *host;                  /* value of the Host header if connect_to is set, else NULL */
    struct arena *arena;         /* memory of `headers` */
    struct http_header *headers; /* added to every request */
    void (*on_unauthorized)(void *context);
    void *context;
    bool insecure, is_loopback;
};

struct client_call {
    struct http_call call;
    struct client *client;
    struct list_link link;       /* in client.calls */
    struct list_link ready_link; /* in client.ready_calls, or in no list */
    bool busy;      /* a callback of the call is running, so the call must not be freed */
    bool cancelled; /* no further callback may be called */
    struct http_callbacks callbacks;
    void *context;
    CURL *easy;
    struct curl_slist *lines; /* header lines of the request */
    struct arena *arena;
    const char *method, *url;
    int64_t timeout_ms;
    char reason[CURL_ERROR_SIZE]; /* libcurl's error message, or "" */

    int status; /* status of the response header that is being received */
    struct http_header *headers;
    size_t header_size;
    bool head_done;      /* the header of the final response is complete */
    bool head_delivered; /* on_head was called */
    struct buf data;     /* received bytes of the body that are not delivered yet */
    bool done;           /* libcurl has ended the transfer with `result` */
    CURLcode result;
};

/* Sets all options of the easy handle that depend on the request or on the client's options: URL,
 * method, header, body, certificates, proxy, time limits. Sets call->method and call->url. */
void http_client_set_request(struct client_call *call, const struct http_request *request);

#endif

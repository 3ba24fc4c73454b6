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

/* A socket of libcurl that the loop watches. */
struct watch {
    uv_poll_t poll;
    struct client *client;
    curl_socket_t fd;
    struct list_link link; /* in client.watches */
};

struct client {
    struct http_transport transport;
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;
    struct list_head watches; /* struct watch */
    struct list_head calls;   /* struct client_call */
    /* struct client_call: calls with received data or a result for their callbacks. */
    struct list_head news;
    bool delivering, freed;
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
    struct list_link link;      /* in client.calls */
    struct list_link news_link; /* in client.news, or in no list */
    bool busy, cancelled;
    struct http_callbacks listener;
    void *context;
    CURL *easy;
    struct curl_slist *lines; /* header lines of the request */
    struct arena *arena;
    const char *method, *url;
    int64_t timeout_ms;
    char reason[CURL_ERROR_SIZE];

    int status; /* status of the response header that is being received */
    struct http_header *headers;
    size_t header_size;
    bool head_done, head_given;
    struct buf data;
    bool done;
    CURLcode result;
};

/* Sets all options of the easy handle that depend on the request or on the client's options: URL,
 * method, header, body, certificates and time limits. Sets call->method and call->url. */
void http_client_set_request(struct client_call *call, const struct http_request *request);

#endif

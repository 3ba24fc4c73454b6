/* What the two files of the https transport share. */
#ifndef TRAINYARD_NET_HTTP_CLIENT_INTERNAL_H
#define TRAINYARD_NET_HTTP_CLIENT_INTERNAL_H

#include "base/buf.h"
#include "loop/loop.h"
#include "net/http/bearer.h"
#include "net/http/certificate.h"
#include "net/http/internal.h"

#include <curl/curl.h>
#include <uv.h>

/* A socket of libcurl's that is being watched. */
struct watch {
    uv_poll_t poll;
    struct client *client;
    curl_socket_t fd;
    struct watch *next, **link;
};

struct client {
    struct http_transport transport;
    struct loop *loop;
    CURLM *multi;
    struct loop_timer timer;
    struct watch *watches;
    struct client_call *calls;
    struct client_call *news, **news_end; /* calls whose listener has something to hear */
    bool delivering, freed;
    struct http_bearer bearer;
    struct http_certificate certificate;
    char *base_url, *ca_pem;
    char *username, *password, *proxy;
    struct curl_slist *connect_to; /* the server, where the URL has the name of its certificate */
    char *host;                    /* then: what it is called in requests */
    struct arena *arena;           /* of the headers */
    struct http_header *headers;   /* of every request */
    void (*on_unauthorized)(void *context);
    void *context;
    bool insecure, is_loopback;
};

struct client_call {
    struct http_call call;
    struct client *client;
    struct client_call *next, **link;
    struct client_call *next_news;
    bool has_news, busy, cancelled;
    struct http_callbacks listener;
    void *context;
    CURL *easy;
    struct curl_slist *lines; /* of the request's header */
    struct arena *arena;
    const char *method, *url;
    int64_t timeout_ms;
    char reason[CURL_ERROR_SIZE];

    int status; /* of the head that is coming in */
    struct http_header *headers;
    size_t header_size;
    bool head_done, head_given;
    struct buf data;
    bool done;
    CURLcode result;
};

/* Everything of the easy handle that follows from the request and from the transport's options:
 * target, method, header, body, trust and clocks. Sets call->method and call->url. */
void http_client_set_request(struct client_call *call, const struct http_request *request);

#endif

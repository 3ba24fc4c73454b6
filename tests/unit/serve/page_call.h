/* A request to a page over the in-process transport, and its response. */
#ifndef TRAINYARD_TESTS_UNIT_SERVE_PAGE_CALL_H
#define TRAINYARD_TESTS_UNIT_SERVE_PAGE_CALL_H

#include "base/buf.h"
#include "net/http/http.h"

struct reply {
    int status;
    struct buf body;
    bool ended;
};

static inline void reply_on_head(void *context, int status, const struct http_header *headers)
{
    (void)headers;
    ((struct reply *)context)->status = status;
}

static inline void reply_on_data(void *context, const void *data, size_t size)
{
    buf_append(&((struct reply *)context)->body, data, size);
}

static inline void reply_on_end(void *context, const struct err *err)
{
    assert_null(err);
    ((struct reply *)context)->ended = true;
}

static inline struct http_call *page_call(struct http_transport *transport, const char *method,
                                          const char *path, struct http_header *headers,
                                          const char *body, size_t size, struct reply *reply)
{
    static const struct http_callbacks listener = {reply_on_head, reply_on_data, reply_on_end};
    struct http_request request = {.method = method,
                                   .path = path,
                                   .query = "",
                                   .headers = headers,
                                   .body = body,
                                   .body_size = size,
                                   .peer = "test"};
    *reply = (struct reply){0};
    buf_init(&reply->body, 1 << 20);
    return http_start(transport, &request, 0, &listener, reply);
}

#endif

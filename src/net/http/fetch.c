/* Fetches a document; see fetch.h. After success, failure and cancellation the stream is closed,
 * and its callback on_closed frees the fetch. */
#include "net/http/fetch.h"

#include "base/cleanup.h"
#include "base/mem.h"
#include "net/http/response_reader.h"

#include <stdlib.h>
#include <string.h>

struct http_fetch {
    struct stream *stream;
    struct loop_timer timer;
    int64_t timeout_ms;
    char *request;
    struct http_response_reader reader;
    http_fetch_done *done; /* NULL after it was called or the fetch was cancelled */
    void *context;
};

static void fetch_finish(struct http_fetch *fetch, const struct err *err)
{
    http_fetch_done *done = TAKE(fetch->done);

    loop_timer_stop(&fetch->timer);
    if (done)
        done(fetch->context, err ? 0 : fetch->reader.status, err ? NULL : fetch->reader.body.data,
             err ? 0 : fetch->reader.body.size, err);
    stream_close(fetch->stream);
}

static void on_fetch_open(void *context)
{
    struct http_fetch *fetch = context;

    if (fetch->done)
        stream_write(fetch->stream, fetch->request, strlen(fetch->request));
}

static void on_fetch_data(void *context, const char *data, size_t size)
{
    struct http_fetch *fetch = context;
    struct err err = ERR_INIT;

    if (!fetch->done)
        return;
    if (http_response_reader_feed(&fetch->reader, data, size, &err) < 0)
        fetch_finish(fetch, &err);
    else if (fetch->reader.whole)
        fetch_finish(fetch, NULL);
}

static void on_fetch_sent(void *context)
{
}

static void on_fetch_end(void *context, const struct err *broken)
{
    struct http_fetch *fetch = context;
    struct err err = ERR_INIT;

    if (!fetch->done)
        return;
    if (broken)
        fetch_finish(fetch, broken);
    else
        fetch_finish(fetch, http_response_reader_end(&fetch->reader, &err) < 0 ? &err : NULL);
}

static void on_fetch_closed(void *context)
{
    struct http_fetch *fetch = context;

    http_response_reader_release(&fetch->reader);
    free(fetch->request);
    free(fetch);
}

static void on_fetch_timer(struct loop_timer *timer)
{
    struct http_fetch *fetch = CONTAINER_OF(timer, struct http_fetch, timer);
    struct err err = ERR_INIT;

    err_set(&err, ERR_TIMEOUT, "no complete response within %lld ms", (long long)fetch->timeout_ms);
    fetch_finish(fetch, &err);
}

struct http_fetch *http_fetch_start(struct loop *loop, struct stream *stream,
                                    const struct http_fetch_options *options, http_fetch_done *done,
                                    void *context)
{
    static const struct stream_handler handler = {
        .on_open = on_fetch_open,
        .on_data = on_fetch_data,
        .on_sent = on_fetch_sent,
        .on_end = on_fetch_end,
        .on_closed = on_fetch_closed,
    };
    struct http_fetch *fetch = mem_zalloc(sizeof(*fetch));

    fetch->stream = stream;
    fetch->timeout_ms = options->timeout_ms;
    fetch->request = mem_printf("GET %s HTTP/1.1\r\nHost: %s\r\nUser-Agent: trainyard\r\n"
                                "Accept: application/json\r\nConnection: close\r\n\r\n",
                                options->path, options->host);
    fetch->done = done;
    fetch->context = context;
    http_response_reader_init(&fetch->reader, options->body_max);
    loop_timer_init(loop, &fetch->timer, on_fetch_timer);
    loop_timer_start(&fetch->timer, options->timeout_ms);
    stream_start(stream, &handler, fetch);
    return fetch;
}

void http_fetch_cancel(struct http_fetch *fetch)
{
    fetch->done = NULL;
    loop_timer_stop(&fetch->timer);
    stream_close(fetch->stream);
}

/* Fuzzes a server's connection, without a socket. The same requests must be understood in one piece
 * and in many, and the connection must end with nothing left. The parser alone must give the same
 * verdict wherever the bytes are split. A request that it accepts must end where Debian's more
 * lenient http-parser sees the end, too. The first byte of the input is the size of the pieces. */
#include "base/mem.h"
#include "base/str.h"
#include "loop/sim/sim_loop.h"
#include "memory_stream.h"
#include "net/http/connection.h"
#include "net/http/websocket_handshake.h"

#include <http_parser.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

struct run {
    struct http_service service;
    struct buf log; /* the requests as they were understood */
    int open;       /* exchanges that have not ended yet */
};

static void on_cancel(struct http_exchange *exchange)
{
    ((struct run *)exchange->context)->open--;
}

static void note(struct run *run, const struct http_request *request)
{
    buf_printf(&run->log, "%s\n%s\n%s\n", request->method, request->path, request->query);
    for (const struct http_header *each = request->headers; each; each = each->next)
        buf_printf(&run->log, "%s: %s\n", each->name, each->value);
    buf_append(&run->log, request->body, request->body_size);
}

static void handler(struct http_exchange *exchange, void *context)
{
    struct run *run = context;
    const struct http_request *request = exchange->request;
    note(run, request);
    struct err err = ERR_INIT;
    if (websocket_check(request, "v4.channel.k8s.io", &err) < 0 && !*err.message)
        mem_panic("a WebSocket handshake is refused without a message");
    if (str_has_prefix(request->path, "/hold")) {
        exchange->context = run;
        exchange->on_cancel = on_cancel;
        run->open++;
    } else if (str_has_prefix(request->path, "/stream")) {
        http_begin(exchange, 200, "text/plain", request->headers, -1);
        http_write(exchange, request->body, request->body_size);
        http_end(exchange);
    } else {
        http_respond(exchange, 200, "text/plain", request->path, strlen(request->path));
    }
}

static void on_closed(struct http_service *service)
{
}

static char *requests_in(const uint8_t *data, size_t size, size_t piece)
{
    struct loop *loop = sim_loop_new(1, 0);
    struct run run = {.service = {.loop = loop,
                                  .handler = handler,
                                  .context = &run,
                                  .header_max = 1000,
                                  .body_max = 2000,
                                  .handshake_timeout_ms = 1000,
                                  .header_timeout_ms = 1000,
                                  .body_timeout_ms = 1000,
                                  .idle_timeout_ms = 1000,
                                  .on_closed = on_closed,
                                  .date_second = -1}};
    buf_init(&run.log, 64 << 20);
    bool closed;
    struct memory_stream *peer = memory_stream_new(loop, &closed);
    peer->piece = piece;
    http_connection_new(&run.service, &peer->stream, "fuzzer");
    memory_stream_send(peer, data, size);
    sim_loop_run_for(loop, 10);
    if (!closed)
        memory_stream_send_end(peer);
    loop_run(loop);
    if (!closed || !list_is_empty(&run.service.connections) || run.open)
        mem_panic("the peer left and the connection did not end");
    loop_free(loop);
    return buf_take(&run.log);
}

/* ---- the parser alone ------------------------------------------------------------------------ */

struct verdict {
    enum http_parse_result result;
    size_t used; /* bytes of the request that was accepted */
    size_t body_size;
    int status;
    char method[40], refusal[160];
};

static struct verdict judge(const uint8_t *data, size_t size, size_t piece)
{
    struct http_parse parse;
    struct verdict verdict = {.result = HTTP_PARSE_MORE};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    http_parse_init(&parse, 1000, 2000);
    http_parse_start(&parse, arena);
    for (bool fed = false; verdict.result == HTTP_PARSE_MORE && (verdict.used < size || fed);) {
        size_t used, left = size - verdict.used;
        verdict.result = http_parse_feed(&parse, (const char *)data + verdict.used,
                                         left < piece ? left : piece, &used);
        verdict.used += used;
        fed = verdict.result == HTTP_PARSE_HEAD; /* the end may need no further byte */
        if (fed)
            verdict.result = http_parse_admit(&parse, 2000);
    }
    verdict.status = parse.refusal_status;
    verdict.body_size = parse.body.size;
    memcpy(verdict.refusal, parse.refusal, sizeof(verdict.refusal));
    if (verdict.result == HTTP_PARSE_DONE)
        memcpy(verdict.method, parse.request.method, strlen(parse.request.method));
    else
        verdict.used = verdict.body_size = 0;
    http_parse_release(&parse);
    return verdict;
}

static int on_lenient_head(http_parser *parser)
{
    parser->upgrade = 0;
    return 0;
}

static int on_lenient_body(http_parser *parser, const char *data, size_t size)
{
    *(size_t *)parser->data += size;
    return 0;
}

static int on_lenient_end(http_parser *parser)
{
    http_parser_pause(parser, 1);
    return 0;
}

static void check_against_lenient(const uint8_t *data, const struct verdict *verdict)
{
    static const http_parser_settings settings = {.on_headers_complete = on_lenient_head,
                                                  .on_body = on_lenient_body,
                                                  .on_message_complete = on_lenient_end};
    http_parser parser;
    size_t body_size = 0;
    http_parser_init(&parser, HTTP_REQUEST);
    parser.data = &body_size;
    size_t used = http_parser_execute(&parser, &settings, (const char *)data, verdict->used);
    enum http_errno error = HTTP_PARSER_ERRNO(&parser);
    /* http-parser knows only some methods and few forms of an absolute target. It also takes a
     * header "Transfer-Encoding0" for a transfer encoding. */
    if (error == HPE_INVALID_METHOD || error == HPE_INVALID_URL || error == HPE_INVALID_HOST ||
        error == HPE_INVALID_TRANSFER_ENCODING)
        return;
    if (error != HPE_PAUSED || used != verdict->used || body_size != verdict->body_size)
        mem_panic("%s: ends after %zu bytes, to http-parser after %zu: %s", verdict->method,
                  verdict->used, used, http_errno_description(error));
}

static void check_parser(const uint8_t *data, size_t size, size_t piece)
{
    struct verdict whole = judge(data, size, size ? size : 1), pieces = judge(data, size, piece);
    if (memcmp(&whole, &pieces, sizeof(whole)) != 0)
        mem_panic("another verdict in pieces of %zu: %s, %s", piece, whole.refusal, pieces.refusal);
    if (whole.result == HTTP_PARSE_DONE)
        check_against_lenient(data, &whole);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    if (size == 0)
        return 0;
    char *whole = requests_in(data + 1, size - 1, 0);
    char *pieces = requests_in(data + 1, size - 1, 1 + data[0] % 64);
    if (strcmp(whole, pieces) != 0)
        mem_panic("understood otherwise in pieces of %d", 1 + data[0] % 64);
    free(whole);
    free(pieces);
    check_parser(data + 1, size - 1, 1 + data[0] % 64);
    return 0;
}

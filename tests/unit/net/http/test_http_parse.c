/* Tests the grammar of requests: the result is the same for any split into pieces, and ambiguous
 * requests are rejected. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/http/parse.h"

#include <stdio.h>
#include <string.h>

/* Feeds up to `size` bytes, and admits every header. Returns the number of bytes used. */
static size_t feed_bytes(struct http_parse *parse, const char *data, size_t size,
                         enum http_parse_result *ret)
{
    size_t used = 0;
    do {
        size_t taken;
        *ret = http_parse_feed(parse, data + used, size - used, &taken);
        used += taken;
        if (*ret == HTTP_PARSE_HEAD) {
            *ret = http_parse_admit(parse, parse->body_max);
            if (*ret == HTTP_PARSE_MORE && used == size) /* the end may need no further byte */
                *ret = http_parse_feed(parse, NULL, 0, &taken);
        }
    } while (used < size && *ret == HTTP_PARSE_MORE);
    return used;
}

/* Feeds pieces of `piece` bytes until there is a result. Returns the number of bytes used. */
static size_t feed(struct http_parse *parse, const char *text, size_t piece,
                   enum http_parse_result *ret)
{
    size_t size = strlen(text), used = 0;
    *ret = HTTP_PARSE_MORE;
    while (used < size && *ret == HTTP_PARSE_MORE) {
        size_t next = size - used < piece ? size - used : piece;
        used += feed_bytes(parse, text + used, next, ret);
    }
    return used;
}

static void a_request_is_the_same_in_any_pieces(void **state)
{
    static const char text[] = "POST /api/v1/name%20spaces/a%2Fb?watch=true&x=%31#frag HTTP/1.1\r\n"
                               "Host: localhost\r\nX-Empty:\r\naccept: a/b \t\r\nAccept: c\r\n"
                               "Content-Length: 5\r\n\r\nhelloGET / HTTP/1.1\r\n";
    for (size_t piece = 1; piece < sizeof(text); piece++) {
        struct http_parse parse;
        enum http_parse_result result;
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        http_parse_init(&parse, 1000, 1000);
        http_parse_start(&parse, arena);
        size_t used = feed(&parse, text, piece, &result);
        assert_int_equal(result, HTTP_PARSE_DONE);
        assert_string_equal(text + used, "GET / HTTP/1.1\r\n");
        const struct http_request *request = &parse.request;
        assert_string_equal(request->method, "POST");
        assert_string_equal(request->path, "/api/v1/name spaces/a/b");
        assert_string_equal(request->query, "watch=true&x=%31");
        assert_string_equal(request->body, "hello");
        assert_int_equal(request->body_size, 5);
        assert_string_equal(http_header_get(request->headers, "X-empty"), "");
        assert_string_equal(http_header_get(request->headers, "Accept"), "a/b");
        assert_string_equal(request->headers->next->next->next->value, "c");
        assert_true(parse.keep_alive);
        http_parse_release(&parse);
    }
}

struct accepted {
    const char *text, *path, *body;
    bool keep_alive;
};

static void valid_requests_are_parsed(void **state)
{
    static const struct accepted rows[] = {
        {"GET / HTTP/1.0\r\n\r\n", "/", "", false},
        {"GET / HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", "/", "", true},
        {"GET / HTTP/1.1\r\nHost:x\r\nConnection: close\r\n\r\n", "/", "", false},
        {"\r\n\r\nGET /a HTTP/1.1\r\nHost:x\r\n\r\n", "/a", "", true},
        {"GET http://h:1/a?b HTTP/1.1\r\nHost:x\r\n\r\n", "/a", "", true},
        {"GET http://h?b HTTP/1.1\r\nHost:x\r\n\r\n", "/", "", true},
        {"OPTIONS * HTTP/1.1\r\nHost:x\r\n\r\n", "*", "", true},
        {"PATCH /a HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: Chunked\r\n\r\n3\r\nabc\r\n2;x=y\r\n"
         "de\r\n0\r\nHost: trailer\r\nContent-Length: 3\r\n\r\n",
         "/a", "abcde", true},
        /* A request to upgrade has a header like any other. */
        {"GET /exec HTTP/1.1\r\nHost:x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n\r\n",
         "/exec", "", true},
        {"POST /exec HTTP/1.1\r\nHost:x\r\nConnection: Upgrade\r\nUpgrade: SPDY/3.1\r\n"
         "Content-Length: 2\r\n\r\nhi",
         "/exec", "hi", true},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct http_parse parse;
        enum http_parse_result result;
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        http_parse_init(&parse, 1000, 1000);
        http_parse_start(&parse, arena);
        size_t used = feed(&parse, rows[i].text, 1000, &result);
        assert_int_equal(result, HTTP_PARSE_DONE);
        assert_int_equal(used, strlen(rows[i].text));
        assert_string_equal(parse.request.path, rows[i].path);
        assert_string_equal(parse.request.body, rows[i].body);
        assert_int_equal(parse.keep_alive, rows[i].keep_alive);
        http_parse_release(&parse);
    }
}

struct refused {
    const char *text;
    int status;
    const char *sentence;
};

static void invalid_requests_are_rejected_with_a_message(void **state)
{
    static const struct refused rows[] = {
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",
         400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\n",
         400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: 3\r\nContent-Length: 3\r\n\r\n", 400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked\r\nTransfer-Encoding: "
         "chunked\r\n\r\n",
         400, "the request has more than one Content-Length or Transfer-Encoding header"},
        {"POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: gzip, chunked\r\n\r\n", 501,
         "the only supported transfer encoding is 'chunked'"},
        {"POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked, gzip\r\n\r\n", 0, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: xchunked\r\n\r\n", 0, NULL},
        {"POST / HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
         "an HTTP/1.0 request cannot have a Transfer-Encoding header"},
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: -1\r\n\r\n", 400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: +3\r\n\r\n", 400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: 3 4\r\n\r\n", 400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: 0x10\r\n\r\n", 400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: 99999999999999999999999\r\n\r\n", 400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nContent-Length: 101\r\n\r\n", 413,
         "the request's body is longer than 100 bytes"},
        {"POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", 400, NULL},
        {"POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked\r\n\r\n"
         "ffffffffffffffffff\r\n",
         400, NULL},
        {"GET / HTTP/1.1\r\n\r\n", 400, "the request must have exactly one Host header"},
        {"GET / HTTP/1.1\r\nHost:x\r\nHost:y\r\n\r\n", 400,
         "the request must have exactly one Host header"},
        {"GET / HTTP/1.1\r\nHost: x\r\nExpect: tea\r\n\r\n", 417, NULL},
        {"GET / HTTP/1.1\r\nHost : x\r\n\r\n", 400, NULL},
        {"GET / HTTP/1.1\r\nHost: a\001b\r\n\r\n", 400, NULL},
        {"GET /%00 HTTP/1.1\r\nHost:x\r\n\r\n", 400,
         "the request's path has an invalid percent escape"},
        {"GET /%4 HTTP/1.1\r\nHost:x\r\n\r\n", 400, NULL},
        {"GET /%zz HTTP/1.1\r\nHost:x\r\n\r\n", 400, NULL},
        {"GET nothing HTTP/1.1\r\nHost:x\r\n\r\n", 400, NULL},
        {"GET / HTTP/2.0\r\nHost:x\r\n\r\n", 0, NULL},
        {"GET / HTTP/1.7\r\nHost:x\r\n\r\n", 505, NULL},
        {"CONNECT a:1 HTTP/1.1\r\nHost:x\r\n\r\n", 0, NULL},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505, NULL},
        {"\026\003\001\002", 400, NULL},
        {"hello\r\n", 400, NULL},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        for (size_t piece = 1; piece < 200; piece += 198) {
            struct http_parse parse;
            enum http_parse_result result;
            _cleanup_(cleanup_arena) struct arena *arena = arena_new();
            http_parse_init(&parse, 1000, 100);
            http_parse_start(&parse, arena);
            feed(&parse, rows[i].text, piece, &result);
            if (result != HTTP_PARSE_REFUSED)
                fail_msg("accepted: %s", rows[i].text);
            if (rows[i].status && rows[i].status != parse.refusal_status)
                fail_msg("%d for: %s", parse.refusal_status, rows[i].text);
            assert_true(parse.refusal_status >= 400);
            assert_true(strlen(parse.refusal) > 10);
            if (rows[i].sentence)
                assert_string_equal(parse.refusal, rows[i].sentence);
            http_parse_release(&parse);
        }
    }
}

static void header_and_body_have_limits(void **state)
{
    struct http_parse parse;
    enum http_parse_result result;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    http_parse_init(&parse, 200, 10);
    char many[8192] = "GET / HTTP/1.1\r\n";
    char target[512];
    memset(target, 'a', sizeof(target));
    memcpy(target, "GET /", 5);
    target[sizeof(target) - 1] = '\0';

    http_parse_start(&parse, arena);
    feed(&parse, target, 1000, &result);
    assert_int_equal(result, HTTP_PARSE_REFUSED);
    assert_int_equal(parse.refusal_status, 431);

    for (int i = 0; i < 300; i++)
        strcat(many, "a:\r\n");
    http_parse_start(&parse, arena);
    feed(&parse, many, 10000, &result);
    assert_int_equal(result, HTTP_PARSE_REFUSED);
    assert_int_equal(parse.refusal_status, 431);
    http_parse_release(&parse);

    http_parse_init(&parse, 60000, 10);
    http_parse_start(&parse, arena);
    feed(&parse, many, 10000, &result);
    assert_int_equal(result, HTTP_PARSE_REFUSED);
    assert_string_equal(parse.refusal, "the request has more than 256 header lines");

    http_parse_start(&parse, arena);
    feed(&parse,
         "POST / HTTP/1.1\r\nHost:x\r\nTransfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n3\r\n"
         "abc\r\n",
         1000, &result);
    assert_int_equal(result, HTTP_PARSE_REFUSED);
    assert_int_equal(parse.refusal_status, 413);
    http_parse_release(&parse);
}

/* One byte or one line more than allowed is rejected. */
static void limits_hold_at_the_last_byte(void **state)
{
    static const char END[] = " HTTP/1.1\r\nHost:x\r\n\r\n";
    enum { HEADER = 200, BODY = 10, LINES = 256 };
    struct http_parse parse;
    enum http_parse_result result;
    int last_ok = 0;
    /* The target counts as a part of the header: the longest accepted one, and one more. */
    for (int size = 1; size < 2 * HEADER; size++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        char text[3 * HEADER];
        memset(text, 'a', sizeof(text));
        memcpy(text, "GET /", 5);
        memcpy(text + 4 + size, END, sizeof(END));
        http_parse_init(&parse, HEADER, BODY);
        http_parse_start(&parse, arena);
        feed(&parse, text, strlen(text), &result);
        if (result == HTTP_PARSE_DONE) {
            assert_int_equal(last_ok, size - 1);
            last_ok = size;
        } else {
            assert_int_equal(parse.refusal_status, 431);
            assert_string_equal(parse.refusal, "the header is longer than 200 bytes");
        }
        http_parse_release(&parse);
    }
    assert_in_range(last_ok, HEADER / 2, HEADER);
    for (int more = 0; more < 2; more++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        char text[64 + 4 * LINES + 8] = "GET / HTTP/1.1\r\nHost:x\r\n";
        for (int i = 1; i < LINES + more; i++)
            strcat(text, "a:\r\n");
        strcat(text, "\r\n");
        http_parse_init(&parse, 60000, BODY);
        http_parse_start(&parse, arena);
        feed(&parse, text, strlen(text), &result);
        assert_int_equal(result, more ? HTTP_PARSE_REFUSED : HTTP_PARSE_DONE);
        http_parse_release(&parse);
    }
    static const char *const BODIES[][2] = {
        {"Content-Length: 10\r\n\r\n0123456789", "Content-Length: 11\r\n\r\n"},
        {"Transfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n2\r\nab\r\n0\r\n\r\n",
         "Transfer-Encoding: chunked\r\n\r\n8\r\n12345678\r\n3\r\nabc\r\n0\r\n\r\n"},
    };
    for (int i = 0; i < 4; i++) {
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        char text[200];
        int size =
            snprintf(text, sizeof(text), "POST / HTTP/1.1\r\nHost:x\r\n%s", BODIES[i / 2][i % 2]);
        http_parse_init(&parse, HEADER, BODY);
        http_parse_start(&parse, arena);
        feed(&parse, text, (size_t)size, &result);
        assert_int_equal(result, i % 2 ? HTTP_PARSE_REFUSED : HTTP_PARSE_DONE);
        if (i % 2)
            assert_string_equal(parse.refusal, "the request's body is longer than 10 bytes");
        http_parse_release(&parse);
    }
}

static void expect_100_continue_is_detected(void **state)
{
    struct http_parse parse;
    enum http_parse_result result;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    http_parse_init(&parse, 1000, 1000);
    http_parse_start(&parse, arena);
    feed(&parse, "PUT / HTTP/1.1\r\nHost:x\r\nExpect: 100-Continue\r\nContent-Length: 2\r\n\r\n", 7,
         &result);
    assert_int_equal(result, HTTP_PARSE_MORE);
    assert_true(parse.has_body && parse.wants_continue);
    feed(&parse, "ok", 1, &result);
    assert_int_equal(result, HTTP_PARSE_DONE);
    assert_string_equal(parse.request.body, "ok");
    http_parse_release(&parse);
}

#define CHUNKED "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n"

/* Requests whose end different servers have seen at different places, and bytes that made one
 * header pass as another. */
static const struct refused AMBIGUOUS[] = {
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400,
     "a header line has a space before its colon"},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding\t: chunked\r\n\r\n0\r\n\r\n", 400,
     "a header line has a space before its colon"},
    {"POST / HTTP/1.1\r\nHost: x\r\nX: a\r\n Transfer-Encoding: chunked\r\n\r\n", 400,
     "a header line begins with a space: folded lines are not supported"},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n chunked\r\n\r\n", 400,
     "a header line begins with a space: folded lines are not supported"},
    {"GET / HTTP/1.1\r\n Host: x\r\n\r\n", 400,
     "a header line begins with a space: folded lines are not supported"},
    {"GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n", 400,
     "a carriage return without a line feed: a line must end with CR LF"},
    {"GET / HTTP/1.1\r\nHost: x\r\r\n\r\n", 400,
     "a carriage return without a line feed: a line must end with CR LF"},
    {"GET / HTTP/1.1\rHost: x\r\n\r\n", 400,
     "a carriage return without a line feed: a line must end with CR LF"},
    {"GET / HTTP/1.1\r\nHost: x\r\nX: a\vb\r\n\r\n", 400, "a line contains a control byte"},
    {"GET / HTTP/1.1\r\nHost: x\r\nX: a\177b\r\n\r\n", 400, "a line contains a control byte"},
    {"GET / HTTP/1.1\r\nHost: x\r\nX\r\n\r\n", 400,
     "a header line is not a name, a colon and a value"},
    {"GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n", 400,
     "a header line is not a name, a colon and a value"},
    {"GET / HTTP/1.1\r\nHost: x\r\nX(y): z\r\n\r\n", 400,
     "a header line is not a name, a colon and a value"},
    {"GET / HTTP/1.1\r\nHost: x\r\nTransfer\303\204Encoding: chunked\r\n\r\n", 400,
     "a header line is not a name, a colon and a value"},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1,1\r\n\r\nab", 400, NULL},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\ncontent-length: 2\r\n\r\nab", 400,
     "the request has more than one Content-Length or Transfer-Encoding header"},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n", 400, NULL},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 0000000000000000001\r\n\r\na", 400, NULL},
    {"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
     "the request has more than one Content-Length or Transfer-Encoding header"},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding:\r\n\r\n", 501, NULL},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: identity\r\n\r\n", 501, NULL},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked, chunked\r\n\r\n", 501, NULL},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: \"chunked\"\r\n\r\n", 501, NULL},
    {"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked;a=b\r\n\r\n", 501, NULL},
    {CHUNKED "3\r\nabcX\r\n0\r\n\r\n", 400, "a chunk is longer than its size says"},
    {CHUNKED "3\r\nabcXX0\r\n\r\n", 400, "a chunk is longer than its size says"},
    {CHUNKED "3\r\nabc0\r\n\r\n", 400, "a chunk is longer than its size says"},
    {CHUNKED "3\r\nabc\rX0\r\n\r\n", 400,
     "a carriage return without a line feed: a line must end with CR LF"},
    {CHUNKED "3\nabc\r\n0\r\n\r\n", 400,
     "a line between chunks ends with LF alone instead of CR LF"},
    {CHUNKED "3\r\nabc\n0\r\n\r\n", 400,
     "a line between chunks ends with LF alone instead of CR LF"},
    {CHUNKED "2\r\nd\r\n0\r\n\r\n", 400,
     "a line between chunks ends with LF alone instead of CR LF"},
    {CHUNKED "3 \r\nabc\r\n0\r\n\r\n", 400, NULL},
    {CHUNKED " 3\r\nabc\r\n0\r\n\r\n", 400, NULL},
    {CHUNKED "0x3\r\nabc\r\n0\r\n\r\n", 400, NULL},
    {CHUNKED "-3\r\nabc\r\n0\r\n\r\n", 400, NULL},
    {CHUNKED "3,\r\nabc\r\n0\r\n\r\n", 400, NULL},
    {CHUNKED "\r\n", 400, NULL},
    {CHUNKED ";a\r\n", 400, NULL},
    {CHUNKED "3\rabc\r\n0\r\n\r\n", 400,
     "a carriage return without a line feed: a line must end with CR LF"},
    {CHUNKED "3;\001\r\nabc\r\n0\r\n\r\n", 400, "a line contains a control byte"},
    {CHUNKED "10000000000000003\r\nabc\r\n0\r\n\r\n", 400, NULL},
    {CHUNKED "0000000000000003\r\nabc\r\n0\r\n\r\n", 400, NULL},
    {CHUNKED "fffffffffffffff\r\n", 413, NULL},
    {CHUNKED "0\r\nX : y\r\n\r\n", 400, "a header line has a space before its colon"},
    {CHUNKED "0\r\nX: y\r\n z\r\n\r\n", 400,
     "a header line begins with a space: folded lines are not supported"},
    {CHUNKED "0\r\nGET / HTTP/1.1\r\n\r\n", 400, "a header line has a space before its colon"},
    {"GET / HTTP/1.1\r\nHost: a b\r\n\r\n", 400,
     "the request's Host header is not a host and a port"},
    {"GET / HTTP/1.1\r\nHost: a@b\r\n\r\n", 400, NULL},
    {"GET / HTTP/1.1\r\nHost: a/b\r\n\r\n", 400, NULL},
    {"GET  / HTTP/1.1\r\nHost: x\r\n\r\n", 400, NULL},
    {"GET /  HTTP/1.1\r\nHost: x\r\n\r\n", 400, NULL},
    {"GET\t/ HTTP/1.1\r\nHost: x\r\n\r\n", 400, NULL},
    {"GET /\tHTTP/1.1\r\nHost: x\r\n\r\n", 400, NULL},
    {" GET / HTTP/1.1\r\nHost: x\r\n\r\n", 400, NULL},
    {"GET / HTTP/1.1 \r\nHost: x\r\n\r\n", 400, NULL},
    {"GET / http/1.1\r\nHost: x\r\n\r\n", 400, NULL},
    {"GET / HTTP/1.10\r\nHost: x\r\n\r\n", 400, NULL},
    {"GET / HTTP/01.1\r\nHost: x\r\n\r\n", 400, NULL},
    {"GET /\r\n\r\n", 400, NULL},
    {"G(T / HTTP/1.1\r\nHost: x\r\n\r\n", 400,
     "the request does not begin with a method and a space"},
    {"GET /\303\244 HTTP/1.1\r\nHost: x\r\n\r\n", 400,
     "the request's target must be visible ASCII, followed by a space"},
};

struct verdict {
    enum http_parse_result result;
    size_t used;
    int status;
    char refusal[160], body[200];
};

static struct verdict parse_in_two(const char *text, size_t size, size_t cut)
{
    struct http_parse parse;
    struct verdict verdict = {0};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    http_parse_init(&parse, 1000, 100);
    http_parse_start(&parse, arena);
    verdict.used = feed_bytes(&parse, text, cut, &verdict.result);
    if (verdict.result == HTTP_PARSE_MORE)
        verdict.used += feed_bytes(&parse, text + cut, size - cut, &verdict.result);
    verdict.status = parse.refusal_status;
    memcpy(verdict.refusal, parse.refusal, sizeof(verdict.refusal));
    memcpy(verdict.body, parse.body.data, parse.body.size);
    if (verdict.result == HTTP_PARSE_REFUSED) /* a rejected request has neither */
        memset(verdict.body, verdict.used = 0, sizeof(verdict.body));
    http_parse_release(&parse);
    return verdict;
}

static void expect_same_for_any_split(const char *text, size_t size)
{
    struct verdict whole = parse_in_two(text, size, size);
    for (size_t cut = 0; cut < size; cut++) {
        struct verdict cut_once = parse_in_two(text, size, cut);
        if (memcmp(&whole, &cut_once, sizeof(whole)) != 0)
            fail_msg("another verdict after %zu bytes of: %s", cut, text);
    }
}

static void ambiguous_requests_are_rejected(void **state)
{
    for (size_t i = 0; i < ARRAY_SIZE(AMBIGUOUS); i++) {
        const struct refused *row = &AMBIGUOUS[i];
        struct verdict verdict = parse_in_two(row->text, strlen(row->text), strlen(row->text));
        if (verdict.result != HTTP_PARSE_REFUSED || verdict.status != row->status)
            fail_msg("%d (%s) for: %s", verdict.status, verdict.refusal, row->text);
        if (row->sentence)
            assert_string_equal(verdict.refusal, row->sentence);
        expect_same_for_any_split(row->text, strlen(row->text));
    }
    static const char zero[] = "GET / HTTP/1.1\r\nHost: x\r\nX: a\0b\r\n\r\n";
    assert_int_equal(parse_in_two(zero, sizeof(zero) - 1, 5).status, 400);
}

/* RFC 9112 lets a server accept a header line that ends with LF alone. */
static void a_header_line_may_end_with_lf_alone(void **state)
{
    static const char text[] = "POST / HTTP/1.1\nHost: x\nTransfer-Encoding: chunked\n\n"
                               "3 ;a=\"b\"\r\nabc\r\n0\r\nX: y\n\nrest";
    struct verdict verdict = parse_in_two(text, sizeof(text) - 1, 3);
    assert_int_equal(verdict.result, HTTP_PARSE_DONE);
    assert_string_equal(verdict.body, "abc");
    assert_string_equal(text + verdict.used, "rest");
    expect_same_for_any_split(text, sizeof(text) - 1);
}

/* All bytes around the chunks share one limit per request. */
static void extensions_and_trailers_have_a_limit(void **state)
{
    static const char long_extension[] = "1;aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\nx\r\n";
    static const char trailer[] = "X: aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\r\n";
    for (int with_trailers = 0; with_trailers < 2; with_trailers++) {
        char text[4096] = CHUNKED;
        if (with_trailers)
            strcat(text, "0\r\n");
        for (int i = 0; i < 40; i++)
            strcat(text, with_trailers ? trailer : long_extension);
        struct verdict verdict = parse_in_two(text, strlen(text), strlen(text));
        assert_int_equal(verdict.status, 431);
        assert_string_equal(verdict.refusal,
                            "chunk extensions and trailers are longer than 1000 bytes");
        expect_same_for_any_split(text, strlen(text));
    }
    char many[4096] = CHUNKED; /* chunks of one byte have no extra bytes, however many there are */
    for (int i = 0; i < 100; i++)
        strcat(many, "1\r\nx\r\n");
    strcat(many, "0\r\n\r\n");
    struct verdict verdict = parse_in_two(many, strlen(many), 200);
    assert_int_equal(verdict.result, HTTP_PARSE_DONE);
    assert_int_equal(strlen(verdict.body), 100);
}

/* The admission of a header limits its body. */
static void a_body_longer_than_admitted_is_rejected(void **state)
{
    static const char *const texts[] = {
        "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\nabc",
        "POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n"};
    for (size_t i = 0; i < ARRAY_SIZE(texts); i++) {
        struct http_parse parse;
        size_t used;
        _cleanup_(cleanup_arena) struct arena *arena = arena_new();
        http_parse_init(&parse, 1000, 0);
        http_parse_start(&parse, arena);
        assert_int_equal(http_parse_feed(&parse, texts[i], strlen(texts[i]), &used),
                         HTTP_PARSE_HEAD);
        assert_int_equal(parse.body.size, 0);
        assert_true(parse.has_body);
        if (http_parse_admit(&parse, 2) == HTTP_PARSE_MORE)
            assert_int_equal(http_parse_feed(&parse, texts[i] + used, 3, &used),
                             HTTP_PARSE_REFUSED);
        assert_int_equal(parse.refusal_status, 413);
        http_parse_release(&parse);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_the_same_in_any_pieces),
        cmocka_unit_test(valid_requests_are_parsed),
        cmocka_unit_test(invalid_requests_are_rejected_with_a_message),
        cmocka_unit_test(header_and_body_have_limits),
        cmocka_unit_test(limits_hold_at_the_last_byte),
        cmocka_unit_test(expect_100_continue_is_detected),
        cmocka_unit_test(ambiguous_requests_are_rejected),
        cmocka_unit_test(a_header_line_may_end_with_lf_alone),
        cmocka_unit_test(extensions_and_trailers_have_a_limit),
        cmocka_unit_test(a_body_longer_than_admitted_is_rejected),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

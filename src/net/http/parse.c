/* Implements the strict parser of HTTP requests; see parse.h. Header lines, chunk sizes and
 * trailers are parsed as complete lines. Forbidden bytes and lines that are too long are refused as
 * soon as they arrive. */
#include "net/http/parse.h"

#include "base/mem.h"
#include "base/str.h"
#include "net/http/internal.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <strings.h>

enum {
    HEADERS_MAX = 256,
    METHOD_MAX = 32,
    /* Maximum number of digits of a length: enough for any body, too few to overflow 64 bits. */
    LENGTH_DIGITS_MAX = 18,
    CHUNK_DIGITS_MAX = 15,
};

enum {
    TOKEN = 1,  /* characters of method names and field names (RFC 9110, 5.6.2) */
    HEX = 2,    /* hexadecimal digits */
    DIGIT = 4,  /* decimal digits */
    TARGET = 8, /* visible ASCII */
    LINE = 16,  /* every byte that a line may contain: no control character except TAB */
};

static const unsigned char CLASSES[256] = {
    ['\t'] = LINE,
    [' '] = LINE,
    ['!'] = TOKEN | TARGET | LINE,
    ['"'] = TARGET | LINE,
    ['#' ... '\''] = TOKEN | TARGET | LINE,
    ['(' ... ')'] = TARGET | LINE,
    ['*' ... '+'] = TOKEN | TARGET | LINE,
    [','] = TARGET | LINE,
    ['-' ... '.'] = TOKEN | TARGET | LINE,
    ['/'] = TARGET | LINE,
    ['0' ... '9'] = TOKEN | HEX | DIGIT | TARGET | LINE,
    [':' ... '@'] = TARGET | LINE,
    ['A' ... 'F'] = TOKEN | HEX | TARGET | LINE,
    ['G' ... 'Z'] = TOKEN | TARGET | LINE,
    ['[' ... ']'] = TARGET | LINE,
    ['^' ... '`'] = TOKEN | TARGET | LINE,
    ['a' ... 'f'] = TOKEN | HEX | TARGET | LINE,
    ['g' ... 'z'] = TOKEN | TARGET | LINE,
    ['{'] = TARGET | LINE,
    ['|'] = TOKEN | TARGET | LINE,
    ['}'] = TARGET | LINE,
    ['~'] = TOKEN | TARGET | LINE,
    [0x80 ... 0xff] = LINE,
};

/* Returns the number of bytes at the start of `data` that belong to the class. */
static size_t parse_span(const char *data, size_t size, int class)
{
    size_t i = 0;
    while (i < size && CLASSES[(unsigned char)data[i]] & class)
        i++;
    return i;
}

static bool parse_is_blank(char c)
{
    return c == ' ' || c == '\t';
}

static enum http_parse_result parse_refuse(struct http_parse *self, int status, const char *format,
                                           ...) __attribute__((format(printf, 3, 4)));
static enum http_parse_result parse_refuse(struct http_parse *self, int status, const char *format,
                                           ...)
{
    self->refusal_status = status;
    va_list args;
    va_start(args, format);
    vsnprintf(self->refusal, sizeof(self->refusal), format, args);
    va_end(args);
    return HTTP_PARSE_REFUSED;
}

/* ---- the request line ------------------------------------------------------------------------ */

/* Returns whether a percent escape is invalid or is "%00". */
static bool has_bad_escape(const char *text, size_t size)
{
    for (const char *at = memchr(text, '%', size); at;
         at = memchr(at + 1, '%', size - (size_t)(at + 1 - text))) {
        size_t left = size - (size_t)(at - text);
        if (left < 3 || parse_span(at + 1, 2, HEX) < 2 || (at[1] == '0' && at[2] == '0'))
            return true;
    }
    return false;
}

/* Parses the target: "/path?query", "http://host/path?query" or "*". */
static enum http_parse_result parse_target(struct http_parse *self, const char *target)
{
    if (target[0] != '/' && strcmp(target, "*") != 0) {
        const char *authority = strstr(target, "://");
        const char *path = authority ? strpbrk(authority + 3, "/?#") : NULL;
        target = path ? path : "/";
        if (!authority)
            return parse_refuse(self, 400, "the request's target must begin with '/'");
    }
    size_t size = strcspn(target, "#");
    const char *mark = memchr(target, '?', size);
    size_t path_size = mark ? (size_t)(mark - target) : size;
    if (has_bad_escape(target, path_size))
        return parse_refuse(self, 400, "the request's path has an invalid percent escape");
    self->request.path =
        path_size ? http_percent_decode(self->arena, target, path_size, false) : "/";
    self->request.query = mark ? arena_strndup(self->arena, mark + 1, size - path_size - 1) : "";
    return HTTP_PARSE_MORE;
}

/* Parses "HTTP/1.1" or "HTTP/1.0". */
static enum http_parse_result parse_version(struct http_parse *self, const char *text, size_t size)
{
    static const char name[] = "HTTP/";
    const char *digits = text + sizeof(name) - 1;
    if (size != sizeof("HTTP/1.1") - 1 || memcmp(text, name, sizeof(name) - 1) != 0 ||
        parse_span(digits, 1, DIGIT) < 1 || digits[1] != '.' ||
        parse_span(digits + 2, 1, DIGIT) < 1)
        return parse_refuse(
            self, 400,
            "the request line must be a method, a target and HTTP/1.1, separated by single spaces");
    if (digits[0] != '1' || digits[2] > '1')
        return parse_refuse(self, 505, "HTTP/%c.%c is not supported: use HTTP/1.0 or HTTP/1.1",
                            digits[0], digits[2]);
    self->minor = digits[2] - '0';
    return HTTP_PARSE_MORE;
}

static enum http_parse_result parse_request_line(struct http_parse *self, const char *line,
                                                 size_t size)
{
    if (size == 0) /* RFC 9112, 2.2: an empty line before the request is ignored */
        return HTTP_PARSE_MORE;
    size_t method = parse_span(line, size, TOKEN);
    if (method == 0 || method > METHOD_MAX || method == size || line[method] != ' ')
        return parse_refuse(self, 400, "the request does not begin with a method and a space");
    const char *target = line + method + 1;
    size_t rest = size - method - 1, target_size = parse_span(target, rest, TARGET);
    if (target_size == 0 || target_size == rest || target[target_size] != ' ')
        return parse_refuse(self, 400,
                            "the request's target must be visible ASCII, followed by a space");
    enum http_parse_result result =
        parse_version(self, target + target_size + 1, rest - target_size - 1);
    if (result != HTTP_PARSE_MORE)
        return result;
    self->request.method = arena_strndup(self->arena, line, method);
    if (str_eq(self->request.method, "CONNECT"))
        return parse_refuse(self, 501, "CONNECT is not supported: this server is not a proxy");
    self->stage = HTTP_PARSE_FIELD_LINES;
    return parse_target(self, arena_strndup(self->arena, target, target_size));
}

/* ---- field lines ----------------------------------------------------------------------------- */

/* Parses a header line or a trailer. Trailers are checked but not stored, because the request has
 * been admitted before they arrive. */
static enum http_parse_result parse_field(struct http_parse *self, const char *line, size_t size,
                                          bool keep)
{
    if (++self->header_count > HEADERS_MAX)
        return parse_refuse(self, 431, "the request has more than %d header lines", HEADERS_MAX);
    if (parse_is_blank(line[0]))
        return parse_refuse(self, 400,
                            "a header line begins with a space: folded lines are not supported");
    size_t name = parse_span(line, size, TOKEN);
    if (name < size && name > 0 && parse_is_blank(line[name]))
        return parse_refuse(self, 400, "a header line has a space before its colon");
    if (name == 0 || name == size || line[name] != ':')
        return parse_refuse(self, 400, "a header line is not a name, a colon and a value");
    if (!keep)
        return HTTP_PARSE_MORE;
    const char *value = line + name + 1, *end = line + size;
    while (value < end && parse_is_blank(*value))
        value++;
    while (end > value && parse_is_blank(end[-1]))
        end--;
    struct http_header *header = ARENA_NEW(self->arena, struct http_header);
    header->name = arena_strndup(self->arena, line, name);
    header->value = arena_strndup(self->arena, value, (size_t)(end - value));
    *self->last_header = header;
    self->last_header = &header->next;
    return HTTP_PARSE_MORE;
}

/* The values of the header lines that determine how the rest of a request is parsed. */
struct framing {
    const char *length, *encoding, *host, *expect;
    size_t lengths, encodings, hosts;
};

static void read_framing(const struct http_header *headers, struct framing *ret)
{
    for (; headers; headers = headers->next) {
        switch (headers->name[0] | 0x20) {
        case 'c':
            if (str_eq_nocase(headers->name, "Content-Length")) {
                ret->length = headers->value;
                ret->lengths++;
            }
            break;
        case 't':
            if (str_eq_nocase(headers->name, "Transfer-Encoding")) {
                ret->encoding = headers->value;
                ret->encodings++;
            }
            break;
        case 'h':
            if (str_eq_nocase(headers->name, "Host")) {
                ret->host = headers->value;
                ret->hosts++;
            }
            break;
        case 'e':
            if (str_eq_nocase(headers->name, "Expect"))
                ret->expect = headers->value;
            break;
        default:
            break;
        }
    }
}

/* Determines where the body ends. Refuses a request with an ambiguous length. */
static enum http_parse_result set_body(struct http_parse *self, const struct framing *framing)
{
    if (framing->lengths + framing->encodings > 1)
        return parse_refuse(
            self, 400, "the request has more than one Content-Length or Transfer-Encoding header");
    if (framing->encoding && self->minor == 0)
        return parse_refuse(self, 400,
                            "an HTTP/1.0 request cannot have a Transfer-Encoding header");
    if (framing->encoding && !str_eq_nocase(framing->encoding, "chunked"))
        return parse_refuse(self, 501, "the only supported transfer encoding is 'chunked'");
    self->stage = framing->encoding ? HTTP_PARSE_CHUNK_LINE : HTTP_PARSE_BODY;
    self->has_body = framing->encoding;
    if (!framing->length)
        return HTTP_PARSE_HEAD;
    size_t digits = parse_span(framing->length, strlen(framing->length), DIGIT);
    if (digits == 0 || framing->length[digits] || digits > LENGTH_DIGITS_MAX)
        return parse_refuse(self, 400,
                            "the request's Content-Length is not a number of at most %d digits",
                            LENGTH_DIGITS_MAX);
    for (const char *digit = framing->length; *digit; digit++)
        self->left = self->left * 10 + (uint64_t)(*digit - '0');
    self->has_body = self->left > 0;
    return HTTP_PARSE_HEAD;
}

static enum http_parse_result end_head(struct http_parse *self)
{
    struct framing framing = {0};
    read_framing(self->request.headers, &framing);
    if (framing.hosts > 1 || (framing.hosts == 0 && self->minor > 0))
        return parse_refuse(self, 400, "the request must have exactly one Host header");
    if (framing.host && strpbrk(framing.host, " \t,/?#@\\"))
        return parse_refuse(self, 400, "the request's Host header is not a host and a port");
    if (framing.expect && !str_eq_nocase(framing.expect, "100-continue"))
        return parse_refuse(self, 417,
                            "the only supported value of the Expect header is '100-continue'");
    const struct http_header *headers = self->request.headers;
    self->wants_continue = framing.expect && self->minor > 0;
    self->keep_alive = self->minor > 0 ? !http_header_has_word(headers, "Connection", "close")
                                       : http_header_has_word(headers, "Connection", "keep-alive");
    return set_body(self, &framing);
}

/* ---- chunks ---------------------------------------------------------------------------------- */

static int hex_value(char c)
{
    return c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10;
}

/* Parses "1a;extension". Extensions are ignored, but their bytes count in extra_size. */
static enum http_parse_result parse_chunk_line(struct http_parse *self, const char *line,
                                               size_t size)
{
    size_t digits = parse_span(line, size, HEX), extension = digits;
    while (extension < size && parse_is_blank(line[extension]))
        extension++;
    if (digits == 0 || digits > CHUNK_DIGITS_MAX ||
        (extension < size ? line[extension] != ';' : extension > digits))
        return parse_refuse(self, 400,
                            "the size of a chunk is not a hexadecimal number of at most %d "
                            "digits",
                            CHUNK_DIGITS_MAX);
    self->left = 0;
    for (size_t i = 0; i < digits; i++)
        self->left = self->left << 4 | (uint64_t)hex_value(line[i]);
    if (self->left > self->body_max - self->body.size)
        return parse_refuse(self, 413, "the request's body is longer than %zu bytes",
                            self->body_max);
    self->stage = self->left ? HTTP_PARSE_CHUNK : HTTP_PARSE_TRAILERS;
    return HTTP_PARSE_MORE;
}

/* ---- lines ----------------------------------------------------------------------------------- */

static enum http_parse_result parse_line(struct http_parse *self, const char *line, size_t size)
{
    switch (self->stage) {
    case HTTP_PARSE_REQUEST_LINE:
        return parse_request_line(self, line, size);
    case HTTP_PARSE_FIELD_LINES:
        return size ? parse_field(self, line, size, true) : end_head(self);
    case HTTP_PARSE_CHUNK_LINE:
        return parse_chunk_line(self, line, size);
    case HTTP_PARSE_CHUNK_END:
        self->stage = HTTP_PARSE_CHUNK_LINE;
        return HTTP_PARSE_MORE;
    case HTTP_PARSE_TRAILERS:
        if (size)
            return parse_field(self, line, size, false);
        self->stage = HTTP_PARSE_END;
        return HTTP_PARSE_MORE;
    default:
        mem_panic("http: a line was read in stage %d", self->stage);
    }
}

/* Returns the counter for the bytes of the current line: the header has one counter and limit, and
 * all other lines together have another. */
static size_t *line_bytes(struct http_parse *self)
{
    return self->stage <= HTTP_PARSE_FIELD_LINES ? &self->header_size : &self->extra_size;
}

static enum http_parse_result refuse_long(struct http_parse *self)
{
    if (self->stage <= HTTP_PARSE_FIELD_LINES)
        return parse_refuse(self, 431, "the header is longer than %zu bytes", self->header_max);
    return parse_refuse(self, 431, "chunk extensions and trailers are longer than %zu bytes",
                        self->header_max);
}

static bool is_chunk_line(const struct http_parse *self)
{
    return self->stage == HTTP_PARSE_CHUNK_LINE || self->stage == HTTP_PARSE_CHUNK_END;
}

/* Consumes bytes up to the end of the line, and parses the line if it is complete. */
static enum http_parse_result take_line(struct http_parse *self, const char *data, size_t size,
                                        size_t *ret_used)
{
    size_t *bytes = line_bytes(self), room = self->header_max - *bytes;
    size_t allowed = size < room ? size : room, used = 0;
    bool ended = false;
    *ret_used = size; /* after a refusal, all bytes count as consumed */
    if (!self->cr_seen)
        used = parse_span(data, allowed, LINE);
    if (used && self->stage == HTTP_PARSE_CHUNK_END)
        return parse_refuse(self, 400, "a chunk is longer than its size says");
    if (used < allowed && data[used] == '\r' && !self->cr_seen) {
        self->cr_seen = true;
        used++;
    }
    if (used < allowed && data[used] == '\n') {
        /* RFC 9112, 2.2 allows a server to accept a single LF as the end of a header line, but not
         * of other lines. */
        if (!self->cr_seen && is_chunk_line(self))
            return parse_refuse(self, 400,
                                "a line between chunks ends with LF alone instead of CR LF");
        ended = true;
        used++;
    } else if (used < allowed) {
        return parse_refuse(
            self, 400,
            self->cr_seen ? "a carriage return without a line feed: a line must end with CR LF"
                          : "a line contains a control byte");
    } else if (used < size) {
        return refuse_long(self);
    }
    *bytes += used;
    *ret_used = used;
    if (!ended) {
        buf_append(&self->line, data, used);
        return HTTP_PARSE_MORE;
    }
    if (self->line.size) { /* the start of the line came in an earlier call */
        buf_append(&self->line, data, used);
        data = self->line.data;
        used = self->line.size;
    }
    size_t text = used - 1 - self->cr_seen;
    self->cr_seen = false;
    enum http_parse_stage stage = self->stage;
    enum http_parse_result result = parse_line(self, data, text);
    buf_clear(&self->line);
    /* Chunk sizes and line ends do not count in extra_size, only chunk extensions and trailers. */
    if (stage == HTTP_PARSE_CHUNK_END ||
        (stage == HTTP_PARSE_CHUNK_LINE && text <= CHUNK_DIGITS_MAX))
        self->extra_size -= used;
    return result;
}

/* ---- interface ------------------------------------------------------------------------------- */

void http_parse_init(struct http_parse *self, size_t header_max, size_t body_max)
{
    *self = (struct http_parse){.header_max = header_max, .body_max = body_max};
    buf_init(&self->line, header_max);
    buf_init(&self->body, body_max);
}

void http_parse_release(struct http_parse *self)
{
    buf_release(&self->line);
    buf_release(&self->body);
}

void http_parse_start(struct http_parse *self, struct arena *arena)
{
    enum { LINE_KEPT = 4096 };
    struct buf line = self->line, body = self->body;
    if (line.capacity > LINE_KEPT)
        buf_release(&line);
    buf_clear(&line);
    buf_clear(&body);
    *self = (struct http_parse){.header_max = self->header_max,
                                .body_max = self->body_max,
                                .arena = arena,
                                .line = line,
                                .body = body};
    self->last_header = &self->request.headers;
}

enum http_parse_result http_parse_admit(struct http_parse *self, size_t body_max)
{
    self->body_max = self->body.max = body_max;
    if (self->stage == HTTP_PARSE_BODY && self->left > body_max)
        return parse_refuse(self, 413, "the request's body is longer than %zu bytes", body_max);
    return HTTP_PARSE_MORE;
}

/* Consumes bytes of the body. */
static size_t take_body(struct http_parse *self, const char *data, size_t size)
{
    size_t used = size < self->left ? size : (size_t)self->left;
    buf_append(&self->body, data, used);
    self->left -= used;
    if (self->left == 0)
        self->stage = self->stage == HTTP_PARSE_CHUNK ? HTTP_PARSE_CHUNK_END : HTTP_PARSE_END;
    return used;
}

enum http_parse_result http_parse_feed(struct http_parse *self, const char *data, size_t size,
                                       size_t *ret_used)
{
    enum http_parse_result result = HTTP_PARSE_MORE;
    size_t total = 0;
    if (self->stage == HTTP_PARSE_BODY && self->left == 0)
        self->stage = HTTP_PARSE_END;
    while (total < size && result == HTTP_PARSE_MORE && self->stage != HTTP_PARSE_END) {
        size_t used;
        if (self->stage == HTTP_PARSE_BODY || self->stage == HTTP_PARSE_CHUNK)
            used = take_body(self, data + total, size - total);
        else
            result = take_line(self, data + total, size - total, &used);
        total += used;
    }
    *ret_used = total;
    if (self->stage != HTTP_PARSE_END || result != HTTP_PARSE_MORE)
        return result;
    self->request.body = self->body.data;
    self->request.body_size = self->body.size;
    return HTTP_PARSE_DONE;
}

/* Parses JSON in one pass; see json.h. The text is copied once into the arena, and strings are
 * decoded in place in the copy. The closing quote of a string becomes its NUL, so that a string
 * needs no allocation. NUL bytes follow the copy, so that no scan needs to check for the end and
 * eight bytes can be tested at once. The parser must accept exactly RFC 8259, with these
 * exceptions: it refuses duplicate names (unless the limits allow them), NUL characters, halves of
 * surrogate pairs, numbers that are too large for double, and texts beyond the limits. */
#include "base/json/json.h"

#include "base/json/json_list.h"
#include "base/json/json_names.h"
#include "base/json/json_scan.h"
#include "base/mem.h"
#include "base/utf8.h"

#include <endian.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum {
    PADDING = 8, /* number of NUL bytes after the copy: skip_plain() may read up to 8 bytes beyond
                    the end */
    ERROR_NAME_MAX = 100, /* bytes of a name shown in an error */
    INT_DIGITS_SAFE = 18, /* a number of up to 18 decimal digits always fits int64 */
};

struct parser {
    struct arena *arena;
    char *at;
    const char *end;
    const char *line_start;
    uint32_t line;
    size_t depth_left;
    size_t nodes_left;
    const struct json_limits *limits;
    struct err *err;
};

static __attribute__((format(printf, 3, 4), cold)) int
fail(struct parser *parser, const char *where, const char *format, ...)
{
    char what[ERR_MESSAGE_MAX];
    va_list args;
    va_start(args, format);
    vsnprintf(what, sizeof(what), format, args);
    va_end(args);
    return err_set(parser->err, ERR_BAD_REQUEST, "%u:%zu: %s", parser->line,
                   (size_t)(where - parser->line_start) + 1, what);
}
#define fail(...) ERR_IS_NEGATIVE(fail(__VA_ARGS__))

static __attribute__((cold)) int fail_unexpected(struct parser *parser, const char *expected)
{
    const unsigned char c = (unsigned char)*parser->at;
    if (parser->at == parser->end)
        return fail(parser, parser->at, "the text ends where %s is expected", expected);
    if (c >= 0x20 && c < 0x7f)
        return fail(parser, parser->at, "%s is expected here, not '%c'", expected, c);
    return fail(parser, parser->at, "%s is expected here, not byte 0x%02x", expected, c);
}

static inline void skip_space(struct parser *parser)
{
    char *at = parser->at;
    for (;; at++) {
        if (*at == '\n') {
            parser->line++;
            parser->line_start = at + 1;
        } else if (*at != ' ' && *at != '\t' && *at != '\r') {
            break;
        }
    }
    parser->at = at;
}

/* Returns the first special byte at or after `at`. The NUL after the text is a special byte. */
static inline char *skip_plain(char *at)
{
    for (;; at += 8) {
        uint64_t word;
        memcpy(&word, at, sizeof(word));
        uint64_t special = json_scan_special(le64toh(word));
        if (special)
            return at + __builtin_ctzll(special) / 8;
    }
}

/* Parses four hexadecimal digits. Returns -1 if one is missing. */
static int32_t parse_hex4(const char *at)
{
    int32_t value = 0;
    for (int i = 0; i < 4; i++) {
        char c = at[i];
        int digit = c >= '0' && c <= '9'   ? c - '0'
                    : c >= 'a' && c <= 'f' ? c - 'a' + 10
                    : c >= 'A' && c <= 'F' ? c - 'A' + 10
                                           : -1;
        if (digit < 0)
            return -1;
        value = value << 4 | digit;
    }
    return value;
}

static int unescape_unicode(struct parser *parser, char **at, char **out)
{
    int32_t unit = parse_hex4(*at + 2);
    if (unit < 0)
        return fail(parser, *at, "\\u is not followed by four hexadecimal digits");
    if (unit == 0)
        return fail(parser, *at, "a string may not hold the NUL character: remove \\u0000");
    uint32_t character = (uint32_t)unit;
    size_t taken = 6;
    if (unit >= 0xd800 && unit <= 0xdfff) {
        int32_t low =
            unit < 0xdc00 && (*at)[6] == '\\' && (*at)[7] == 'u' ? parse_hex4(*at + 8) : -1;
        if (low < 0xdc00 || low > 0xdfff)
            return fail(parser, *at, "\\u%04x is half of a surrogate pair", (unsigned)unit);
        character = 0x10000 + ((uint32_t)(unit - 0xd800) << 10) + (uint32_t)(low - 0xdc00);
        taken = 12;
    }
    *at += taken;
    *out += utf8_encode(character, *out);
    return 0;
}

static int parser_unescape(struct parser *parser, char **at, char **out)
{
    static const char FROM[] = "\"\\/bfnrt", TO[] = "\"\\/\b\f\n\r\t";
    char c = (*at)[1];
    if (c == 'u')
        return unescape_unicode(parser, at, out);
    const char *found = c ? strchr(FROM, c) : NULL;
    if (!found)
        return fail(parser, *at, "a backslash must be followed by one of \" \\ / b f n r t u");
    *at += 2;
    *(*out)++ = TO[found - FROM];
    return 0;
}

/* Decodes a string from its first special byte on. Decoding never makes a string longer, so `out`
 * stays at or before `at`. */
static int decode_string(struct parser *parser, char *at, char **ret_end)
{
    char *out = at;
    while (*at != '"') {
        const unsigned char c = (unsigned char)*at;
        if (c == '\\') {
            int result = parser_unescape(parser, &at, &out);
            if (result < 0)
                return result;
        } else if (c < 0x20) {
            if (at == parser->end)
                return fail(parser, parser->at - 1, "the string that starts here does not end");
            return fail(parser, at, "byte 0x%02x must be escaped in a string", c);
        } else if (c >= 0x80) {
            size_t size = utf8_size(at, (size_t)(parser->end - at));
            if (size == 0)
                return fail(parser, at, "byte 0x%02x is not valid UTF-8", c);
            memmove(out, at, size);
            at += size;
            out += size;
        } else {
            char *run_end = skip_plain(at);
            memmove(out, at, (size_t)(run_end - at));
            out += run_end - at;
            at = run_end;
        }
    }
    parser->at = at + 1;
    *ret_end = out;
    return 0;
}

/* Parses a string. The position is after the opening quote before the call, and after the closing
 * quote afterwards. */
static inline int parse_string(struct parser *parser, const char **ret, size_t *ret_size)
{
    char *start = parser->at, *end = skip_plain(start);
    if (*end == '"') {
        parser->at = end + 1;
    } else {
        int result = decode_string(parser, end, &end);
        if (result < 0)
            return result;
    }
    *end = '\0';
    *ret = start;
    *ret_size = (size_t)(end - start);
    return 0;
}

static inline bool is_digit(char c)
{
    return c >= '0' && c <= '9';
}

static int parse_real(struct parser *parser, struct json *json, char *start, char *at)
{
    if (*at == '.') {
        if (!is_digit(*++at))
            return fail(parser, at, "a digit must follow the point of a number");
        while (is_digit(*at))
            at++;
    }
    if (*at == 'e' || *at == 'E') {
        at++;
        at += *at == '+' || *at == '-';
        if (!is_digit(*at))
            return fail(parser, at, "a digit must follow the exponent mark of a number");
        while (is_digit(*at))
            at++;
    }
    json->type = JSON_REAL;
    json->size = (size_t)(at - start);
    json->text = arena_strndup(parser->arena, start, json->size);
    if (!isfinite(strtod(json->text, NULL)))
        return fail(parser, start, "the number is too large");
    parser->at = at;
    return 0;
}

static int parse_number(struct parser *parser, struct json *json)
{
    char *start = parser->at, *at = start;
    bool negative = *at == '-';
    at += negative;
    char *digits = at;
    uint64_t value = 0;
    while (is_digit(*at) && at - digits < INT_DIGITS_SAFE)
        value = value * 10 + (uint64_t)(*at++ - '0');
    if (at == digits)
        return fail(parser, at, "a digit must follow the sign of a number");
    if (*digits == '0' && (at - digits > 1 || is_digit(*at)))
        return fail(parser, digits, "a number may not start with 0");
    bool fits = !(negative && value == 0); /* -0 stays a real number, to keep its sign */
    for (; is_digit(*at); at++) {
        uint64_t digit = (uint64_t)(*at - '0'), limit = (uint64_t)INT64_MAX + negative;
        fits = fits && value <= (limit - digit) / 10;
        value = fits ? value * 10 + digit : 0;
    }
    if (!fits || *at == '.' || *at == 'e' || *at == 'E')
        return parse_real(parser, json, start, at);
    json->type = JSON_INT;
    json->integer = (int64_t)(negative ? 0 - value : value);
    parser->at = at;
    return 0;
}

static int parse_value(struct parser *parser, struct json **ret);

static int parser_enter(struct parser *parser)
{
    if (parser->depth_left-- == 0) {
        size_t depth = parser->limits->depth;
        return fail(parser, parser->at, "nested more than %zu levels deep", depth);
    }
    parser->at++;
    skip_space(parser);
    return 0;
}

/* Parses the comma or bracket after a value. Returns 1 if another value follows, or 0 at the end of
 * the list. */
static inline int parse_separator(struct parser *parser, char close, const char *expected)
{
    skip_space(parser);
    char c = *parser->at;
    if (c != ',' && c != close)
        return fail_unexpected(parser, expected);
    parser->at++;
    if (c == close) {
        parser->depth_left++;
        return 0;
    }
    skip_space(parser);
    return 1;
}

static int parse_array(struct parser *parser, struct json *array)
{
    int result = parser_enter(parser);
    if (result < 0)
        return result;
    if (*parser->at == ']') {
        parser->at++;
        parser->depth_left++;
        return 0;
    }
    do {
        struct json *value;
        result = parse_value(parser, &value);
        if (result < 0)
            return result;
        json_list_append(array, value);
        result = parse_separator(parser, ']', "',' or ']'");
    } while (result > 0);
    return result;
}

static int parse_member(struct parser *parser, struct json *object, struct json_names *names)
{
    if (*parser->at != '"')
        return fail_unexpected(parser, "a name in quotes");
    const char *start = parser->at, *line_start = parser->line_start, *name;
    uint32_t line = parser->line;
    size_t size;
    parser->at++;
    int result = parse_string(parser, &name, &size);
    if (result < 0)
        return result;
    skip_space(parser);
    if (*parser->at != ':')
        return fail_unexpected(parser, "':'");
    parser->at++;
    skip_space(parser);
    struct json *value;
    result = parse_value(parser, &value);
    if (result < 0)
        return result;
    value->name = name;
    if (!parser->limits->repeats && !json_names_add(names, object, value, size)) {
        parser->line = line; /* the error shows the position of the name, not of its value */
        parser->line_start = line_start;
        return fail(parser, start, "the name '%.*s' is duplicated in one object", ERROR_NAME_MAX,
                    name);
    }
    json_list_append(object, value);
    return 0;
}

static int parse_object(struct parser *parser, struct json *object)
{
    _cleanup_(json_names_release) struct json_names names = {0};
    int result = parser_enter(parser);
    if (result < 0)
        return result;
    if (*parser->at == '}') {
        parser->at++;
        parser->depth_left++;
        return 0;
    }
    do {
        result = parse_member(parser, object, &names);
        if (result < 0)
            return result;
        result = parse_separator(parser, '}', "',' or '}'");
    } while (result > 0);
    return result;
}

static int parse_word(struct parser *parser, const char *word)
{
    size_t size = strlen(word);
    if (strncmp(parser->at, word, size) != 0)
        return fail_unexpected(parser, "a value");
    parser->at += size;
    return 0;
}

static int parse_value(struct parser *parser, struct json **ret)
{
    if (parser->nodes_left-- == 0)
        return fail(parser, parser->at, "more than %zu values", parser->limits->nodes);
    struct json *json = arena_alloc(parser->arena, sizeof(*json));
    *json = (struct json){.line = parser->line,
                          .column = (uint32_t)(parser->at - parser->line_start) + 1};
    *ret = json;
    switch (*parser->at) {
    case '{':
        json->type = JSON_OBJECT;
        return parse_object(parser, json);
    case '[':
        json->type = JSON_ARRAY;
        return parse_array(parser, json);
    case '"':
        json->type = JSON_STRING;
        parser->at++;
        return parse_string(parser, &json->text, &json->size);
    case 't':
        json->type = JSON_BOOL;
        json->boolean = true;
        return parse_word(parser, "true");
    case 'f':
        json->type = JSON_BOOL;
        return parse_word(parser, "false");
    case 'n':
        return parse_word(parser, "null");
    case '-':
    case '0' ... '9':
        return parse_number(parser, json);
    default:
        return fail_unexpected(parser, "a value");
    }
}

int json_parse(struct arena *arena, const char *text, size_t size, const struct json_limits *limits,
               struct json **ret, struct err *err)
{
    struct json_limits bounds = {JSON_DEPTH_MAX, JSON_NODES_MAX, limits && limits->repeats};
    if (limits && limits->depth && limits->depth < JSON_DEPTH_MAX)
        bounds.depth = limits->depth;
    if (limits && limits->nodes)
        bounds.nodes = limits->nodes;
    if (size > UINT32_MAX) /* a column would not fit uint32_t */
        return err_set(err, ERR_BAD_REQUEST, "1:1: the text is longer than 4 GiB");

    char *copy = arena_alloc(arena, size + PADDING);
    memcpy(copy, text, size);
    memset(copy + size, 0, PADDING);
    struct parser parser = {
        .arena = arena,
        .at = copy,
        .end = copy + size,
        .line_start = copy,
        .line = 1,
        .depth_left = bounds.depth,
        .nodes_left = bounds.nodes,
        .limits = &bounds,
        .err = err,
    };
    struct json *root;
    skip_space(&parser);
    int result = parse_value(&parser, &root);
    if (result < 0)
        return result;
    skip_space(&parser);
    if (parser.at != parser.end)
        return fail_unexpected(&parser, "the end of the text");
    *ret = root;
    return 0;
}

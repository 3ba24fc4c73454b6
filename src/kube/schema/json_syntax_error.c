/* Makes Go's messages for invalid JSON with a recursive descent parser that builds no tree; see
 * json_syntax_error.h. */
#include "kube/schema/json_syntax_error.h"

#include "base/str.h"

#include <ctype.h>
#include <string.h>

struct reader {
    struct arena *arena;
    const char *at, *end;
    size_t depth;
    const char *message;
};

/* Returns the character as Go quotes it. Each byte counts as one Latin-1 character. */
static const char *syntax_quote(struct arena *arena, unsigned char c)
{
    static const char names[] = "\a\b\f\n\r\t\v", letters[] = "abfnrtv";
    const char *name = c ? strchr(names, c) : NULL;
    if (name)
        return arena_printf(arena, "'\\%c'", letters[name - names]);
    if (c == '\'' || c == '\\')
        return arena_printf(arena, "'\\%c'", c);
    if (c < ' ' || c == 0x7f)
        return arena_printf(arena, "'\\x%02x'", c);
    if (c >= 0x80 && (c < 0xa1 || c == 0xad))
        return arena_printf(arena, "'\\u%04x'", c);
    if (c >= 0x80)
        return arena_printf(arena, "'%c%c'", 0xc0 | c >> 6, 0x80 | (c & 0x3f));
    return arena_printf(arena, "'%c'", c);
}

static bool refuse_character(struct reader *reader, char c, const char *where)
{
    reader->message = arena_printf(reader->arena, "invalid character %s %s",
                                   syntax_quote(reader->arena, (unsigned char)c), where);
    return false;
}

static bool syntax_refuse(struct reader *reader, const char *where)
{
    if (reader->at < reader->end)
        return refuse_character(reader, *reader->at, where);
    reader->message = "unexpected end of JSON input";
    return false;
}

/* Reports an error inside a literal, a number or an escape. There, Go treats the end of the text as
 * a space. */
static bool refuse_within(struct reader *reader, const char *where)
{
    return refuse_character(reader, reader->at < reader->end ? *reader->at : ' ', where);
}

static bool is_at(const struct reader *reader, char c)
{
    return reader->at < reader->end && *reader->at == c;
}

static bool syntax_skip_character(struct reader *reader, char c)
{
    bool there = is_at(reader, c);
    reader->at += there;
    return there;
}

static void skip_space(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at && strchr(" \t\r\n", *reader->at))
        reader->at++;
}

static bool skip_digits(struct reader *reader)
{
    const char *start = reader->at;
    while (reader->at < reader->end && isdigit((unsigned char)*reader->at))
        reader->at++;
    return reader->at > start;
}

static bool read_escape(struct reader *reader)
{
    if (reader->at == reader->end || !*reader->at || !strchr("bfnrt\\/\"u", *reader->at))
        return refuse_within(reader, "in string escape code");
    if (*reader->at++ != 'u')
        return true;
    for (int i = 0; i < 4; i++, reader->at++)
        if (reader->at == reader->end || !isxdigit((unsigned char)*reader->at))
            return refuse_within(reader, "in \\u hexadecimal character escape");
    return true;
}

/* Skips the rest of a string. The opening quote has been read. */
static bool read_string(struct reader *reader)
{
    while (reader->at < reader->end && *reader->at != '"') {
        if ((unsigned char)*reader->at < ' ')
            return syntax_refuse(reader, "in string literal");
        if (*reader->at++ == '\\' && !read_escape(reader))
            return false;
    }
    return syntax_skip_character(reader, '"') || syntax_refuse(reader, "in string literal");
}

static bool syntax_skip_number(struct reader *reader)
{
    (void)syntax_skip_character(reader, '-');
    if (!syntax_skip_character(reader, '0') && !skip_digits(reader))
        return refuse_within(reader, "in numeric literal");
    if (syntax_skip_character(reader, '.') && !skip_digits(reader))
        return refuse_within(reader, "after decimal point in numeric literal");
    if (syntax_skip_character(reader, 'e') || syntax_skip_character(reader, 'E')) {
        if (!syntax_skip_character(reader, '+'))
            (void)syntax_skip_character(reader, '-');
        if (!skip_digits(reader))
            return refuse_within(reader, "in exponent of numeric literal");
    }
    return true;
}

static bool read_literal(struct reader *reader, const char *word)
{
    for (const char *c = word; *c; c++)
        if (!syntax_skip_character(reader, *c))
            return refuse_within(
                reader, arena_printf(reader->arena, "in literal %s (expecting '%c')", word, *c));
    return true;
}

static bool syntax_skip_value(struct reader *reader);

static bool read_array(struct reader *reader)
{
    skip_space(reader);
    if (syntax_skip_character(reader, ']'))
        return true;
    for (;;) {
        if (!syntax_skip_value(reader))
            return false;
        skip_space(reader);
        if (syntax_skip_character(reader, ']'))
            return true;
        if (!syntax_skip_character(reader, ','))
            return syntax_refuse(reader, "after array element");
    }
}

static bool read_object(struct reader *reader)
{
    skip_space(reader);
    if (syntax_skip_character(reader, '}'))
        return true;
    for (;;) {
        skip_space(reader);
        if (!syntax_skip_character(reader, '"'))
            return syntax_refuse(reader, "looking for beginning of object key string");
        if (!read_string(reader))
            return false;
        skip_space(reader);
        if (!syntax_skip_character(reader, ':'))
            return syntax_refuse(reader, "after object key");
        if (!syntax_skip_value(reader))
            return false;
        skip_space(reader);
        if (syntax_skip_character(reader, '}'))
            return true;
        if (!syntax_skip_character(reader, ','))
            return syntax_refuse(reader, "after object key:value pair");
    }
}

/* Returns false with a message on a syntax error. Also returns false, without a message, if the
 * value is nested too deeply. */
static bool syntax_skip_value(struct reader *reader)
{
    skip_space(reader);
    char c = reader->at < reader->end ? *reader->at : '\0';
    if (c == '{' || c == '[') {
        if (++reader->depth > JSON_DEPTH_MAX)
            return false;
        reader->at++;
        bool good = c == '{' ? read_object(reader) : read_array(reader);
        reader->depth--;
        return good;
    }
    if (syntax_skip_character(reader, '"'))
        return read_string(reader);
    if (c == '-' || isdigit((unsigned char)c))
        return syntax_skip_number(reader);
    if (c == 't' || c == 'f' || c == 'n')
        return read_literal(reader, c == 't' ? "true" : c == 'f' ? "false" : "null");
    return syntax_refuse(reader, "looking for beginning of value");
}

const char *kube_json_syntax_error(struct arena *arena, const char *text, size_t size)
{
    struct reader reader = {.arena = arena, .at = text, .end = text + size};
    if (syntax_skip_value(&reader)) {
        skip_space(&reader);
        if (reader.at < reader.end)
            syntax_refuse(&reader, "after top-level value");
    }
    return reader.message;
}

char *kube_json_type_error(struct arena *arena, const struct json *value, const char *type)
{
    static const char *const names[] = {
        [JSON_NULL] = "null",     [JSON_BOOL] = "bool",   [JSON_INT] = "number",
        [JSON_REAL] = "number",   [JSON_ARRAY] = "array", [JSON_OBJECT] = "object",
        [JSON_STRING] = "string",
    };
    return arena_printf(arena, "json: cannot unmarshal %s into Go value of type %s",
                        names[value->type], type);
}

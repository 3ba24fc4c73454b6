/* Writes a JSON tree as YAML in block style; see yaml.h. Lists have the indentation of their key,
 * as in kubectl. A string is unquoted only if every parser of YAML 1.1 and 1.2 reads it as that
 * string. A value of several lines is written as a literal block if possible, else quoted. */
#include "base/json/yaml.h"

#include "base/json/yaml_scalar.h"
#include "base/str.h"
#include "base/utf8.h"

#include <string.h>

enum { SIMPLE_KEY_MAX = 120 }; /* bytes; a longer key is written as "? key" */

static void write_indent(struct buf *buf, size_t indent)
{
    for (size_t i = 0; i < indent; i++)
        buf_append_char(buf, ' ');
}

static uint32_t yaml_decode_utf8(const char *text, size_t size)
{
    const unsigned char *byte = (const unsigned char *)text;
    switch (size) {
    case 1:
        return byte[0];
    case 2:
        return (byte[0] & 0x1fu) << 6 | (byte[1] & 0x3fu);
    case 3:
        return (byte[0] & 0x0fu) << 12 | (byte[1] & 0x3fu) << 6 | (byte[2] & 0x3fu);
    default:
        return (byte[0] & 0x07u) << 18 | (byte[1] & 0x3fu) << 12 | (byte[2] & 0x3fu) << 6 |
               (byte[3] & 0x3fu);
    }
}

/* Returns whether the character may be written unescaped. Returns false for line breaks and the
 * byte order mark. */
static bool is_printable(uint32_t c)
{
    return (c >= 0x20 && c <= 0x7e) || (c >= 0xa0 && c <= 0xd7ff && c != 0x2028 && c != 0x2029) ||
           (c >= 0xe000 && c <= 0xfffd && c != 0xfeff) || c >= 0x10000;
}

/* Returns whether all characters are printable. `breaks_too` also allows line breaks and tabs. */
static bool all_printable(const char *text, size_t size, bool breaks_too)
{
    for (size_t at = 0, step; at < size; at += step) {
        step = utf8_size(text + at, size - at);
        if (step == 0)
            return false;
        bool is_break = step == 1 && (text[at] == '\n' || text[at] == '\t');
        if (!is_printable(yaml_decode_utf8(text + at, step)) && !(breaks_too && is_break))
            return false;
    }
    return true;
}

static void yaml_write_escaped(struct buf *buf, uint32_t c)
{
    static const char SHORT[] = {
        ['"'] = '"', ['\\'] = '\\', ['\n'] = 'n', ['\r'] = 'r', ['\t'] = 't'};
    if (c < sizeof(SHORT) && SHORT[c])
        buf_printf(buf, "\\%c", SHORT[c]);
    else
        buf_printf(buf, c < 0x100 ? "\\x%02x" : "\\u%04x", c);
}

static void write_quoted(struct buf *buf, const char *text, size_t size)
{
    buf_append_char(buf, '"');
    for (size_t at = 0, step; at < size; at += step) {
        step = utf8_size(text + at, size - at);
        uint32_t c = step ? yaml_decode_utf8(text + at, step) : 0xfffd;
        if (step == 0)
            step = 1;
        if (c == '"' || c == '\\' || !is_printable(c)) {
            yaml_write_escaped(buf, c);
        } else {
            char encoded[4];
            buf_append(buf, encoded, utf8_encode(c, encoded));
        }
    }
    buf_append_char(buf, '"');
}

/* Returns whether a YAML parser might read the text as a number or a time. Some parsers know
 * numbers and times that this program reads as strings, for example numbers in base 60. */
static bool looks_like_number(const char *text)
{
    return text[strspn(text, "0123456789+-.:_eExXTtZz ")] == '\0' && strpbrk(text, "0123456789");
}

/* Returns whether the string may be written without quotes. */
static bool is_plain(const char *text, size_t size)
{
    if (size == 0 || strchr("-?:,[]{}#&*!|>'\"%@`= <", text[0]) || text[size - 1] == ' ' ||
        text[size - 1] == ':' || !all_printable(text, size, false) || strstr(text, ": ") ||
        strstr(text, " #") || str_has_prefix(text, "...") || looks_like_number(text))
        return false;
    struct json resolved = {0};
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    return yaml_scalar_resolve(arena, text, size, &resolved, NULL) == 0 &&
           resolved.type == JSON_STRING;
}

static bool fits_literal(const char *text, size_t size)
{
    return memchr(text, '\n', size) && !strchr(" \n\t", text[0]) && all_printable(text, size, true);
}

static void write_literal(struct buf *buf, const char *text, size_t size, size_t indent)
{
    bool ends = text[size - 1] == '\n';
    bool ends_twice = ends && size > 1 && text[size - 2] == '\n';
    buf_append_str(buf, ends_twice ? "|+" : ends ? "|" : "|-");
    for (const char *line = text, *end = text + size; line < end;) {
        const char *stop = memchr(line, '\n', (size_t)(end - line));
        if (!stop)
            stop = end;
        buf_append_char(buf, '\n');
        if (stop > line)
            write_indent(buf, indent);
        buf_append(buf, line, (size_t)(stop - line));
        line = stop + 1;
    }
}

static void write_string(struct buf *buf, const char *text, size_t size)
{
    if (is_plain(text, size))
        buf_append(buf, text, size);
    else
        write_quoted(buf, text, size);
}

static void write_scalar(struct buf *buf, const struct json *json, size_t indent)
{
    if (json->type != JSON_STRING)
        json_write(json, buf); /* null, booleans, numbers, [] and {} have the same form in JSON */
    else if (fits_literal(json->text, json->size))
        write_literal(buf, json->text, json->size, indent);
    else
        write_string(buf, json->text, json->size);
    buf_append_char(buf, '\n');
}

static void write_elements(struct buf *buf, const struct json *array, size_t indent, bool inlined);

static void write_key(struct buf *buf, const char *name, size_t indent)
{
    size_t size = strlen(name);
    if (size <= SIMPLE_KEY_MAX) {
        write_string(buf, name, size);
    } else {
        buf_append_str(buf, "? ");
        write_string(buf, name, size);
        buf_append_char(buf, '\n');
        write_indent(buf, indent);
    }
    buf_append_char(buf, ':');
}

/* If `inlined`, the first member follows "- " on the same line. */
static void write_members(struct buf *buf, const struct json *object, size_t indent, bool inlined)
{
    JSON_EACH (member, object) {
        if (!inlined || member != object->first)
            write_indent(buf, indent);
        write_key(buf, member->name, indent);
        buf_append_char(buf, json_count(member) ? '\n' : ' ');
        if (json_count(member) == 0)
            write_scalar(buf, member, indent + 2);
        else if (member->type == JSON_OBJECT)
            write_members(buf, member, indent + 2, false);
        else
            write_elements(buf, member, indent, false);
    }
}

static void write_elements(struct buf *buf, const struct json *array, size_t indent, bool inlined)
{
    JSON_EACH (item, array) {
        if (!inlined || item != array->first)
            write_indent(buf, indent);
        buf_append(buf, "- ", 2);
        if (json_count(item) == 0)
            write_scalar(buf, item, indent + 2);
        else if (item->type == JSON_OBJECT)
            write_members(buf, item, indent + 2, true);
        else
            write_elements(buf, item, indent + 2, true);
    }
}

void yaml_write(const struct json *json, struct buf *buf)
{
    if (json_count(json) == 0)
        write_scalar(buf, json, 2);
    else if (json->type == JSON_OBJECT)
        write_members(buf, json, 0, false);
    else
        write_elements(buf, json, 0, false);
}

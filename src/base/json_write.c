/* Writing JSON; see json.h. */
#include "base/json.h"

#include "base/mem.h"
#include "base/utf8.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

enum { COMPACT = -1 }; /* instead of a level of indentation */

static inline bool is_plain(unsigned char c)
{
    return c >= 0x20 && c < 0x80 && c != '"' && c != '\\';
}

static void write_escaped(struct buf *buf, unsigned char c)
{
    static const char SHORT[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                 ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    if (c < sizeof(SHORT) && SHORT[c])
        buf_append(buf, (const char[]){'\\', SHORT[c]}, 2);
    else
        buf_printf(buf, "\\u%04x", c);
}

static void write_string(struct buf *buf, const char *text, size_t size)
{
    buf_append_char(buf, '"');
    for (size_t at = 0; at < size;) {
        size_t start = at;
        while (at < size && is_plain((unsigned char)text[at]))
            at++;
        buf_append(buf, text + start, at - start);
        if (at == size)
            break;
        if ((unsigned char)text[at] < 0x80) {
            write_escaped(buf, (unsigned char)text[at++]);
            continue;
        }
        size_t step = utf8_size(text + at, size - at);
        if (step)
            buf_append(buf, text + at, step);
        else
            buf_append_str(buf, "\xef\xbf\xbd");
        at += step ? step : 1;
    }
    buf_append_char(buf, '"');
}

static void write_int(struct buf *buf, int64_t value)
{
    char text[24], *at = text + sizeof(text);
    uint64_t left = value < 0 ? 0 - (uint64_t)value : (uint64_t)value;
    do
        *--at = (char)('0' + left % 10);
    while (left /= 10);
    if (value < 0)
        *--at = '-';
    buf_append(buf, at, (size_t)(text + sizeof(text) - at));
}

static void write_break(struct buf *buf, int level)
{
    if (level == COMPACT)
        return;
    buf_append_char(buf, '\n');
    for (int i = 0; i < level; i++)
        buf_append(buf, "  ", 2);
}

static void write_value(const struct json *json, struct buf *buf, int level);

static void write_list(const struct json *list, struct buf *buf, int level, const char *brackets)
{
    int inner = level == COMPACT ? COMPACT : level + 1;
    buf_append_char(buf, brackets[0]);
    JSON_EACH (item, list) {
        if (item != list->first)
            buf_append_char(buf, ',');
        write_break(buf, inner);
        if (list->type == JSON_OBJECT) {
            write_string(buf, item->name, strlen(item->name));
            buf_append(buf, ": ", level == COMPACT ? 1 : 2);
        }
        write_value(item, buf, inner);
    }
    if (list->first)
        write_break(buf, level);
    buf_append_char(buf, brackets[1]);
}

static void write_value(const struct json *json, struct buf *buf, int level)
{
    switch (json ? json->type : JSON_NULL) {
    case JSON_NULL:
        buf_append(buf, "null", 4);
        break;
    case JSON_BOOL:
        buf_append_str(buf, json->boolean ? "true" : "false");
        break;
    case JSON_INT:
        write_int(buf, json->integer);
        break;
    case JSON_REAL:
        buf_append(buf, json->text, json->size);
        break;
    case JSON_STRING:
        write_string(buf, json->text, json->size);
        break;
    case JSON_ARRAY:
        write_list(json, buf, level, "[]");
        break;
    case JSON_OBJECT:
        write_list(json, buf, level, "{}");
        break;
    }
}

void json_write(const struct json *json, struct buf *buf)
{
    write_value(json, buf, COMPACT);
}

void json_write_pretty(const struct json *json, struct buf *buf)
{
    write_value(json, buf, 0);
}

char *json_to_string(struct arena *arena, const struct json *json)
{
    _cleanup_buf_ struct buf buf;
    buf_init(&buf, SIZE_MAX / 2);
    json_write(json, &buf);
    return arena_strndup(arena, buf.data, buf.size);
}

/* Writes JSON; see json.h. */
#include "base/json/json.h"

#include "base/json/json_scan.h"
#include "base/utf8.h"

#include <string.h>

enum { COMPACT = -1 }; /* passed as indentation level: the output has no white space */

/* Returns the number of plain bytes at the start of the text: bytes that are no quote, backslash,
 * control character or byte outside ASCII. */
static inline size_t plain_size(const char *text, size_t size)
{
    size_t at = 0;
    for (; size - at >= 8; at += 8) {
        uint64_t word;
        memcpy(&word, text + at, sizeof(word));
        if (json_scan_special(word))
            break;
    }
    while (at < size && !json_scan_is_special((unsigned char)text[at]))
        at++;
    return at;
}

static void json_write_escaped(struct buf *buf, unsigned char c)
{
    static const char SHORT[] = {['"'] = '"',  ['\\'] = '\\', ['\b'] = 'b', ['\f'] = 'f',
                                 ['\n'] = 'n', ['\r'] = 'r',  ['\t'] = 't'};
    if (c < sizeof(SHORT) && SHORT[c])
        buf_append(buf, (const char[]){'\\', SHORT[c]}, 2);
    else
        buf_printf(buf, "\\u%04x", c);
}

/* Writes a string from its first special byte on. */
static void write_special(struct buf *buf, const char *text, size_t size)
{
    for (size_t at = 0; at < size;) {
        size_t run = plain_size(text + at, size - at);
        buf_append(buf, text + at, run);
        at += run;
        if (at == size)
            break;
        if ((unsigned char)text[at] < 0x80) {
            json_write_escaped(buf, (unsigned char)text[at++]);
            continue;
        }
        size_t step = utf8_size(text + at, size - at);
        if (step)
            buf_append(buf, text + at, step);
        else
            buf_append_str(buf, "\xef\xbf\xbd");
        at += step ? step : 1;
    }
}

/* Writes the string in quotes, followed by `suffix`. A string without special bytes is the usual
 * case and is copied at once. */
static void write_string(struct buf *buf, const char *text, size_t size, const char *suffix,
                         size_t suffix_size)
{
    size_t plain = plain_size(text, size);
    char *room = buf_reserve(buf, plain + 2 + suffix_size);
    if (!room)
        return;
    room[0] = '"';
    memcpy(room + 1, text, plain);
    if (plain == size) {
        room[size + 1] = '"';
        memcpy(room + size + 2, suffix, suffix_size);
        buf_commit(buf, size + 2 + suffix_size);
        return;
    }
    buf_commit(buf, plain + 1);
    write_special(buf, text + plain, size - plain);
    buf_append_char(buf, '"');
    buf_append(buf, suffix, suffix_size);
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

static void json_write_list(const struct json *list, struct buf *buf, int level,
                            const char *brackets)
{
    int inner = level == COMPACT ? COMPACT : level + 1;
    buf_append_char(buf, brackets[0]);
    JSON_EACH (item, list) {
        if (item != list->first)
            buf_append_char(buf, ',');
        write_break(buf, inner);
        if (list->type == JSON_OBJECT) {
            write_string(buf, item->name, strlen(item->name), ": ", level == COMPACT ? 1 : 2);
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
        write_string(buf, json->text, json->size, "", 0);
        break;
    case JSON_ARRAY:
        json_write_list(json, buf, level, "[]");
        break;
    case JSON_OBJECT:
        json_write_list(json, buf, level, "{}");
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

/* Error messages that point into a text; see source.h. */
#include "base/source.h"

#include "base/buf.h"
#include "base/json/json.h"
#include "base/utf8.h"

#include <stdarg.h>
#include <string.h>

enum { BEFORE_MAX = 40 }; /* characters shown before the '^' if the line is too long */

static const char INDENT[] = "    ", CUT[] = "…";

/* ---- Lines ----------------------------------------------------------------------------------- */

/* Returns the size of the line break at `at`, or 0 if there is none. YAML 1.1 has several kinds of
 * line breaks. */
static size_t break_size(const char *at, size_t size)
{
    if (size >= 2 && memcmp(at, "\r\n", 2) == 0)
        return 2;
    if (size >= 1 && (*at == '\n' || *at == '\r'))
        return 1;
    if (size >= 2 && memcmp(at, "\xc2\x85", 2) == 0)
        return 2;
    if (size >= 3 && (memcmp(at, "\xe2\x80\xa8", 3) == 0 || memcmp(at, "\xe2\x80\xa9", 3) == 0))
        return 3;
    return 0;
}

static size_t line_size(const char *at, size_t size)
{
    size_t length = 0;
    while (length < size && break_size(at + length, size - length) == 0)
        length++;
    return length;
}

/* Finds a line by its number. Returns false if the text has fewer lines. */
static bool source_find_line(const struct source *source, size_t line, const char **ret,
                             size_t *ret_size)
{
    const char *at = source->text, *end = at + source->size;
    if (source->size >= 3 && memcmp(at, "\xef\xbb\xbf", 3) == 0)
        at += 3; /* a byte order mark is not part of the line */
    for (size_t number = 1; number < line; number++) {
        at += line_size(at, (size_t)(end - at));
        size_t step = break_size(at, (size_t)(end - at));
        if (step == 0)
            return false;
        at += step;
    }
    *ret = at;
    *ret_size = line_size(at, (size_t)(end - at));
    return line > 0;
}

bool source_is_blank(const struct source *source, size_t line)
{
    const char *text;
    size_t size;
    if (!source_find_line(source, line, &text, &size))
        return true;
    for (size_t i = 0; i < size; i++)
        if (text[i] != ' ' && text[i] != '\t')
            return false;
    return true;
}

/* ---- The excerpt ----------------------------------------------------------------------------- */

/* Returns the size of the character at `at`. An invalid byte counts as one character. */
static size_t step_size(const char *at, const char *end)
{
    size_t size = utf8_size(at, (size_t)(end - at));
    return size ? size : 1;
}

/* Returns whether the byte is masked in a text with credentials: a letter, a digit or a byte
 * outside ASCII. */
static bool source_is_word(char c)
{
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           (c & 0x80) != 0;
}

/* Returns whether the character is invalid UTF-8 or a control character, which a terminal would
 * interpret. */
static bool source_is_control(const char *at, size_t size)
{
    const unsigned char first = (unsigned char)*at;
    return first < 0x20 || first == 0x7f || (first >= 0x80 && size == 1) ||
           (first == 0xc2 && (unsigned char)at[1] < 0xa0);
}

/* Appends one character in a printable form and returns its number of columns. A tab takes one
 * column, so that the '^' stays below the character at the place of the error. */
static size_t append_shown(struct buf *buf, const char *at, size_t size, bool masked)
{
    char instead = masked && source_is_word(*at) ? '*'
                   : *at == '\t'                 ? ' '
                   : source_is_control(at, size) ? '?'
                                                 : 0;
    if (instead) {
        buf_append_char(buf, instead);
        return 1;
    }
    buf_append(buf, at, size);
    return utf8_columns(at, size);
}

/* Appends the line and a '^' below the place. Appends nothing if the line does not exist or is
 * blank, or if the column is 0. */
static void append_excerpt(struct buf *buf, const struct source *source, struct source_place place)
{
    const char *at;
    size_t size, shown = 0, before = sizeof(INDENT) - 1;
    if (source_is_blank(source, place.line) || place.column == 0 ||
        !source_find_line(source, place.line, &at, &size))
        return;
    const char *end = at + size;
    const char *colon = memchr(at, ':', size);
    if (!colon)
        colon = at;
    buf_printf(buf, "\n%s", INDENT);
    size_t column = 1;
    if (place.column > BEFORE_MAX && size > SOURCE_SHOWN_MAX) {
        for (; at < end && column + BEFORE_MAX < place.column; column++)
            at += step_size(at, end);
        buf_append_str(buf, CUT);
        before++;
    }
    for (; at < end && shown < SOURCE_SHOWN_MAX; column++) {
        size_t step = step_size(at, end);
        size_t columns = append_shown(buf, at, step, source->secret && at >= colon);
        before += column < place.column ? columns : 0;
        /* Combining marks take no column, but their number must have a limit too. */
        shown += columns ? columns : 1;
        at += step;
    }
    buf_printf(buf, "%s\n%*s^", at < end ? CUT : "", (int)before, "");
}

int(source_err_wrap)(struct err *err, const struct source *source, struct source_place place)
{
    int result = err_wrap(err, "%s:%zu:%zu", source->name, place.line, place.column);
    _cleanup_buf_ struct buf shown;
    buf_init(&shown, ERR_MESSAGE_MAX);
    append_excerpt(&shown, source, place);
    /* An excerpt that does not fit completely is omitted. */
    size_t used = err ? strlen(err->message) : 0;
    if (err && !shown.overflowed && used + shown.size < sizeof(err->message))
        memcpy(err->message + used, shown.data, shown.size + 1);
    return result;
}

int(source_err_set)(struct err *err, enum err_code code, const struct source *source,
                    struct source_place place, const char *format, ...)
{
    va_list args;
    va_start(args, format);
    int result = err_vset(err, code, format, args);
    va_end(args);
    if (err)
        (void)source_err_wrap(err, source, place);
    return result;
}

/* ---- Places ---------------------------------------------------------------------------------- */

struct source_place source_value_place(const struct json *value)
{
    return (struct source_place){value->line, value->column};
}

struct source_place source_name_place(const struct source *source, const struct json *member)
{
    const char *line;
    size_t size, length = strlen(member->name);
    struct source_place place = source_value_place(member);
    if (length == 0 || !source_find_line(source, member->line, &line, &size))
        return place;
    const char *at = line, *end = line + size;
    for (size_t column = 1; column < member->column && at < end; column++) {
        if ((size_t)(end - at) >= length && memcmp(at, member->name, length) == 0)
            place.column = column; /* the last match is the nearest to the value */
        at += step_size(at, end);
    }
    return place;
}

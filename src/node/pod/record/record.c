/* Writes and reads records; see pod/record/record.h. */
#include "node/pod/record/record.h"

#include <string.h>

void record_write(struct buf *buf, const char *key, const char *value)
{
    buf_append_str(buf, key);
    buf_append_char(buf, ' ');
    for (const char *at = value;;) {
        size_t plain = strcspn(at, "\\\n");
        buf_append(buf, at, plain);
        at += plain;
        if (!*at)
            break;
        buf_append_str(buf, *at++ == '\n' ? "\\n" : "\\\\");
    }
    buf_append_char(buf, '\n');
}

void record_write_int(struct buf *buf, const char *key, int64_t value)
{
    buf_printf(buf, "%s %lld\n", key, (long long)value);
}

void record_reader_init(struct record_reader *reader, char *text, size_t size)
{
    *reader = (struct record_reader){.at = text, .end = text + size};
}

static bool record_unescape(char *value)
{
    char *to = value;
    for (const char *from = value; *from; from++) {
        if (*from != '\\') {
            *to++ = *from;
            continue;
        }
        from++;
        if (*from == 'n')
            *to++ = '\n';
        else if (*from == '\\')
            *to++ = '\\';
        else
            return false;
    }
    *to = '\0';
    return true;
}

int record_next(struct record_reader *reader, const char **ret_key, char **ret_value,
                struct err *err)
{
    if (reader->at == reader->end)
        return 0;
    reader->line++;
    char *line = reader->at;
    char *newline = memchr(line, '\n', (size_t)(reader->end - line));
    if (!newline || memchr(line, '\0', (size_t)(newline - line)))
        return err_set(err, ERR_BAD_REQUEST, "line %u is cut short", reader->line);
    *newline = '\0';
    reader->at = newline + 1;
    char *space = strchr(line, ' ');
    if (!space || space == line)
        return err_set(err, ERR_BAD_REQUEST, "line %u is not 'key value'", reader->line);
    *space = '\0';
    if (!record_unescape(space + 1))
        return err_set(err, ERR_BAD_REQUEST, "line %u has an unknown escape", reader->line);
    *ret_key = line;
    *ret_value = space + 1;
    return 1;
}

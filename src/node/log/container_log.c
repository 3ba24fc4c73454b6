/* Writes and parses log records; see log/container_log.h. */
#include "node/log/container_log.h"

#include "base/moment.h"

#include <stdio.h>
#include <string.h>
#include <time.h>

void node_log_writer_init(struct node_log_writer *writer, const char *stream)
{
    writer->stream = stream;
    writer->pending = 0;
}

/* Appends the pending output as one record. `tag` is 'F' or 'P'. */
static void log_writer_put_record(struct node_log_writer *writer, int64_t wall_ns, char tag,
                                  struct buf *records)
{
    time_t seconds = (time_t)(wall_ns / 1000000000);
    struct tm utc;
    gmtime_r(&seconds, &utc);
    char time_text[64];
    size_t size = strftime(time_text, sizeof(time_text), "%Y-%m-%dT%H:%M:%S", &utc);
    time_text[size] = '\0';
    buf_printf(records, "%s.%09lldZ %s %c ", time_text, (long long)(wall_ns % 1000000000),
               writer->stream, tag);
    buf_append(records, writer->line, writer->pending);
    buf_append_char(records, '\n');
    writer->pending = 0;
}

void node_log_writer_add(struct node_log_writer *writer, int64_t wall_ns, const char *data,
                         size_t size, struct buf *records)
{
    while (size) {
        const char *newline = memchr(data, '\n', size);
        size_t piece = newline ? (size_t)(newline - data) : size;
        size_t room = LOG_LINE_MAX - writer->pending;
        bool cut = piece > room;
        if (cut)
            piece = room;
        memcpy(writer->line + writer->pending, data, piece);
        writer->pending += piece;
        data += piece;
        size -= piece;
        if (cut) {
            log_writer_put_record(writer, wall_ns, 'P', records);
        } else if (newline) {
            log_writer_put_record(writer, wall_ns, 'F', records);
            data++;
            size--;
        }
    }
}

void node_log_writer_finish(struct node_log_writer *writer, int64_t wall_ns, struct buf *records)
{
    if (writer->pending)
        log_writer_put_record(writer, wall_ns, 'P', records);
}

/* Returns the word at `*at` and moves `*at` behind the blank after it. Returns NULL if there is no
 * such word. */
static const char *take_word(const char **at, const char *end, size_t *ret_size)
{
    const char *start = *at;
    const char *space = memchr(start, ' ', (size_t)(end - start));
    if (!space || space == start)
        return NULL;
    *ret_size = (size_t)(space - start);
    *at = space + 1;
    return start;
}

bool node_log_record_parse(const char *line, size_t size, struct node_log_record *ret)
{
    const char *at = line, *end = line + size;
    size_t time_size, stream_size, tag_size;
    const char *time_text = take_word(&at, end, &time_size);
    const char *stream = time_text ? take_word(&at, end, &stream_size) : NULL;
    const char *tag = stream ? take_word(&at, end, &tag_size) : NULL;
    char copy[MOMENT_TEXT_MAX];
    if (!tag || tag_size != 1 || (*tag != 'F' && *tag != 'P') || stream_size != 6 ||
        time_size >= sizeof(copy))
        return false;
    bool is_error = memcmp(stream, "stderr", 6) == 0;
    if (!is_error && memcmp(stream, "stdout", 6) != 0)
        return false;
    memcpy(copy, time_text, time_size);
    copy[time_size] = '\0';
    int64_t wall_ms;
    if (moment_parse(copy, &wall_ms, NULL) < 0)
        return false;
    *ret = (struct node_log_record){
        .time = time_text,
        .time_size = time_size,
        .wall_ms = wall_ms,
        .is_error = is_error,
        .is_full = *tag == 'F',
        .text = at,
        .text_size = (size_t)(end - at),
    };
    return true;
}

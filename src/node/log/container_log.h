/* Writes and parses the records of a container's log file. A record is one line of the file, in the
 * format of other container runtimes: "2026-11-15T02:00:00.123456789Z stdout F text". F means that
 * the record ends a line of the container's output. P means that the line continues in the next
 * record of the same stream. The pod's supervisor writes the file, and log/stream.c reads it. */
#ifndef TRAINYARD_NODE_LOG_CONTAINER_LOG_H
#define TRAINYARD_NODE_LOG_CONTAINER_LOG_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    /* Bytes of text per record. A longer line becomes several records, the last of which is F. */
    LOG_LINE_MAX = 16 * 1024,
    /* The defaults of the kubelet's containerLogMaxSize and containerLogMaxFiles. */
    LOG_FILE_MAX = 10 * 1024 * 1024, /* bytes per file */
    LOG_FILES_MAX = 5,               /* files per run of a container */
};

/* Holds the output of one stream that is not in a record yet. */
struct node_log_writer {
    const char *stream; /* "stdout" or "stderr" */
    size_t pending;     /* bytes in `line` */
    char line[LOG_LINE_MAX];
};

void node_log_writer_init(struct node_log_writer *writer, const char *stream);
/* Converts output that was read at time `wall_ns` into records, and appends them to `records`. */
void node_log_writer_add(struct node_log_writer *writer, int64_t wall_ns, const char *data,
                         size_t size, struct buf *records);
/* Must be called when the stream has ended. Appends an unfinished line as a P record. */
void node_log_writer_finish(struct node_log_writer *writer, int64_t wall_ns, struct buf *records);

struct node_log_record {
    const char *time; /* `time_size` bytes in the parsed line; no NUL byte follows */
    size_t time_size;
    int64_t wall_ms;  /* the same time in milliseconds since 1970 */
    bool is_error;    /* stderr, not stdout */
    bool is_full;     /* F: the record ends a line of output */
    const char *text; /* `text_size` bytes in the parsed line; no NUL byte follows */
    size_t text_size;
};

/* Parses a line of the file, given without its newline. Returns false if the line is no record. */
bool node_log_record_parse(const char *line, size_t size, struct node_log_record *ret);

#endif

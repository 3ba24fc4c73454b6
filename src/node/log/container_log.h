/* Writes and parses the lines of a container's log file, in the format of other container runtimes:
 * "2026-11-15T02:00:00.123456789Z stdout F text". F ends a line. P means that the line continues in
 * the next record. The pod's supervisor writes the file, and the log stream reads it. */
#ifndef TRAINYARD_NODE_LOG_CONTAINER_LOG_H
#define TRAINYARD_NODE_LOG_CONTAINER_LOG_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_LINE_MAX = 16 * 1024, /* bytes of text per record; longer lines become several P records */
    /* The kubelet's containerLogMaxSize and containerLogMaxFiles. */
    LOG_FILE_MAX = 10 * 1024 * 1024,
    LOG_FILES_MAX = 5,
};

/* The output of one stream (stdout or stderr) after its last complete line. */
struct node_log_writer {
    const char *stream;
    size_t pending;
    char line[LOG_LINE_MAX];
};

void node_log_writer_init(struct node_log_writer *writer, const char *stream);
/* Converts output that was read at time `wall_ns` into records, and appends them to `records`. */
void node_log_writer_add(struct node_log_writer *writer, int64_t wall_ns, const char *data,
                         size_t size, struct buf *records);
/* Must be called when the stream has ended. An unfinished line becomes a P record. */
void node_log_writer_finish(struct node_log_writer *writer, int64_t wall_ns, struct buf *records);

struct node_log_record {
    const char *time; /* points into the line, without a NUL byte */
    size_t time_size;
    int64_t wall_ms;
    bool is_error; /* stderr, not stdout */
    bool is_full;  /* F: the record ends the line */
    const char *text;
    size_t text_size;
};

/* Parses a line without its newline. Returns false if it is no record. */
bool node_log_record_parse(const char *line, size_t size, struct node_log_record *ret);

#endif

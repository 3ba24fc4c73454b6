/* The lines of a container's log file, in the form other container runtimes write:
 * "2026-11-15T02:00:00.123456789Z stdout F text". F ends a line, P says that it goes on in the next
 * record. Written by the pod's supervisor, read by the log stream. */
#ifndef TRAINYARD_NODE_LOG_CONTAINER_LOG_H
#define TRAINYARD_NODE_LOG_CONTAINER_LOG_H

#include "base/buf.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    LOG_LINE_MAX = 16 * 1024, /* of text in one record; longer lines are cut into P records */
    /* As the kubelet's containerLogMaxSize and containerLogMaxFiles. */
    LOG_FILE_MAX = 10 * 1024 * 1024,
    LOG_FILES_MAX = 5,
};

/* What one stream (stdout or stderr) has said since its last line end. */
struct node_log_writer {
    const char *stream;
    size_t pending;
    char line[LOG_LINE_MAX];
};

void node_log_writer_init(struct node_log_writer *writer, const char *stream);
/* Turn output into records at time `wall_ns`, appended to `records`. */
void node_log_writer_add(struct node_log_writer *writer, int64_t wall_ns, const char *data,
                         size_t size, struct buf *records);
/* The stream has ended: an unfinished line becomes a P record. */
void node_log_writer_finish(struct node_log_writer *writer, int64_t wall_ns, struct buf *records);

struct node_log_record {
    const char *time; /* the text as it stands, not terminated */
    size_t time_size;
    int64_t wall_ms;
    bool is_error; /* stderr */
    bool is_full;  /* ends the line */
    const char *text;
    size_t text_size;
};

/* The record on a line (without its newline); false if it is none. */
bool node_log_record_parse(const char *line, size_t size, struct node_log_record *ret);

#endif

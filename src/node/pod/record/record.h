/* The text form of the files through which the control process and a pod's supervisor communicate:
 * one "key value" per line, with backslash and newline escaped in the value. The supervisor, a
 * small static program, can parse it, and a person can read it in an editor. The reader does not
 * trust its input. */
#ifndef TRAINYARD_NODE_POD_RECORD_RECORD_H
#define TRAINYARD_NODE_POD_RECORD_RECORD_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

void record_write(struct buf *buf, const char *key, const char *value);
void record_write_int(struct buf *buf, const char *key, int64_t value);

/* Reads the text in place: lines are split and unescaped inside the text, so keys and values are
 * valid as long as the text. The text must have a NUL byte after `size` bytes. */
struct record_reader {
    char *at, *end;
    unsigned line;
};

void record_reader_init(struct record_reader *reader, char *text, size_t size);
/* Returns 1 for a record, 0 at the end, or a negative code for a line that cannot be read. */
int record_next(struct record_reader *reader, const char **ret_key, char **ret_value,
                struct err *err);

#endif

/* The text form of what the node and a pod's supervisor tell each other through files: one
 * "key value" a line, with backslash and newline escaped in the value. It is simple enough for the
 * static supervisor and readable in an editor; the reader trusts nothing about its input. */
#ifndef TRAINYARD_NODE_POD_RECORD_H
#define TRAINYARD_NODE_POD_RECORD_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

void record_write(struct buf *buf, const char *key, const char *value);
void record_write_int(struct buf *buf, const char *key, int64_t value);

/* Reads the text in place: lines are cut and unescaped where they stand, so keys and values live as
 * long as the text. The text must be NUL-terminated behind `size`. */
struct record_reader {
    char *at, *end;
    unsigned line;
};

void record_reader_init(struct record_reader *reader, char *text, size_t size);
/* 1: a record; 0: the end; negative: a line that cannot be read. */
int record_next(struct record_reader *reader, const char **ret_key, char **ret_value,
                struct err *err);

#endif

/* Writes and reads records. They are the text form of a pod's spec, state and stop request, and of
 * the messages between the control process and a pod's supervisor. Each line is a record: "key
 * value", with backslash and newline escaped in the value. A small static program such as the
 * supervisor can parse this form, and a person can read it in an editor. The tables of the proxy
 * and of the DNS responder and other small files have this form too. The reader does not trust its
 * input. */
#ifndef TRAINYARD_NODE_POD_RECORD_RECORD_H
#define TRAINYARD_NODE_POD_RECORD_RECORD_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stdint.h>

void record_write(struct buf *buf, const char *key, const char *value);
void record_write_int(struct buf *buf, const char *key, int64_t value);

/* Reads the records of a text. The reader splits and unescapes lines inside the text, so it changes
 * the text, and keys and values are valid as long as the text. A NUL byte must follow the `size`
 * bytes of the text. */
struct record_reader {
    char *at, *end;
    unsigned line; /* the number of the current line, from 1 */
};

void record_reader_init(struct record_reader *reader, char *text, size_t size);
/* Reads the next record. Returns 1, 0 at the end of the text, or a negative code if the line is not
 * a record. */
int record_next(struct record_reader *reader, const char **ret_key, char **ret_value,
                struct err *err);

#endif

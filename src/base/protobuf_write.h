/* Writes protobuf fields into a buffer, in the order of the calls. Used for formats of other
 * projects that are encoded as protobuf: TensorBoard event files, ONNX models and OpenAPI
 * documents. */
#ifndef TRAINYARD_BASE_PROTOBUF_WRITE_H
#define TRAINYARD_BASE_PROTOBUF_WRITE_H

#include "base/buf.h"

#include <stdint.h>

void protobuf_put_int(struct buf *buf, uint32_t field, int64_t value); /* intN, uintN, bool, enum */
void protobuf_put_float(struct buf *buf, uint32_t field, float value);
void protobuf_put_double(struct buf *buf, uint32_t field, double value);
void protobuf_put_bytes(struct buf *buf, uint32_t field, const void *data, size_t size);
void protobuf_put_string(struct buf *buf, uint32_t field, const char *text);
/* Appends a message that was written into a separate buffer. If that buffer overflowed, `buf`
 * overflows too. */
void protobuf_put_message(struct buf *buf, uint32_t field, const struct buf *message);

#endif

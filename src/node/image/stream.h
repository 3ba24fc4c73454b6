/* Reads a part of an image archive as a stream of plain bytes. The stored bytes are uncompressed,
 * gzip or zstd; the first bytes tell which. The stream computes the digests of the stored and of
 * the plain bytes, because an image may name either. */
#ifndef TRAINYARD_NODE_IMAGE_STREAM_H
#define TRAINYARD_NODE_IMAGE_STREAM_H

#include "base/cleanup.h"
#include "base/err.h"
#include "tls/tls.h"

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { IMAGE_STREAM_ALL = -1 };

struct image_stream;

/* Streams `size` bytes of the file from `offset`; if both are IMAGE_STREAM_ALL, streams to the end
 * of the descriptor, which may be a pipe. Each byte of output is subtracted from `*budget`. When
 * the budget is used up, reads return -ERR_TOO_LARGE, because a small file can unpack to a huge
 * one. */
struct image_stream *image_stream_new(int fd, int64_t offset, int64_t size, uint64_t *budget);
struct image_stream *image_stream_free(struct image_stream *stream);
DEFINE_CLEANUP(image_stream)

/* The read function of a tar_source; `context` is the stream. */
ssize_t image_stream_read(void *context, void *data, size_t size, struct err *err);

/* Reads to the end and returns the digests of the stored and of the plain bytes. */
int image_stream_finish(struct image_stream *stream, char ret_stored[TLS_SHA256_TEXT],
                        char ret_plain[TLS_SHA256_TEXT], struct err *err);

/* Whether the first bytes of a file are those of a known compression. */
bool image_stream_is_packed(const unsigned char *data, size_t size);

#endif

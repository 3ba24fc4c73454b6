/* Reads a part of an image archive, such as a layer, as a stream of plain bytes. The stored bytes
 * are uncompressed, gzip or zstd; the first bytes tell which. The stream computes the SHA-256
 * digests of the stored and of the plain bytes, because an image may state either. The data is
 * untrusted. */
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

/* Streams `size` bytes of the file from `offset`. If both are IMAGE_STREAM_ALL, streams to the end
 * of the descriptor, which may be a pipe. Each byte of output is subtracted from `*budget`. When
 * the budget is used up, reads return -ERR_TOO_LARGE, because a small file can unpack to a huge
 * one. The caller closes `fd` after it has freed the stream. */
struct image_stream *image_stream_new(int fd, int64_t offset, int64_t size, uint64_t *budget);
struct image_stream *image_stream_free(struct image_stream *stream);
DEFINE_CLEANUP(image_stream)

/* The read function of a tar_source; `context` is the stream. Returns the number of bytes, 0 at the
 * end, or a negative code. */
ssize_t image_stream_read(void *context, void *data, size_t size, struct err *err);

/* Reads the rest of the stream, and sets the digests of all stored and of all plain bytes. */
int image_stream_finish(struct image_stream *stream, char ret_stored[TLS_SHA256_TEXT],
                        char ret_plain[TLS_SHA256_TEXT], struct err *err);

/* Returns true if the first bytes of a file are those of gzip or zstd. */
bool image_stream_is_packed(const unsigned char *data, size_t size);

#endif

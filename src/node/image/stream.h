/* A part of an image archive as a stream of plain bytes: as it stands, or out of gzip or zstd,
 * whichever its first bytes say. Both what was read and what came out are summed up, since an image
 * names its parts by digests of either. */
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

/* `size` bytes of the file from `offset`; both IMAGE_STREAM_ALL: all that the descriptor gives,
 * which may be a pipe. Each byte that comes out is taken from `*budget`, past which the rest is
 * ERR_TOO_LARGE: a small file can hold a great many zeros. */
struct image_stream *image_stream_new(int fd, int64_t offset, int64_t size, uint64_t *budget);
struct image_stream *image_stream_free(struct image_stream *stream);
DEFINE_CLEANUP(image_stream)

/* As the source of a tar reader has it; `context` is the stream. */
ssize_t image_stream_read(void *context, void *data, size_t size, struct err *err);

/* Read to the end, and tell the digests of what was stored and of what came out. */
int image_stream_finish(struct image_stream *stream, char ret_stored[TLS_SHA256_TEXT],
                        char ret_plain[TLS_SHA256_TEXT], struct err *err);

/* Whether the first bytes of a file are those of something compressed. */
bool image_stream_is_packed(const unsigned char *data, size_t size);

#endif

/* Reads a part of an archive as plain bytes; see image/stream.h. */
#include "node/image/stream.h"

#include "base/mem.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum {
    CHUNK = 128 * 1024,
    MAGIC_MAX = 4,
    GZIP_WINDOW = 15 + 16, /* the largest window, with a gzip header */
    ZSTD_WINDOW_LOG = 27,  /* 128 MiB, the default maximum of zstd */
};

enum format { UNKNOWN, PLAIN, GZIP, ZSTD };

struct image_stream {
    int fd;
    /* The offset of the next stored byte, and the number of stored bytes that are left. Both are -1
     * for a stream to the end of the descriptor. */
    int64_t offset, left;
    uint64_t *budget;
    enum format format;
    bool at_end;         /* all stored bytes were read */
    bool between_frames; /* the decompressed bytes form complete gzip members or zstd frames */
    size_t at, filled;   /* stored[at] to stored[filled - 1] are not decompressed yet */
    z_stream gzip;
    ZSTD_DStream *zstd;
    struct tls_sha256 *stored_sum, *plain_sum;
    unsigned char stored[CHUNK];
};

struct image_stream *image_stream_new(int fd, int64_t offset, int64_t size, uint64_t *budget)
{
    struct image_stream *stream = mem_calloc(1, sizeof(*stream));
    stream->fd = fd;
    stream->offset = offset;
    stream->left = size;
    stream->budget = budget;
    stream->stored_sum = tls_sha256_new();
    stream->plain_sum = tls_sha256_new();
    return stream;
}

struct image_stream *image_stream_free(struct image_stream *stream)
{
    if (!stream)
        return NULL;
    if (stream->format == GZIP)
        inflateEnd(&stream->gzip);
    ZSTD_freeDStream(stream->zstd);
    tls_sha256_free(stream->stored_sum);
    tls_sha256_free(stream->plain_sum);
    free(stream);
    return NULL;
}

bool image_stream_is_packed(const unsigned char *data, size_t size)
{
    return (size >= 2 && memcmp(data, "\x1f\x8b", 2) == 0) ||
           (size >= 4 && memcmp(data, "\x28\xb5\x2f\xfd", 4) == 0);
}

/* Reads more stored bytes into the buffer. */
static int stream_fill_buffer(struct image_stream *stream, struct err *err)
{
    size_t room = sizeof(stream->stored) - stream->filled;
    if (stream->left >= 0 && (int64_t)room > stream->left)
        room = (size_t)stream->left;
    unsigned char *target = stream->stored + stream->filled;
    ssize_t got;
    do {
        got = stream->offset < 0 ? read(stream->fd, target, room)
                                 : pread(stream->fd, target, room, (off_t)stream->offset);
    } while (got < 0 && errno == EINTR);
    if (got < 0)
        return err_set_errno(err, errno, "cannot read the archive");
    if (got == 0) {
        stream->at_end = true;
        return stream->left > 0 ? err_set(err, ERR_INVALID, "the archive is cut short") : 0;
    }
    tls_sha256_add(stream->stored_sum, target, (size_t)got);
    stream->filled += (size_t)got;
    if (stream->offset >= 0)
        stream->offset += got;
    if (stream->left >= 0)
        stream->left -= got;
    return 0;
}

/* Finds the format by the first bytes, and starts its decoder. */
static int stream_detect_format(struct image_stream *stream, struct err *err)
{
    while (!stream->at_end && stream->filled < MAGIC_MAX) {
        int result = stream_fill_buffer(stream, err);
        if (result < 0)
            return result;
    }
    stream->between_frames = true;
    if (!image_stream_is_packed(stream->stored, stream->filled)) {
        stream->format = PLAIN;
    } else if (stream->stored[0] == 0x1f) {
        if (inflateInit2(&stream->gzip, GZIP_WINDOW) != Z_OK)
            return err_set(err, ERR_INTERNAL, "cannot initialize gzip decompression");
        stream->format = GZIP;
    } else {
        stream->zstd = ZSTD_createDStream();
        if (!stream->zstd || ZSTD_isError(ZSTD_DCtx_setParameter(stream->zstd, ZSTD_d_windowLogMax,
                                                                 ZSTD_WINDOW_LOG)))
            return err_set(err, ERR_INTERNAL, "cannot initialize zstd decompression");
        stream->format = ZSTD;
    }
    return 0;
}

/* A gzip file may consist of several members, as parallel compressors write them. */
static ssize_t unpack_gzip(struct image_stream *stream, void *data, size_t size, struct err *err)
{
    z_stream *z = &stream->gzip;
    if (stream->between_frames && stream->at < stream->filled) {
        if (inflateReset(z) != Z_OK)
            return err_set(err, ERR_INTERNAL, "cannot initialize gzip decompression");
        stream->between_frames = false;
    }
    z->next_in = stream->stored + stream->at;
    z->avail_in = (uInt)(stream->filled - stream->at);
    z->next_out = data;
    z->avail_out = (uInt)size;
    int state = inflate(z, Z_NO_FLUSH);
    stream->at = stream->filled - z->avail_in;
    if (state == Z_STREAM_END)
        stream->between_frames = true;
    else if (state != Z_OK && state != Z_BUF_ERROR)
        return err_set(err, ERR_INVALID, "gzip data is damaged: %s", z->msg ? z->msg : "unknown");
    return (ssize_t)(size - z->avail_out);
}

static ssize_t unpack_zstd(struct image_stream *stream, void *data, size_t size, struct err *err)
{
    ZSTD_inBuffer in = {.src = stream->stored, .size = stream->filled, .pos = stream->at};
    ZSTD_outBuffer out = {.dst = data, .size = size};
    size_t state = ZSTD_decompressStream(stream->zstd, &out, &in);
    if (ZSTD_isError(state))
        return err_set(err, ERR_INVALID, "zstd data is damaged: %s", ZSTD_getErrorName(state));
    stream->between_frames = state == 0;
    stream->at = in.pos;
    return (ssize_t)out.pos;
}

static ssize_t unpack_plain(struct image_stream *stream, void *data, size_t size)
{
    size_t available = stream->filled - stream->at;
    size = size < available ? size : available;
    memcpy(data, stream->stored + stream->at, size);
    stream->at += size;
    return (ssize_t)size;
}

static ssize_t stream_decompress(struct image_stream *stream, void *data, size_t size,
                                 struct err *err)
{
    /* Without input, a decoder can have more output only inside a frame. */
    if (stream->at == stream->filled && stream->between_frames)
        return 0;
    switch (stream->format) {
    case GZIP:
        return unpack_gzip(stream, data, size, err);
    case ZSTD:
        return unpack_zstd(stream, data, size, err);
    default:
        return unpack_plain(stream, data, size);
    }
}

ssize_t image_stream_read(void *context, void *data, size_t size, struct err *err)
{
    struct image_stream *stream = context;
    int result = stream->format == UNKNOWN ? stream_detect_format(stream, err) : 0;
    if (result < 0)
        return result;
    size = size < CHUNK ? size : CHUNK;
    for (;;) {
        size_t before = stream->at;
        ssize_t got = stream_decompress(stream, data, size, err);
        if (got < 0)
            return got;
        if (got > 0) {
            if ((uint64_t)got > *stream->budget)
                return err_set(err, ERR_TOO_LARGE, "it unpacks to more bytes than are allowed");
            *stream->budget -= (uint64_t)got;
            tls_sha256_add(stream->plain_sum, data, (size_t)got);
            return got;
        }
        if (stream->at < stream->filled && stream->at != before)
            continue; /* the frame has ended, and another begins */
        if (stream->at_end)
            return stream->between_frames
                       ? 0
                       : err_set(err, ERR_INVALID, "compressed data is cut short");
        memmove(stream->stored, stream->stored + stream->at, stream->filled - stream->at);
        stream->filled -= stream->at;
        stream->at = 0;
        if ((result = stream_fill_buffer(stream, err)) < 0)
            return result;
    }
}

int image_stream_finish(struct image_stream *stream, char ret_stored[TLS_SHA256_TEXT],
                        char ret_plain[TLS_SHA256_TEXT], struct err *err)
{
    char scratch[16 * 1024];
    for (ssize_t got; (got = image_stream_read(stream, scratch, sizeof(scratch), err)) != 0;)
        if (got < 0)
            return (int)got;
    tls_sha256_end(stream->stored_sum, ret_stored);
    tls_sha256_end(stream->plain_sum, ret_plain);
    return 0;
}

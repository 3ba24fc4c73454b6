/* Parses and writes frames of SPDY/3.1, the protocol that kubectl uses to forward ports and to run
 * commands in pods. Uses no sockets and does not manage streams; spdy_session.h does.
 *
 * Header blocks are compressed. All blocks of one direction are parts of one zlib stream, which
 * starts with a dictionary. So every block must be decompressed, even if its SPDY stream is
 * refused. SETTINGS and WINDOW_UPDATE frames are reported without their content, because the
 * clients do not use flow control. */
#ifndef TRAINYARD_NET_STREAM_SPDY_H
#define TRAINYARD_NET_STREAM_SPDY_H

#include "base/buf.h"
#include "base/err.h"
#include "net/http_header.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <zlib.h>

enum spdy_type {
    SPDY_DATA = 0,
    SPDY_SYN_STREAM = 1,
    SPDY_SYN_REPLY = 2,
    SPDY_RST_STREAM = 3,
    SPDY_SETTINGS = 4,
    SPDY_PING = 6,
    SPDY_GOAWAY = 7,
    SPDY_HEADERS = 8,
    SPDY_WINDOW_UPDATE = 9,
};

/* The reason of a RST_STREAM frame. */
enum spdy_reset {
    SPDY_PROTOCOL_ERROR = 1,
    SPDY_INVALID_STREAM = 2,
    SPDY_REFUSED_STREAM = 3,
    SPDY_CANCEL = 5,
    SPDY_STREAM_IN_USE = 8,
};

/* The reason of a GOAWAY frame. */
enum spdy_goaway_status { SPDY_GOAWAY_OK = 0, SPDY_GOAWAY_PROTOCOL_ERROR = 1 };

enum {
    SPDY_DICTIONARY_SIZE = 1423,
    SPDY_CONTROL_MAX = 64 * 1024, /* maximum size of a control frame in bytes */
    SPDY_HEADERS_MAX = 16 * 1024, /* a decompressed header block must have fewer bytes than this */
    SPDY_HEADERS_COUNT_MAX = 64,
};

struct spdy_frame {
    enum spdy_type type; /* frames of other types are not reported */
    /* The stream; GOAWAY: the last accepted stream. Not set for PING, SETTINGS, WINDOW_UPDATE. */
    uint32_t stream;
    bool fin; /* the sender ends its side of the stream; for DATA, set only in the last piece */
    uint32_t value; /* PING: the id; RST_STREAM and GOAWAY: the reason */
    /* SYN_STREAM, SYN_REPLY and HEADERS: the headers, valid until the next frame is read. If a name
     * has several values, only the first value is stored. */
    struct http_header *headers;
    const char *data; /* DATA: points into the bytes passed to spdy_read(); a frame may be reported
                         in several pieces */
    size_t size;
};

/* ---- reading */

struct spdy_reader {
    z_stream inflate;
    struct arena *arena; /* memory of the headers of the last frame */
    struct buf control;  /* the received bytes of a control frame, or the head of a DATA frame */
    size_t data_left;    /* number of bytes of the DATA frame that have not arrived yet */
    struct spdy_frame frame; /* the frame that is being read */
    bool in_data;            /* the head of a DATA frame is complete; its data follows */
};

enum spdy_result {
    SPDY_MORE,   /* all bytes are consumed; the frame is not complete */
    SPDY_FRAME,  /* *ret is a frame; call again with the remaining bytes */
    SPDY_BROKEN, /* the input is invalid (see err); do not call again */
};

void spdy_reader_init(struct spdy_reader *reader);
void spdy_reader_release(struct spdy_reader *reader);

/* Parses one frame, or one piece of a DATA frame. Sets *ret_used to the number of consumed
 * bytes. */
enum spdy_result spdy_read(struct spdy_reader *reader, const char *data, size_t size,
                           size_t *ret_used, struct spdy_frame *ret, struct err *err);

/* ---- writing */

struct spdy_writer {
    z_stream deflate;
};

void spdy_writer_init(struct spdy_writer *writer);
void spdy_writer_release(struct spdy_writer *writer);

/* Each function appends one frame to `out`. The maximum of `out` must leave room for the frame. */
void spdy_write_syn_stream(struct spdy_writer *writer, struct buf *out, uint32_t stream, bool fin,
                           const struct http_header *headers);
void spdy_write_syn_reply(struct spdy_writer *writer, struct buf *out, uint32_t stream, bool fin,
                          const struct http_header *headers);
void spdy_write_rst_stream(struct buf *out, uint32_t stream, enum spdy_reset reason);
void spdy_write_ping(struct buf *out, uint32_t id);
void spdy_write_goaway(struct buf *out, uint32_t last_stream, enum spdy_goaway_status reason);

/* Writes the head of a DATA frame. The caller sends `size` bytes of data after it, at most
 * SPDY_DATA_MAX. */
enum { SPDY_DATA_MAX = (1 << 24) - 1, SPDY_HEAD_SIZE = 8 };
void spdy_write_data_head(char head[SPDY_HEAD_SIZE], uint32_t stream, bool fin, size_t size);

/* Writes the zlib dictionary, which both directions use. */
void spdy_dictionary(unsigned char dictionary[SPDY_DICTIONARY_SIZE]);

#endif

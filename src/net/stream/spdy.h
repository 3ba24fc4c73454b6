/* SPDY/3.1 frames, read from bytes and written into them: what kubectl speaks when it forwards
 * ports and runs commands in pods. Pure: no sockets, no streams' lives, which are spdy_session.h's.
 *
 * Header blocks are compressed, all those of a direction as one zlib stream that starts from a
 * dictionary of the protocol; so every block must be read, also one that nobody wants. Flow control
 * is read over: the peers at hand do not use it.
 */
#ifndef TRAINYARD_NET_SPDY_H
#define TRAINYARD_NET_SPDY_H

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

/* Why a stream is reset. */
enum spdy_reset {
    SPDY_PROTOCOL_ERROR = 1,
    SPDY_INVALID_STREAM = 2,
    SPDY_REFUSED_STREAM = 3,
    SPDY_CANCEL = 5,
    SPDY_STREAM_IN_USE = 8,
};

/* Why a session ends. */
enum spdy_goodbye { SPDY_GOODBYE_OK = 0, SPDY_GOODBYE_PROTOCOL_ERROR = 1 };

enum {
    SPDY_DICTIONARY_SIZE = 1423,
    SPDY_CONTROL_MAX = 64 * 1024, /* bytes of a control frame */
    SPDY_HEADERS_MAX = 16 * 1024, /* bytes of a header block, decompressed */
    SPDY_HEADERS_COUNT_MAX = 64,
};

struct spdy_frame {
    enum spdy_type type; /* others than these are not reported */
    uint32_t stream;     /* but for PING, SETTINGS and GOAWAY */
    bool fin;            /* the sender says no more on the stream; of DATA: with the last piece */
    uint32_t value;      /* PING: its id; RST_STREAM, GOAWAY: why */
    /* SYN_STREAM, SYN_REPLY, HEADERS: until the next frame is read. Of several values of a name the
     * first. */
    struct http_header *headers;
    const char *data; /* DATA: a piece, of the bytes fed; a frame comes in as many as it needs */
    size_t size;
};

/* ---- reading */

struct spdy_reader {
    z_stream inflate;
    struct arena *arena; /* of the headers of the last frame */
    struct buf control;  /* the frame under way: its head, and of control frames the rest */
    size_t data_left;    /* of a DATA frame, still to come */
    struct spdy_frame frame;
    bool in_data;
};

enum spdy_result {
    SPDY_MORE,   /* all taken, the frame is not whole yet */
    SPDY_FRAME,  /* one is in *ret; feed the rest again */
    SPDY_BROKEN, /* nothing more can be understood; see err */
};

void spdy_reader_init(struct spdy_reader *reader);
void spdy_reader_release(struct spdy_reader *reader);

/* Take one frame, or one piece of DATA, from the bytes. */
enum spdy_result spdy_read(struct spdy_reader *reader, const char *data, size_t size,
                           size_t *ret_used, struct spdy_frame *ret, struct err *err);

/* ---- writing */

struct spdy_writer {
    z_stream deflate;
};

void spdy_writer_init(struct spdy_writer *writer);
void spdy_writer_release(struct spdy_writer *writer);

/* Each appends one frame to `out`, whose maximum must have room for it. */
void spdy_write_syn_stream(struct spdy_writer *writer, struct buf *out, uint32_t stream, bool fin,
                           const struct http_header *headers);
void spdy_write_syn_reply(struct spdy_writer *writer, struct buf *out, uint32_t stream, bool fin,
                          const struct http_header *headers);
void spdy_write_rst_stream(struct buf *out, uint32_t stream, enum spdy_reset why);
void spdy_write_ping(struct buf *out, uint32_t id);
void spdy_write_goaway(struct buf *out, uint32_t last_stream, enum spdy_goodbye why);

/* The head of a DATA frame of so many bytes, which follow it. At most SPDY_DATA_MAX. */
enum { SPDY_DATA_MAX = (1 << 24) - 1, SPDY_HEAD_SIZE = 8 };
void spdy_write_data_head(char head[SPDY_HEAD_SIZE], uint32_t stream, bool fin, size_t size);

/* The bytes both directions' compression starts from. */
void spdy_dictionary(unsigned char dictionary[SPDY_DICTIONARY_SIZE]);

#endif

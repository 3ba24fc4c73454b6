/* Parses and writes WebSocket frames (RFC 6455). Newer Kubernetes clients use WebSocket where older
 * clients use SPDY. Uses no sockets and does not manage sessions; websocket_session.h does.
 *
 * Messages are reported in pieces as they arrive, so that a large message needs no large buffer.
 * Control frames are reported as a whole. No extension is negotiated, so the reserved bits must be
 * zero. Code that receives text messages must check that they are UTF-8. */
#ifndef TRAINYARD_NET_STREAM_WEBSOCKET_H
#define TRAINYARD_NET_STREAM_WEBSOCKET_H

#include "base/buf.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum websocket_opcode {
    WEBSOCKET_CONTINUATION = 0,
    WEBSOCKET_TEXT = 1,
    WEBSOCKET_BINARY = 2,
    WEBSOCKET_CLOSE = 8,
    WEBSOCKET_PING = 9,
    WEBSOCKET_PONG = 10,
};

/* Status codes of a CLOSE frame that this program sends or checks. */
enum websocket_code {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL_ERROR = 1002,
    WEBSOCKET_UNSUPPORTED = 1003, /* messages of this type are not accepted */
    WEBSOCKET_NO_CODE = 1005, /* the received CLOSE frame had no code; this value is never sent */
    WEBSOCKET_NOT_UTF8 = 1007,
    WEBSOCKET_TOO_LARGE = 1009,
};

enum { WEBSOCKET_MASK_SIZE = 4, WEBSOCKET_HEAD_MAX = 14, WEBSOCKET_CONTROL_MAX = 125 };

/* The sender of a frame. A client masks its frames; a server does not. */
enum websocket_side { WEBSOCKET_CLIENT, WEBSOCKET_SERVER };

struct websocket_piece {
    enum websocket_opcode opcode; /* type of the message; never CONTINUATION */
    bool first, last; /* first or last piece of the message; both are true for a control frame */
    const char *data; /* valid until the next call; for CLOSE, the reason */
    size_t size;      /* may be 0 */
    int code;         /* for CLOSE, the status code or WEBSOCKET_NO_CODE */
};

/* ---- reading */

struct websocket_reader {
    enum websocket_side from;
    uint64_t message_max;
    unsigned char head[WEBSOCKET_HEAD_MAX]; /* head of the current frame */
    size_t head_size,
        head_need; /* number of bytes of the head that are read, and that are needed */
    bool in_frame; /* the head is complete */
    bool fin;
    enum websocket_opcode opcode;  /* opcode of the current frame */
    enum websocket_opcode message; /* TEXT or BINARY during a message, else CONTINUATION */
    bool begun;                    /* a piece of the message has been reported */
    uint64_t message_size;         /* payload bytes of all frames of the message so far */
    uint64_t left;                 /* number of bytes of the frame that have not arrived yet */
    size_t mask_at;                /* position in the mask of the next byte of the payload */
    unsigned char mask[WEBSOCKET_MASK_SIZE];
    char control[WEBSOCKET_CONTROL_MAX]; /* payload of a control frame */
    size_t control_size;
    char piece[16 * 1024]; /* the unmasked bytes of the reported piece */
    int refusal;           /* status code for our CLOSE frame; set with WEBSOCKET_BROKEN */
};

enum websocket_result {
    WEBSOCKET_MORE,   /* all bytes are consumed; nothing to report yet */
    WEBSOCKET_PIECE,  /* *ret is a piece; call again with the remaining bytes */
    WEBSOCKET_BROKEN, /* the input is invalid (see err and `refusal`); do not call again */
};

/* `from` is the side that sends the parsed bytes. A message longer than `message_max` is an error.
 */
void websocket_reader_init(struct websocket_reader *reader, enum websocket_side from,
                           uint64_t message_max);

enum websocket_result websocket_read(struct websocket_reader *reader, const char *data, size_t size,
                                     size_t *ret_used, struct websocket_piece *ret,
                                     struct err *err);

/* ---- writing */

/* Writes the head of a frame and returns its length. The caller sends `size` bytes of payload after
 * it. `mask` is the mask of a client, or NULL for a server. */
size_t websocket_write_head(char head[WEBSOCKET_HEAD_MAX], enum websocket_opcode opcode, bool fin,
                            uint64_t size, const unsigned char *mask);

/* Masks or unmasks bytes that a client sends. `at` is the position of data[0] in its frame. */
void websocket_mask(const unsigned char mask[WEBSOCKET_MASK_SIZE], size_t at, const char *data,
                    size_t size, char *ret);

/* Writes the payload of a CLOSE frame and returns its length. A reason that is too long is
 * truncated. For WEBSOCKET_NO_CODE, the payload is empty. */
size_t websocket_write_close(char body[WEBSOCKET_CONTROL_MAX], int code, const char *reason);

#endif

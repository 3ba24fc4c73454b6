/* WebSocket frames (RFC 6455), read from bytes and written into them: what newer clients of the API
 * speak where older ones spoke SPDY. Pure: no sockets, no session's life, which is
 * websocket_session.h's.
 *
 * Messages are reported in pieces as they come, so that a reader needs no memory for a large one;
 * control frames are reported whole. No extension is agreed on, so the reserved bits are zero. That
 * text is UTF-8 is checked by whoever takes text.
 */
#ifndef TRAINYARD_NET_WEBSOCKET_H
#define TRAINYARD_NET_WEBSOCKET_H

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

/* Why a session ends: those that are said by us, or looked for. */
enum websocket_code {
    WEBSOCKET_NORMAL = 1000,
    WEBSOCKET_GOING_AWAY = 1001,
    WEBSOCKET_PROTOCOL_ERROR = 1002,
    WEBSOCKET_UNSUPPORTED = 1003, /* a type of message that is not taken */
    WEBSOCKET_NO_CODE = 1005,     /* never sent: the frame had none */
    WEBSOCKET_NOT_UTF8 = 1007,
    WEBSOCKET_TOO_LARGE = 1009,
};

enum { WEBSOCKET_MASK_SIZE = 4, WEBSOCKET_HEAD_MAX = 14, WEBSOCKET_CONTROL_MAX = 125 };

/* Who sends: a client masks each frame, a server none. */
enum websocket_side { WEBSOCKET_CLIENT, WEBSOCKET_SERVER };

struct websocket_piece {
    enum websocket_opcode opcode; /* of its message; never CONTINUATION */
    bool first, last;             /* of its message; both of control frames */
    const char *data;             /* until the next one is read; of CLOSE: the reason */
    size_t size;                  /* may be 0 */
    int code;                     /* of CLOSE */
};

/* ---- reading */

struct websocket_reader {
    enum websocket_side from;
    uint64_t message_max;
    unsigned char head[WEBSOCKET_HEAD_MAX]; /* of the frame under way */
    size_t head_size, head_need;
    bool in_frame; /* the head is whole */
    bool fin;
    enum websocket_opcode opcode;  /* of the frame */
    enum websocket_opcode message; /* TEXT or BINARY while one is under way, else CONTINUATION */
    bool begun;                    /* a piece of the message was reported */
    uint64_t message_size;
    uint64_t left; /* of the frame, still to come */
    size_t mask_at;
    unsigned char mask[WEBSOCKET_MASK_SIZE];
    char control[WEBSOCKET_CONTROL_MAX];
    size_t control_size;
    char piece[16 * 1024]; /* unmasked */
    int refusal;           /* once broken: the code to say goodbye with */
};

enum websocket_result {
    WEBSOCKET_MORE,   /* all taken, nothing to report yet */
    WEBSOCKET_PIECE,  /* one is in *ret; feed the rest again */
    WEBSOCKET_BROKEN, /* nothing more can be understood; see err, and `refusal` */
};

/* `from` is the side that sends what is read. No message may be longer than `message_max`. */
void websocket_reader_init(struct websocket_reader *reader, enum websocket_side from,
                           uint64_t message_max);

enum websocket_result websocket_read(struct websocket_reader *reader, const char *data, size_t size,
                                     size_t *ret_used, struct websocket_piece *ret,
                                     struct err *err);

/* ---- writing */

/* The head of a frame of so many bytes, which follow it; its length. `mask` is the client's, NULL
 * for a server. */
size_t websocket_write_head(char head[WEBSOCKET_HEAD_MAX], enum websocket_opcode opcode, bool fin,
                            uint64_t size, const unsigned char *mask);

/* Masks what a client sends, and unmasks it: `at` is the place of data[0] in its frame. */
void websocket_mask(const unsigned char mask[WEBSOCKET_MASK_SIZE], size_t at, const char *data,
                    size_t size, char *ret);

/* What a CLOSE frame has in it; its length. A reason that is too long is cut. NO_CODE gives an
 * empty one. */
size_t websocket_write_close(char body[WEBSOCKET_CONTROL_MAX], int code, const char *reason);

#endif

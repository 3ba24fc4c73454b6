/* Parses and writes WebSocket frames; see websocket.h. */
#include "net/stream/websocket.h"

#include "base/utf8.h"

#include <string.h>

enum {
    FIN_BIT = 0x80,
    RESERVED_BITS = 0x70,
    OPCODE_BITS = 0x0f,
    CONTROL_BIT = 0x08,
    MASK_BIT = 0x80,
    LENGTH_BITS = 0x7f,
    LENGTH_16 = 126, /* the length follows in two bytes */
    LENGTH_64 = 127, /* the length follows in eight bytes */
};

/* ---- masks ----------------------------------------------------------------------------------- */

void websocket_mask(const unsigned char mask[WEBSOCKET_MASK_SIZE], size_t at, const char *data,
                    size_t size, char *ret)
{
    const unsigned char rotated[WEBSOCKET_MASK_SIZE] = {mask[at % 4], mask[(at + 1) % 4],
                                                        mask[(at + 2) % 4], mask[(at + 3) % 4]};
    uint32_t word;
    size_t i = 0;
    memcpy(&word, rotated, sizeof(word));
    for (; i + sizeof(word) <= size; i += sizeof(word)) { /* the compiler vectorizes this loop */
        uint32_t four;
        memcpy(&four, data + i, sizeof(four));
        four ^= word;
        memcpy(ret + i, &four, sizeof(four));
    }
    for (; i < size; i++)
        ret[i] = (char)((unsigned char)data[i] ^ rotated[i % WEBSOCKET_MASK_SIZE]);
}

/* ---- reading: heads -------------------------------------------------------------------------- */

void websocket_reader_init(struct websocket_reader *reader, enum websocket_side from,
                           uint64_t message_max)
{
    *reader = (struct websocket_reader){.from = from, .message_max = message_max, .head_need = 2};
}

static enum websocket_result websocket_fail(struct websocket_reader *reader, int code,
                                            struct err *err, const char *what)
{
    reader->refusal = code;
    err_set(err, code == WEBSOCKET_TOO_LARGE ? ERR_TOO_LARGE : ERR_BAD_REQUEST, "websocket: %s",
            what);
    return WEBSOCKET_BROKEN;
}

static bool websocket_is_control(enum websocket_opcode opcode)
{
    return opcode & CONTROL_BIT;
}

static bool is_known(enum websocket_opcode opcode)
{
    return opcode <= WEBSOCKET_BINARY || (opcode >= WEBSOCKET_CLOSE && opcode <= WEBSOCKET_PONG);
}

/* Returns a message about the error in the first two bytes of a head, or NULL if they are valid. */
static const char *head_fault(const struct websocket_reader *reader)
{
    unsigned first = reader->head[0], second = reader->head[1];
    enum websocket_opcode opcode = first & OPCODE_BITS;
    bool masked = second & MASK_BIT;
    if (first & RESERVED_BITS)
        return "a reserved bit is set, but no extension was negotiated";
    if (!is_known(opcode))
        return "a frame has an unknown type";
    if (masked != (reader->from == WEBSOCKET_CLIENT))
        return masked ? "a server's frame is masked" : "a client's frame is not masked";
    if (websocket_is_control(opcode)) {
        if (!(first & FIN_BIT))
            return "a control frame is fragmented";
        if ((second & LENGTH_BITS) > WEBSOCKET_CONTROL_MAX)
            return "a control frame is longer than 125 bytes";
    } else if (opcode == WEBSOCKET_CONTINUATION && !reader->message) {
        return "a continuation frame without a message to continue";
    } else if (opcode != WEBSOCKET_CONTINUATION && reader->message) {
        return "a message begins before the previous one ended";
    }
    return NULL;
}

/* Returns the size of the head, which depends on its second byte. */
static size_t head_size(const struct websocket_reader *reader)
{
    unsigned length = reader->head[1] & LENGTH_BITS;
    return 2U +
           (length == LENGTH_16   ? 2U
            : length == LENGTH_64 ? 8U
                                  : 0U) +
           (reader->head[1] & MASK_BIT ? (unsigned)WEBSOCKET_MASK_SIZE : 0U);
}

static uint64_t read_length(const struct websocket_reader *reader, bool *ret_shortest)
{
    unsigned length = reader->head[1] & LENGTH_BITS;
    uint64_t value = 0;
    *ret_shortest = true;
    if (length < LENGTH_16)
        return length;
    for (int i = 0; i < (length == LENGTH_16 ? 2 : 8); i++)
        value = value << 8 | reader->head[2 + i];
    *ret_shortest = length == LENGTH_16 ? value >= LENGTH_16 : value > UINT16_MAX;
    return value;
}

/* Prepares to read the payload of a frame. Called when its head is complete. */
static enum websocket_result begin_frame(struct websocket_reader *reader, struct err *err)
{
    bool shortest;
    reader->left = read_length(reader, &shortest);
    if (!shortest)
        return websocket_fail(reader, WEBSOCKET_PROTOCOL_ERROR, err,
                              "the length of a frame is not in its shortest form");
    reader->opcode = reader->head[0] & OPCODE_BITS;
    reader->fin = reader->head[0] & FIN_BIT;
    if (reader->head[1] & MASK_BIT)
        memcpy(reader->mask, reader->head + reader->head_size - WEBSOCKET_MASK_SIZE,
               WEBSOCKET_MASK_SIZE);
    reader->mask_at = 0;
    reader->control_size = 0;
    reader->head_size = 0;
    reader->head_need = 2;
    reader->in_frame = true;
    if (websocket_is_control(reader->opcode))
        return WEBSOCKET_MORE;
    if (reader->opcode != WEBSOCKET_CONTINUATION) {
        reader->message = reader->opcode;
        reader->message_size = 0;
        reader->begun = false;
    }
    if (reader->left > reader->message_max - reader->message_size)
        return websocket_fail(reader, WEBSOCKET_TOO_LARGE, err,
                              "a message is longer than the limit");
    reader->message_size += reader->left;
    return WEBSOCKET_MORE;
}

static enum websocket_result take_head(struct websocket_reader *reader, const char *data,
                                       size_t size, size_t *ret_used, struct err *err)
{
    size_t used = 0;
    while (used < size && reader->head_size < reader->head_need) {
        reader->head[reader->head_size++] = (unsigned char)data[used++];
        if (reader->head_size == 2) {
            const char *fault = head_fault(reader);
            if (fault)
                return websocket_fail(reader, WEBSOCKET_PROTOCOL_ERROR, err, fault);
            reader->head_need = head_size(reader);
        }
    }
    *ret_used = used;
    return reader->head_size < reader->head_need ? WEBSOCKET_MORE : begin_frame(reader, err);
}

/* ---- reading: payloads ----------------------------------------------------------------------- */

/* Returns whether the status code may be sent (RFC 6455, 7.4). The other codes are reserved or must
 * never be sent. */
static bool is_sendable(int code)
{
    return (code >= 1000 && code <= 1003) || (code >= 1007 && code <= 1014) ||
           (code >= 3000 && code <= 4999);
}

static enum websocket_result take_close(struct websocket_reader *reader,
                                        struct websocket_piece *ret, struct err *err)
{
    const unsigned char *bytes = (const unsigned char *)reader->control;
    ret->code = WEBSOCKET_NO_CODE;
    if (reader->control_size == 0)
        return WEBSOCKET_PIECE;
    if (reader->control_size < 2)
        return websocket_fail(reader, WEBSOCKET_PROTOCOL_ERROR, err,
                              "a close frame has an incomplete code");
    ret->code = bytes[0] << 8 | bytes[1];
    ret->data += 2;
    ret->size -= 2;
    if (!is_sendable(ret->code))
        return websocket_fail(reader, WEBSOCKET_PROTOCOL_ERROR, err,
                              "a close frame has a code that is not allowed");
    if (!utf8_is_valid(ret->data, ret->size))
        return websocket_fail(reader, WEBSOCKET_NOT_UTF8, err,
                              "the reason in a close frame is not UTF-8");
    return WEBSOCKET_PIECE;
}

static size_t websocket_unmask(struct websocket_reader *reader, const char *data, size_t size,
                               char *ret)
{
    size_t used = size < reader->left ? size : (size_t)reader->left;
    if (reader->from == WEBSOCKET_CLIENT)
        websocket_mask(reader->mask, reader->mask_at, data, used, ret);
    else
        memcpy(ret, data, used);
    reader->mask_at = (reader->mask_at + used) % WEBSOCKET_MASK_SIZE;
    reader->left -= used;
    return used;
}

static enum websocket_result take_control(struct websocket_reader *reader, const char *data,
                                          size_t size, size_t *ret_used,
                                          struct websocket_piece *ret, struct err *err)
{
    *ret_used = websocket_unmask(reader, data, size, reader->control + reader->control_size);
    reader->control_size += *ret_used;
    if (reader->left)
        return WEBSOCKET_MORE;
    reader->in_frame = false;
    *ret = (struct websocket_piece){.opcode = reader->opcode,
                                    .first = true,
                                    .last = true,
                                    .data = reader->control,
                                    .size = reader->control_size};
    return reader->opcode == WEBSOCKET_CLOSE ? take_close(reader, ret, err) : WEBSOCKET_PIECE;
}

static enum websocket_result take_message(struct websocket_reader *reader, const char *data,
                                          size_t size, size_t *ret_used,
                                          struct websocket_piece *ret)
{
    size_t used = websocket_unmask(
        reader, data, size < sizeof(reader->piece) ? size : sizeof(reader->piece), reader->piece);
    bool ends = reader->left == 0;
    *ret_used = used;
    *ret = (struct websocket_piece){.opcode = reader->message,
                                    .first = !reader->begun,
                                    .last = ends && reader->fin,
                                    .data = reader->piece,
                                    .size = used};
    if (ends)
        reader->in_frame = false;
    if (used == 0 && !ret->last) /* an empty fragment is not reported */
        return WEBSOCKET_MORE;
    reader->begun = true;
    if (ret->last)
        reader->message = WEBSOCKET_CONTINUATION;
    return WEBSOCKET_PIECE;
}

enum websocket_result websocket_read(struct websocket_reader *reader, const char *data, size_t size,
                                     size_t *ret_used, struct websocket_piece *ret, struct err *err)
{
    size_t used = 0;
    enum websocket_result result = WEBSOCKET_MORE;
    /* A frame without payload is complete after its head. */
    while (result == WEBSOCKET_MORE && (used < size || (reader->in_frame && !reader->left))) {
        size_t here = 0;
        if (!reader->in_frame)
            result = take_head(reader, data + used, size - used, &here, err);
        else if (websocket_is_control(reader->opcode))
            result = take_control(reader, data + used, size - used, &here, ret, err);
        else
            result = take_message(reader, data + used, size - used, &here, ret);
        used += here;
    }
    *ret_used = used;
    return result;
}

/* ---- writing --------------------------------------------------------------------------------- */

size_t websocket_write_head(char head[WEBSOCKET_HEAD_MAX], enum websocket_opcode opcode, bool fin,
                            uint64_t size, const unsigned char *mask)
{
    unsigned length = size < LENGTH_16     ? (unsigned)size
                      : size <= UINT16_MAX ? LENGTH_16
                                           : LENGTH_64;
    size_t at = 0;
    head[at++] = (char)((fin ? FIN_BIT : 0) | (int)opcode);
    head[at++] = (char)((mask ? MASK_BIT : 0) | (int)length);
    for (int i = length == LENGTH_64 ? 7 : length == LENGTH_16 ? 1 : -1; i >= 0; i--)
        head[at++] = (char)(size >> (8 * i));
    if (mask) {
        memcpy(head + at, mask, WEBSOCKET_MASK_SIZE);
        at += WEBSOCKET_MASK_SIZE;
    }
    return at;
}

size_t websocket_write_close(char body[WEBSOCKET_CONTROL_MAX], int code, const char *reason)
{
    size_t size = 2, character;
    if (code == WEBSOCKET_NO_CODE)
        return 0;
    body[0] = (char)(code >> 8);
    body[1] = (char)code;
    for (size_t left = strlen(reason);
         (character = utf8_size(reason, left)) && size + character <= WEBSOCKET_CONTROL_MAX;
         reason += character, left -= character, size += character)
        memcpy(body + size, reason, character);
    return size;
}

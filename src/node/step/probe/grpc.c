/* Writes and reads the messages of gRPC's health check; see step/probe/grpc.h. It implements only
 * the part of HTTP/2 that one call needs: request headers are plain literals, and response headers
 * are not read. The message of the answer decides. An answer without a message counts as a failure,
 * regardless of its headers. */
#include "node/step/probe/grpc.h"

#include "base/cleanup.h"

#include <string.h>

enum {
    FRAME_HEAD = 9,
    FRAME_DATA = 0,
    FRAME_HEADERS = 1,
    FRAME_RESET = 3,
    FRAME_SETTINGS = 4,
    FRAME_GOAWAY = 7,
    FLAG_END_STREAM = 1, /* on SETTINGS frames: ACK */
    FLAG_END_HEADERS = 4,
    FLAG_PADDED = 8,
    STREAM = 1,
    TEXT_MAX = 126,     /* the longest header value whose length fits into one byte */
    SERVICE_MAX = 4000, /* the longest service name; its message must fit into MESSAGE_MAX */
    MESSAGE_MAX = 4096,
};

static const char PREFACE[] = "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

static void put_frame(struct buf *buf, int type, int flags, int stream, const char *payload,
                      size_t size)
{
    const unsigned char head[FRAME_HEAD] = {(unsigned char)(size >> 16),
                                            (unsigned char)(size >> 8),
                                            (unsigned char)size,
                                            (unsigned char)type,
                                            (unsigned char)flags,
                                            0,
                                            0,
                                            0,
                                            (unsigned char)stream};
    buf_append(buf, head, sizeof(head));
    buf_append(buf, payload, size);
}

/* Writes a header with its name and value as literals, which are not added to the server's table of
 * headers. */
static void put_header(struct buf *block, const char *name, const char *value)
{
    size_t size = strnlen(value, TEXT_MAX);
    buf_append_char(block, 0);
    buf_append_char(block, (char)strlen(name));
    buf_append_str(block, name);
    buf_append_char(block, (char)size);
    buf_append(block, value, size);
}

/* Writes the message: a prefix of five bytes, then the field with the service name unless the name
 * is empty. The name is shorter than 2^14 bytes, so at most two bytes hold its length. */
static void put_message(struct buf *message, const char *service)
{
    size_t size = strlen(service), head_size = 0;
    char head[3]; /* of the field */
    if (size)
        head[head_size++] = 1 << 3 | 2;
    if (size > 0x7f)
        head[head_size++] = (char)(size | 0x80);
    if (size)
        head[head_size++] = (char)(size > 0x7f ? size >> 7 : size);
    size_t total = head_size + size;
    const char prefix[5] = {0, 0, 0, (char)(total >> 8), (char)total}; /* not compressed */
    buf_append(message, prefix, sizeof(prefix));
    buf_append(message, head, head_size);
    buf_append(message, service, size);
}

int step_grpc_request(const char *authority, const char *service, struct buf *buf, struct err *err)
{
    if (strlen(service) > SERVICE_MAX)
        return err_set(err, ERR_TOO_LARGE,
                       "the service name has %zu bytes, but the limit for a probe is %d",
                       strlen(service), SERVICE_MAX);
    _cleanup_buf_ struct buf block, message;
    buf_init(&block, MESSAGE_MAX);
    buf_init(&message, MESSAGE_MAX);
    put_header(&block, ":method", "POST");
    put_header(&block, ":scheme", "http");
    put_header(&block, ":path", "/grpc.health.v1.Health/Check");
    put_header(&block, ":authority", authority);
    put_header(&block, "content-type", "application/grpc");
    put_header(&block, "user-agent", "kube-probe/1.36");
    put_header(&block, "te", "trailers");
    put_message(&message, service);
    buf_append_str(buf, PREFACE);
    put_frame(buf, FRAME_SETTINGS, 0, 0, "", 0);
    put_frame(buf, FRAME_HEADERS, FLAG_END_HEADERS, STREAM, block.data, block.size);
    put_frame(buf, FRAME_DATA, FLAG_END_STREAM, STREAM, message.data, message.size);
    return 0;
}

/* Reads a message: a prefix of five bytes, then at most one field, the status. */
static void grpc_read_message(const unsigned char *data, size_t size,
                              struct step_grpc_answer *answer)
{
    if (size < 5 || data[0] != 0)
        return;
    answer->has_status = true;
    answer->status = size >= 7 && data[5] == 1 << 3 ? data[6] : 0;
}

static void read_frame(int type, int flags, const unsigned char *data, size_t size,
                       struct step_grpc_answer *answer)
{
    if (type == FRAME_DATA) {
        size_t length_size = flags & FLAG_PADDED ? 1 : 0; /* the byte with the padding's length */
        size_t padding = length_size && size ? data[0] : 0;
        if (length_size + padding <= size)
            grpc_read_message(data + length_size, size - length_size - padding, answer);
    }
    if (type == FRAME_SETTINGS && !(flags & FLAG_END_STREAM))
        answer->settings++;
    bool ends = (type == FRAME_DATA || type == FRAME_HEADERS) && flags & FLAG_END_STREAM;
    answer->over = answer->over || ends || type == FRAME_RESET || type == FRAME_GOAWAY;
}

int64_t step_grpc_read(const char *data, size_t size, struct step_grpc_answer *answer,
                       struct err *err)
{
    const unsigned char *at = (const unsigned char *)data;
    size_t used = 0;
    while (size - used >= FRAME_HEAD) {
        const unsigned char *head = at + used;
        size_t length = (size_t)head[0] << 16 | (size_t)head[1] << 8 | head[2];
        if (length > STEP_GRPC_MAX - FRAME_HEAD)
            return err_set(err, ERR_TOO_LARGE, "the server does not speak HTTP/2");
        if (size - used - FRAME_HEAD < length)
            break;
        read_frame(head[3], head[4], head + FRAME_HEAD, length, answer);
        used += FRAME_HEAD + length;
    }
    return (int64_t)used;
}

void step_grpc_acknowledge(struct step_grpc_answer *answer, struct buf *buf)
{
    for (; answer->settings; answer->settings--)
        put_frame(buf, FRAME_SETTINGS, FLAG_END_STREAM, 0, "", 0);
}

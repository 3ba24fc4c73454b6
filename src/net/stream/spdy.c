/* Parses and writes SPDY/3.1 frames; see spdy.h. */
#include "net/stream/spdy.h"

#include "base/mem.h"

#include <string.h>

enum { VERSION = 3, FLAG_FIN = 1, CONTROL_BIT = 0x80 };

static uint32_t get_u32(const char *data)
{
    const unsigned char *at = (const unsigned char *)data;
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static void put_u32(char *data, uint32_t value)
{
    for (int i = 0; i < 4; i++)
        data[i] = (char)(value >> (24 - 8 * i));
}

static void append_u32(struct buf *out, uint32_t value)
{
    char bytes[4];
    put_u32(bytes, value);
    buf_append(out, bytes, sizeof(bytes));
}

static uint32_t stream_id(const char *data)
{
    return get_u32(data) & 0x7fffffff;
}

/* ---- reading: header blocks ------------------------------------------------------------------ */

void spdy_reader_init(struct spdy_reader *reader)
{
    *reader = (struct spdy_reader){.arena = arena_new()};
    buf_init(&reader->control, SPDY_HEAD_SIZE + SPDY_CONTROL_MAX);
    if (inflateInit(&reader->inflate) != Z_OK)
        mem_panic("spdy: cannot initialize zlib");
}

void spdy_reader_release(struct spdy_reader *reader)
{
    inflateEnd(&reader->inflate);
    buf_release(&reader->control);
    reader->arena = arena_free(reader->arena);
}

/* Calls inflate(). Sets the dictionary when zlib asks for it. */
static int step_inflate(z_stream *stream)
{
    int result = inflate(stream, Z_SYNC_FLUSH);
    if (result != Z_NEED_DICT)
        return result;
    unsigned char dictionary[SPDY_DICTIONARY_SIZE];
    spdy_dictionary(dictionary);
    result = inflateSetDictionary(stream, dictionary, sizeof(dictionary));
    return result == Z_OK ? inflate(stream, Z_SYNC_FLUSH) : result;
}

/* Decompresses a header block into the arena. The sender flushes the zlib stream after each block,
 * so a block ends at the end of its frame. */
static int spdy_decompress(struct spdy_reader *reader, const char *data, size_t size, char **ret,
                           size_t *ret_size, struct err *err)
{
    z_stream *stream = &reader->inflate;
    char *plain = arena_alloc(reader->arena, SPDY_HEADERS_MAX);
    stream->next_in = (Bytef *)data;
    stream->avail_in = (uInt)size;
    stream->next_out = (Bytef *)plain;
    stream->avail_out = SPDY_HEADERS_MAX;
    while (stream->avail_in && stream->avail_out) {
        int result = step_inflate(stream);
        if (result != Z_OK && result != Z_BUF_ERROR)
            return err_set(err, ERR_BAD_REQUEST, "spdy: a header block cannot be decompressed");
        if (result == Z_BUF_ERROR)
            break;
    }
    /* There may be more bytes, so a block that fills the buffer exactly is refused too. */
    if (stream->avail_out == 0)
        return err_set(err, ERR_TOO_LARGE, "spdy: a header block is longer than %d bytes",
                       SPDY_HEADERS_MAX - 1);
    *ret = plain;
    *ret_size = SPDY_HEADERS_MAX - stream->avail_out;
    return 0;
}

/* Parses a length and a text of that length. Returns NULL if the text exceeds `end`. */
static const char *spdy_take_text(struct arena *arena, const char **at, const char *end)
{
    if (end - *at < 4)
        return NULL;
    size_t size = get_u32(*at);
    *at += 4;
    if ((size_t)(end - *at) < size)
        return NULL;
    const char *text = arena_strndup(arena, *at, size);
    *at += size;
    return text;
}

static int read_headers(struct spdy_reader *reader, const char *data, size_t size,
                        struct http_header **ret, struct err *err)
{
    char *block;
    size_t block_size;
    arena_reset(reader->arena);
    int result = spdy_decompress(reader, data, size, &block, &block_size, err);
    if (result < 0)
        return result;
    const char *at = block, *end = block + block_size;
    if (block_size < 4)
        return err_set(err, ERR_BAD_REQUEST, "spdy: a header block is cut off");
    uint32_t count = get_u32(at);
    at += 4;
    if (count > SPDY_HEADERS_COUNT_MAX)
        return err_set(err, ERR_TOO_LARGE, "spdy: a header block of more than %d lines",
                       SPDY_HEADERS_COUNT_MAX);
    struct http_header *first = NULL, **last = &first;
    for (uint32_t i = 0; i < count; i++) {
        const char *name = spdy_take_text(reader->arena, &at, end);
        const char *value = name ? spdy_take_text(reader->arena, &at, end) : NULL;
        if (!value)
            return err_set(err, ERR_BAD_REQUEST, "spdy: a header block is cut off");
        *last = ARENA_NEW(reader->arena, struct http_header);
        **last = (struct http_header){.name = name, .value = value};
        last = &(*last)->next;
    }
    if (at != end)
        return err_set(err, ERR_BAD_REQUEST, "spdy: a header block has bytes after its last line");
    *ret = first;
    return 0;
}

/* ---- reading: frames ------------------------------------------------------------------------- */

/* Returns the size of the fixed fields before the header block of a control frame. */
static size_t fixed_size(enum spdy_type type)
{
    switch (type) {
    case SPDY_SYN_STREAM:
        return 10; /* stream, associated stream, priority and slot */
    case SPDY_RST_STREAM:
    case SPDY_GOAWAY:
        return 8;
    case SPDY_SYN_REPLY:
    case SPDY_HEADERS:
    case SPDY_PING:
        return 4;
    case SPDY_DATA:
    case SPDY_SETTINGS:
    case SPDY_WINDOW_UPDATE:
        break;
    }
    return 0;
}

static int parse_control(struct spdy_reader *reader, struct spdy_frame *frame, const char *data,
                         size_t size, struct err *err)
{
    size_t fixed = fixed_size(frame->type);
    if (size < fixed)
        return err_set(err, ERR_BAD_REQUEST, "spdy: a frame of type %d is cut off",
                       (int)frame->type);
    switch (frame->type) {
    case SPDY_SYN_STREAM:
    case SPDY_SYN_REPLY:
    case SPDY_HEADERS:
        frame->stream = stream_id(data);
        return read_headers(reader, data + fixed, size - fixed, &frame->headers, err);
    case SPDY_RST_STREAM:
    case SPDY_GOAWAY:
        frame->stream = stream_id(data);
        frame->value = get_u32(data + 4);
        return 0;
    case SPDY_PING:
        frame->value = get_u32(data);
        return 0;
    default:
        return 0;
    }
}

/* Fills the control buffer up to `wanted` bytes. Returns whether the buffer has that many bytes. */
static bool spdy_fill(struct spdy_reader *reader, size_t wanted, const char *data, size_t size,
                      size_t *used)
{
    size_t missing = wanted - reader->control.size;
    size_t piece = size - *used < missing ? size - *used : missing;
    buf_append(&reader->control, data + *used, piece);
    *used += piece;
    return reader->control.size == wanted;
}

static enum spdy_result spdy_take_data(struct spdy_reader *reader, const char *data, size_t size,
                                       size_t *used, struct spdy_frame *ret)
{
    size_t piece = size - *used < reader->data_left ? size - *used : reader->data_left;
    if (piece == 0 && reader->data_left)
        return SPDY_MORE;
    *ret = reader->frame;
    ret->data = data + *used;
    ret->size = piece;
    *used += piece;
    reader->data_left -= piece;
    ret->fin = reader->frame.fin && reader->data_left == 0;
    reader->in_data = reader->data_left > 0;
    return SPDY_FRAME;
}

/* Parses the head of a frame. */
static int parse_head(struct spdy_reader *reader, const char *head, struct err *err)
{
    uint32_t length = get_u32(head + 4) & 0xffffff;
    reader->frame = (struct spdy_frame){.fin = head[4] & FLAG_FIN};
    if (!((unsigned char)head[0] & CONTROL_BIT)) {
        reader->frame.type = SPDY_DATA;
        reader->frame.stream = stream_id(head);
        reader->data_left = length;
        reader->in_data = true;
        buf_clear(&reader->control);
        return 0;
    }
    uint32_t version = get_u32(head) >> 16 & 0x7fff;
    if (version != VERSION)
        return err_set(err, ERR_BAD_REQUEST, "spdy: only version 3 is supported, not %u",
                       (unsigned)version);
    reader->frame.type = (enum spdy_type)(get_u32(head) & 0xffff);
    if (length > SPDY_CONTROL_MAX)
        return err_set(err, ERR_TOO_LARGE, "spdy: a control frame of %u bytes is too long",
                       (unsigned)length);
    return 0;
}

static bool is_reported(enum spdy_type type)
{
    return type == SPDY_SETTINGS || type == SPDY_WINDOW_UPDATE || fixed_size(type) > 0;
}

enum spdy_result spdy_read(struct spdy_reader *reader, const char *data, size_t size,
                           size_t *ret_used, struct spdy_frame *ret, struct err *err)
{
    *ret_used = 0;
    for (;;) {
        if (reader->in_data)
            return spdy_take_data(reader, data, size, ret_used, ret);
        if (reader->control.size < SPDY_HEAD_SIZE) {
            if (!spdy_fill(reader, SPDY_HEAD_SIZE, data, size, ret_used))
                return SPDY_MORE;
            if (parse_head(reader, reader->control.data, err) < 0)
                return SPDY_BROKEN;
            continue;
        }
        size_t length = get_u32(reader->control.data + 4) & 0xffffff;
        if (!spdy_fill(reader, SPDY_HEAD_SIZE + length, data, size, ret_used))
            return SPDY_MORE;
        int result = parse_control(reader, &reader->frame, reader->control.data + SPDY_HEAD_SIZE,
                                   length, err);
        buf_clear(&reader->control);
        if (result < 0)
            return SPDY_BROKEN;
        if (is_reported(reader->frame.type)) {
            *ret = reader->frame;
            return SPDY_FRAME;
        }
    }
}

/* ---- writing --------------------------------------------------------------------------------- */

void spdy_writer_init(struct spdy_writer *writer)
{
    /* Small values save memory. They are enough for the few headers that a session sends. */
    enum { WINDOW_BITS = 11, MEMORY_LEVEL = 1 };
    unsigned char dictionary[SPDY_DICTIONARY_SIZE];
    *writer = (struct spdy_writer){0};
    spdy_dictionary(dictionary);
    if (deflateInit2(&writer->deflate, Z_BEST_SPEED, Z_DEFLATED, WINDOW_BITS, MEMORY_LEVEL,
                     Z_DEFAULT_STRATEGY) != Z_OK ||
        deflateSetDictionary(&writer->deflate, dictionary, sizeof(dictionary)) != Z_OK)
        mem_panic("spdy: cannot initialize zlib");
}

void spdy_writer_release(struct spdy_writer *writer)
{
    deflateEnd(&writer->deflate);
}

static void compress_into(struct spdy_writer *writer, const struct buf *plain, struct buf *out)
{
    z_stream *stream = &writer->deflate;
    stream->next_in = (Bytef *)plain->data;
    stream->avail_in = (uInt)plain->size;
    do {
        char piece[1024];
        stream->next_out = (Bytef *)piece;
        stream->avail_out = sizeof(piece);
        deflate(stream, Z_SYNC_FLUSH);
        buf_append(out, piece, sizeof(piece) - stream->avail_out);
    } while (stream->avail_out == 0);
}

/* Begins a control frame and returns its offset in `out`. end_control() sets its length. */
static size_t begin_control(struct buf *out, enum spdy_type type, bool fin)
{
    size_t start = out->size;
    append_u32(out, (uint32_t)CONTROL_BIT << 24 | VERSION << 16 | type);
    append_u32(out, fin ? (uint32_t)FLAG_FIN << 24 : 0);
    return start;
}

static void end_control(struct buf *out, size_t start)
{
    if (out->overflowed)
        return;
    size_t length = out->size - start - SPDY_HEAD_SIZE;
    put_u32(out->data + start + 4, get_u32(out->data + start + 4) | (uint32_t)length);
}

static void write_headers(struct spdy_writer *writer, struct buf *out,
                          const struct http_header *headers)
{
    _cleanup_buf_ struct buf plain;
    buf_init(&plain, SPDY_HEADERS_MAX);
    uint32_t count = 0;
    for (const struct http_header *each = headers; each; each = each->next)
        count++;
    append_u32(&plain, count);
    for (; headers; headers = headers->next) {
        append_u32(&plain, (uint32_t)strlen(headers->name));
        buf_append_str(&plain, headers->name);
        append_u32(&plain, (uint32_t)strlen(headers->value));
        buf_append_str(&plain, headers->value);
    }
    compress_into(writer, &plain, out);
}

void spdy_write_syn_stream(struct spdy_writer *writer, struct buf *out, uint32_t stream, bool fin,
                           const struct http_header *headers)
{
    size_t start = begin_control(out, SPDY_SYN_STREAM, fin);
    append_u32(out, stream);
    append_u32(out, 0);
    buf_append(out, "\0", 2); /* priority and slot */
    write_headers(writer, out, headers);
    end_control(out, start);
}

void spdy_write_syn_reply(struct spdy_writer *writer, struct buf *out, uint32_t stream, bool fin,
                          const struct http_header *headers)
{
    size_t start = begin_control(out, SPDY_SYN_REPLY, fin);
    append_u32(out, stream);
    write_headers(writer, out, headers);
    end_control(out, start);
}

void spdy_write_rst_stream(struct buf *out, uint32_t stream, enum spdy_reset reason)
{
    size_t start = begin_control(out, SPDY_RST_STREAM, false);
    append_u32(out, stream);
    append_u32(out, reason);
    end_control(out, start);
}

void spdy_write_ping(struct buf *out, uint32_t id)
{
    size_t start = begin_control(out, SPDY_PING, false);
    append_u32(out, id);
    end_control(out, start);
}

void spdy_write_goaway(struct buf *out, uint32_t last_stream, enum spdy_goaway_status reason)
{
    size_t start = begin_control(out, SPDY_GOAWAY, false);
    append_u32(out, last_stream);
    append_u32(out, reason);
    end_control(out, start);
}

void spdy_write_data_head(char head[SPDY_HEAD_SIZE], uint32_t stream, bool fin, size_t size)
{
    put_u32(head, stream & 0x7fffffff);
    put_u32(head + 4, (fin ? (uint32_t)FLAG_FIN << 24 : 0) | (uint32_t)size);
}

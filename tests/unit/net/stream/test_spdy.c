/* Tests SPDY frames: bytes that Python's zlib made, frames that we wrote, and input that breaks the
 * protocol. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/stream/spdy.h"

#include <stdio.h>
#include <string.h>
#include <zlib.h>

/* SYN_STREAM 1 {streamtype: error, port: 8987, requestid: 0} and SYN_STREAM 3 with "data" instead
 * of "error". Python's zlib.compressobj(9, zdict=...) compressed them one after the other. */
static const char PAIR[] = "800300010000003d00000001000000000000"
                           "78f9e3c6a7c202253a703a2b294a4dcc851625aca9a0808614cb45e01c606169610ea43"
                           "98b20d198094ade8c06000000"
                           "00ffff"
                           "800300010000001800000003000000000000c2aa19540e2512d60b000000ffff";

static size_t from_hex(const char *hex, char *bytes)
{
    size_t size = strlen(hex) / 2;
    for (size_t i = 0; i < size; i++) {
        unsigned value;
        assert_int_equal(sscanf(hex + 2 * i, "%2x", &value), 1);
        bytes[i] = (char)value;
    }
    return size;
}

struct ends {
    struct spdy_reader reader;
    struct spdy_writer writer;
    struct buf wire;
    size_t taken; /* bytes of the wire that were read */
    size_t piece; /* the most bytes that are fed at once */
    struct err err;
};

static int setup(void **state)
{
    struct ends *ends = mem_zalloc(sizeof(*ends));
    spdy_reader_init(&ends->reader);
    spdy_writer_init(&ends->writer);
    buf_init(&ends->wire, 1 << 24);
    ends->piece = SIZE_MAX;
    *state = ends;
    return 0;
}

static int teardown(void **state)
{
    struct ends *ends = *state;
    spdy_reader_release(&ends->reader);
    spdy_writer_release(&ends->writer);
    buf_release(&ends->wire);
    free(ends);
    return 0;
}

/* Reads the next frame on the wire. */
static enum spdy_result read_next(struct ends *ends, struct spdy_frame *frame)
{
    for (;;) {
        size_t left = ends->wire.size - ends->taken, used;
        size_t size = left < ends->piece ? left : ends->piece;
        enum spdy_result result =
            spdy_read(&ends->reader, ends->wire.data + ends->taken, size, &used, frame, &ends->err);
        ends->taken += used;
        if (result != SPDY_MORE || ends->taken == ends->wire.size)
            return result;
        assert_int_equal(used, size);
    }
}

static void assert_header(const struct spdy_frame *frame, const char *name, const char *value)
{
    assert_string_equal(http_header_get(frame->headers, name), value);
}

static void the_dictionary_matches_the_protocol(void **state)
{
    unsigned char dictionary[SPDY_DICTIONARY_SIZE + 1];
    dictionary[SPDY_DICTIONARY_SIZE] = 0x5a;
    spdy_dictionary(dictionary);
    assert_int_equal(dictionary[SPDY_DICTIONARY_SIZE], 0x5a);
    assert_int_equal(dictionary[SPDY_DICTIONARY_SIZE - 1], '.');
    assert_int_equal(adler32(1, dictionary, SPDY_DICTIONARY_SIZE), 0xe3c6a7c2);
}

static void reads_headers_compressed_by_zlib(void **state)
{
    struct ends *ends = *state;
    char bytes[sizeof(PAIR) / 2];
    size_t size = from_hex(PAIR, bytes);
    static const size_t pieces[] = {SIZE_MAX, 1, 7};
    for (size_t i = 0; i < ARRAY_SIZE(pieces); i++) {
        struct spdy_frame frame;
        spdy_reader_release(&ends->reader);
        spdy_reader_init(&ends->reader);
        buf_clear(&ends->wire);
        buf_append(&ends->wire, bytes, size);
        ends->taken = 0;
        ends->piece = pieces[i];
        assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
        assert_int_equal(frame.type, SPDY_SYN_STREAM);
        assert_int_equal(frame.stream, 1);
        assert_false(frame.fin);
        assert_header(&frame, "streamtype", "error");
        assert_header(&frame, "port", "8987");
        assert_header(&frame, "requestid", "0");
        assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
        assert_int_equal(frame.stream, 3);
        assert_header(&frame, "streamtype", "data");
        assert_header(&frame, "requestid", "0");
        assert_int_equal(read_next(ends, &frame), SPDY_MORE);
    }
}

static void reads_frames_that_it_wrote(void **state)
{
    struct ends *ends = *state;
    struct http_header second = {"b", "", NULL}, first = {"a", "one", &second};
    for (int round = 0; round < 3; round++) {
        spdy_write_syn_stream(&ends->writer, &ends->wire, 5, round == 1, &first);
        spdy_write_syn_reply(&ends->writer, &ends->wire, 5, true, NULL);
    }
    spdy_write_ping(&ends->wire, 77);
    spdy_write_rst_stream(&ends->wire, 9, SPDY_REFUSED_STREAM);
    spdy_write_goaway(&ends->wire, 11, SPDY_GOAWAY_PROTOCOL_ERROR);
    assert_false(ends->wire.overflowed);
    ends->piece = 5;
    struct spdy_frame frame;
    for (int round = 0; round < 3; round++) {
        assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
        assert_int_equal(frame.type, SPDY_SYN_STREAM);
        assert_int_equal(frame.stream, 5);
        assert_int_equal(frame.fin, round == 1);
        assert_header(&frame, "A", "one");
        assert_header(&frame, "b", "");
        assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
        assert_int_equal(frame.type, SPDY_SYN_REPLY);
        assert_true(frame.fin);
        assert_null(frame.headers);
    }
    assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
    assert_int_equal(frame.type, SPDY_PING);
    assert_int_equal(frame.value, 77);
    assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
    assert_int_equal(frame.type, SPDY_RST_STREAM);
    assert_int_equal(frame.stream, 9);
    assert_int_equal(frame.value, SPDY_REFUSED_STREAM);
    assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
    assert_int_equal(frame.type, SPDY_GOAWAY);
    assert_int_equal(frame.stream, 11);
    assert_int_equal(frame.value, SPDY_GOAWAY_PROTOCOL_ERROR);
    assert_int_equal(read_next(ends, &frame), SPDY_MORE);
}

static void data_comes_in_pieces_and_ends_once(void **state)
{
    struct ends *ends = *state;
    char head[SPDY_HEAD_SIZE];
    char data[1000];
    for (size_t i = 0; i < sizeof(data); i++)
        data[i] = (char)i;
    spdy_write_data_head(head, 3, true, sizeof(data));
    buf_append(&ends->wire, head, sizeof(head));
    buf_append(&ends->wire, data, sizeof(data));
    spdy_write_data_head(head, 5, true, 0); /* an end without data */
    buf_append(&ends->wire, head, sizeof(head));
    ends->piece = 64;
    size_t got = 0;
    struct spdy_frame frame;
    while (got < sizeof(data)) {
        assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
        assert_int_equal(frame.type, SPDY_DATA);
        assert_int_equal(frame.stream, 3);
        assert_memory_equal(frame.data, data + got, frame.size);
        got += frame.size;
        assert_int_equal(frame.fin, got == sizeof(data));
    }
    assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
    assert_int_equal(frame.stream, 5);
    assert_int_equal(frame.size, 0);
    assert_true(frame.fin);
}

static void unknown_frames_are_skipped(void **state)
{
    struct ends *ends = *state;
    static const char unknown[] = "\x80\x03\x00\x63\x00\x00\x00\x03xyz";
    static const char settings[] = "\x80\x03\x00\x04\x00\x00\x00\x04\x00\x00\x00\x00";
    buf_append(&ends->wire, unknown, sizeof(unknown) - 1);
    buf_append(&ends->wire, settings, sizeof(settings) - 1);
    spdy_write_ping(&ends->wire, 1);
    struct spdy_frame frame;
    assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
    assert_int_equal(frame.type, SPDY_SETTINGS);
    assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
    assert_int_equal(frame.type, SPDY_PING);
}

static void protocol_violations_are_rejected(void **state)
{
    static const struct {
        const char *hex, *why;
    } rows[] = {
        {"8002000100000000", "only version 3 is supported, not 2"},
        {"8003000101000001", NULL},
        {"8003000100010001", "a control frame of 65537 bytes is too long"},
        {"800300010000000300000000", "a frame of type 1 is cut off"},
        {"80030006000000020000", "a frame of type 6 is cut off"},
        {"800300010000000e00000001000000000000ffffffff", "cannot be decompressed"},
        {"800300020000000400000001", "a header block is cut off"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(rows); i++) {
        struct ends *ends = *state;
        struct spdy_frame frame;
        char bytes[128];
        spdy_reader_release(&ends->reader);
        spdy_reader_init(&ends->reader);
        buf_clear(&ends->wire);
        ends->taken = 0;
        buf_append(&ends->wire, bytes, from_hex(rows[i].hex, bytes));
        assert_int_equal(read_next(ends, &frame), rows[i].why ? SPDY_BROKEN : SPDY_MORE);
        if (rows[i].why)
            assert_non_null(strstr(ends->err.message, rows[i].why));
    }
}

static void headers_have_a_limit(void **state)
{
    struct ends *ends = *state;
    char *plain = mem_zalloc(1 << 20); /* a decompression bomb: 1 MiB of zeros takes a few bytes */
    unsigned char packed[8192];
    unsigned char dictionary[SPDY_DICTIONARY_SIZE];
    z_stream deflater = {0};
    spdy_dictionary(dictionary);
    assert_int_equal(deflateInit(&deflater, 9), Z_OK);
    deflateSetDictionary(&deflater, dictionary, sizeof(dictionary));
    deflater.next_in = (Bytef *)plain;
    deflater.avail_in = 1 << 20;
    deflater.next_out = packed + 4;
    deflater.avail_out = sizeof(packed) - 4;
    assert_int_equal(deflate(&deflater, Z_SYNC_FLUSH), Z_OK);
    size_t size = sizeof(packed) - deflater.avail_out;
    deflateEnd(&deflater);
    free(plain);
    const char head[] = {(char)0x80, 3, 0, 2, 0, 0, (char)(size >> 8), (char)size};
    memset(packed, 0, 4);
    buf_append(&ends->wire, head, sizeof(head));
    buf_append(&ends->wire, packed, size);
    struct spdy_frame frame;
    assert_int_equal(read_next(ends, &frame), SPDY_BROKEN);
    assert_int_equal(ends->err.code, ERR_TOO_LARGE);
}

/* Each limit and one byte past it: a control frame, and a header block. */
static void limits_hold_at_the_last_byte(void **state)
{
    struct ends *ends = *state;
    struct spdy_frame frame;
    for (uint32_t more = 0; more <= 1; more++) {
        uint32_t size = SPDY_CONTROL_MAX + more;
        const char head[] = {(char)0x80,        3,         0, SPDY_SETTINGS, 0, (char)(size >> 16),
                             (char)(size >> 8), (char)size};
        char *body = mem_zalloc(size);
        buf_append(&ends->wire, head, sizeof(head));
        buf_append(&ends->wire, body, size);
        free(body);
        assert_int_equal(read_next(ends, &frame), more ? SPDY_BROKEN : SPDY_FRAME);
        if (more)
            assert_int_equal(ends->err.code, ERR_TOO_LARGE);
    }
    /* The number of headers, the lengths, and the name of one header. */
    enum { AROUND = 4 + 4 + 1 + 4 };
    char *value = mem_zalloc(SPDY_HEADERS_MAX);
    memset(value, 'v', SPDY_HEADERS_MAX - 1 - AROUND);
    for (int more = 0; more <= 1; more++) {
        spdy_reader_release(&ends->reader);
        spdy_writer_release(&ends->writer);
        spdy_reader_init(&ends->reader);
        spdy_writer_init(&ends->writer);
        buf_clear(&ends->wire);
        ends->taken = 0;
        value[SPDY_HEADERS_MAX - 1 - AROUND] = more ? 'v' : '\0';
        spdy_write_syn_reply(&ends->writer, &ends->wire, 1, false,
                             &(struct http_header){"n", value, NULL});
        assert_int_equal(read_next(ends, &frame), more ? SPDY_BROKEN : SPDY_FRAME);
        if (more)
            assert_int_equal(ends->err.code, ERR_TOO_LARGE);
    }
    free(value);
}

static void the_number_of_headers_has_a_limit(void **state)
{
    struct ends *ends = *state;
    struct http_header headers[SPDY_HEADERS_COUNT_MAX + 1];
    for (size_t i = 0; i < ARRAY_SIZE(headers); i++)
        headers[i] = (struct http_header){"n", "v", i ? &headers[i - 1] : NULL};
    struct spdy_frame frame;
    spdy_write_syn_reply(&ends->writer, &ends->wire, 1, false,
                         &headers[SPDY_HEADERS_COUNT_MAX - 1]);
    assert_int_equal(read_next(ends, &frame), SPDY_FRAME);
    spdy_write_syn_reply(&ends->writer, &ends->wire, 1, false, &headers[SPDY_HEADERS_COUNT_MAX]);
    assert_int_equal(read_next(ends, &frame), SPDY_BROKEN);
    assert_int_equal(ends->err.code, ERR_TOO_LARGE);
}

int main(void)
{
#define TEST(test) cmocka_unit_test_setup_teardown(test, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(the_dictionary_matches_the_protocol),
        TEST(reads_headers_compressed_by_zlib),
        TEST(reads_frames_that_it_wrote),
        TEST(data_comes_in_pieces_and_ends_once),
        TEST(unknown_frames_are_skipped),
        TEST(protocol_violations_are_rejected),
        TEST(headers_have_a_limit),
        TEST(limits_hold_at_the_last_byte),
        TEST(the_number_of_headers_has_a_limit),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

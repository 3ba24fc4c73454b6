/* Tests WebSocket frames: the examples of RFC 6455, written frames that are parsed back for any
 * split of the bytes, and input beyond a limit or against the rules, which is rejected with the
 * right code. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "net/stream/websocket.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const unsigned char MASK[4] = {0x37, 0xfa, 0x21, 0x3d};

/* Returns what a reader makes of the bytes, as text: "[" begins a message, "]" ends it. */
static const char *read_all(enum websocket_side from, uint64_t max, const void *bytes, size_t size,
                            size_t cut)
{
    static char text[8192];
    struct websocket_reader *reader = mem_alloc(sizeof(*reader));
    char *end = text;
    struct err err = ERR_INIT;
    websocket_reader_init(reader, from, max);
    *end = '\0';
    for (size_t at = 0; at < size;) {
        size_t piece = cut && cut < size - at ? cut : size - at, used;
        struct websocket_piece got;
        /* A copy of the exact size, so that a sanitizer sees a read past the end. */
        char *copy = mem_alloc(piece);
        memcpy(copy, (const char *)bytes + at, piece);
        enum websocket_result result = websocket_read(reader, copy, piece, &used, &got, &err);
        free(copy);
        assert_true(used <= piece);
        at += used;
        size_t room = sizeof(text) - (size_t)(end - text);
        if (result == WEBSOCKET_BROKEN) {
            snprintf(end, room, "broken %d: %s", reader->refusal, err.message);
            break;
        }
        if (result == WEBSOCKET_MORE) {
            assert_int_equal(used, piece);
            continue;
        }
        if (got.opcode == WEBSOCKET_TEXT || got.opcode == WEBSOCKET_BINARY)
            end += snprintf(end, room, "%s%.*s%s",
                            got.first ? got.opcode == WEBSOCKET_TEXT ? "t[" : "[" : "",
                            (int)(got.size < 100 ? got.size : 0), got.data, got.last ? "]" : "");
        else if (got.opcode == WEBSOCKET_CLOSE)
            end += snprintf(end, room, "close %d %.*s", got.code, (int)got.size, got.data);
        else
            end += snprintf(end, room, "%s(%.*s)", got.opcode == WEBSOCKET_PING ? "ping" : "pong",
                            (int)(got.size < 100 ? got.size : 0), got.data);
    }
    free(reader);
    return text;
}

#define FROM_SERVER(bytes) read_all(WEBSOCKET_SERVER, 1000, bytes, sizeof(bytes) - 1, 0)
#define FROM_CLIENT(bytes) read_all(WEBSOCKET_CLIENT, 1000, bytes, sizeof(bytes) - 1, 0)

/* The examples of RFC 6455, section 5.7. */
static void reads_the_examples_of_rfc_6455(void **state)
{
    assert_string_equal(FROM_SERVER("\x81\x05Hello"), "t[Hello]");
    assert_string_equal(FROM_CLIENT("\x81\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "t[Hello]");
    assert_string_equal(FROM_SERVER("\x01\x03Hel\x80\x02lo"), "t[Hello]");
    assert_string_equal(FROM_SERVER("\x89\x05Hello"), "ping(Hello)");
    assert_string_equal(FROM_CLIENT("\x8a\x85\x37\xfa\x21\x3d\x7f\x9f\x4d\x51\x58"), "pong(Hello)");
}

static void control_frames_may_come_between_fragments(void **state)
{
    assert_string_equal(FROM_SERVER("\x02\x01"
                                    "a\x89\x01p\x00\x01"
                                    "b\x8a\x00\x80\x01"
                                    "c\x82\x01"
                                    "d"),
                        "[aping(p)bpong()c][d]");
    /* Empty fragments, and an empty message. */
    assert_string_equal(FROM_SERVER("\x02\x00\x00\x00\x80\x00\x82\x00"), "[][]");
    assert_string_equal(FROM_SERVER("\x02\x01"
                                    "a\x80\x00"),
                        "[a]");
}

struct frames {
    struct buf buf;
};

static void add(struct frames *frames, enum websocket_opcode opcode, bool fin, const void *data,
                size_t size, const unsigned char *mask)
{
    char head[WEBSOCKET_HEAD_MAX], *body = mem_alloc(size + 1);
    buf_append(&frames->buf, head, websocket_write_head(head, opcode, fin, size, mask));
    if (mask)
        websocket_mask(mask, 0, data, size, body);
    else
        memcpy(body, data, size);
    buf_append(&frames->buf, body, size);
    free(body);
}

static void reads_its_own_frames_for_any_split(void **state)
{
    struct frames frames;
    char close[WEBSOCKET_CONTROL_MAX];
    buf_init(&frames.buf, 1 << 20);
    add(&frames, WEBSOCKET_BINARY, true, "one", 3, MASK);
    add(&frames, WEBSOCKET_BINARY, false, "two and ", 8, MASK);
    add(&frames, WEBSOCKET_PING, true, "p", 1, MASK);
    add(&frames, WEBSOCKET_CONTINUATION, true, "a half", 6, MASK);
    size_t size = websocket_write_close(close, WEBSOCKET_GOING_AWAY, "tired");
    add(&frames, WEBSOCKET_CLOSE, true, close, size, MASK);
    for (size_t cut = 0; cut < 40; cut++)
        assert_string_equal(read_all(WEBSOCKET_CLIENT, 14, frames.buf.data, frames.buf.size, cut),
                            "[one][two and ping(p)a half]close 1001 tired");
    buf_release(&frames.buf);
}

/* Each form of a length at both of its ends, and all bytes of a message that is larger than the
 * reader's buffer. */
static void lengths_are_written_in_their_shortest_form(void **state)
{
    static const struct {
        size_t size, head;
    } ROWS[] = {{0, 2}, {125, 2}, {126, 4}, {65535, 4}, {65536, 10}, {200000, 10}};
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        size_t size = ROWS[i].size, at = 0;
        struct frames frames;
        char *data = mem_alloc(size + 1), head[WEBSOCKET_HEAD_MAX];
        buf_init(&frames.buf, 1 << 20);
        assert_int_equal(websocket_write_head(head, WEBSOCKET_BINARY, true, size, NULL),
                         ROWS[i].head);
        for (size_t j = 0; j < size; j++)
            data[j] = (char)(j * 7 + j / 251);
        add(&frames, WEBSOCKET_BINARY, true, data, size, MASK);
        struct websocket_reader *reader = mem_alloc(sizeof(*reader));
        websocket_reader_init(reader, WEBSOCKET_CLIENT, size);
        struct websocket_piece piece = {0};
        for (size_t used, fed = 0; !piece.last; fed += used) {
            assert_int_equal(websocket_read(reader, frames.buf.data + fed, frames.buf.size - fed,
                                            &used, &piece, NULL),
                             WEBSOCKET_PIECE);
            assert_int_equal(piece.first, at == 0);
            assert_memory_equal(piece.data, data + at, piece.size);
            at += piece.size;
        }
        assert_int_equal(at, size);
        free(reader);
        free(data);
        buf_release(&frames.buf);
    }
}

static void protocol_violations_are_rejected(void **state)
{
    static const struct {
        const char *bytes;
        size_t size;
        const char *says;
    } ROWS[] = {
#define ROW(bytes, says) {bytes, sizeof(bytes) - 1, says}
        ROW("\x82\x00", "broken 1002: websocket: a client's frame is not masked"),
        ROW("\xc2\x80", "broken 1002: websocket: a reserved bit is set"),
        ROW("\xa2\x80", "broken 1002: websocket: a reserved bit is set"),
        ROW("\x92\x80", "broken 1002: websocket: a reserved bit is set"),
        ROW("\x83\x80", "broken 1002: websocket: a frame has an unknown type"),
        ROW("\x87\x80", "broken 1002: websocket: a frame has an unknown type"),
        ROW("\x8b\x80", "broken 1002: websocket: a frame has an unknown type"),
        ROW("\x8f\x80", "broken 1002: websocket: a frame has an unknown type"),
        ROW("\x09\x80", "broken 1002: websocket: a control frame is fragmented"),
        ROW("\x89\xfe", "broken 1002: websocket: a control frame is longer than 125 bytes"),
        ROW("\x80\x80",
            "broken 1002: websocket: a continuation frame without a message to continue"),
        ROW("\x00\x80",
            "broken 1002: websocket: a continuation frame without a message to continue"),
        ROW("\x02\x80....\x82\x80",
            "broken 1002: websocket: a message begins before the previous one ended"),
        ROW("\x82\xfe\x00\x7d....",
            "broken 1002: websocket: the length of a frame is not in its shortest form"),
        ROW("\x82\xff\0\0\0\0\0\0\xff\xff....",
            "broken 1002: websocket: the length of a frame is not in its shortest form"),
        ROW("\x82\xff\x80\0\0\0\0\0\0\0....", "broken 1009: websocket: a message is longer"),
        ROW("\x88\x81\0\0\0\0\x03", "broken 1002: websocket: a close frame has an incomplete code"),
#undef ROW
    };
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        const char *got = read_all(WEBSOCKET_CLIENT, 1000, ROWS[i].bytes, ROWS[i].size, 0);
        if (strncmp(got, "[", 1) == 0) /* the row with two frames: the first is empty */
            got++;
        if (strncmp(got, ROWS[i].says, strlen(ROWS[i].says)) != 0)
            fail_msg("row %zu: %s", i, got);
    }
    assert_string_equal(FROM_SERVER("\x82\x80"),
                        "broken 1002: websocket: a server's frame is masked");
}

static void limits_hold_at_the_last_byte(void **state)
{
    struct frames frames;
    char data[200];
    memset(data, 'x', sizeof(data));
    /* The limit of a control frame. */
    buf_init(&frames.buf, 1 << 20);
    add(&frames, WEBSOCKET_PING, true, data, WEBSOCKET_CONTROL_MAX, NULL);
    assert_string_equal(read_all(WEBSOCKET_SERVER, 10, frames.buf.data, frames.buf.size, 1),
                        "ping()");
    /* The limit of a message, in one frame and in several. Control frames in between are not
     * counted. */
    static const struct {
        size_t first, second;
        bool fits;
    } ROWS[] = {{10, 0, true}, {11, 0, false}, {4, 6, true}, {4, 7, false}};
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        buf_clear(&frames.buf);
        add(&frames, WEBSOCKET_BINARY, false, data, ROWS[i].first, NULL);
        add(&frames, WEBSOCKET_PING, true, data, 5, NULL);
        add(&frames, WEBSOCKET_CONTINUATION, true, data, ROWS[i].second, NULL);
        add(&frames, WEBSOCKET_BINARY, true, data, 10, NULL); /* the next message counts from 0 */
        const char *got = read_all(WEBSOCKET_SERVER, 10, frames.buf.data, frames.buf.size, 0);
        assert_int_equal(!strstr(got, "broken"), ROWS[i].fits);
        if (!ROWS[i].fits)
            assert_non_null(strstr(got, "broken 1009: websocket: a message is longer"));
    }
    buf_release(&frames.buf);
}

static void close_frames_have_codes(void **state)
{
    static const struct {
        int code;
        bool good;
    } ROWS[] = {{999, false},  {1000, true}, {1003, true},  {1004, false}, {1005, false},
                {1006, false}, {1007, true}, {1014, true},  {1015, false}, {2999, false},
                {3000, true},  {4999, true}, {5000, false}, {0, false},    {65535, false}};
    for (size_t i = 0; i < sizeof(ROWS) / sizeof(ROWS[0]); i++) {
        char frame[] = {(char)0x88, 2, (char)(ROWS[i].code >> 8), (char)ROWS[i].code};
        const char *got = read_all(WEBSOCKET_SERVER, 10, frame, sizeof(frame), 0);
        assert_int_equal(strncmp(got, "close ", 6) == 0, ROWS[i].good);
    }
    assert_string_equal(FROM_SERVER("\x88\x00"), "close 1005 ");
    assert_string_equal(FROM_SERVER("\x88\x04\x03\xe8\xc3\xbc"), "close 1000 \xc3\xbc");
    assert_string_equal(FROM_SERVER("\x88\x03\x03\xe8\xc3"),
                        "broken 1007: websocket: the reason in a close frame is not UTF-8");
    /* A long reason is truncated, but not within a character. */
    char reason[300], body[WEBSOCKET_CONTROL_MAX];
    for (size_t i = 0; i < 298; i += 2)
        memcpy(reason + i, "\xc3\xbc", 3);
    assert_int_equal(websocket_write_close(body, WEBSOCKET_NORMAL, reason), 124);
    assert_int_equal(websocket_write_close(body, WEBSOCKET_NORMAL, "x"), 3);
    assert_int_equal(websocket_write_close(body, WEBSOCKET_NO_CODE, "x"), 0);
}

static void masking_may_start_at_any_offset(void **state)
{
    char plain[50], whole[50], pieces[50];
    for (size_t i = 0; i < sizeof(plain); i++)
        plain[i] = (char)(i * 37);
    for (size_t i = 0; i < sizeof(plain); i++)
        whole[i] = (char)((unsigned char)plain[i] ^ MASK[i % 4]);
    for (size_t cut = 0; cut <= sizeof(plain); cut++) {
        websocket_mask(MASK, 0, plain, cut, pieces);
        websocket_mask(MASK, cut, plain + cut, sizeof(plain) - cut, pieces + cut);
        assert_memory_equal(pieces, whole, sizeof(whole));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reads_the_examples_of_rfc_6455),
        cmocka_unit_test(control_frames_may_come_between_fragments),
        cmocka_unit_test(reads_its_own_frames_for_any_split),
        cmocka_unit_test(lengths_are_written_in_their_shortest_form),
        cmocka_unit_test(protocol_violations_are_rejected),
        cmocka_unit_test(limits_hold_at_the_last_byte),
        cmocka_unit_test(close_frames_have_codes),
        cmocka_unit_test(masking_may_start_at_any_offset),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the parts of an archive as plain bytes: a part with any compression is read as a whole or
 * rejected. */
#include "node_test.h"

#include "base/system/file.h"
#include "node/image/stream.h"

#include <sys/mman.h>
#include <unistd.h>
#include <zlib.h>
#include <zstd.h>

enum { TEXT_SIZE = 100 * 1000, PACKED_MAX = 1024 * 1024, BEFORE = 7 };

static unsigned char text[TEXT_SIZE];

typedef void pack(const void *data, size_t size, struct buf *to);

static void pack_plain(const void *data, size_t size, struct buf *to)
{
    buf_append(to, data, size);
}

static void pack_gzip(const void *data, size_t size, struct buf *to)
{
    z_stream z = {.next_in = (unsigned char *)data, .avail_in = (unsigned)size};
    assert_int_equal(deflateInit2(&z, 1, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY), Z_OK);
    size_t room = deflateBound(&z, size);
    z.next_out = (unsigned char *)buf_reserve(to, room);
    z.avail_out = (unsigned)room;
    assert_int_equal(deflate(&z, Z_FINISH), Z_STREAM_END);
    buf_commit(to, room - z.avail_out);
    deflateEnd(&z);
}

static void pack_zstd(const void *data, size_t size, struct buf *to)
{
    size_t room = ZSTD_compressBound(size);
    size_t used = ZSTD_compress(buf_reserve(to, room), room, data, size, 1);
    assert_false(ZSTD_isError(used));
    buf_commit(to, used);
}

static pack *const PACKS[] = {pack_plain, pack_gzip, pack_zstd};

/* Makes a file with other bytes before the part. */
static int store(const struct buf *part, size_t size)
{
    int fd = memfd_create("archive", MFD_CLOEXEC);
    assert_true(fd >= 0);
    assert_int_equal(file_write_all(fd, "before!", BEFORE, NULL), 0);
    assert_int_equal(file_write_all(fd, part->data, size, NULL), 0);
    return fd;
}

static void sum_of(const void *data, size_t size, char ret[TLS_SHA256_TEXT])
{
    _cleanup_(cleanup_tls_sha256) struct tls_sha256 *sum = tls_sha256_new();
    tls_sha256_add(sum, data, size);
    tls_sha256_end(sum, ret);
}

/* Reads the whole stream, which is at most as long as the text. Returns the result of the last
 * read. */
static ssize_t read_all(struct image_stream *stream, unsigned char *ret, struct err *err)
{
    size_t used = 0;
    ssize_t got;
    while ((got = image_stream_read(stream, ret + used, TEXT_SIZE - used + 1, err)) > 0) {
        used += (size_t)got;
        assert_true(used <= TEXT_SIZE);
    }
    return got < 0 ? got : (ssize_t)used;
}

static void complete_parts_are_read(void **state)
{
    static unsigned char out[TEXT_SIZE + 1];
    for (size_t i = 0; i < ARRAY_SIZE(PACKS); i++) {
        _cleanup_buf_ struct buf packed;
        buf_init(&packed, PACKED_MAX);
        /* Two compressed streams in a row, as parallel compressors write them. */
        PACKS[i](text, TEXT_SIZE / 3, &packed);
        PACKS[i](text + TEXT_SIZE / 3, TEXT_SIZE - TEXT_SIZE / 3, &packed);
        _cleanup_fd_ int fd = store(&packed, packed.size);
        assert_int_equal(write(fd, "behind", 6), 6);
        uint64_t budget = TEXT_SIZE;
        _cleanup_(cleanup_image_stream) struct image_stream *stream =
            image_stream_new(fd, BEFORE, (int64_t)packed.size, &budget);
        assert_int_equal(read_all(stream, out, NULL), TEXT_SIZE);
        assert_memory_equal(out, text, TEXT_SIZE);
        assert_int_equal(budget, 0);
        char stored[TLS_SHA256_TEXT], plain[TLS_SHA256_TEXT], expected[TLS_SHA256_TEXT];
        assert_int_equal(image_stream_finish(stream, stored, plain, NULL), 0);
        sum_of(packed.data, packed.size, expected);
        assert_string_equal(stored, expected);
        sum_of(text, TEXT_SIZE, expected);
        assert_string_equal(plain, expected);
    }
}

/* The file ends before the part does. */
static void truncated_archives_are_rejected(void **state)
{
    static unsigned char out[TEXT_SIZE + 1];
    for (size_t i = 0; i < ARRAY_SIZE(PACKS); i++) {
        _cleanup_buf_ struct buf packed;
        buf_init(&packed, PACKED_MAX);
        PACKS[i](text, TEXT_SIZE, &packed);
        const size_t left[] = {0, 2, packed.size / 2, packed.size - 1};
        for (size_t k = 0; k < ARRAY_SIZE(left); k++) {
            struct err err = ERR_INIT;
            _cleanup_fd_ int fd = store(&packed, left[k]);
            uint64_t budget = TEXT_SIZE;
            _cleanup_(cleanup_image_stream) struct image_stream *stream =
                image_stream_new(fd, BEFORE, (int64_t)packed.size, &budget);
            assert_int_equal(read_all(stream, out, &err), -ERR_INVALID);
            assert_string_equal(err.message, "the archive is cut short");
        }
    }
}

/* The part is complete, but the compressed data in it is truncated; or a pipe ends too early. */
static void truncated_compressed_data_is_rejected(void **state)
{
    static unsigned char out[TEXT_SIZE + 1];
    for (size_t i = 1; i < ARRAY_SIZE(PACKS); i++) {
        _cleanup_buf_ struct buf packed;
        buf_init(&packed, PACKED_MAX);
        PACKS[i](text, TEXT_SIZE - 10, &packed);
        const size_t first = packed.size;
        PACKS[i](text, 10, &packed);
        const size_t left[] = {5, first / 2, first - 1, first + 5, packed.size - 1};
        for (size_t k = 0; k < ARRAY_SIZE(left) * 2; k++) {
            const bool all = k % 2;
            struct err err = ERR_INIT;
            _cleanup_fd_ int fd = store(&packed, left[k / 2]);
            assert_int_equal(lseek(fd, BEFORE, SEEK_SET), BEFORE);
            uint64_t budget = PACKED_MAX;
            _cleanup_(cleanup_image_stream) struct image_stream *stream =
                image_stream_new(fd, all ? IMAGE_STREAM_ALL : BEFORE,
                                 all ? IMAGE_STREAM_ALL : (int64_t)left[k / 2], &budget);
            assert_int_equal(read_all(stream, out, &err), -ERR_INVALID);
            assert_string_equal(err.message, "compressed data is cut short");
        }
    }
}

static int make_text(void **state)
{
    uint32_t value = 1;
    for (size_t i = 0; i < TEXT_SIZE; i++) { /* compresses to about half of the size */
        value = value * 1664525 + 1013904223;
        text[i] = "0123456789abcdef"[value >> 28];
    }
    return 0;
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(complete_parts_are_read),
        cmocka_unit_test(truncated_archives_are_rejected),
        cmocka_unit_test(truncated_compressed_data_is_rejected),
    };
    return cmocka_run_group_tests(tests, make_text, NULL);
}

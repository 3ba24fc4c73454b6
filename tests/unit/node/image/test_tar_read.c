/* Reads archives as common programs write them, and malformed ones. */
#include "node_test.h"

#include "tar_write.h"

enum { ARCHIVE_MAX = 4 * 1024 * 1024 };

static struct tar_memory memory;

static int set_up(void **state)
{
    memory = (struct tar_memory){0};
    buf_init(&memory.buf, ARCHIVE_MAX);
    return 0;
}

static int tear_down(void **state)
{
    buf_release(&memory.buf);
    return 0;
}

/* Returns all entries as text: "type path link data". */
static int read_all(size_t chunk, struct buf *ret, struct err *err)
{
    struct tar_reader reader;
    struct tar_entry entry;
    int got;
    memory.chunk = chunk;
    tar_reader_init(&reader, tar_memory_source(&memory));
    while ((got = tar_read_next(&reader, &entry, err)) > 0) {
        buf_printf(ret, "%d %s %s %o ", (int)entry.type, entry.path, entry.link, entry.mode);
        char data[100];
        for (ssize_t size; (size = tar_read_data(&reader, data, sizeof(data), err)) != 0;) {
            if (size < 0) {
                got = (int)size;
                break;
            }
            buf_append(ret, data, (size_t)size);
        }
        buf_append_str(ret, "\n");
        if (got < 0)
            break;
    }
    tar_reader_release(&reader);
    return got;
}

static void expect(const char *text)
{
    static const size_t CHUNKS[] = {0, 1, 7, 511};
    for (size_t i = 0; i < sizeof(CHUNKS) / sizeof(*CHUNKS); i++) {
        struct err err = ERR_INIT;
        _cleanup_buf_ struct buf said;
        buf_init(&said, ARCHIVE_MAX);
        if (read_all(CHUNKS[i], &said, &err) < 0)
            fail_msg("%s", err.message);
        assert_string_equal(said.data, text);
    }
}

static void expect_error(const char *part)
{
    struct err err = ERR_INIT;
    _cleanup_buf_ struct buf said;
    buf_init(&said, ARCHIVE_MAX);
    assert_true(read_all(0, &said, &err) < 0);
    if (!strstr(err.message, part))
        fail_msg("no '%s' in '%s'", part, err.message);
}

static void every_entry_type_is_read(void **state)
{
    struct buf *tar = &memory.buf;
    tar_put(tar, '5', "dir/", "");
    tar_put(tar, '0', "dir/file", "content");
    tar_put(tar, '\0', "old", "x");
    tar_put(tar, '0', "old-dir/", "");
    tar_put(tar, '2', "link", "dir/file");
    tar_put(tar, '1', "hard", "dir/file");
    tar_put(tar, '3', "device", "");
    tar_put(tar, '6', "pipe", "");
    expect("1 dir/  755 \n0 dir/file  644 content\n0 old  644 x\n1 old-dir/  644 \n"
           "2 link dir/file 644 \n3 hard dir/file 644 \n5 device  644 \n4 pipe  644 \n");
    tar_end(tar);
    buf_append_str(tar, "what is behind the end is not looked at");
    expect("1 dir/  755 \n0 dir/file  644 content\n0 old  644 x\n1 old-dir/  644 \n"
           "2 link dir/file 644 \n3 hard dir/file 644 \n5 device  644 \n4 pipe  644 \n");
}

static void long_names_are_read(void **state)
{
    struct buf *tar = &memory.buf;
    char name[301] = "";
    memset(name, 'n', 300);
    tar_put_data(tar, 'L', "././@LongLink", "", 0, name, sizeof(name));
    tar_put_data(tar, 'K', "././@LongLink", "", 0, "far/away", 9);
    tar_put(tar, '2', "short", "shorter");
    tar_put(tar, 'x', "pax", "13 path=a/b\n\n19 linkpath=x y/zz\n27 mtime=1234567890.123456\n");
    tar_put(tar, '2', "short", "shorter");
    tar_put(tar, 'g', "global", "ignored, whatever it says");
    tar_put(tar, '0', "plain", "");
    _cleanup_free_ char *wanted =
        mem_printf("2 %s far/away 644 \n2 a/b\n x y/zz 644 \n0 plain  644 \n", name);
    expect(wanted);
}

static void sizes_in_extended_headers_are_used(void **state)
{
    struct buf *tar = &memory.buf;
    tar_put(tar, 'x', "pax", "9 size=3\n");
    tar_put(tar, '0', "file", "abc");
    expect("0 file  644 abc\n");
    buf_clear(tar);
    tar_put(tar, 'x', "pax", "10 size=-3\n");
    tar_put(tar, '0', "file", "abc");
    expect_error("damaged"); /* the length does not match */
    buf_clear(tar);
    tar_put(tar, 'x', "pax", "11 size=-3\n\n");
    tar_put(tar, '0', "file", "abc");
    expect_error("");
    buf_clear(tar);
    tar_put(tar, '0', "file", "abc");
    memcpy(tar->data + 124, "\x80\0\0\0\0\0\0\0\0\0\0\x03", 12); /* a number in binary form */
    expect_error("damaged");                                     /* the checksum is wrong */
}

static void malformed_headers_are_rejected(void **state)
{
    static const struct {
        char type;
        const char *text, *error;
    } CASES[] = {
        {'x', "9999 path=x\n", "damaged"},
        {'x', "5 a=b", "damaged"},
        {'x', "7 abcd\n", "damaged"},
        {'x', "99999999999 path=x\n", "damaged"},
        {'x', "30 size=999999999999999999999\n", ""},
        {'x', "21 GNU.sparse.major=1\n", "damaged"},
        {'x', "22 GNU.sparse.major=1\n", "sparse"},
        {'x', "9 uid=-1\n", "owner"},
    };
    for (size_t i = 0; i < sizeof(CASES) / sizeof(*CASES); i++) {
        buf_clear(&memory.buf);
        tar_put(&memory.buf, CASES[i].type, "h", CASES[i].text);
        tar_put(&memory.buf, '0', "file", "");
        expect_error(CASES[i].error);
    }
    buf_clear(&memory.buf);
    tar_put(&memory.buf, 'S', "holes", "");
    expect_error("'holes' is a sparse file");
    buf_clear(&memory.buf);
    tar_put(&memory.buf, 'Z', "what", "");
    expect_error("unknown entry type");
    buf_clear(&memory.buf);
    tar_put(&memory.buf, '0', "", "");
    expect_error("no name");
    buf_clear(&memory.buf);
    tar_put_data(&memory.buf, 'x', "h", "", 0, "12 path=a\0b\n", 12);
    tar_put(&memory.buf, '0', "file", "");
    expect_error("NUL");
    buf_clear(&memory.buf);
    tar_put(&memory.buf, 'x', "h", "10 path=a\n");
    expect_error("middle of an entry");
    buf_clear(&memory.buf);
    tar_put(&memory.buf, '0', "file", "content");
    memory.buf.size = TAR_BLOCK + 3;
    expect_error("middle of an entry");
    memory.buf.size = 100;
    expect_error("middle of an entry");
    buf_clear(&memory.buf);
    for (int i = 0; i < 2 * TAR_BLOCK; i++)
        buf_append_char(&memory.buf, 'x');
    expect_error("not a tar archive");
}

static void too_long_names_are_rejected(void **state)
{
    size_t size = TAR_EXTENDED_MAX + 1;
    char *name = mem_zalloc(size);
    memset(name, 'n', size);
    tar_put_data(&memory.buf, 'L', "l", "", 0, name, 5000);
    tar_put(&memory.buf, '0', "file", "");
    expect_error("longer than 4095");
    buf_clear(&memory.buf);
    tar_put_data(&memory.buf, 'L', "l", "", 0, name, size);
    tar_put(&memory.buf, '0', "file", "");
    expect_error("extended header has more");
    free(name);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(every_entry_type_is_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(long_names_are_read, set_up, tear_down),
        cmocka_unit_test_setup_teardown(sizes_in_extended_headers_are_used, set_up, tear_down),
        cmocka_unit_test_setup_teardown(malformed_headers_are_rejected, set_up, tear_down),
        cmocka_unit_test_setup_teardown(too_long_names_are_rejected, set_up, tear_down),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests IDX files: plain and gzip, every kind of invalid file with its message, and the names of
 * labels. */
#include "scratch_directory.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/data/idx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include <cmocka.h>

/* Two pictures of 2 × 3 pixels, and their labels 4 and 1. */
static const uint8_t IMAGES[] = {0, 0, 8, 3, 0, 0, 0, 2, 0,  0,  0,  2,  0,  0,
                                 0, 3, 1, 2, 3, 4, 5, 6, 10, 20, 30, 40, 50, 60};
static const uint8_t LABELS[] = {0, 0, 8, 1, 0, 0, 0, 2, 4, 1};

static void put(const char *name, const void *data, size_t size)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    assert_int_equal(file_write_atomic(path, data, size, 0644, NULL), 0);
}

static void put_packed(const char *name, const void *data, size_t size, size_t cut)
{
    char path[256];
    snprintf(path, sizeof(path), "%s/%s", directory, name);
    gzFile file = gzopen(path, "wb");
    assert_int_equal(gzwrite(file, data, (unsigned)size), size);
    gzclose(file);
    _cleanup_buf_ struct buf packed;
    buf_init(&packed, 1 << 16);
    assert_int_equal(file_read(path, &packed, NULL), 0);
    put(name, packed.data, packed.size - cut);
}

static void assert_two_pictures(struct idx *idx)
{
    assert_int_equal(idx->count, 2);
    assert_int_equal(idx->height, 2);
    assert_int_equal(idx->width, 3);
    assert_int_equal(idx->classes, 5);
    assert_memory_equal(idx->pixels, IMAGES + 16, 12);
    assert_memory_equal(idx->labels, LABELS + 8, 2);
    idx_free(idx);
}

static void plain_and_gzip_files_are_read(void **state)
{
    struct idx *idx = NULL;
    struct err err = ERR_INIT;
    put("train-images-idx3-ubyte", IMAGES, sizeof(IMAGES));
    put("train-labels-idx1-ubyte", LABELS, sizeof(LABELS));
    assert_int_equal(idx_open(directory, IDX_TRAIN, &idx, &err), 0);
    assert_two_pictures(TAKE(idx));
    put_packed("t10k-images-idx3-ubyte.gz", IMAGES, sizeof(IMAGES), 0);
    put("t10k-labels.idx1-ubyte", LABELS, sizeof(LABELS));
    assert_int_equal(idx_open(directory, IDX_TEST, &idx, &err), 0);
    assert_two_pictures(TAKE(idx));
}

static void missing_and_damaged_files_are_named(void **state)
{
    struct idx *idx = NULL;
    struct err err = ERR_INIT;
    assert_int_equal(idx_open(directory, IDX_TRAIN, &idx, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "train-images-idx3-ubyte"));
    assert_non_null(strstr(err.message, "dataset-fashion-mnist"));

    put_packed("train-images-idx3-ubyte.gz", IMAGES, sizeof(IMAGES), 9);
    put("train-labels-idx1-ubyte", LABELS, sizeof(LABELS));
    assert_int_equal(idx_open(directory, IDX_TRAIN, &idx, &err), -ERR_BAD_REQUEST);
    assert_non_null(strstr(err.message, "train-images-idx3-ubyte.gz' is truncated"));
}

static void invalid_contents_are_rejected(void **state)
{
    static const struct {
        const char *what;
        size_t at;
        uint8_t value;
        bool in_labels;
        enum err_code code;
        const char *sentence;
    } CASES[] = {
        {"another type", 2, 9, false, ERR_BAD_REQUEST, "not an IDX file of pictures"},
        {"labels as pictures", 3, 1, false, ERR_BAD_REQUEST, "not an IDX file of pictures"},
        {"no pictures", 7, 0, false, ERR_INVALID, "0 pictures"},
        {"more than there are", 7, 3, false, ERR_BAD_REQUEST, "their header says 18"},
        {"huge", 4, 255, false, ERR_INVALID, "10000000 pictures"},
        {"too wide", 12, 255, false, ERR_INVALID, "of at most 1024×1024"},
        {"pictures as labels", 3, 3, true, ERR_BAD_REQUEST, "not an IDX file of labels"},
        {"another count", 7, 1, true, ERR_INVALID, "has 2 pictures, but 1 labels"},
    };
    for (size_t i = 0; i < ARRAY_SIZE(CASES); i++) {
        uint8_t images[sizeof(IMAGES)], labels[sizeof(LABELS)];
        memcpy(images, IMAGES, sizeof(images));
        memcpy(labels, LABELS, sizeof(labels));
        (CASES[i].in_labels ? labels : images)[CASES[i].at] = CASES[i].value;
        struct idx *idx = NULL;
        struct err err = ERR_INIT;
        int result = idx_parse("x", images, sizeof(images), labels, sizeof(labels), &idx, &err);
        if (result != -(int)CASES[i].code || !strstr(err.message, CASES[i].sentence))
            fail_msg("%s: %d, %s", CASES[i].what, result, err.message);
    }
    struct err err = ERR_INIT;
    struct idx *idx = NULL;
    assert_int_equal(idx_parse("x", IMAGES, sizeof(IMAGES), LABELS, 9, &idx, &err),
                     -ERR_BAD_REQUEST);
    assert_int_equal(idx_parse("x", IMAGES, 15, LABELS, sizeof(LABELS), &idx, &err),
                     -ERR_BAD_REQUEST);
}

static void put_word(uint8_t *at, uint32_t word)
{
    for (int i = 0; i < 4; i++)
        at[i] = (uint8_t)(word >> (24 - 8 * i));
}

/* The largest picture is read. A header with one more pixel is rejected because of the size in
 * it. */
static void size_limits_are_exact(void **state)
{
    (void)state;
    size_t size = 16 + (size_t)IDX_SIDE_MAX * IDX_SIDE_MAX;
    _cleanup_free_ uint8_t *images = mem_zalloc(size);
    uint8_t labels[9];
    struct idx *idx = NULL;
    struct err err = ERR_INIT;
    memcpy(images, IMAGES, 4);
    memcpy(labels, LABELS, 4);
    put_word(images + 4, 1);
    put_word(labels + 4, 1);
    labels[8] = 0;
    put_word(images + 8, IDX_SIDE_MAX);
    put_word(images + 12, IDX_SIDE_MAX);
    assert_int_equal(idx_parse("x", images, size, labels, sizeof(labels), &idx, &err), 0);
    idx_free(TAKE(idx));
    for (size_t at = 8; at <= 12; at += 4) {
        put_word(images + at, IDX_SIDE_MAX + 1);
        assert_int_equal(idx_parse("x", images, size, labels, sizeof(labels), &idx, &err),
                         -ERR_INVALID);
        put_word(images + at, IDX_SIDE_MAX);
    }
    put_word(images + 4, IDX_PICTURES_MAX);
    assert_int_equal(idx_parse("x", images, size, labels, sizeof(labels), &idx, &err),
                     -ERR_BAD_REQUEST); /* the pixels are missing */
    put_word(images + 4, IDX_PICTURES_MAX + 1);
    assert_int_equal(idx_parse("x", images, size, labels, sizeof(labels), &idx, &err),
                     -ERR_INVALID);
}

static void files_round_trip(void **state)
{
    (void)state;
    struct err err = ERR_INIT;
    uint8_t pixels[] = {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, labels[] = {3, 0};
    struct idx idx = {.count = 2, .height = 3, .width = 2, .pixels = pixels, .labels = labels};
    assert_false(idx_is_directory(directory));
    assert_int_equal(idx_write(&idx, directory, IDX_TRAIN, &err), 0);
    assert_int_equal(idx_write(&idx, directory, IDX_TEST, &err), 0);
    assert_true(idx_is_directory(directory));
    for (enum idx_part part = IDX_TRAIN; part <= IDX_TEST; part++) {
        _cleanup_(cleanup_idx) struct idx *read = NULL;
        assert_int_equal(idx_open(directory, part, &read, &err), 0);
        assert_int_equal(read->count, 2);
        assert_int_equal(read->height, 3);
        assert_int_equal(read->width, 2);
        assert_int_equal(read->classes, 4);
        assert_memory_equal(read->pixels, pixels, sizeof(pixels));
        assert_memory_equal(read->labels, labels, sizeof(labels));
    }
    assert_true(idx_write(&idx, "/nonexistent", IDX_TRAIN, &err) < 0);
}

static void labels_have_names(void **state)
{
    char text[32];
    assert_string_equal(idx_label_name("/data/Fashion-MNIST", 9, text, sizeof(text)), "Ankle boot");
    assert_string_equal(idx_label_name("/data/fashion", 12, text, sizeof(text)), "12");
    assert_string_equal(idx_label_name("/data/mnist", 9, text, sizeof(text)), "9");
    put("LABELS", "cat\ndog\n\n", 9);
    assert_string_equal(idx_label_name(directory, 1, text, sizeof(text)), "dog");
    assert_string_equal(idx_label_name(directory, 2, text, sizeof(text)), "2");
    assert_string_equal(idx_label_name(directory, 7, text, sizeof(text)), "7");
    /* The largest file of names, and one byte more. */
    static char names[(64 << 10) + 1] = "cat\ndog\n";
    memset(names + 8, '\n', sizeof(names) - 8);
    put("LABELS", names, sizeof(names) - 1);
    assert_string_equal(idx_label_name(directory, 1, text, sizeof(text)), "dog");
    put("LABELS", names, sizeof(names));
    assert_string_equal(idx_label_name(directory, 1, text, sizeof(text)), "1");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(plain_and_gzip_files_are_read, make_directory,
                                        remove_directory),
        cmocka_unit_test_setup_teardown(missing_and_damaged_files_are_named, make_directory,
                                        remove_directory),
        cmocka_unit_test(invalid_contents_are_rejected),
        cmocka_unit_test(size_limits_are_exact),
        cmocka_unit_test_setup_teardown(files_round_trip, make_directory, remove_directory),
        cmocka_unit_test_setup_teardown(labels_have_names, make_directory, remove_directory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

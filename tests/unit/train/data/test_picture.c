/* Tests pictures: what each decoder reads, how squares are cropped and scaled, and what is rejected
 * with which message. */
#include "train/data/picture.h"
#include "train/data/picture_internal.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <jpeglib.h>
#include <webp/encode.h>

static struct err err;

static int decode(const void *data, size_t size, struct picture *picture)
{
    err = ERR_INIT;
    return picture_decode(data, size, picture, &err);
}

static void expect_rejection(const void *data, size_t size, enum err_code code, const char *words)
{
    struct picture picture = {0};
    assert_int_equal(decode(data, size, &picture), -(int)code);
    assert_null(picture.pixels);
    if (!strstr(err.message, words))
        fail_msg("'%s' does not say '%s'", err.message, words);
}

static void pgm_and_ppm_are_decoded(void **state)
{
    (void)state;
    _cleanup_(picture_release) struct picture grey = {0}, colour = {0};
    static const char pgm[] = "P5 # a comment\n2 1\n#another\n255\n\x10\x20";
    static const char ppm[] = "P6\n1 1\n15\n\x0f\x00\x07";
    assert_int_equal(decode(pgm, sizeof(pgm) - 1, &grey), 0);
    assert_int_equal(grey.width, 2);
    assert_int_equal(grey.height, 1);
    assert_int_equal(grey.channels, 1);
    assert_memory_equal(grey.pixels, "\x10\x20", 2);
    assert_int_equal(decode(ppm, sizeof(ppm) - 1, &colour), 0);
    assert_int_equal(colour.channels, 3);
    assert_memory_equal(colour.pixels, "\xff\x00\x77", 3); /* 0x77 is 7 of 15 */
}

static void png_round_trip(void **state)
{
    (void)state;
    uint8_t pixels[5 * 4 * 3];
    for (size_t i = 0; i < sizeof(pixels); i++)
        pixels[i] = (uint8_t)(i * 7);
    _cleanup_buf_ struct buf file;
    _cleanup_(picture_release) struct picture picture = {0};
    buf_init(&file, 10000);
    assert_int_equal(picture_encode_png(pixels, 5, 4, 3, &file, &err), 0);
    assert_int_equal(decode(file.data, file.size, &picture), 0);
    assert_int_equal(picture.width, 5);
    assert_int_equal(picture.height, 4);
    assert_memory_equal(picture.pixels, pixels, sizeof(pixels));

    buf_release(&file);
    buf_init(&file, 20);
    assert_int_equal(picture_encode_png(pixels, 5, 4, 3, &file, &err), -ERR_TOO_LARGE);
}

static void jpeg_is_decoded(void **state)
{
    (void)state;
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr manager;
    unsigned char *file = NULL;
    unsigned long size = 0;
    uint8_t row[16 * 3];
    memset(row, 200, sizeof(row));
    info.err = jpeg_std_error(&manager);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &file, &size);
    info.image_width = info.image_height = 16;
    info.input_components = 3;
    info.in_color_space = JCS_RGB;
    jpeg_set_defaults(&info);
    jpeg_start_compress(&info, TRUE);
    JSAMPROW rows[] = {row};
    while (info.next_scanline < 16)
        jpeg_write_scanlines(&info, rows, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);

    _cleanup_(picture_release) struct picture picture = {0};
    assert_int_equal(decode(file, size, &picture), 0);
    assert_int_equal(picture.width, 16);
    assert_int_equal(picture.channels, 3);
    assert_in_range(picture.pixels[100], 197, 203);
    expect_rejection(file, 40, ERR_BAD_REQUEST, "this JPEG picture cannot be read");
    free(file);
}

static void webp_is_decoded(void **state)
{
    (void)state;
    uint8_t pixels[8 * 8 * 3], *file = NULL;
    memset(pixels, 90, sizeof(pixels));
    size_t size = WebPEncodeLosslessRGB(pixels, 8, 8, 8 * 3, &file);
    _cleanup_(picture_release) struct picture picture = {0};
    assert_int_equal(decode(file, size, &picture), 0);
    assert_int_equal(picture.width, 8);
    assert_memory_equal(picture.pixels, pixels, sizeof(pixels));
    expect_rejection(file, size / 2, ERR_BAD_REQUEST, "this WebP picture");
    WebPFree(file);
}

static void invalid_pictures_are_rejected(void **state)
{
    (void)state;
    expect_rejection("", 0, ERR_MEDIA_TYPE, "not a picture in a supported format");
    expect_rejection("hello", 5, ERR_MEDIA_TYPE, "not a picture in a supported format");
    expect_rejection("\x89PNG rubbish", 12, ERR_BAD_REQUEST, "this PNG picture cannot be read");
    expect_rejection("P5\n2", 4, ERR_BAD_REQUEST, "broken header");
    expect_rejection("P5\n2 2\n255\nabc", 14, ERR_BAD_REQUEST, "truncated");
    expect_rejection("P5\n0 2\n255\n", 11, ERR_BAD_REQUEST, "empty");
    expect_rejection("P5\n2 2\n65535\n", 13, ERR_UNSUPPORTED, "more than 8 bits");
    expect_rejection("P5\n9000 2\n255\n", 14, ERR_TOO_LARGE, "too large: 9000");
    expect_rejection("P6\n8000 8000\n255\n", 17, ERR_TOO_LARGE, "too large: 8000");
}

static void crop_middle(const struct picture *picture, size_t side, size_t channels, uint8_t *ret)
{
    const struct picture_square middle = picture_middle(picture);
    picture_cut_bytes(picture, &middle, side, channels, ret);
}

static void formats_are_detected_by_their_first_bytes(void **state)
{
    (void)state;
    assert_int_equal(picture_format("\x89PNG....", 8), PICTURE_PNG);
    assert_int_equal(picture_format("\xff\xd8\xff", 3), PICTURE_JPEG);
    assert_int_equal(picture_format("RIFF\0\0\0\0WEBP", 12), PICTURE_WEBP);
    assert_int_equal(picture_format("RIFF\0\0\0\0WEB", 11), PICTURE_UNKNOWN);
    assert_int_equal(picture_format("P6", 2), PICTURE_PNM);
    assert_int_equal(picture_format("", 0), PICTURE_UNKNOWN);
    assert_string_equal(picture_format_name(PICTURE_JPEG), "JPEG");
}

static void middle_square_is_cropped_and_scaled(void **state)
{
    (void)state;
    /* A picture of 4 × 2: the outer columns are cropped. */
    uint8_t pixels[] = {255, 10, 20, 255, 255, 30, 40, 255};
    struct picture picture = {.width = 4, .height = 2, .channels = 1, .pixels = pixels};
    uint8_t same[4], one, rgb[3];
    crop_middle(&picture, 2, 1, same);
    assert_memory_equal(same, ((uint8_t[]){10, 20, 30, 40}), 4);
    crop_middle(&picture, 1, 1, &one);
    assert_int_equal(one, 25);
    crop_middle(&picture, 1, 3, rgb);
    assert_memory_equal(rgb, ((uint8_t[]){25, 25, 25}), 3);
    float value;
    const struct picture_square middle = picture_middle(&picture);
    picture_cut(&picture, &middle, 1, 1, &value);
    assert_float_equal(value, 25.0f / 255, 1e-6);

    uint8_t red[] = {255, 0, 0};
    struct picture colour = {.width = 1, .height = 1, .channels = 3, .pixels = red};
    crop_middle(&colour, 1, 1, &one);
    assert_int_equal(one, 76); /* red has a weight of 0.299 */
    uint8_t larger[4 * 4 * 3];
    crop_middle(&colour, 4, 3, larger);
    assert_memory_equal(larger + 45, red, 3);
}

static void crop_outside_of_the_picture_repeats_its_edge(void **state)
{
    (void)state;
    uint8_t pixels[] = {10, 20, 30, 40}, cut[16];
    struct picture picture = {.width = 2, .height = 2, .channels = 1, .pixels = pixels};
    const struct picture_square square = {-1, -1, 4};
    picture_cut_bytes(&picture, &square, 4, 1, cut);
    assert_memory_equal(
        cut, ((uint8_t[]){10, 10, 20, 20, 10, 10, 20, 20, 30, 30, 40, 40, 30, 30, 40, 40}), 16);
    const struct picture_square half = {-0.5, 0, 1};
    picture_cut_bytes(&picture, &half, 1, 1, cut);
    assert_int_equal(cut[0], 10);
    const struct picture_square between = {0.5, 0, 1};
    picture_cut_bytes(&picture, &between, 1, 1, cut);
    assert_int_equal(cut[0], 15);
}

static void size_limits_are_exact(void **state)
{
    (void)state;
    static const struct {
        size_t width, height;
        bool fits;
    } rows[] = {
        {PICTURE_SIDE_MAX, 1, true},
        {PICTURE_SIDE_MAX + 1, 1, false},
        {1, PICTURE_SIDE_MAX, true},
        {1, PICTURE_SIDE_MAX + 1, false},
        {PICTURE_SIDE_MAX, PICTURE_PIXELS_MAX / PICTURE_SIDE_MAX, true},
        {PICTURE_SIDE_MAX, PICTURE_PIXELS_MAX / PICTURE_SIDE_MAX + 1, false},
    };
    for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
        _cleanup_(picture_release) struct picture picture = {0};
        err = ERR_INIT;
        int result = picture_allocate(&picture, rows[i].width, rows[i].height, 1, &err);
        assert_int_equal(result, rows[i].fits ? 0 : -ERR_TOO_LARGE);
    }
}

static void file_size_is_limited(void **state)
{
    (void)state;
    static const char pixel[] = "P5\n1 1\n255\nx";
    _cleanup_buf_ struct buf file; /* bytes after a picture are ignored */
    _cleanup_(picture_release) struct picture picture = {0};
    buf_init(&file, PICTURE_FILE_MAX + 1);
    memcpy(buf_reserve(&file, PICTURE_FILE_MAX + 1), pixel, sizeof(pixel));
    assert_int_equal(decode(file.data, PICTURE_FILE_MAX, &picture), 0);
    expect_rejection(file.data, PICTURE_FILE_MAX + 1, ERR_TOO_LARGE, "the limit is 16 MiB");
}

/* Makes a grey picture of 8×8 in `count` scans: first its mean, then the coefficients one by one,
 * and then each of them bit by bit. */
static unsigned char *make_scans(int count, unsigned long *ret_size)
{
    struct jpeg_compress_struct info;
    struct jpeg_error_mgr errors;
    static jpeg_scan_info scans[200];
    unsigned char *data = NULL, row[8] = {0, 50, 100, 150, 200, 250, 20, 90};
    JSAMPROW rows[] = {row};
    for (int i = 0; i < count; i++) {
        int band = i ? (i - 1) % 63 + 1 : 0, low = i > 63 ? 0 : 1;
        scans[i] = (jpeg_scan_info){
            .comps_in_scan = 1, .Ss = band, .Se = band, .Ah = i > 63 ? 1 : 0, .Al = i ? low : 0};
    }
    info.err = jpeg_std_error(&errors);
    jpeg_create_compress(&info);
    jpeg_mem_dest(&info, &data, ret_size);
    info.image_width = info.image_height = 8;
    info.input_components = 1;
    info.in_color_space = JCS_GRAYSCALE;
    jpeg_set_defaults(&info);
    info.scan_info = scans;
    info.num_scans = count;
    jpeg_start_compress(&info, TRUE);
    while (info.next_scanline < info.image_height)
        jpeg_write_scanlines(&info, rows, 1);
    jpeg_finish_compress(&info);
    jpeg_destroy_compress(&info);
    return data;
}

static void number_of_jpeg_scans_is_limited(void **state)
{
    (void)state;
    unsigned long size = 0;
    _cleanup_(picture_release) struct picture picture = {0};
    unsigned char *data = make_scans(100, &size);
    if (decode(data, size, &picture) < 0)
        fail_msg("%s", err.message);
    free(data);
    size = 0;
    data = make_scans(101, &size);
    expect_rejection(data, size, ERR_BAD_REQUEST, "it has more than 100 scans");
    free(data);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pgm_and_ppm_are_decoded),
        cmocka_unit_test(png_round_trip),
        cmocka_unit_test(jpeg_is_decoded),
        cmocka_unit_test(webp_is_decoded),
        cmocka_unit_test(invalid_pictures_are_rejected),
        cmocka_unit_test(size_limits_are_exact),
        cmocka_unit_test(file_size_is_limited),
        cmocka_unit_test(number_of_jpeg_scans_is_limited),
        cmocka_unit_test(formats_are_detected_by_their_first_bytes),
        cmocka_unit_test(middle_square_is_cropped_and_scaled),
        cmocka_unit_test(crop_outside_of_the_picture_repeats_its_edge),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

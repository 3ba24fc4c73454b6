/* Tests random variations of pictures: the same draws give the same picture, and no variation gives
 * the picture itself. */
#include "random_floats.h"

#include "train/data/augment.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 20, CHANNELS = 3, COUNT = SIDE * SIDE * CHANNELS };

static void fill(uint8_t *bytes)
{
    struct rand rand;
    rand_init(&rand, 1);
    for (int i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)rand_below(&rand, 256);
}

static void empty_augmentation_keeps_the_picture(void **state)
{
    uint8_t bytes[COUNT];
    float to[COUNT];
    struct rand rand;
    fill(bytes);
    rand_init(&rand, 2);
    augment_picture(&(struct augment){0}, NULL, &rand, bytes, SIDE, CHANNELS, to);
    for (int i = 0; i < COUNT; i++)
        assert_true(fabsf(to[i] - (float)bytes[i] / 255) < 1e-5f);
}

static void about_half_of_the_pictures_are_mirrored(void **state)
{
    uint8_t bytes[COUNT];
    float to[COUNT];
    int mirrored = 0;
    fill(bytes);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rand rand;
        rand_init(&rand, seed);
        augment_picture(&(struct augment){.mirror = true}, NULL, &rand, bytes, SIDE, CHANNELS, to);
        bool turned = fabsf(to[0] - (float)bytes[(SIDE - 1) * CHANNELS] / 255) < 1e-5f;
        mirrored += turned;
        for (int x = 0; x < SIDE; x++)
            for (int c = 0; c < CHANNELS; c++)
                assert_true(fabsf(to[x * CHANNELS + c] -
                                  (float)bytes[(turned ? SIDE - 1 - x : x) * CHANNELS + c] / 255) <
                            1e-5f);
    }
    assert_in_range(mirrored, 30, 70);
}

static void equal_draws_give_equal_pictures(void **state)
{
    const struct augment augment = {.shift = 0.2f,
                                    .turn = 0.3f,
                                    .scale = 0.2f,
                                    .gamma = 0.5f,
                                    .noise = 0.05f,
                                    .cover = 0.5f,
                                    .backdrop = 0.3f,
                                    .mirror = true};
    uint8_t bytes[COUNT];
    float a[COUNT], b[COUNT];
    fill(bytes);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rand rand;
        rand_init(&rand, seed);
        augment_picture(&augment, NULL, &rand, bytes, SIDE, CHANNELS, a);
        rand_init(&rand, seed);
        augment_picture(&augment, NULL, &rand, bytes, SIDE, CHANNELS, b);
        assert_memory_equal(a, b, sizeof(a));
        for (int i = 0; i < COUNT; i++)
            assert_true(a[i] > -0.5f && a[i] < 1.5f);
        rand_init(&rand, seed + 1000);
        augment_picture(&augment, NULL, &rand, bytes, SIDE, CHANNELS, b);
        assert_memory_not_equal(a, b, sizeof(a));
    }
}

static void backdrop_changes_only_the_corners(void **state)
{
    uint8_t bytes[COUNT];
    float to[COUNT];
    float darkest = 0, lightest = 0;
    memset(bytes, 128, sizeof(bytes));
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rand rand;
        rand_init(&rand, seed);
        augment_picture(&(struct augment){.backdrop = 0.2f}, NULL, &rand, bytes, SIDE, CHANNELS,
                        to);
        const float was = 128.0f / 255;
        for (int y = SIDE / 4; y < SIDE - SIDE / 4; y++)
            for (int x = SIDE / 4; x < SIDE - SIDE / 4; x++)
                assert_float_equal(to[(y * SIDE + x) * CHANNELS], was, 1e-6);
        float corner = to[0] - was;
        assert_true(fabsf(corner) <= 0.2f + 1e-6f);
        for (int c = 1; c < CHANNELS; c++) /* the same in all corners and channels */
            assert_float_equal(to[COUNT - c] - was, corner, 1e-6);
        darkest = fminf(darkest, corner);
        lightest = fmaxf(lightest, corner);
    }
    assert_true(darkest < -0.1f && lightest > 0.1f);
    memset(bytes, 255, sizeof(bytes)); /* white cannot become lighter */
    for (uint64_t seed = 0; seed < 50; seed++) {
        struct rand rand;
        rand_init(&rand, seed);
        augment_picture(&(struct augment){.backdrop = 1}, NULL, &rand, bytes, SIDE, CHANNELS, to);
        for (int i = 0; i < COUNT; i++)
            assert_true(to[i] >= 0 && to[i] <= 1);
    }
}

/* In this picture the tone shows the position of a pixel: left to right in the first channel, top
 * to bottom in the second. */
static void shape_moves_the_pixels(void **state)
{
    uint8_t bytes[COUNT];
    for (int y = 0; y < SIDE; y++)
        for (int x = 0; x < SIDE; x++) {
            uint8_t *pixel = bytes + (y * SIDE + x) * CHANNELS;
            pixel[0] = (uint8_t)(10 * x);
            pixel[1] = (uint8_t)(10 * y);
            pixel[2] = 0;
        }
    const struct augment_shape shape = {.across = {0.05f, 0.02f, 0.03f},
                                        .down = {-0.04f, 0.03f, 0.01f}};
    float plain[COUNT], zero[COUNT], to[COUNT];
    struct rand rand;
    rand_init(&rand, 1);
    augment_picture(&(struct augment){0}, NULL, &rand, bytes, SIDE, CHANNELS, plain);
    augment_picture(&(struct augment){0}, &(struct augment_shape){0}, &rand, bytes, SIDE, CHANNELS,
                    zero);
    assert_memory_equal(plain, zero, sizeof(plain));
    augment_picture(&(struct augment){0}, &shape, &rand, bytes, SIDE, CHANNELS, to);
    for (int y = 4; y < SIDE - 4; y++)
        for (int x = 4; x < SIDE - 4; x++) {
            double u = (double)x / SIDE, v = (double)y / SIDE;
            double sx = x + SIDE * (0.05 * (2 * u - 1) + 0.02 * sin(2 * M_PI * u) +
                                    0.03 * sin(2 * M_PI * u) * cos(2 * M_PI * v));
            double sy = y + SIDE * (-0.04 * (2 * v - 1) + 0.03 * sin(2 * M_PI * v) +
                                    0.01 * cos(2 * M_PI * u));
            assert_float_equal(to[(y * SIDE + x) * CHANNELS], 10 * sx / 255, 1e-4);
            assert_float_equal(to[(y * SIDE + x) * CHANNELS + 1], 10 * sy / 255, 1e-4);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(empty_augmentation_keeps_the_picture),
        cmocka_unit_test(about_half_of_the_pictures_are_mirrored),
        cmocka_unit_test(equal_draws_give_equal_pictures),
        cmocka_unit_test(backdrop_changes_only_the_corners),
        cmocka_unit_test(shape_moves_the_pixels),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Changed pictures: the same draws give the same picture, no change gives the picture itself. */
#include "random_floats.h"

#include "train/augment.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIDE = 20, CHANNELS = 3, COUNT = SIDE * SIDE * CHANNELS };

static void fill(uint8_t *bytes)
{
    struct rand rand;
    rand_init(&rand, 1);
    for (int i = 0; i < COUNT; i++)
        bytes[i] = (uint8_t)rand_below(&rand, 256);
}

static void no_change_is_the_picture(void **state)
{
    uint8_t bytes[COUNT];
    float to[COUNT];
    struct rand rand;
    fill(bytes);
    rand_init(&rand, 2);
    augment_picture(&(struct augment){0}, &rand, bytes, SIDE, CHANNELS, to);
    for (int i = 0; i < COUNT; i++)
        assert_true(fabsf(to[i] - (float)bytes[i] / 255) < 1e-5f);
}

static void mirrored_pictures_come_about_half_the_time(void **state)
{
    uint8_t bytes[COUNT];
    float to[COUNT];
    int mirrored = 0;
    fill(bytes);
    for (uint64_t seed = 0; seed < 100; seed++) {
        struct rand rand;
        rand_init(&rand, seed);
        augment_picture(&(struct augment){.mirror = true}, &rand, bytes, SIDE, CHANNELS, to);
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
                                    .mirror = true};
    uint8_t bytes[COUNT];
    float a[COUNT], b[COUNT];
    fill(bytes);
    for (uint64_t seed = 0; seed < 20; seed++) {
        struct rand rand;
        rand_init(&rand, seed);
        augment_picture(&augment, &rand, bytes, SIDE, CHANNELS, a);
        rand_init(&rand, seed);
        augment_picture(&augment, &rand, bytes, SIDE, CHANNELS, b);
        assert_memory_equal(a, b, sizeof(a));
        for (int i = 0; i < COUNT; i++)
            assert_true(a[i] > -0.5f && a[i] < 1.5f);
        rand_init(&rand, seed + 1000);
        augment_picture(&augment, &rand, bytes, SIDE, CHANNELS, b);
        assert_memory_not_equal(a, b, sizeof(a));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(no_change_is_the_picture),
        cmocka_unit_test(mirrored_pictures_come_about_half_the_time),
        cmocka_unit_test(equal_draws_give_equal_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

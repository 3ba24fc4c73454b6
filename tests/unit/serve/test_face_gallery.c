/* Tests the gallery: the nearest person comes first, by the mean distance to the person's pictures.
 * Also tests the accuracy on its own pictures. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "page_fixture.h"
#include "serve/face_gallery.h"

enum { PERSONS = 5, PICTURES = 3 };

static void embed(struct face_model *model, const struct dataset *people, size_t person,
                  size_t picture, float *ret)
{
    struct err err = ERR_INIT;
    size_t side = face_model_side(model), channels = face_model_channels(model);
    _cleanup_free_ float *pixels = mem_calloc(side * side * channels, sizeof(float));
    assert_int_equal(dataset_load(people, person, picture, side, channels, pixels, &err), 0);
    assert_int_equal(face_model_embed(model, pixels, 1, ret, &err), 0);
}

static void picture_in_the_gallery_has_distance_zero(void **state)
{
    _cleanup_(cleanup_face_model) struct face_model *model = untrained_model(1);
    _cleanup_(cleanup_dataset) struct dataset *people = drawn_people(PERSONS, 1);
    _cleanup_(cleanup_face_gallery) struct face_gallery *gallery = NULL;
    struct err err = ERR_INIT;
    float embedding[128];
    struct face_match matches[PERSONS + 2];
    assert_int_equal(face_gallery_new(model, people, &gallery, &err), 0);
    for (size_t person = 0; person < PERSONS; person++) {
        embed(model, people, person, 0, embedding);
        assert_int_equal(face_gallery_nearest(gallery, embedding, matches, PERSONS + 2), PERSONS);
        assert_int_equal(matches[0].person, person);
        assert_true(matches[0].distance < 1e-3);
        for (size_t i = 1; i < PERSONS; i++)
            assert_true(matches[i].distance >= matches[i - 1].distance);
        assert_int_equal(face_gallery_nearest(gallery, embedding, matches, 2), 2);
        assert_int_equal(matches[0].person, person);
    }
    assert_true(face_gallery_accuracy(gallery) == -1); /* no person has two pictures */
}

static void match_has_the_mean_distance_and_the_nearest_picture(void **state)
{
    _cleanup_(cleanup_face_model) struct face_model *model = untrained_model(1);
    _cleanup_(cleanup_dataset) struct dataset *people = drawn_people(PERSONS, PICTURES);
    _cleanup_(cleanup_face_gallery) struct face_gallery *gallery = NULL;
    struct err err = ERR_INIT;
    struct face_match matches[PERSONS];
    float asked[128], own[PICTURES][128];
    assert_int_equal(face_gallery_new(model, people, &gallery, &err), 0);
    embed(model, people, 2, 1, asked);
    double mean = 0;
    for (size_t i = 0; i < PICTURES; i++) {
        embed(model, people, 2, i, own[i]);
        double sum = 0;
        for (size_t k = 0; k < 128; k++)
            sum += ((double)asked[k] - own[i][k]) * ((double)asked[k] - own[i][k]);
        mean += __builtin_sqrt(sum) / PICTURES;
    }
    size_t count = face_gallery_nearest(gallery, asked, matches, PERSONS);
    assert_int_equal(count, PERSONS);
    for (size_t i = 0; i < count; i++)
        if (matches[i].person == 2) {
            assert_int_equal(matches[i].picture, 1);
            assert_float_equal(matches[i].distance, mean, 1e-5);
        }
    double accuracy = face_gallery_accuracy(gallery);
    assert_true(accuracy >= 0 && accuracy <= 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(picture_in_the_gallery_has_distance_zero),
        cmocka_unit_test(match_has_the_mean_distance_and_the_nearest_picture),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

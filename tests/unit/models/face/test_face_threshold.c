/* Tests when a face belongs to no person of a gallery: thresholds of known distributions, tiny
 * galleries, and the JSON of the model file. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "base/mem.h"
#include "models/face/threshold.h"

#include <math.h>
#include <stdlib.h>

/* Returns the distances 0.0001, 0.0002 … 1 in unsorted order: a fraction p of them is below p. */
static struct face_strangers even_distances(size_t people)
{
    enum { PAIRS = 10000 };
    double *distances = mem_calloc(PAIRS, sizeof(*distances));
    for (size_t i = 0; i < PAIRS; i++)
        distances[i] = (double)((i * 7919) % PAIRS + 1) / PAIRS;
    struct face_strangers strangers = face_strangers_of(distances, PAIRS, people);
    free(distances);
    return strangers;
}

static void quantiles_of_distances_are_interpolated(void **state)
{
    (void)state;
    struct face_strangers strangers = even_distances(20);
    assert_int_equal(strangers.people, 20);
    assert_int_equal(strangers.pairs, 10000);
    static const double PARTS[] = {0, 1e-4, 0.0003, 0.003, 0.01, 0.03, 0.15, 0.5};
    for (size_t i = 0; i < ARRAY_SIZE(PARTS); i++)
        assert_float_equal(face_strangers_distance(&strangers, PARTS[i]), PARTS[i] + 1e-4, 1e-6);
    assert_float_equal(face_strangers_distance(&strangers, 0.9), 0.5001, 1e-6);
    assert_float_equal(face_strangers_distance(&strangers, -1), 1e-4, 1e-6);
}

/* A larger gallery needs a smaller threshold, because an unknown face may match any of its people.
 */
static void larger_galleries_have_smaller_thresholds(void **state)
{
    (void)state;
    struct face_strangers gallery = even_distances(20), none = {0};
    double before = 1;
    for (size_t people = 1; people <= 64; people *= 2) {
        struct face_threshold threshold = face_threshold_of(&gallery, &none, people, 0.05);
        assert_int_equal(threshold.source, FACE_THRESHOLD_GALLERY);
        assert_true(threshold.sure < threshold.known && threshold.known < threshold.near);
        assert_true(threshold.known < before);
        before = threshold.known;
        double strangers = 1 - pow(1 - threshold.known, (double)people);
        assert_float_equal(strangers, 0.05, 0.01);
    }
    struct face_threshold strict = face_threshold_of(&gallery, &none, 8, 0.01);
    struct face_threshold loose = face_threshold_of(&gallery, &none, 8, 0.2);
    assert_true(strict.known < loose.known);
    struct face_threshold all =
        face_threshold_of(&gallery, &none, 8, 1); /* no match is unsure then */
    assert_true(isfinite(all.near) && all.known <= all.near);
}

static void confidence_text_follows_the_thresholds(void **state)
{
    (void)state;
    struct face_threshold threshold = {0.5, 0.7, 0.9, FACE_THRESHOLD_GALLERY};
    assert_string_equal(face_threshold_words(&threshold, 0), "very likely");
    assert_string_equal(face_threshold_words(&threshold, 0.5), "likely");
    assert_string_equal(face_threshold_words(&threshold, 0.7), "unsure");
    assert_string_equal(face_threshold_words(&threshold, 0.9), "no person of the gallery is near");
    assert_string_equal(face_threshold_words(&threshold, NAN), "no person of the gallery is near");
}

/* Embeddings of one dimension, so that a reader can see their distances. */
static void tiny_galleries_use_the_threshold_of_the_model(void **state)
{
    (void)state;
    struct face_strangers model = even_distances(20), none = {0};
    static const float LINE[] = {0, 1, 3, 7, 12, 20};
    static const size_t FIRST[] = {0, 1, 2, 3, 4, 5, 6};
    for (size_t people = 0; people <= 6; people++) {
        struct face_strangers gallery = face_strangers_measure(LINE, FIRST, people, 1);
        size_t pairs = people ? people * (people - 1) : 0;
        assert_int_equal(gallery.pairs, pairs);
        assert_int_equal(gallery.people, pairs ? people : 0);
        struct face_threshold threshold = face_threshold_of(&gallery, &model, people, 0.05);
        assert_int_equal(threshold.source, FACE_THRESHOLD_MODEL);
        threshold = face_threshold_of(&gallery, &none, people, 0.05);
        if (people < 2) { /* nothing is known about strangers */
            assert_int_equal(threshold.source, FACE_THRESHOLD_DEFAULT);
            assert_true(threshold.sure < threshold.known && threshold.known < threshold.near);
        } else { /* no pair of the gallery counts as one person */
            assert_int_equal(threshold.source, FACE_THRESHOLD_GALLERY);
            assert_float_equal(threshold.known, 1, 1e-6);
        }
    }
}

/* Five people with several pictures. The distance is the mean over all pictures of a person. */
static void pairs_have_a_picture_and_another_person(void **state)
{
    (void)state;
    static const float LINE[] = {0, 1, 10, 12, 20, 30, 31, 40};
    static const size_t FIRST[] = {0, 2, 4, 5, 7, 8};
    struct face_strangers strangers = face_strangers_measure(LINE, FIRST, 5, 1);
    assert_int_equal(strangers.pairs, 8 * 4);
    assert_float_equal(strangers.quantiles[0], 8, 1e-6); /* from 12 to 20 */
    assert_float_equal(strangers.quantiles[7], 8, 1e-6); /* next: from 20 to 10 and 12 */
    assert_float_equal(face_strangers_distance(&strangers, 0.05), 9, 1e-6);
    struct face_strangers nobody = face_strangers_measure(NULL, (size_t[]){0}, 0, 1);
    assert_int_equal(nobody.people, 0);
}

static void large_galleries_are_sampled(void **state)
{
    (void)state;
    enum { PEOPLE = 1000, PICTURES = 20 };
    float *line = mem_calloc(PEOPLE * PICTURES, sizeof(*line));
    size_t *first = mem_calloc(PEOPLE + 1, sizeof(*first));
    for (size_t i = 0; i < PEOPLE * PICTURES; i++)
        line[i] = (float)(i / PICTURES);
    for (size_t i = 0; i <= PEOPLE; i++)
        first[i] = i * PICTURES;
    struct face_strangers strangers = face_strangers_measure(line, first, PEOPLE, 1);
    assert_true(strangers.people > 300 && strangers.people <= 400);
    assert_true(strangers.pairs > 300 * 300 && strangers.pairs <= 400 * 400 * 8);
    free(line);
    free(first);
}

static void distances_round_trip_through_json(void **state)
{
    (void)state;
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct face_strangers before = even_distances(20);
    before.trained_on = true;
    struct json *json = face_strangers_to_json(arena, &before);
    struct face_strangers after = face_strangers_from_json(json);
    assert_int_equal(after.people, 20);
    assert_int_equal(after.pairs, before.pairs);
    assert_true(after.trained_on);
    for (size_t i = 0; i < FACE_STRANGERS_QUANTILES; i++)
        assert_float_equal(after.quantiles[i], before.quantiles[i], 1e-9);

    assert_int_equal(face_strangers_from_json(NULL).people, 0);
    assert_int_equal(face_strangers_from_json(json_object(arena)).people, 0);
    static const char *const WRONG[] = {"people", "pairs", "distances"};
    for (size_t i = 0; i < ARRAY_SIZE(WRONG); i++) {
        struct json *other = json_clone(arena, json);
        json_set_string(arena, other, WRONG[i], "many");
        assert_int_equal(face_strangers_from_json(other).people, 0);
    }
    struct json *list = json_get(json, "distances");
    json_append(list, json_real(arena, 1)); /* one too many */
    assert_int_equal(face_strangers_from_json(json).people, 0);
    json_remove_element(list, list->last);
    json_remove_element(list, list->last); /* one too few */
    assert_int_equal(face_strangers_from_json(json).people, 0);
    json_append(list, json_real(arena, 0)); /* the distances no longer rise */
    assert_int_equal(face_strangers_from_json(json).people, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(quantiles_of_distances_are_interpolated),
        cmocka_unit_test(larger_galleries_have_smaller_thresholds),
        cmocka_unit_test(confidence_text_follows_the_thresholds),
        cmocka_unit_test(tiny_galleries_use_the_threshold_of_the_model),
        cmocka_unit_test(pairs_have_a_picture_and_another_person),
        cmocka_unit_test(large_galleries_are_sampled),
        cmocka_unit_test(distances_round_trip_through_json),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

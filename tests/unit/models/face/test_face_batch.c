/* Tests batches of people and of blends: the partners, the labels, and the pixels of a blend with
 * the light kept. A batch must depend only on the seed and the step. */
#include "models/face/batch.h"
#include "models/face/pictures.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { PERSONS = 6, PICTURES = 3, BATCH = PERSONS * PICTURES, BLENDED = 4, PEOPLE = 10 };

static const struct face_batch_options OPTIONS = {
    .seed = 5, .persons = PERSONS, .pictures = PICTURES, .blended = BLENDED, .reshape = 0.1f};

static struct dataset *open_people(struct dataset_split *ret_split)
{
    struct dataset *dataset = NULL;
    assert_int_equal(dataset_open_procedural(9, PEOPLE, 5, &dataset, NULL), 0);
    assert_int_equal(dataset_split_persons(dataset, 1, 0, ret_split, NULL), 0);
    return dataset;
}

static void blends_have_labels_of_their_own(void **state)
{
    struct dataset_split split;
    struct dataset *dataset = open_people(&split);
    struct face_batch_entry entries[BATCH];
    for (uint64_t step = 1; step <= 20; step++) {
        assert_int_equal(face_batch_draw(dataset, &split.train, &OPTIONS, step, entries, NULL), 0);
        for (size_t place = 0; place < PERSONS; place++)
            for (size_t i = 0; i < PICTURES; i++) {
                const struct face_batch_entry *entry = &entries[place * PICTURES + i],
                                              *first = &entries[place * PICTURES];
                assert_int_equal(entry->sample.person, first->sample.person);
                assert_int_equal(entry->label, first->label);
                assert_true(entry->part == first->part);
                assert_memory_equal(&entry->shape, &first->shape, sizeof(entry->shape));
                for (int k = 0; k < 3; k++)
                    assert_true(fabsf(entry->shape.across[k]) <= OPTIONS.reshape &&
                                fabsf(entry->shape.down[k]) <= OPTIONS.reshape);
                if (place < BLENDED) {
                    assert_true(entry->part > 0.3f && entry->part < 0.7f);
                    assert_int_equal(entry->other.person, first->other.person);
                    assert_int_not_equal(entry->other.person, entry->sample.person);
                    assert_true(entry->label >= PEOPLE);
                } else {
                    assert_true(entry->part == 0);
                    assert_int_equal(entry->label, entry->sample.person);
                }
                for (size_t other = 0; other < place; other++) {
                    assert_int_not_equal(entry->label, entries[other * PICTURES].label);
                    assert_memory_not_equal(&entry->shape, &entries[other * PICTURES].shape,
                                            sizeof(entry->shape));
                }
            }
    }
    dataset_split_release(&split);
    dataset_free(dataset);
}

static void batch_depends_only_on_seed_and_step(void **state)
{
    struct dataset_split split;
    struct dataset *dataset = open_people(&split);
    struct face_batch_entry once[BATCH] = {0}, again[BATCH] = {0}, later[BATCH] = {0};
    assert_int_equal(face_batch_draw(dataset, &split.train, &OPTIONS, 7, once, NULL), 0);
    assert_int_equal(face_batch_draw(dataset, &split.train, &OPTIONS, 8, later, NULL), 0);
    assert_int_equal(face_batch_draw(dataset, &split.train, &OPTIONS, 7, again, NULL), 0);
    bool moved = false;
    for (size_t i = 0; i < BATCH; i++) {
        assert_int_equal(once[i].other.picture, again[i].other.picture);
        assert_int_equal(once[i].other.person, again[i].other.person);
        assert_true(once[i].part == again[i].part);
        moved = moved || once[i].part != later[i].part;
    }
    assert_true(moved);
    dataset_split_release(&split);
    dataset_free(dataset);
}

static void blend_lies_between_its_two_pictures(void **state)
{
    struct dataset_split split;
    struct dataset *dataset = open_people(&split);
    const struct face_config config = {
        .side = 32, .channels = 1, .embedding = 8, .width = 8, .light = FACE_LIGHT_KEEP};
    struct face_pictures *pictures = face_pictures_new(dataset, &config);
    const struct augment nothing = {0};
    struct face_batch_entry entry = {.sample = {0, 1}, .other = {2, 3}, .part = 0.4f};
    float first[32 * 32], second[32 * 32], both[32 * 32];
    assert_int_equal(face_pictures_load(pictures, &entry.sample, first, NULL), 0);
    assert_int_equal(face_pictures_load(pictures, &entry.other, second, NULL), 0);
    assert_int_equal(face_pictures_load_input(pictures, &nothing, &entry, 1, 1, 0, both, NULL), 0);
    for (size_t i = 0; i < 32 * 32; i++) {
        float expected = 0.6f * first[i] + 0.4f * second[i];
        assert_float_equal(both[i], (expected - FACE_PREPARE_MEAN) * FACE_PREPARE_FACTOR,
                           FACE_PREPARE_FACTOR * 0.6f / 255);
    }
    entry.shape.across[0] = 0.1f;
    float wider[32 * 32];
    assert_int_equal(face_pictures_load_input(pictures, &nothing, &entry, 1, 1, 0, wider, NULL), 0);
    assert_memory_not_equal(both, wider, sizeof(both));
    entry.part = 0; /* a picture of a real person is not reshaped either */
    assert_int_equal(face_pictures_load_input(pictures, &nothing, &entry, 1, 1, 0, both, NULL), 0);
    for (size_t i = 0; i < 32 * 32; i++)
        assert_float_equal(both[i], (first[i] - FACE_PREPARE_MEAN) * FACE_PREPARE_FACTOR, 1e-5);
    face_pictures_free(pictures);
    dataset_split_release(&split);
    dataset_free(dataset);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(blends_have_labels_of_their_own),
        cmocka_unit_test(batch_depends_only_on_seed_and_step),
        cmocka_unit_test(blend_lies_between_its_two_pictures),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

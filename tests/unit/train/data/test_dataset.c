/* Tests data sets: folders in order, drawn faces that are the same on every machine, and splits and
 * batches that depend only on their keys. */
#include "train/data/dataset.h"

#include "base/mem.h"
#include "base/system/file.h"
#include "train/data/faces_procedural.h"
#include "train/data/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

static struct err err;

static void put(const char *root, const char *name, const char *text)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", root, name);
    _cleanup_free_ char *directory = mem_strdup(path);
    *strrchr(directory, '/') = '\0';
    assert_int_equal(file_make_dirs(directory, 0755, &err), 0);
    assert_int_equal(file_write_atomic(path, text, strlen(text), 0644, &err), 0);
}

static void folders_are_read_in_order(void **state)
{
    char root[] = "/tmp/trainyard-dataset.XXXXXX";
    (void)state;
    assert_non_null(mkdtemp(root));
    put(root, "s10/1.pgm", "P5 1 1 255\n\x7f");
    put(root, "s2/10.pgm", "P5 1 1 255\n\x40");
    put(root, "s2/9.PGM", "P5 1 1 255\n\x20");
    put(root, "s2/notes.txt", "no picture");
    put(root, "s2/.hidden.pgm", "no picture");
    put(root, "empty/readme", "nobody");
    put(root, "loose.pgm", "P5 1 1 255\n\x20");
    put(root, "s3/broken.png", "rubbish");

    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    assert_int_equal(dataset_open_folder(root, &dataset, &err), 0);
    assert_int_equal(dataset_persons(dataset), 3);
    assert_int_equal(dataset_total(dataset), 4);
    assert_string_equal(dataset_person_name(dataset, 0), "s2");
    assert_string_equal(dataset_person_name(dataset, 2), "s10");
    assert_int_equal(dataset_pictures(dataset, 0), 2);
    char name[256];
    dataset_picture_name(dataset, 0, 0, name, sizeof(name));
    assert_non_null(strstr(name, "s2/9.PGM"));
    float pixel;
    assert_int_equal(dataset_load(dataset, 0, 1, 1, 1, &pixel, &err), 0);
    assert_float_equal(pixel, 64.0f / 255, 1e-6);
    assert_true(dataset_load(dataset, 1, 0, 1, 1, &pixel, &err) < 0);
    assert_non_null(strstr(err.message, "broken.png"));
    assert_int_equal(dataset_load(dataset, 0, 2, 1, 1, &pixel, &err), -ERR_NOT_FOUND);
    assert_int_equal(file_remove_tree(root, &err), 0);
}

static void folder_without_pictures_is_rejected(void **state)
{
    struct dataset *dataset = NULL;
    (void)state;
    assert_int_equal(dataset_open_folder("/nonexistent", &dataset, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "'/nonexistent'"));
    char root[] = "/tmp/trainyard-dataset.XXXXXX";
    assert_non_null(mkdtemp(root));
    assert_int_equal(dataset_open_folder(root, &dataset, &err), -ERR_NOT_FOUND);
    assert_non_null(strstr(err.message, "one folder per person"));
    assert_int_equal(file_remove_tree(root, &err), 0);
}

enum { SIDE = 24, BYTES = SIDE * SIDE * 3 };

static double difference(const uint8_t *a, const uint8_t *b)
{
    double sum = 0;
    for (size_t i = 0; i < BYTES; i++)
        sum += abs(a[i] - b[i]);
    return sum / BYTES;
}

/* A folder that can be listed but not entered: its pictures must not be skipped silently. */
static void inaccessible_folder_is_named(void **state)
{
    char root[] = "/tmp/trainyard-dataset.XXXXXX";
    assert_non_null(mkdtemp(root));
    put(root, "ada/1.pgm", "P5 1 1 255\n\x7f");
    put(root, "ben/1.pgm", "P5 1 1 255\n\x7f");
    _cleanup_free_ char *folder = mem_printf("%s/ben", root);
    _cleanup_free_ char *link = mem_printf("%s/ada/2.pgm", root);
    assert_int_equal(symlink("nowhere", link), 0);
    assert_int_equal(chmod(root, 0755) | chmod(folder, 0744), 0);
    bool root_user = geteuid() == 0;
    if (root_user)
        assert_int_equal(seteuid(65534), 0);
    struct dataset *dataset = NULL;
    int result = dataset_open_folder(root, &dataset, &err);
    if (root_user)
        assert_int_equal(seteuid(0), 0);
    assert_int_equal(result, -ERR_FORBIDDEN);
    assert_non_null(strstr(err.message, "cannot stat '"));
    assert_non_null(strstr(err.message, "ben/1.pgm': Permission denied"));
    assert_int_equal(chmod(folder, 0755), 0);
    assert_int_equal(dataset_open_folder(root, &dataset, &err), 0);
    assert_int_equal(dataset_total(dataset), 2);
    dataset_free(dataset);
    file_remove_tree(root, NULL);
}

static void drawn_faces_depend_only_on_their_keys(void **state)
{
    (void)state;
    uint8_t one[BYTES], again[BYTES], other[BYTES];
    faces_draw(1, 2, 3, SIDE, one);
    faces_draw(1, 2, 3, SIDE, again);
    assert_memory_equal(one, again, BYTES);
    faces_draw(1, 2, 4, SIDE, other);
    assert_true(difference(one, other) > 3);
    faces_draw(2, 2, 3, SIDE, other);
    assert_true(difference(one, other) > 3);

    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    assert_int_equal(dataset_open_procedural(1, 50, 4, &dataset, &err), 0);
    assert_int_equal(dataset_total(dataset), 200);
    assert_int_equal(dataset_load_bytes(dataset, 2, 3, SIDE, 3, again, &err), 0);
    assert_memory_equal(one, again, BYTES);
    assert_string_equal(dataset_person_name(dataset, 0), "ada");
    for (size_t i = 0; i < 50; i++)
        for (size_t j = 0; j < i; j++)
            assert_string_not_equal(dataset_person_name(dataset, i),
                                    dataset_person_name(dataset, j));
    struct dataset *none = NULL;
    assert_int_equal(dataset_open_procedural(1, 0, 4, &none, &err), -ERR_INVALID);
}

/* People must be distinguishable, but only poorly by pixels. The mean picture of a person averages
 * out what changes between pictures. A picture must be nearest to its own person's mean more often
 * than by chance. */
static void pictures_of_a_person_are_similar(void **state)
{
    enum { PERSONS = 12, PICTURES = 12 };
    (void)state;
    static float mean[PERSONS][BYTES];
    static uint8_t picture[BYTES];
    for (uint64_t p = 0; p < PERSONS; p++)
        for (uint64_t k = 0; k < PICTURES; k++) {
            faces_draw(7, p, k, SIDE, picture);
            for (size_t i = 0; i < BYTES; i++)
                mean[p][i] += (float)picture[i] / PICTURES;
        }
    int right = 0, asked = 0;
    for (uint64_t p = 0; p < PERSONS; p++)
        for (uint64_t k = PICTURES; k < PICTURES + 4; k++, asked++) {
            faces_draw(7, p, k, SIDE, picture);
            double best = 1e30;
            uint64_t nearest = 0;
            for (uint64_t q = 0; q < PERSONS; q++) {
                double sum = 0;
                for (size_t i = 0; i < BYTES; i++)
                    sum += (mean[q][i] - picture[i]) * (mean[q][i] - picture[i]);
                if (sum < best) {
                    best = sum;
                    nearest = q;
                }
            }
            right += nearest == p;
        }
    assert_true(right * 3 > asked);        /* chance is one in twelve */
    assert_true(right * 100 < asked * 98); /* pixels alone are not enough */
}

static void splits_hold_out_all_pictures_of_a_person(void **state)
{
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    struct dataset_split split, again;
    bool seen[20] = {0};
    (void)state;
    assert_int_equal(dataset_open_procedural(1, 20, 2, &dataset, &err), 0);
    assert_int_equal(dataset_split_persons(dataset, 5, 6, &split, &err), 0);
    assert_int_equal(split.held_out.count, 6);
    assert_int_equal(split.train.count, 14);
    for (size_t i = 0; i < 20; i++) {
        size_t person = i < 6 ? split.held_out.items[i] : split.train.items[i - 6];
        assert_false(seen[person]);
        seen[person] = true;
        if (i != 0 && i != 6)
            assert_true(person > (i < 6 ? split.held_out.items[i - 1] : split.train.items[i - 7]));
    }
    assert_int_equal(dataset_split_persons(dataset, 5, 6, &again, &err), 0);
    assert_memory_equal(split.held_out.items, again.held_out.items, 6 * sizeof(size_t));
    dataset_split_release(&again);
    dataset_split_release(&split);
    assert_int_equal(dataset_split_persons(dataset, 5, 20, &split, &err), -ERR_INVALID);
}

static void batches_contain_every_person_once_per_epoch(void **state)
{
    enum { PERSONS = 9, BATCH = 3, PICTURES = 4 };
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    struct dataset_sample batch[BATCH * PICTURES], again[BATCH * PICTURES];
    struct dataset_split split;
    (void)state;
    assert_int_equal(dataset_open_procedural(1, PERSONS, 5, &dataset, &err), 0);
    assert_int_equal(dataset_split_persons(dataset, 1, 0, &split, &err), 0);
    for (uint64_t epoch = 0; epoch < 3; epoch++) {
        int visits[PERSONS] = {0};
        for (uint64_t step = epoch * 3; step < epoch * 3 + 3; step++) {
            assert_int_equal(
                dataset_draw_batch(dataset, &split.train, 8, step, BATCH, PICTURES, batch, &err),
                0);
            assert_int_equal(
                dataset_draw_batch(dataset, &split.train, 8, step, BATCH, PICTURES, again, &err),
                0);
            assert_memory_equal(batch, again, sizeof(batch));
            for (size_t p = 0; p < BATCH; p++) {
                const struct dataset_sample *of_person = &batch[p * PICTURES];
                visits[of_person->person]++;
                for (size_t i = 0; i < PICTURES; i++) {
                    assert_int_equal(of_person[i].person, of_person->person);
                    for (size_t j = 0; j < i; j++)
                        assert_int_not_equal(of_person[i].picture, of_person[j].picture);
                }
            }
        }
        for (size_t p = 0; p < PERSONS; p++)
            assert_int_equal(visits[p], 1);
    }
    assert_int_equal(dataset_draw_batch(dataset, &split.train, 8, 0, 10, 1, batch, &err),
                     -ERR_INVALID);
    /* More pictures than exist: each is used once before any is used again. */
    assert_int_equal(dataset_draw_batch(dataset, &split.train, 8, 0, 1, 10, batch, &err), 0);
    int uses[5] = {0};
    for (size_t i = 0; i < 10; i++)
        uses[batch[i].picture]++;
    for (size_t i = 0; i < 5; i++)
        assert_int_equal(uses[i], 2);
    dataset_split_release(&split);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(folders_are_read_in_order),
        cmocka_unit_test(folder_without_pictures_is_rejected),
        cmocka_unit_test(inaccessible_folder_is_named),
        cmocka_unit_test(drawn_faces_depend_only_on_their_keys),
        cmocka_unit_test(pictures_of_a_person_are_similar),
        cmocka_unit_test(splits_hold_out_all_pictures_of_a_person),
        cmocka_unit_test(batches_contain_every_person_once_per_epoch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

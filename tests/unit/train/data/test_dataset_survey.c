/* Tests the survey of a data set: pictures that cannot be decoded are left out, counted and named,
 * with the same result for any number of threads. People without a picture left are left out. Faces
 * are cropped where they were found. */
#include "train/data/dataset_survey.h"

#include "base/mem.h"
#include "base/system/file.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

static struct err err;
static char root[] = "/tmp/trainyard-survey.XXXXXX";

static void put(const char *name, const void *data, size_t size)
{
    _cleanup_free_ char *path = mem_printf("%s/%s", root, name);
    _cleanup_free_ char *directory = mem_strdup(path);
    *strrchr(directory, '/') = '\0';
    assert_int_equal(file_make_dirs(directory, 0755, &err), 0);
    assert_int_equal(file_replace(path, data, size, 0644, &err), 0);
}

static void put_text(const char *name, const char *text)
{
    put(name, text, strlen(text));
}

static void make_people(void)
{
    put_text("ada/1.pgm", "P5 1 1 255\n\x11");
    put_text("ada/2.pgm", "rubbish");
    put_text("ada/3.pgm", "P5 1 1 255\n\x13");
    put_text("ben/1.png", "\x89PNG but not really");
    put_text("ben/2.pgm", "P5 100000 100000 255\n");
    put_text("cat/1.pgm", "P5 1 1 255\n\x31");
    put_text("dan/1.pgm", "");
    put_text("dan/2.pgm", "P5 1 1 255\n\x42");
}

static void unusable_pictures_are_skipped_and_named(void **state)
{
    (void)state;
    make_people();
    for (int threads = 1; threads <= 5; threads += 2) {
        _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
        _cleanup_(dataset_survey_release) struct dataset_survey survey = {0};
        struct dataset_survey_options options = {.crop = FACE_CROP_OFF, .threads = threads};
        assert_int_equal(dataset_open_folder(root, &dataset, &err), 0);
        assert_int_equal(dataset_survey_run(dataset, &options, &survey, &err), 0);
        assert_int_equal(survey.pictures, 8);
        assert_int_equal(survey.left_out, 4);
        assert_int_equal(survey.persons_left_out, 1);
        assert_int_equal(survey.named, 3);
        assert_non_null(strstr(survey.reasons[0], "ada/2.pgm'"));
        assert_non_null(strstr(survey.reasons[1], "ben/1.png'"));
        assert_non_null(strstr(survey.reasons[2], "too large: 100000 × 100000"));
        assert_int_equal(dataset_persons(dataset), 3);
        assert_int_equal(dataset_total(dataset), 4);
        assert_string_equal(dataset_person_name(dataset, 1), "cat");
        uint8_t pixel;
        assert_int_equal(dataset_load_bytes(dataset, 0, 1, 1, 1, &pixel, &err), 0);
        assert_int_equal(pixel, 0x13);
        assert_int_equal(dataset_load_bytes(dataset, 2, 0, 1, 1, &pixel, &err), 0);
        assert_int_equal(pixel, 0x42);
        char text[1024], small[16];
        dataset_survey_sentence(&survey, text, sizeof(text));
        assert_non_null(strstr(
            text, "4 of 8 pictures cannot be used and are left out, and with them 1 person: '"));
        assert_non_null(strstr(text, "; …"));
        dataset_survey_sentence(&survey, small, sizeof(small));
        assert_int_equal(strlen(small), sizeof(small) - 1);
        dataset_survey_sentence(&(struct dataset_survey){.pictures = 3}, text, sizeof(text));
        assert_string_equal(text, "");
    }
    assert_int_equal(file_remove_tree(root, &err), 0);
}

static void dataset_without_usable_pictures_is_rejected(void **state)
{
    (void)state;
    put_text("ada/1.pgm", "rubbish");
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    struct dataset_survey survey = {0};
    struct dataset_survey_options options = {.crop = FACE_CROP_OFF, .threads = 1};
    assert_int_equal(dataset_open_folder(root, &dataset, &err), 0);
    assert_int_equal(dataset_survey_run(dataset, &options, &survey, &err), -ERR_INVALID);
    assert_non_null(strstr(err.message, "none of 1 pictures can be used; the first error: '"));
    assert_int_equal(file_remove_tree(root, &err), 0);
}

/* A window of 8×8 with a bright middle; see test_cascade.c. */
static const char BRIGHT[] =
    "<opencv_storage><cascade><featureType>HAAR</featureType><height>8</height><width>8</width>"
    "<stages><_><stageThreshold>0.5</stageThreshold><weakClassifiers><_>"
    "<internalNodes>0 -1 0 2.3</internalNodes><leafValues>0 1</leafValues></_></weakClassifiers>"
    "</_></stages><features><_><rects><_>0 0 8 8 -1</_><_>2 2 4 4 4</_></rects></_></features>"
    "</cascade></opencv_storage>";

static void faces_are_cropped_where_they_were_found(void **state)
{
    enum { WIDTH = 100, HEIGHT = 60, SIDE = 20, LEFT = 70, TOP = 20, HEADER = 14 };
    (void)state;
    char picture[HEADER + WIDTH * HEIGHT + 1];
    snprintf(picture, sizeof(picture), "P5 %d %d 255\n", WIDTH, HEIGHT);
    size_t header = strlen(picture);
    memset(picture + header, 20, WIDTH * HEIGHT);
    put("ada/1.pgm", picture, header + WIDTH * HEIGHT); /* no face */
    for (int y = TOP; y < TOP + SIDE; y++)
        memset(picture + header + y * WIDTH + LEFT, 220, SIDE);
    put("ada/2.pgm", picture, header + WIDTH * HEIGHT); /* a face far from the middle */
    put_text("bright.xml", BRIGHT);
    _cleanup_free_ char *path = mem_printf("%s/bright.xml", root);
    _cleanup_(cleanup_face_finder) struct face_finder *finder = NULL;
    assert_int_equal(face_finder_new(path, &finder, &err), 0);
    for (enum face_crop crop = FACE_CROP_OFF; crop <= FACE_CROP_CASCADE; crop++) {
        _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
        _cleanup_(dataset_survey_release) struct dataset_survey survey = {0};
        struct dataset_survey_options options = {crop, finder, 2};
        assert_int_equal(dataset_open_folder(root, &dataset, &err), 0);
        assert_int_equal(dataset_survey_run(dataset, &options, &survey, &err), 0);
        assert_int_equal(survey.faces, crop == FACE_CROP_OFF ? 0 : 1);
        assert_int_equal(survey.left_out, crop == FACE_CROP_CASCADE ? 1 : 0);
        size_t last = dataset_total(dataset) - 1;
        uint8_t pixels[9];
        assert_int_equal(dataset_load_bytes(dataset, 0, last, 3, 1, pixels, &err), 0);
        assert_true(crop == FACE_CROP_OFF ? pixels[4] == 20 : pixels[4] > 200);
        assert_true(pixels[0] < 60);
    }
    assert_int_equal(file_remove_tree(root, &err), 0);
}

static void drawn_datasets_are_not_surveyed(void **state)
{
    (void)state;
    _cleanup_(cleanup_dataset) struct dataset *dataset = NULL;
    struct dataset_survey survey = {0};
    struct dataset_survey_options options = {.crop = FACE_CROP_OFF, .threads = 1};
    assert_int_equal(dataset_open_procedural(1, 3, 2, &dataset, &err), 0);
    assert_int_equal(dataset_survey_run(dataset, &options, &survey, &err), 0);
    assert_int_equal(survey.pictures, 0);
    assert_int_equal(dataset_total(dataset), 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(unusable_pictures_are_skipped_and_named),
        cmocka_unit_test(dataset_without_usable_pictures_is_rejected),
        cmocka_unit_test(faces_are_cropped_where_they_were_found),
        cmocka_unit_test(drawn_datasets_are_not_surveyed),
    };
    if (!mkdtemp(root))
        return 1;
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests probes against a gallery: the pairs, the strangers, and the drawings. The model is not
 * trained, but a picture that is in both still has distance 0. */
#include "models/face/probe.h"

#include "base/mem.h"
#include "train/data/picture.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { GALLERY = 3, PROBES = 4, PICTURES = 2 };

static struct err err;

static size_t edge_of(const struct dataset *people)
{
    size_t longest = 0;
    for (size_t i = 0; i < dataset_persons(people); i++) {
        size_t length = strlen(dataset_person_name(people, i));
        longest = length > longest ? length : longest;
    }
    return longest * 8 + 16;
}

static void probes_are_compared_with_the_gallery(void **state)
{
    (void)state;
    _cleanup_(cleanup_dataset) struct dataset *gallery = NULL, *probes = NULL;
    _cleanup_(cleanup_face_model) struct face_model *model = NULL;
    _cleanup_(face_probe_release) struct face_probe probe = {0};
    struct face_config config = FACE_CONFIG_DEFAULT;
    config.side = 32;
    config.embedding = 16;
    assert_int_equal(face_model_new(&config, &model, &err), 0);
    params_initialise(face_model_params(model), 1);
    face_model_changed(model);
    /* The probes have the people of the gallery and one more. */
    assert_int_equal(dataset_open_procedural(1, GALLERY, PICTURES, &gallery, &err), 0);
    assert_int_equal(dataset_open_procedural(1, PROBES, PICTURES, &probes, &err), 0);
    assert_int_equal(face_probe_run(model, gallery, probes, &probe, &err), 0);
    assert_int_equal(probe.rows, PROBES * PICTURES);
    assert_int_equal(probe.columns, GALLERY * PICTURES);
    assert_int_equal(probe.known, GALLERY * PICTURES);
    assert_int_equal(probe.metrics.same, GALLERY * PICTURES * PICTURES);
    assert_int_equal(probe.metrics.different,
                     probe.rows * probe.columns - GALLERY * PICTURES * PICTURES);
    assert_int_equal(probe.persons[PROBES - 1].in_gallery, FACE_PROBE_STRANGER);
    size_t right = 0;
    for (size_t row = 0; row < probe.rows; row++) {
        double means[GALLERY] = {0};
        int best = 0;
        for (size_t column = 0; column < probe.columns; column++)
            means[column / PICTURES] += (double)probe.distances[row * probe.columns + column];
        for (int i = 1; i < GALLERY; i++)
            best = means[i] < means[best] ? i : best;
        assert_int_equal(probe.predicted[row], best);
        if (row < GALLERY * PICTURES) {
            assert_float_equal(probe.distances[row * probe.columns + row], 0, 1e-3);
            right += (size_t)best == row / PICTURES;
        }
    }
    assert_int_equal(probe.correct, right);
    assert_int_equal(probe.persons[0].pictures, PICTURES);

    char text[512];
    face_probe_sentence(&probe, text, sizeof(text));
    assert_non_null(strstr(text, "8 pictures against a gallery of 3 people"));
    assert_non_null(strstr(text, "2 are of people not in the gallery"));
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    const char *json = json_to_string(arena, face_probe_to_json(arena, &probe));
    assert_non_null(strstr(json, "\"auc\":"));
    assert_non_null(strstr(json, "\"inGallery\":false"));

    _cleanup_buf_ struct buf png, csv, svg;
    buf_init(&png, 1 << 20);
    buf_init(&csv, 1 << 20);
    buf_init(&svg, 1 << 20);
    face_probe_roc_csv(&probe, &csv);
    face_probe_roc_svg(&probe, &svg);
    assert_true(strncmp(csv.data, "threshold,same,different\n0.000000,0.000000,0.000000\n", 51) ==
                0);
    assert_string_equal(csv.data + csv.size - 18, "1.000000,1.000000\n");
    assert_non_null(strstr(svg.data, "<polyline"));
    assert_int_equal(face_probe_distances_png(&probe, &png, &err), 0);
    _cleanup_(picture_release) struct picture picture = {0};
    assert_int_equal(picture_decode(png.data, png.size, &picture, &err), 0);
    /* The first cell comes after the names. It stands for the same picture, so it is black. */
    size_t left = edge_of(probes), top = edge_of(gallery);
    assert_int_equal(picture.channels, 1);
    assert_true(picture.pixels[(top + 1) * picture.width + left + 1] < 3);
    assert_true(picture.pixels[(top + 1) * picture.width + left + 16 + 1] > 3);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(probes_are_compared_with_the_gallery),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

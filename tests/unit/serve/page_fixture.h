/* Shared by the tests of the page: an untrained model that still gives different embeddings, and
 * drawn people. */
#ifndef TRAINYARD_TESTS_UNIT_SERVE_PAGE_FIXTURE_H
#define TRAINYARD_TESTS_UNIT_SERVE_PAGE_FIXTURE_H

#include "models/face/model.h"
#include "train/data/dataset.h"
#include "train/layers/params.h"

static inline struct face_model *untrained_model(int channels)
{
    struct err err = ERR_INIT;
    struct face_model *model = NULL;
    struct face_config config = FACE_CONFIG_DEFAULT;
    config.side = 32;
    config.channels = channels;
    assert_int_equal(face_model_new(&config, &model, &err), 0);
    params_initialise(face_model_params(model), 7);
    face_model_changed(model);
    return model;
}

static inline struct dataset *drawn_people(size_t persons, size_t pictures)
{
    struct err err = ERR_INIT;
    struct dataset *people = NULL;
    assert_int_equal(dataset_open_procedural(11, persons, pictures, &people, &err), 0);
    return people;
}

#endif

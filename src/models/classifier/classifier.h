/* The configuration and the network of the classifier for small pictures (digits, clothes): a
 * network with two convolutions, or a linear one. models/classifier/model.h runs the network, and
 * models/classifier/trainer.h trains it. */
#ifndef TRAINYARD_MODELS_CLASSIFIER_CLASSIFIER_H
#define TRAINYARD_MODELS_CLASSIFIER_CLASSIFIER_H

#include "base/json/json.h"
#include "train/network/network.h"

enum { CLASSIFIER_CLASSES_MAX = 1000, CLASSIFIER_LABEL_MAX = 64 };

enum classifier_kind { CLASSIFIER_CNN, CLASSIFIER_LINEAR };

struct classifier_config {
    enum classifier_kind kind;
    int side, channels; /* of a picture: pixels per side, and channels */
    int classes;
    enum precision
        precision; /* of matrix products; not stored, because it may differ per process */
};

/* The number of floats in one picture. */
static inline size_t classifier_config_sample(const struct classifier_config *config)
{
    return (size_t)config->side * (size_t)config->side * (size_t)config->channels;
}

const char *classifier_kind_name(enum classifier_kind kind); /* "cnn", "linear" */

int classifier_config_check(const struct classifier_config *config, struct err *err);
struct json *classifier_config_to_json(struct arena *arena, const struct classifier_config *config);
int classifier_config_from_json(const struct json *json, struct classifier_config *ret,
                                struct err *err);

/* Creates the network. Declares its parameters in `params` and allocates them; the caller sets
 * their values. The caller frees *ret with network_free(). */
int classifier_network_new(const struct classifier_config *config, struct params *params,
                           struct network **ret, struct err *err);

/* Converts bytes to floats from 0 to 1, for classifier_prepare(). */
void classifier_pixels(const uint8_t *from, size_t count, float *to);

#define CLASSIFIER_PREPARE_MEAN  0.25f /* about the mean of pictures of digits and clothes */
#define CLASSIFIER_PREPARE_SCALE 3.0f
/* Scales pixels from 0 to 1 to the input of the network, which has a mean near 0 and a standard
 * deviation near 1. With such input the network learns in fewer steps. `to` may be `from`. */
void classifier_prepare(const float *from, size_t count, float *to);

#endif

/* The shape of the face embedding: a small residual network that maps a square picture to a point
 * on a sphere, so that pictures of one person are near each other. model.h runs it, trainer.h
 * trains it. */
#ifndef TRAINYARD_MODELS_FACE_FACE_H
#define TRAINYARD_MODELS_FACE_FACE_H

#include "base/json/json.h"
#include "train/data/face_crop.h"
#include "train/network/network.h"

enum face_norm { FACE_NORM_GROUP, FACE_NORM_BATCH };

/* Whether brightness and contrast of a picture are normalised or kept. */
enum face_light { FACE_LIGHT_EVEN, FACE_LIGHT_KEEP };

struct face_config {
    int side;      /* pixels per side of a picture: 32, 48, 64, 80, 96, 112 or 128 */
    int channels;  /* 1 grey, 3 RGB */
    int embedding; /* dimensions of an embedding */
    int width;     /* channels of the first layer; later layers have multiples of it */
    enum face_norm norm;
    enum face_light light;
    enum precision precision; /* how products are computed; not part of the shape, so not stored */
    enum face_crop crop;      /* how pictures are cropped before they enter the network */
    bool five_views;          /* an embedding is the mean of five views; see face_model_embed() */
};

#define FACE_CONFIG_DEFAULT                                                                        \
    ((struct face_config){.side = 48, .channels = 1, .embedding = 128, .width = 16})

/* The number of floats in one picture. */
static inline size_t face_config_sample(const struct face_config *config)
{
    return (size_t)config->side * (size_t)config->side * (size_t)config->channels;
}

const char *face_norm_name(enum face_norm norm);    /* "group", "batch" */
const char *face_light_name(enum face_light light); /* "even", "keep" */

int face_config_check(const struct face_config *config, struct err *err);
struct json *face_config_to_json(struct arena *arena, const struct face_config *config);
int face_config_from_json(const struct json *json, struct face_config *ret, struct err *err);

/* Declares the parameters in `params` and allocates them. Their values are not set. */
int face_network_new(const struct face_config *config, struct params *params, struct network **ret,
                     struct err *err);

/* Added to the standard deviation of a picture, so that a blank picture stays blank instead of
 * becoming amplified noise. */
#define FACE_PREPARE_LEAST 1e-3

/* The rough mean and inverse standard deviation of pictures of faces, for FACE_LIGHT_KEEP. */
#define FACE_PREPARE_MEAN   0.45f
#define FACE_PREPARE_FACTOR 4.0f

/* Scales one picture with pixels from 0 to 1 to the input of the network. FACE_LIGHT_EVEN gives
 * each picture mean 0 and standard deviation 1, so that brightness and contrast have no influence.
 * FACE_LIGHT_KEEP scales all pictures by the same constants. `to` may be `from`. */
void face_prepare(const struct face_config *config, const float *from, float *to);

#endif

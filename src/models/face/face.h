/* The configuration and the network of the face model: a small residual network that maps a square
 * picture to an embedding, a point on a sphere. Embeddings of pictures of one person are near each
 * other. models/face/model.h runs the network, and models/face/trainer.h trains it. */
#ifndef TRAINYARD_MODELS_FACE_FACE_H
#define TRAINYARD_MODELS_FACE_FACE_H

#include "base/json/json.h"
#include "train/data/face_crop.h"
#include "train/network/network.h"

/* The kind of normalisation layers: over groups of channels of one picture, or per channel over the
 * whole batch. */
enum face_norm { FACE_NORM_GROUP, FACE_NORM_BATCH };

/* What face_prepare() does with the brightness and contrast of a picture: makes them equal for all
 * pictures, or keeps them. */
enum face_light { FACE_LIGHT_EVEN, FACE_LIGHT_KEEP };

struct face_config {
    int side;      /* pixels per side of a picture: 32, 48, 64, 80, 96, 112 or 128 */
    int channels;  /* 1 grey, 3 RGB */
    int embedding; /* dimensions of an embedding */
    int width;     /* channels of the first layer; later layers have multiples of it */
    enum face_norm norm;
    enum face_light light;
    enum precision precision; /* of matrix products; not stored */
    enum face_crop crop;      /* how pictures are cropped before they enter the network */
    bool five_views; /* an embedding is computed from five views of a picture instead of one; see
                        face_model_embed() */
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

/* Returns 0, or -ERR_INVALID if a member is out of its range. */
int face_config_check(const struct face_config *config, struct err *err);
/* The JSON in a model file or checkpoint. Older versions did not write the members "norm", "light",
 * "crop" and "views". If one of these is missing, face_config_from_json() sets the value that the
 * older versions used. Returns -ERR_INVALID if a member is invalid or any other member is
 * missing. */
struct json *face_config_to_json(struct arena *arena, const struct face_config *config);
int face_config_from_json(const struct json *json, struct face_config *ret, struct err *err);

/* Creates the network. Declares its parameters in `params` and allocates them; the caller sets
 * their values. The caller frees *ret with network_free(). */
int face_network_new(const struct face_config *config, struct params *params, struct network **ret,
                     struct err *err);

/* Added to the standard deviation of a picture before the division by it, so that a blank picture
 * stays blank instead of becoming amplified noise. */
#define FACE_PREPARE_LEAST 1e-3

/* The rough mean and inverse standard deviation of pictures of faces, for FACE_LIGHT_KEEP. */
#define FACE_PREPARE_MEAN   0.45f
#define FACE_PREPARE_FACTOR 4.0f

/* Scales one picture with pixels from 0 to 1 to the input of the network. FACE_LIGHT_EVEN gives
 * each picture mean 0 and standard deviation 1, so that brightness and contrast have no influence.
 * FACE_LIGHT_KEEP scales all pictures with the same two constants. `to` may be `from`. */
void face_prepare(const struct face_config *config, const float *from, float *to);

#endif

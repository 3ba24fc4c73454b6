/* Implements the configuration of the face model and builds its network; see face.h. */
#include "models/face/face.h"

#include "base/mem.h"
#include "base/str.h"

#include <math.h>
#include <stdio.h>

enum { STAGES = 3, GROUP = 8 /* channels per group of a group norm */ };

const char *face_norm_name(enum face_norm norm)
{
    return norm == FACE_NORM_BATCH ? "batch" : "group";
}

const char *face_light_name(enum face_light light)
{
    return light == FACE_LIGHT_KEEP ? "keep" : "even";
}

int face_config_check(const struct face_config *config, struct err *err)
{
    if (config->side < 32 || config->side > 128 || config->side % 16)
        return err_set(err, ERR_INVALID,
                       "a picture side of %d does not fit the face model: use 32, 48, 64, 80, 96, "
                       "112 or 128",
                       config->side);
    if (config->channels != 1 && config->channels != 3)
        return err_set(err, ERR_INVALID,
                       "%d channels do not fit the face model: use 1 (grey) or 3 (RGB)",
                       config->channels);
    if (config->embedding < 2 || config->embedding > 1024)
        return err_set(err, ERR_INVALID, "the embedding has %d dimensions, but must have 2 to 1024",
                       config->embedding);
    if (config->width < GROUP || config->width > 128 || config->width % GROUP)
        return err_set(err, ERR_INVALID,
                       "the width is %d, but must be a multiple of %d from %d to 128",
                       config->width, GROUP, GROUP);
    return 0;
}

struct json *face_config_to_json(struct arena *arena, const struct face_config *config)
{
    struct json *json = json_object(arena);
    json_set_int(arena, json, "side", config->side);
    json_set_int(arena, json, "channels", config->channels);
    json_set_int(arena, json, "embedding", config->embedding);
    json_set_int(arena, json, "width", config->width);
    json_set_string(arena, json, "norm", face_norm_name(config->norm));
    json_set_string(arena, json, "light", face_light_name(config->light));
    json_set_string(arena, json, "crop", face_crop_name(config->crop));
    json_set_int(arena, json, "views", config->five_views ? 5 : 1);
    return json;
}

int face_config_from_json(const struct json *json, struct face_config *ret, struct err *err)
{
    static const char *const names[] = {"side", "channels", "embedding", "width"};
    struct face_config config = {0};
    int *fields[] = {&config.side, &config.channels, &config.embedding, &config.width};
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        int64_t value = json_get_int(json, names[i], -1);
        if (value < 0 || value > 100000)
            return err_set(err, ERR_INVALID,
                           "the configuration of the face model has no valid '%s'", names[i]);
        *fields[i] = (int)value;
    }
    /* Model files of older versions do not have the JSON members "norm", "light" and "views". */
    const char *norm = json_get_string(json, "norm", "group");
    if (!str_eq(norm, "group") && !str_eq(norm, "batch"))
        return err_set(err, ERR_INVALID, "the configuration of the face model has no valid 'norm'");
    config.norm = str_eq(norm, "batch") ? FACE_NORM_BATCH : FACE_NORM_GROUP;
    const char *light = json_get_string(json, "light", "even");
    if (!str_eq(light, "even") && !str_eq(light, "keep"))
        return err_set(err, ERR_INVALID,
                       "the configuration of the face model has no valid 'light'");
    config.light = str_eq(light, "keep") ? FACE_LIGHT_KEEP : FACE_LIGHT_EVEN;
    int64_t views = json_get_int(json, "views", 1);
    if (views != 1 && views != 5)
        return err_set(err, ERR_INVALID,
                       "the configuration of the face model has no valid 'views'");
    config.five_views = views == 5;
    /* Model files of older versions do not have the JSON member "crop"; those models were trained
     * on the centre square. */
    const char *crop = json_get_string(json, "crop", "off");
    int result = face_crop_from_name(crop, &config.crop, err);
    if (result == 0)
        result = face_config_check(&config, err);
    if (result == 0)
        *ret = config;
    return result;
}

static int add_norm(const struct face_config *config, struct network *network, const char *name,
                    int input, int channels, bool relu)
{
    return config->norm == FACE_NORM_BATCH
               ? network_batch_norm(network, name, input, relu)
               : network_group_norm(network, name, input, channels / GROUP, relu);
}

/* Adds a residual block: two convolutions, and in parallel a projection of the input, because the
 * block halves width and height and changes the number of channels. */
static int add_block(const struct face_config *config, struct network *network, int stage,
                     int input, int channels)
{
    char name[6][LAYER_NAME_MAX];
    static const char *const parts[] = {"conv1", "norm1", "conv2", "norm2", "project", "add"};
    for (size_t i = 0; i < ARRAY_SIZE(parts); i++)
        snprintf(name[i], sizeof(name[i]), "block%d.%s", stage, parts[i]);
    int x = network_conv(network, name[0], input, channels, 3, 2);
    x = add_norm(config, network, name[1], x, channels, true);
    x = network_conv(network, name[2], x, channels, 3, 1);
    x = add_norm(config, network, name[3], x, channels, false);
    int projection = network_conv(network, name[4], input, channels, 1, 2);
    return network_add_relu(network, name[5], x, projection);
}

int face_network_new(const struct face_config *config, struct params *params, struct network **ret,
                     struct err *err)
{
    int result = face_config_check(config, err);
    if (result < 0)
        return result;
    _cleanup_(cleanup_network) struct network *network = network_new(
        params, (struct shape){.h = config->side, .w = config->side, .c = config->channels});
    network_set_precision(network, config->precision);
    int x = network_conv(network, "stem.conv", NETWORK_INPUT, config->width, 3, 2);
    x = add_norm(config, network, "stem.norm", x, config->width, true);
    const int channels[STAGES] = {2 * config->width, 4 * config->width, 6 * config->width};
    for (int i = 0; i < STAGES; i++)
        x = add_block(config, network, i + 1, x, channels[i]);
    x = network_dense(network, "embedding", x, config->embedding);
    network_l2_normalise(network, "length", x);
    result = network_finish(network, err);
    if (result < 0)
        return err_wrap(err, "face model");
    *ret = TAKE(network);
    return 0;
}

void face_prepare(const struct face_config *config, const float *from, float *to)
{
    size_t count = face_config_sample(config);
    if (config->light == FACE_LIGHT_KEEP) {
        for (size_t i = 0; i < count; i++)
            to[i] = (from[i] - FACE_PREPARE_MEAN) * FACE_PREPARE_FACTOR;
        return;
    }
    double sum = 0, square = 0;
    for (size_t i = 0; i < count; i++)
        sum += (double)from[i];
    double mean = sum / (double)count;
    for (size_t i = 0; i < count; i++)
        square += ((double)from[i] - mean) * ((double)from[i] - mean);
    float factor = (float)(1 / (sqrt(square / (double)count) + FACE_PREPARE_LEAST));
    for (size_t i = 0; i < count; i++)
        to[i] = (from[i] - (float)mean) * factor;
}

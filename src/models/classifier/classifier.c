/* Implements the configuration of the classifier and builds its network; see classifier.h. */
#include "models/classifier/classifier.h"

#include "base/mem.h"
#include "base/str.h"

enum {
    SIDE_MIN = 4, /* the two pooling layers reduce 4 pixels to 1 */
    SIDE_MAX = 128,
    CHANNELS_MAX = 4,
    WINDOW = 5,    /* pixels per side of a convolution's kernel */
    FIRST = 32,    /* channels of the first convolution */
    SECOND = 64,   /* channels of the second convolution */
    HIDDEN = 1024, /* units of the hidden layer */
};

static const float DROPOUT = 0.5f;

const char *classifier_kind_name(enum classifier_kind kind)
{
    return kind == CLASSIFIER_LINEAR ? "linear" : "cnn";
}

int classifier_config_check(const struct classifier_config *config, struct err *err)
{
    if (config->kind != CLASSIFIER_CNN && config->kind != CLASSIFIER_LINEAR)
        return err_set(err, ERR_INVALID, "unknown kind of classifier: use 'cnn' or 'linear'");
    if (config->side < SIDE_MIN || config->side > SIDE_MAX)
        return err_set(err, ERR_INVALID,
                       "pictures of %d×%d do not fit the classifier: use a side of %d to %d",
                       config->side, config->side, SIDE_MIN, SIDE_MAX);
    if (config->channels < 1 || config->channels > CHANNELS_MAX)
        return err_set(err, ERR_INVALID, "%d channels do not fit the classifier: use 1 to %d",
                       config->channels, CHANNELS_MAX);
    if (config->classes < 2 || config->classes > CLASSIFIER_CLASSES_MAX)
        return err_set(err, ERR_INVALID, "the number of classes is %d, but must be from 2 to %d",
                       config->classes, CLASSIFIER_CLASSES_MAX);
    return 0;
}

struct json *classifier_config_to_json(struct arena *arena, const struct classifier_config *config)
{
    struct json *json = json_object(arena);
    json_set_string(arena, json, "kind", classifier_kind_name(config->kind));
    json_set_int(arena, json, "side", config->side);
    json_set_int(arena, json, "channels", config->channels);
    json_set_int(arena, json, "classes", config->classes);
    return json;
}

int classifier_config_from_json(const struct json *json, struct classifier_config *ret,
                                struct err *err)
{
    static const char *const names[] = {"side", "channels", "classes"};
    struct classifier_config config = {0};
    int *fields[] = {&config.side, &config.channels, &config.classes};
    const char *kind = json_get_string(json, "kind", "");
    if (!str_eq(kind, "cnn") && !str_eq(kind, "linear"))
        return err_set(err, ERR_INVALID, "the configuration of the classifier has no valid 'kind'");
    config.kind = str_eq(kind, "linear") ? CLASSIFIER_LINEAR : CLASSIFIER_CNN;
    for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
        int64_t value = json_get_int(json, names[i], -1);
        if (value < 0 || value > 100000)
            return err_set(err, ERR_INVALID,
                           "the configuration of the classifier has no valid '%s'", names[i]);
        *fields[i] = (int)value;
    }
    int result = classifier_config_check(&config, err);
    if (result == 0)
        *ret = config;
    return result;
}

void classifier_pixels(const uint8_t *from, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (float)from[i] / 255;
}

void classifier_prepare(const float *from, size_t count, float *to)
{
    for (size_t i = 0; i < count; i++)
        to[i] = (from[i] - CLASSIFIER_PREPARE_MEAN) * CLASSIFIER_PREPARE_SCALE;
}

static void add_convolutions(struct network *network)
{
    int x = network_conv(network, "conv1", NETWORK_INPUT, FIRST, WINDOW, 1);
    x = network_bias(network, "relu1", x, true);
    x = network_max_pool(network, "pool1", x, 2, 2);
    x = network_conv(network, "conv2", x, SECOND, WINDOW, 1);
    x = network_bias(network, "relu2", x, true);
    x = network_max_pool(network, "pool2", x, 2, 2);
    x = network_dense(network, "hidden", x, HIDDEN);
    x = network_relu(network, "relu3", x);
    network_dropout(network, "dropout", x, DROPOUT);
}

int classifier_network_new(const struct classifier_config *config, struct params *params,
                           struct network **ret, struct err *err)
{
    int result = classifier_config_check(config, err);
    if (result < 0)
        return result;
    _cleanup_(cleanup_network) struct network *network = network_new(
        params, (struct shape){.h = config->side, .w = config->side, .c = config->channels});
    network_set_precision(network, config->precision);
    if (config->kind == CLASSIFIER_CNN)
        add_convolutions(network);
    network_dense(network, "logits", (int)network_layer_count(network), config->classes);
    result = network_finish(network, err);
    if (result < 0)
        return err_wrap(err, "classifier");
    *ret = TAKE(network);
    return 0;
}

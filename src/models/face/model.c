/* Implements a face model that is ready to run; see model.h. */
#include "models/face/model.h"

#include "base/mem.h"
#include "base/str.h"
#include "train/run/checkpoint.h"

#include <math.h>
#include <string.h>

enum {
    PART = 8,                 /* pictures per pass */
    VIEW_STEPS_PER_SIDE = 24, /* a view is moved by 1/24 of the side, about 4 % */
};

struct face_model {
    struct face_config config;
    struct face_strangers strangers;
    struct params *params;
    struct network *network;
    struct network_tape *tape;
    struct network_workspace *workspace;
    float *input; /* PART prepared pictures */
};

int face_model_new(const struct face_config *config, struct face_model **ret, struct err *err)
{
    _cleanup_(cleanup_face_model) struct face_model *model = mem_zalloc(sizeof(*model));
    model->config = *config;
    model->params = params_new();
    int result = face_network_new(config, model->params, &model->network, err);
    if (result < 0)
        return result;
    model->tape = network_tape_new(model->network, PART);
    model->workspace = network_workspace_new(model->network, PART);
    model->input = mem_calloc(PART * face_config_sample(config), sizeof(*model->input));
    *ret = TAKE(model);
    return 0;
}

int face_model_load(const char *path, struct face_model **ret, struct err *err)
{
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    _cleanup_(cleanup_face_model) struct face_model *model = NULL;
    struct face_config config;
    int result = checkpoint_read(path, &checkpoint, err);
    if (result < 0)
        return result;
    if (!str_eq(checkpoint->info.model, "face"))
        return err_set(err, ERR_INVALID, "'%s' holds a model of kind '%s', not a face model", path,
                       checkpoint->info.model);
    result = face_config_from_json(checkpoint->info.config, &config, err);
    if (result < 0)
        return err_wrap(err, "'%s'", path);
    result = face_model_new(&config, &model, err);
    if (result == 0)
        result = checkpoint_restore(checkpoint, path, model->params, NULL, err);
    if (result < 0)
        return result;
    face_model_changed(model);
    model->strangers = face_strangers_from_json(json_get(checkpoint->info.notes, "strangers"));
    *ret = TAKE(model);
    return 0;
}

struct face_model *face_model_free(struct face_model *model)
{
    if (!model)
        return NULL;
    network_tape_free(model->tape);
    network_workspace_free(model->workspace);
    network_free(model->network);
    params_free(model->params);
    free(model->input);
    free(model);
    return NULL;
}

const struct face_config *face_model_config(const struct face_model *model)
{
    return &model->config;
}

size_t face_model_side(const struct face_model *model)
{
    return (size_t)model->config.side;
}

size_t face_model_channels(const struct face_model *model)
{
    return (size_t)model->config.channels;
}

size_t face_model_dimensions(const struct face_model *model)
{
    return (size_t)model->config.embedding;
}

const struct face_strangers *face_model_strangers(const struct face_model *model)
{
    return &model->strangers;
}

struct params *face_model_params(struct face_model *model)
{
    return model->params;
}

struct network *face_model_network(struct face_model *model)
{
    return model->network;
}

void face_model_changed(struct face_model *model)
{
    network_pack(model->network);
}

static int clamp_index(int value, int limit)
{
    return value < 0 ? 0 : value > limit ? limit : value;
}

/* Moves the picture by `right` and `down` pixels, which may be negative. Repeats the pixels of the
 * edge where the moved picture leaves a gap. */
static void move_picture(const struct face_config *config, const float *from, int right, int down,
                         float *to)
{
    int side = config->side;
    size_t channels = (size_t)config->channels;
    for (int y = 0; y < side; y++)
        for (int x = 0; x < side; x++, to += channels) {
            int at = clamp_index(y - down, side - 1) * side + clamp_index(x - right, side - 1);
            memcpy(to, from + (size_t)at * channels, channels * sizeof(*to));
        }
}

/* Sets ret to the mean of `views` embeddings, scaled to length 1. */
static void average_views(const float *embeddings, int views, size_t dimensions, float *ret)
{
    double square = 0;
    for (size_t i = 0; i < dimensions; i++) {
        float sum = 0;
        for (int view = 0; view < views; view++)
            sum += embeddings[(size_t)view * dimensions + i];
        ret[i] = sum;
        square += (double)sum * (double)sum;
    }
    /* If the embeddings cancel out, their sum has no direction. In that case the first view's
     * embedding is used. */
    if (!(square > 0))
        memcpy(ret, embeddings, dimensions * sizeof(*ret));
    float factor = square > 0 ? (float)(1 / sqrt(square)) : 1;
    for (size_t i = 0; i < dimensions; i++)
        ret[i] *= factor;
}

/* Embeds one picture from five views. */
static void embed_views(struct face_model *model, const float *pixels, float *ret_embedding)
{
    static const struct {
        int right, down;
    } moves[] = {{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}};
    _Static_assert(ARRAY_SIZE(moves) <= PART, "one pass embeds all views");
    size_t sample = face_config_sample(&model->config);
    int step = (model->config.side + VIEW_STEPS_PER_SIDE / 2) / VIEW_STEPS_PER_SIDE;
    for (size_t i = 0; i < ARRAY_SIZE(moves); i++) {
        float *input = model->input + i * sample;
        move_picture(&model->config, pixels, moves[i].right * step, moves[i].down * step, input);
        face_prepare(&model->config, input, input);
    }
    average_views(network_forward(model->network, model->tape, model->workspace, model->input,
                                  ARRAY_SIZE(moves)),
                  ARRAY_SIZE(moves), face_model_dimensions(model), ret_embedding);
}

int face_model_embed(struct face_model *model, const float *pixels, size_t count,
                     float *ret_embeddings, struct err *err)
{
    size_t sample = face_config_sample(face_model_config(model));
    size_t dimensions = face_model_dimensions(model);
    for (size_t i = 0; i < count * sample; i++)
        if (!isfinite(pixels[i]))
            return err_set(err, ERR_INVALID, "the picture has a pixel that is not a number");
    for (size_t i = 0; model->config.five_views && i < count; i++)
        embed_views(model, pixels + i * sample, ret_embeddings + i * dimensions);
    for (size_t at = 0; !model->config.five_views && at < count; at += PART) {
        int now = count - at < PART ? (int)(count - at) : PART;
        for (int i = 0; i < now; i++)
            face_prepare(&model->config, pixels + (at + (size_t)i) * sample,
                         model->input + (size_t)i * sample);
        const float *out =
            network_forward(model->network, model->tape, model->workspace, model->input, now);
        memcpy(ret_embeddings + at * dimensions, out, (size_t)now * dimensions * sizeof(*out));
    }
    return 0;
}

/* A face model that can be run; see face_model.h. */
#include "models/face_model.h"

#include "base/mem.h"
#include "base/str.h"
#include "train/checkpoint.h"

#include <math.h>
#include <string.h>

enum { PART = 8 /* pictures at once */ };

struct face_model {
    struct face_config config;
    struct params *params;
    struct network *network;
    struct tape *tape;
    struct workspace *workspace;
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
    model->tape = tape_new(model->network, PART);
    model->workspace = workspace_new(model->network, PART);
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
    *ret = TAKE(model);
    return 0;
}

struct face_model *face_model_free(struct face_model *model)
{
    if (!model)
        return NULL;
    tape_free(model->tape);
    workspace_free(model->workspace);
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

int face_model_embed(struct face_model *model, const float *pixels, size_t count,
                     float *ret_embeddings, struct err *err)
{
    size_t sample = face_config_sample(face_model_config(model));
    size_t dimensions = face_model_dimensions(model);
    for (size_t i = 0; i < count * sample; i++)
        if (!isfinite(pixels[i]))
            return err_set(err, ERR_INVALID, "the picture has a pixel that is not a number");
    for (size_t at = 0; at < count; at += PART) {
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

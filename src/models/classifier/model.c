/* Implements a classifier that is ready to run; see model.h. */
#include "models/classifier/model.h"

#include "base/mem.h"
#include "base/str.h"
#include "train/network/loss_softmax.h"
#include "train/run/checkpoint.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { PART = 32 /* pictures per pass */ };

struct classifier_model {
    struct classifier_config config;
    struct params *params;
    struct network *network;
    struct network_tape *tape;
    struct network_workspace *workspace;
    float *input;                         /* PART prepared pictures */
    char (*labels)[CLASSIFIER_LABEL_MAX]; /* one per class */
    double accuracy;                      /* on the test pictures; -1: not known */
};

int classifier_model_new(const struct classifier_config *config, struct classifier_model **ret,
                         struct err *err)
{
    _cleanup_(cleanup_classifier_model) struct classifier_model *model = mem_zalloc(sizeof(*model));
    model->config = *config;
    model->accuracy = -1;
    model->params = params_new();
    int result = classifier_network_new(config, model->params, &model->network, err);
    if (result < 0)
        return result;
    model->tape = network_tape_new(model->network, PART);
    model->workspace = network_workspace_new(model->network, PART);
    model->input = mem_calloc(PART * classifier_config_sample(config), sizeof(*model->input));
    model->labels = mem_calloc((size_t)config->classes, sizeof(*model->labels));
    for (int i = 0; i < config->classes; i++)
        snprintf(model->labels[i], sizeof(model->labels[i]), "%d", i);
    *ret = TAKE(model);
    return 0;
}

struct classifier_model *classifier_model_free(struct classifier_model *model)
{
    if (!model)
        return NULL;
    network_tape_free(model->tape);
    network_workspace_free(model->workspace);
    network_free(model->network);
    params_free(model->params);
    free(model->input);
    free(model->labels);
    free(model);
    return NULL;
}

void classifier_model_note(const struct classifier_model *model, struct arena *arena,
                           struct json *notes)
{
    struct json *labels = json_set(arena, notes, "labels", json_array(arena));
    for (int i = 0; i < model->config.classes; i++)
        json_append(labels, json_string(arena, model->labels[i]));
    if (model->accuracy >= 0)
        json_set(arena, notes, "testAccuracy", json_real(arena, model->accuracy));
}

/* Sets labels and accuracy from the notes of a file. */
static void read_notes(struct classifier_model *model, const struct json *notes)
{
    const struct json *labels = json_get(notes, "labels");
    for (int i = 0; i < model->config.classes; i++) {
        const struct json *label = json_element(labels, (size_t)i);
        if (label && label->type == JSON_STRING)
            classifier_model_set_label(model, i, label->text);
    }
    double accuracy = json_number(json_get(notes, "testAccuracy"), -1);
    model->accuracy = accuracy >= 0 && accuracy <= 1 ? accuracy : -1;
}

int classifier_model_load(const char *path, struct classifier_model **ret, struct err *err)
{
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    _cleanup_(cleanup_classifier_model) struct classifier_model *model = NULL;
    struct classifier_config config;
    int result = checkpoint_read(path, &checkpoint, err);
    if (result < 0)
        return result;
    if (!str_eq(checkpoint->info.model, "classifier"))
        return err_set(err, ERR_INVALID, "'%s' holds a model of kind '%s', not a classifier", path,
                       checkpoint->info.model);
    result = classifier_config_from_json(checkpoint->info.config, &config, err);
    if (result < 0)
        return err_wrap(err, "'%s'", path);
    result = classifier_model_new(&config, &model, err);
    if (result == 0)
        result = checkpoint_restore(checkpoint, path, model->params, NULL, err);
    if (result < 0)
        return result;
    if (checkpoint->info.notes)
        read_notes(model, checkpoint->info.notes);
    classifier_model_changed(model);
    *ret = TAKE(model);
    return 0;
}

int classifier_model_save(const struct classifier_model *model, const char *path, uint64_t step,
                          uint64_t seed, struct err *err)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *notes = json_object(arena);
    classifier_model_note(model, arena, notes);
    struct checkpoint_info info = {.model = "classifier",
                                   .config = classifier_config_to_json(arena, &model->config),
                                   .notes = notes,
                                   .step = step,
                                   .seed = seed};
    return checkpoint_write(path, model->params, NULL, &info, err);
}

const struct classifier_config *classifier_model_config(const struct classifier_model *model)
{
    return &model->config;
}

struct params *classifier_model_params(struct classifier_model *model)
{
    return model->params;
}

struct network *classifier_model_network(struct classifier_model *model)
{
    return model->network;
}

const char *classifier_model_label(const struct classifier_model *model, int label)
{
    return model->labels[label];
}

void classifier_model_set_label(struct classifier_model *model, int label, const char *name)
{
    (void)str_copy(model->labels[label], sizeof(model->labels[label]), name);
}

double classifier_model_accuracy(const struct classifier_model *model)
{
    return model->accuracy;
}

void classifier_model_set_accuracy(struct classifier_model *model, double accuracy)
{
    model->accuracy = accuracy;
}

void classifier_model_changed(struct classifier_model *model)
{
    network_pack(model->network);
}

int classifier_model_predict(struct classifier_model *model, const float *pixels, size_t count,
                             float *ret_probabilities, struct err *err)
{
    size_t sample = classifier_config_sample(&model->config);
    int classes = model->config.classes;
    for (size_t i = 0; i < count * sample; i++)
        if (!isfinite(pixels[i]))
            return err_set(err, ERR_INVALID, "the picture has a pixel that is not a number");
    for (size_t at = 0; at < count; at += PART) {
        int now = count - at < PART ? (int)(count - at) : PART;
        classifier_prepare(pixels + at * sample, (size_t)now * sample, model->input);
        const float *logits =
            network_forward(model->network, model->tape, model->workspace, model->input, now);
        loss_softmax_probabilities(logits, (size_t)now, classes,
                                   ret_probabilities + at * (size_t)classes);
    }
    return 0;
}

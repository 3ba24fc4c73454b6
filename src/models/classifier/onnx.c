/* Implements the ONNX export of a classifier; see onnx.h. */
#include "models/classifier/onnx.h"

#include "train/network/onnx.h"

#define INPUTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void add_labels(struct onnx *onnx, const struct classifier_model *model)
{
    _cleanup_(cleanup_arena) struct arena *arena = arena_new();
    struct json *labels = json_array(arena);
    for (int i = 0; i < classifier_model_config(model)->classes; i++)
        json_append(labels, json_string(arena, classifier_model_label(model, i)));
    onnx_note(onnx, "labels", json_to_string(arena, labels));
}

int classifier_onnx_write(struct classifier_model *model, const char *path, struct err *err)
{
    const struct classifier_config *config = classifier_model_config(model);
    const int64_t in[] = {ONNX_BATCH, config->channels, config->side, config->side},
                  out[] = {ONNX_BATCH, config->classes};
    _cleanup_(cleanup_onnx) struct onnx *onnx = onnx_new("classifier");
    char logits[ONNX_NAME_MAX];
    onnx_input(onnx, "pixels", in, 4);
    /* These nodes compute classifier_prepare(). */
    onnx_float(onnx, "prepare/mean", CLASSIFIER_PREPARE_MEAN);
    onnx_float(onnx, "prepare/scale", CLASSIFIER_PREPARE_SCALE);
    onnx_node(onnx, "Sub", "prepare/centred", INPUTS("pixels", "prepare/mean"));
    onnx_node(onnx, "Mul", "prepare/even", INPUTS("prepare/centred", "prepare/scale"));
    int result = onnx_network(onnx, classifier_model_network(model), classifier_model_params(model),
                              "prepare/even", logits, err);
    if (result < 0)
        return result;
    onnx_attribute_int(onnx, "axis", 1);
    onnx_node(onnx, "Softmax", "probabilities", INPUTS(logits));
    onnx_output(onnx, "probabilities", out, 2);
    add_labels(onnx, model);
    return onnx_save(onnx, path, err);
}

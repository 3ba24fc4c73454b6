/* Implements the ONNX export of a face model; see onnx.h. */
#include "models/face/onnx.h"

#include "train/network/onnx.h"

#define INPUTS(...) ((const char *const[]){__VA_ARGS__, NULL})

/* Adds the nodes that compute face_prepare() with FACE_LIGHT_KEEP. Returns the name of their
 * output. */
static const char *add_scaling(struct onnx *onnx, const char *pixels)
{
    onnx_float(onnx, "prepare/mean", FACE_PREPARE_MEAN);
    onnx_float(onnx, "prepare/factor", FACE_PREPARE_FACTOR);
    onnx_node(onnx, "Sub", "prepare/centred", INPUTS(pixels, "prepare/mean"));
    onnx_node(onnx, "Mul", "prepare/scaled", INPUTS("prepare/centred", "prepare/factor"));
    return "prepare/scaled";
}

/* Adds the nodes that compute face_prepare() with FACE_LIGHT_EVEN: mean 0 and standard deviation 1
 * per picture. Returns the name of their output. */
static const char *add_evening(struct onnx *onnx, const char *pixels)
{
    static const int64_t all[] = {1, 2, 3};
    onnx_attribute_ints(onnx, "axes", all, 3);
    onnx_node(onnx, "ReduceMean", "prepare/mean", INPUTS(pixels));
    onnx_node(onnx, "Sub", "prepare/centred", INPUTS(pixels, "prepare/mean"));
    onnx_node(onnx, "Mul", "prepare/squares", INPUTS("prepare/centred", "prepare/centred"));
    onnx_attribute_ints(onnx, "axes", all, 3);
    onnx_node(onnx, "ReduceMean", "prepare/variance", INPUTS("prepare/squares"));
    onnx_node(onnx, "Sqrt", "prepare/deviation", INPUTS("prepare/variance"));
    onnx_float(onnx, "prepare/least", (float)FACE_PREPARE_LEAST);
    onnx_node(onnx, "Add", "prepare/divisor", INPUTS("prepare/deviation", "prepare/least"));
    onnx_node(onnx, "Div", "prepare/even", INPUTS("prepare/centred", "prepare/divisor"));
    return "prepare/even";
}

int face_onnx_write(struct face_model *model, const char *path, struct err *err)
{
    const struct face_config *config = face_model_config(model);
    const int64_t in[] = {ONNX_BATCH, config->channels, config->side, config->side},
                  out[] = {ONNX_BATCH, config->embedding};
    _cleanup_(cleanup_onnx) struct onnx *onnx = onnx_new("face");
    char last[ONNX_NAME_MAX];
    onnx_input(onnx, "pixels", in, 4);
    const char *prepared = config->light == FACE_LIGHT_KEEP ? add_scaling(onnx, "pixels")
                                                            : add_evening(onnx, "pixels");
    int result = onnx_network(onnx, face_model_network(model), face_model_params(model), prepared,
                              last, err);
    if (result < 0)
        return result;
    onnx_node(onnx, "Identity", "embedding", INPUTS(last));
    onnx_output(onnx, "embedding", out, 2);
    return onnx_save(onnx, path, err);
}

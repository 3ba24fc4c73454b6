/* trainer export: writes a face model or a classifier as an ONNX file, for other programs. */
#include "cli/trainer/commands.h"

#include "base/str.h"
#include "models/classifier/onnx.h"
#include "models/face/onnx.h"
#include "train/network/onnx.h"
#include "train/run/checkpoint.h"

#include <errno.h>
#include <stdio.h>
#include <sys/stat.h>

struct export_values {
    const char *model, *output;
};

static void print_export(const char *path, const struct shape *in, const char *what, int values)
{
    printf(
        "%s: ONNX, opset %d; input 'pixels' [batch, %d, %d, %d] from 0 to 1, output '%s' [batch, "
        "%d]\n",
        path, ONNX_OPSET, in->c, in->h, in->w, what, values);
}

static int export_face(const struct export_values *values, struct err *err)
{
    _cleanup_(cleanup_face_model) struct face_model *model = NULL;
    int result = face_model_load(values->model, &model, err);
    if (result == 0)
        result = face_onnx_write(model, values->output, err);
    if (result == 0)
        print_export(values->output, network_input_shape(face_model_network(model)), "embedding",
                     (int)face_model_dimensions(model));
    if (result == 0 && face_model_config(model)->five_views)
        printf(
            "the file embeds one view, while this model's own embeddings are the mean of five\n");
    return result;
}

static int export_classifier(const struct export_values *values, struct err *err)
{
    _cleanup_(cleanup_classifier_model) struct classifier_model *model = NULL;
    int result = classifier_model_load(values->model, &model, err);
    if (result == 0)
        result = classifier_onnx_write(model, values->output, err);
    if (result == 0)
        print_export(values->output, network_input_shape(classifier_model_network(model)),
                     "probabilities", classifier_model_config(model)->classes);
    return result;
}

/* Checks the target. The export is written under a temporary name and renamed, so it replaces an
 * existing file. It must not replace the model itself, or anything that is not a regular file. */
static int check_output(const struct export_values *values, struct err *err)
{
    struct stat model, output;
    if (lstat(values->output, &output) < 0)
        return errno == ENOENT ? 0 : err_set_errno(err, errno, "cannot write '%s'", values->output);
    if (!S_ISREG(output.st_mode))
        return err_set(
            err, ERR_INVALID,
            "'%s' is not a regular file and would be replaced by one: use another --output",
            values->output);
    if (stat(values->model, &model) == 0 && model.st_dev == output.st_dev &&
        model.st_ino == output.st_ino)
        return err_set(err, ERR_INVALID,
                       "'%s' is the model itself, which would be lost: use another --output",
                       values->output);
    return 0;
}

static int export_run(const void *values, size_t count, const char *const *arguments,
                      struct err *err)
{
    (void)count, (void)arguments;
    const struct export_values *export = values;
    _cleanup_(cleanup_checkpoint) struct checkpoint *checkpoint = NULL;
    if (str_is_empty(export->model) || str_is_empty(export->output))
        return err_set(err, ERR_USAGE, "no %s given: use --model FILE --output FILE.onnx",
                       str_is_empty(export->model) ? "model" : "output");
    int result = check_output(export, err);
    if (result == 0)
        result = checkpoint_read(export->model, &checkpoint, err);
    if (result < 0)
        return result;
    if (str_eq(checkpoint->info.model, "face"))
        return export_face(export, err);
    if (str_eq(checkpoint->info.model, "classifier"))
        return export_classifier(export, err);
    return err_set(err, ERR_UNSUPPORTED,
                   "cannot export '%s': it holds a model of kind '%s', but only face models and "
                   "classifiers can be exported as ONNX",
                   export->model, checkpoint->info.model);
}

#define FIELD(name) .offset = offsetof(struct export_values, name)

static const struct option OPTIONS[] = {
    {.name = "model",
     .type = OPTION_PATH,
     FIELD(model),
     .value = "FILE",
     .help = "model file or checkpoint"},
    {.name = "output",
     .type = OPTION_PATH,
     FIELD(output),
     .value = "FILE",
     .help = "the ONNX file to write"},
    {0},
};

const struct command COMMAND_EXPORT = {
    .name = "export",
    .summary = "export a model as ONNX for other programs",
    .description =
        "Writes a face model or a classifier as an ONNX file (opset 13). Its input is pixels from "
        "0 to 1 as [batch, channels, height, width]. The file includes the preparation of a "
        "picture before the network, and the processing of the network's output.",
    .examples = "trainer export --model faces/face.model --output face.onnx",
    .options = OPTIONS,
    .values_size = sizeof(struct export_values),
    .run = export_run,
};

/* Tests the ONNX files of both models and of a network with every layer: python3-onnx accepts them,
 * and numpy computes the same numbers from them. Skipped if python3-onnx is not installed. */
#include "base/mem.h"
#include "base/rand.h"
#include "base/system/file.h"
#include "models/classifier/onnx.h"
#include "models/face/onnx.h"
#include "train/network/onnx.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>

#include <cmocka.h>

static char directory[64], onnx_path[96], input_path[96], expected_path[96];

static int make_directory(void **state)
{
    snprintf(directory, sizeof(directory), "/tmp/test_onnx.XXXXXX");
    if (!mkdtemp(directory))
        return -1;
    snprintf(onnx_path, sizeof(onnx_path), "%s/model.onnx", directory);
    snprintf(input_path, sizeof(input_path), "%s/input", directory);
    snprintf(expected_path, sizeof(expected_path), "%s/expected", directory);
    return 0;
}

static int remove_directory(void **state)
{
    return file_remove_tree(directory, NULL);
}

/* Runs Debian's own interpreter, because the package belongs to it, and not another one in PATH. */
static int run_python(const char *arguments)
{
    char command[512];
    snprintf(command, sizeof(command), "/usr/bin/python3 %s", arguments);
    int status = system(command); /* NOLINT(cert-env33-c) */
    return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static void need_onnx(void)
{
    if (run_python("-c 'import numpy, onnx' 2>/dev/null") == 0)
        return;
    print_message("skipped: python3-onnx is not installed (tools/setup test installs it)\n");
    skip();
}

/* Writes pictures for ONNX, which has the channels first. Ours are last. */
static void write_input(const float *pictures, int n, int side, int channels)
{
    int pixels = side * side;
    float *turned = mem_calloc((size_t)(n * pixels * channels), sizeof(*turned));
    for (int i = 0; i < n; i++)
        for (int p = 0; p < pixels; p++)
            for (int c = 0; c < channels; c++)
                turned[(i * channels + c) * pixels + p] = pictures[(i * pixels + p) * channels + c];
    assert_int_equal(file_write_atomic(input_path, turned,
                                       (size_t)(n * pixels * channels) * sizeof(*turned), 0600,
                                       NULL),
                     0);
    free(turned);
}

static void check_file(const float *expected, size_t count)
{
    char arguments[400];
    assert_int_equal(
        file_write_atomic(expected_path, expected, count * sizeof(*expected), 0600, NULL), 0);
    snprintf(arguments, sizeof(arguments), ONNX_RUN " %s %s %s", onnx_path, input_path,
             expected_path);
    assert_int_equal(run_python(arguments), 0);
}

static float *random_pictures(size_t count, uint64_t seed)
{
    float *pictures = mem_calloc(count, sizeof(*pictures));
    struct rand rand;
    rand_init(&rand, seed);
    for (size_t i = 0; i < count; i++)
        pictures[i] = (float)rand_unit(&rand);
    return pictures;
}

/* Changes the parameters and the statistics, so that they differ from their initial values. */
static void perturb_params(struct params *params, uint64_t seed)
{
    struct rand rand;
    rand_init(&rand, seed);
    params_initialise(params, seed);
    for (size_t i = 0; i < params->count; i++)
        for (size_t j = 0; j < params->entries[i].count; j++)
            params_value(params, i)[j] += 0.05f * (float)rand_normal(&rand);
}

enum { PICTURES = 3 };

static void face_models_give_the_same_embeddings(void **state)
{
    need_onnx();
    for (int round = 0; round < 3; round++) {
        struct face_config config = FACE_CONFIG_DEFAULT;
        config.side = round ? 32 : 48;
        config.channels = round == 1 ? 3 : 1;
        config.norm = round ? FACE_NORM_BATCH : FACE_NORM_GROUP;
        config.light = round == 2 ? FACE_LIGHT_KEEP : FACE_LIGHT_EVEN;
        struct face_model *model = NULL;
        struct err err = ERR_INIT;
        assert_int_equal(face_model_new(&config, &model, &err), 0);
        perturb_params(face_model_params(model), (uint64_t)round + 1);
        face_model_changed(model);
        float *pictures = random_pictures(PICTURES * face_config_sample(&config), 3),
              *embeddings = mem_calloc(PICTURES * 128, sizeof(*embeddings));
        assert_int_equal(face_model_embed(model, pictures, PICTURES, embeddings, &err), 0);
        assert_int_equal(face_onnx_write(model, onnx_path, &err), 0);
        write_input(pictures, PICTURES, config.side, config.channels);
        check_file(embeddings, PICTURES * 128);
        free(pictures), free(embeddings);
        face_model_free(model);
    }
}

static void classifiers_give_the_same_probabilities(void **state)
{
    need_onnx();
    for (int kind = CLASSIFIER_CNN; kind <= CLASSIFIER_LINEAR; kind++) {
        struct classifier_config config = {.kind = kind, .side = 28, .channels = 1, .classes = 10};
        struct classifier_model *model = NULL;
        struct err err = ERR_INIT;
        assert_int_equal(classifier_model_new(&config, &model, &err), 0);
        params_initialise(classifier_model_params(model), 4);
        classifier_model_changed(model);
        float *pictures = random_pictures((size_t)PICTURES * 28 * 28, 5),
              probabilities[PICTURES * 10];
        assert_int_equal(classifier_model_predict(model, pictures, PICTURES, probabilities, &err),
                         0);
        assert_int_equal(classifier_onnx_write(model, onnx_path, &err), 0);
        write_input(pictures, PICTURES, 28, 1);
        check_file(probabilities, PICTURES * 10);
        free(pictures);
        classifier_model_free(model);
    }
}

static void every_layer_type_is_exported(void **state)
{
    need_onnx();
    enum { SIDE = 12, CHANNELS = 3, OUT = 8 };
    struct err err = ERR_INIT;
    struct params *params = params_new();
    struct network *network =
        network_new(params, (struct shape){.h = SIDE, .w = SIDE, .c = CHANNELS});
    int x = network_depthwise(network, "depthwise", NETWORK_INPUT, 3, 1);
    x = network_conv(network, "conv", x, 8, 5, 1);
    x = network_bias(network, "bias", x, false);
    x = network_average_pool(network, "average", x, 3, 2);
    int y = network_depthwise(network, "deeper", x, 3, 1);
    x = network_add(network, "add", x, y);
    x = network_relu(network, "relu", x);
    y = network_average_pool(network, "all", x, 0, 0);
    y = network_dense(network, "squeeze", y, OUT);
    x = network_max_pool(network, "max", x, 2, 2);
    x = network_dense(network, "dense", x, OUT);
    x = network_batch_norm(network, "batch", x, true);
    x = network_add_relu(network, "both", x, y);
    x = network_group_norm(network, "groups", x, 2, false);
    x = network_bias(network, "flat", x, true);
    x = network_dropout(network, "dropout", x, 0.5f);
    network_l2_normalise(network, "length", x);
    assert_int_equal(network_finish(network, &err), 0);
    perturb_params(params, 6);
    network_pack(network);
    struct network_tape *tape = network_tape_new(network, PICTURES);
    struct network_workspace *workspace = network_workspace_new(network, PICTURES);
    float *pictures = random_pictures((size_t)PICTURES * SIDE * SIDE * CHANNELS, 7);
    const float *expected = network_forward(network, tape, workspace, pictures, PICTURES);

    struct onnx *onnx = onnx_new("layers");
    char last[ONNX_NAME_MAX];
    onnx_input(onnx, "in", (int64_t[]){ONNX_BATCH, CHANNELS, SIDE, SIDE}, 4);
    assert_int_equal(onnx_network(onnx, network, params, "in", last, &err), 0);
    assert_string_equal(last, "layers/length");
    onnx_output(onnx, last, (int64_t[]){ONNX_BATCH, OUT}, 2);
    assert_int_equal(onnx_save(onnx, onnx_path, &err), 0);
    write_input(pictures, PICTURES, SIDE, CHANNELS);
    check_file(expected, PICTURES * OUT);
    onnx_free(onnx);
    free(pictures);
    network_tape_free(tape);
    network_workspace_free(workspace);
    network_free(network);
    params_free(params);
}

static void unsupported_layer_is_named(void **state)
{
    struct err err = ERR_INIT;
    struct params *params = params_new();
    struct network *network = network_new(params, (struct shape){.h = 1, .w = 1, .c = 4});
    int x = network_dense(network, "dense", NETWORK_INPUT, 4);
    network_fm(network, "pairs", x, 2);
    assert_int_equal(network_finish(network, &err), 0);
    struct onnx *onnx = onnx_new("pairs");
    char last[ONNX_NAME_MAX];
    assert_int_equal(onnx_network(onnx, network, params, "in", last, &err), -ERR_UNSUPPORTED);
    assert_string_equal(err.message, "layer 'pairs': a fm layer cannot be written as ONNX");
    assert_true(onnx_save(onnx, "/nowhere/model.onnx", &err) < 0);
    char *note = mem_zalloc((1 << 20) + 1);
    memset(note, 'x', 1 << 20);
    onnx_note(onnx, "labels", note);
    assert_int_equal(onnx_save(onnx, "/nowhere/model.onnx", &err), -ERR_TOO_LARGE);
    assert_non_null(strstr(err.message, "notes"));
    free(note);
    onnx_free(onnx);
    network_free(network);
    params_free(params);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(face_models_give_the_same_embeddings),
        cmocka_unit_test(classifiers_give_the_same_probabilities),
        cmocka_unit_test(every_layer_type_is_exported),
        cmocka_unit_test(unsupported_layer_is_named),
    };
    return cmocka_run_group_tests(tests, make_directory, remove_directory);
}

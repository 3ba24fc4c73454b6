/* Tests our network, losses and optimizers against PyTorch's numbers. tests/oracle/make_numbers.py
 * made them with the same small network, pictures and initial values. Run with the path of
 * numbers.txt. */
#include "base/mem.h"
#include "base/str.h"
#include "train/network/loss_softmax.h"
#include "train/network/loss_triplet.h"
#include "train/network/optimizer.h"
#include "train/team/team.h"

#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

enum { SIDE = 12, CHANNELS = 3, BATCH = 8, CLASSES = 8, STEPS = 5, SALT_INPUT = 1000, FIRST = 4 };
enum { INPUTS = BATCH * SIDE * SIDE * CHANNELS };

static const uint8_t LABELS[BATCH] = {0, 0, 1, 1, 2, 2, 3, 3};
static const float WEIGHT_DECAY = 0.01f, MARGIN = 0.4f;

/* The tolerances, relative to the mean magnitude: float32, and sums whose bits do not depend on
 * their order. */
static const double CLOSE = 1e-3, CLOSE_LOSS = 1e-4;

static const char *path;

/* Computes an input value by the formula of make_numbers.py. */
static float input_value(uint32_t i, uint32_t salt)
{
    uint32_t x = i * 2654435761u + salt * 40503u + 12345u;
    x ^= x >> 15;
    x *= 2246822519u;
    x ^= x >> 13;
    return (float)(x & 0xffff) / 65536 - 0.5f;
}

struct run {
    bool triplet;
    enum optimizer_kind kind;
    struct params *params;
    struct network *network;
    struct team *team;
    struct optimizer *optimizer;
    float inputs[INPUTS], outputs[BATCH * CLASSES], d_outputs[BATCH * CLASSES];
};

static void build_network(struct run *run)
{
    struct network *n =
        network_new(run->params, (struct shape){.h = SIDE, .w = SIDE, .c = CHANNELS});
    int x = network_conv(n, "conv1", NETWORK_INPUT, 16, 3, 1);
    x = network_group_norm(n, "norm1", x, 4, true);
    int y = network_conv(n, "conv2", x, 32, 3, 2);
    y = network_batch_norm(n, "norm2", y, true);
    y = network_depthwise(n, "depth3", y, 3, 1);
    y = network_group_norm(n, "norm3", y, 4, false);
    x = network_conv(n, "project", x, 32, 1, 2);
    x = network_add_relu(n, "add", y, x);
    x = network_max_pool(n, "pool", x, 2, 2);
    x = network_conv(n, "conv4", x, 16, 3, 1);
    x = network_bias(n, "bias4", x, true);
    x = network_average_pool(n, "mean", x, 0, 0);
    x = network_dense(n, "dense", x, CLASSES);
    if (run->triplet)
        network_l2_normalise(n, "length", x);
    struct err err = ERR_INIT;
    if (network_finish(n, &err) < 0)
        fail_msg("%s", err.message);
    run->network = n;
}

static void set_first_values(struct params *params)
{
    for (size_t i = 0; i < params->count; i++) {
        const struct param *entry = &params->entries[i];
        float *value = params_value(params, i);
        bool weights = strstr(entry->name, ".weights"), scale = strstr(entry->name, ".scale");
        for (size_t j = 0; j < entry->count; j++) {
            float number = input_value((uint32_t)j, (uint32_t)i);
            value[j] = entry->start == PARAM_KEPT_ZERO  ? 0
                       : entry->start == PARAM_KEPT_ONE ? 1
                       : weights                        ? number
                                                        : number / 2 + (scale ? 1 : 0);
        }
    }
}

static void run_begin(struct run *run, const char *loss, const char *optimizer)
{
    *run = (struct run){.triplet = str_eq(loss, "triplet"),
                        .kind = str_eq(optimizer, "sgd")    ? OPTIMIZER_SGD
                                : str_eq(optimizer, "adam") ? OPTIMIZER_ADAM
                                                            : OPTIMIZER_ADAGRAD,
                        .params = params_new()};
    build_network(run);
    set_first_values(run->params);
    network_pack(run->network);
    run->optimizer = optimizer_new(run->kind, WEIGHT_DECAY, run->params);
    /* There are two parts, so that layers with batch statistics must use both. */
    struct team_options team = {.network = run->network,
                                .params = run->params,
                                .samples = BATCH,
                                .share_max = BATCH,
                                .part = BATCH / 2,
                                .threads = 1};
    assert_int_equal(team_new(&team, &run->team, NULL), 0);
    for (uint32_t i = 0; i < INPUTS; i++)
        run->inputs[i] = input_value(i, SALT_INPUT) * 4;
}

static void run_end(struct run *run)
{
    team_free(run->team);
    optimizer_free(run->optimizer);
    network_free(run->network);
    params_free(run->params);
}

/* Returns the loss, and computes the gradients. */
static double run_gradient(struct run *run, uint64_t step)
{
    struct layer_draw draw = {.seed = 1, .step = step};
    assert_int_equal(team_forward(run->team, run->inputs, &draw, run->outputs, NULL), 0);
    double loss;
    if (run->triplet) {
        struct triplet_config config = {.mining = TRIPLET_SEMI_HARD, .margin = MARGIN};
        int labels[BATCH];
        for (int i = 0; i < BATCH; i++)
            labels[i] = LABELS[i];
        loss = loss_triplet(&config, run->outputs, labels, BATCH, CLASSES, run->d_outputs).loss;
    } else {
        struct softmax_result result =
            loss_softmax(run->outputs, LABELS, BATCH, CLASSES, 1.0f / BATCH, run->d_outputs);
        loss = (double)result.loss / SOFTMAX_UNITS / BATCH;
    }
    assert_int_equal(team_backward(run->team, run->d_outputs, NULL), 0);
    return loss;
}

static void run_step(struct run *run, uint64_t step)
{
    static const float rates[] = {
        [OPTIMIZER_SGD] = 0.01f, [OPTIMIZER_ADAM] = 0.002f, [OPTIMIZER_ADAGRAD] = 0.01f};
    team_learn(run->team);
    optimizer_step(run->optimizer, run->params, step, rates[run->kind]);
    network_pack(run->network);
}

static void assert_close(const char *line, double want, double got, double allowed)
{
    if (!(fabs(want - got) <= allowed))
        fail_msg("%.9g is not %.9g: %s", got, want, line);
}

/* Compares a tensor with the numbers of one line: sum, sum of magnitudes, and the first values. */
static void expect_tensor(const char *line, const char *numbers, const float *tensor, size_t count)
{
    double sum = 0, magnitude = 0, want[2 + FIRST] = {0};
    char *at = (char *)numbers;
    for (int i = 0; i < 2 + FIRST; i++)
        want[i] = strtod(at, &at);
    for (size_t i = 0; i < count; i++) {
        sum += (double)tensor[i];
        magnitude += fabs((double)tensor[i]);
    }
    double mean = want[1] / (double)count;
    assert_close(line, want[0], sum, CLOSE * want[1]);
    assert_close(line, want[1], magnitude, CLOSE * want[1]);
    for (size_t i = 0; i < FIRST && i < count; i++)
        assert_close(line, want[2 + i], (double)tensor[i], CLOSE * mean);
}

static const float *find_parameter(const struct params *params, const char *name,
                                   const float *arena, size_t *ret_count)
{
    for (size_t i = 0; i < params->count; i++)
        if (str_eq(params->entries[i].name, name)) {
            *ret_count = params->entries[i].count;
            return arena + params->entries[i].offset;
        }
    fail_msg("no parameter is called '%s'", name);
    return NULL;
}

/* Handles one line of the file. The lines must come in the order in which they were written. */
static void check_line(struct run *run, const char *line, size_t *checked)
{
    char kind[16], name[64];
    int used = 0;
    size_t count = 0;
    if (sscanf(line, "%15s %63s %n", kind, name, &used) != 2)
        fail_msg("what is this: %s", line);
    const char *numbers = line + used;
    ++*checked;
    if (str_eq(kind, "loss")) {
        uint64_t step = strtoull(name, NULL, 10);
        if (step > 1)
            run_step(run, step - 1);
        double want = strtod(numbers, NULL);
        assert_close(line, want, run_gradient(run, step), CLOSE_LOSS * fmax(want, 0.1));
    } else if (str_eq(kind, "output")) {
        char *at = (char *)numbers;
        for (int i = 0; i < CLASSES; i++)
            assert_close(line, strtod(at, &at),
                         (double)run->outputs[strtoull(name, NULL, 10) * CLASSES + (size_t)i],
                         CLOSE_LOSS);
    } else if (str_eq(kind, "gradient")) {
        const float *tensor = find_parameter(run->params, name, run->params->gradients, &count);
        expect_tensor(line, numbers, tensor, count);
    } else {
        assert_string_equal(kind, "value");
        if (str_eq(name, run->params->entries[0].name)) /* the first parameter of a step */
            run_step(run, STEPS);
        const float *tensor = find_parameter(run->params, name, run->params->values, &count);
        expect_tensor(line, numbers, tensor, count);
    }
}

static void five_steps_agree_with_pytorch(void **state)
{
    FILE *file = fopen(path, "r");
    if (!file)
        fail_msg("cannot open '%s'", path);
    struct run *run = mem_zalloc(sizeof(*run));
    char line[512], loss[16], optimizer[16];
    size_t runs = 0, checked = 0;
    while (fgets(line, sizeof(line), file)) {
        if (line[0] == '#')
            continue;
        if (sscanf(line, "run %15s %15s", loss, optimizer) == 2) {
            if (runs++)
                run_end(run);
            run_begin(run, loss, optimizer);
            continue;
        }
        check_line(run, line, &checked);
    }
    run_end(run);
    free(run);
    fclose(file);
    assert_int_equal(runs, 6);
    assert_int_equal(checked, 6 * (STEPS + 2 + 14 + 16));
}

int main(int argc, char **argv)
{
    if (argc != 2) {
        fprintf(stderr, "usage: test_train_oracle tests/oracle/numbers.txt\n");
        return 2;
    }
    path = argv[1];
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(five_steps_agree_with_pytorch),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

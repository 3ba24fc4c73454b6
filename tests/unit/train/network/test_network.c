/* Tests the gradient of every layer, in a network, against finite differences of a loss that is a
 * fixed random sum of the outputs. Also tests the rules for building a network. */
#include "random_floats.h"

#include "train/network/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SAMPLES = 3 };

struct bench {
    struct params *params;
    struct network *network;
    struct network_tape *tape;
    struct network_workspace *workspace;
    float *input, *weight; /* `weight`: weights of the outputs in the loss */
};

static void bench_start(struct bench *bench, struct shape shape)
{
    bench->params = params_new();
    bench->network = network_new(bench->params, shape);
}

static void bench_finish(struct bench *bench, struct shape shape, uint64_t seed)
{
    struct err err = ERR_INIT;
    if (network_finish(bench->network, &err) < 0)
        fail_msg("%s", err.message);
    params_initialise(bench->params, seed);
    struct rand rand;
    rand_init(&rand, seed);
    /* Changes the initial values, so that scales and shifts have an effect. */
    for (size_t i = 0; i < bench->params->floats; i++)
        bench->params->values[i] += 0.1f * (float)rand_normal(&rand);
    bench->tape = network_tape_new(bench->network, SAMPLES);
    bench->workspace = network_workspace_new(bench->network, SAMPLES);
    bench->input = random_floats(&rand, SAMPLES * shape_sample(&shape));
    bench->weight =
        random_floats(&rand, SAMPLES * shape_sample(network_output_shape(bench->network)));
}

static void bench_release(struct bench *bench)
{
    network_tape_free(bench->tape);
    network_workspace_free(bench->workspace);
    network_free(bench->network);
    params_free(bench->params);
    free(bench->input);
    free(bench->weight);
}

static double loss_of(struct bench *bench)
{
    network_pack(bench->network);
    const float *out =
        network_forward(bench->network, bench->tape, bench->workspace, bench->input, SAMPLES);
    double loss = 0;
    for (size_t i = 0; i < SAMPLES * shape_sample(network_output_shape(bench->network)); i++)
        loss += (double)out[i] * (double)bench->weight[i];
    return loss;
}

/* A kink of a ReLU or a maximum within the step spoils a single difference, but never many. */
static void check_gradients(struct bench *bench)
{
    (void)loss_of(bench);
    params_clear_gradients(bench->params);
    network_backward(bench->network, bench->tape, bench->workspace, bench->weight,
                     bench->params->gradients);
    int checked = 0, wrong = 0;
    for (size_t i = 0; i < bench->params->count; i++) {
        const struct param *param = &bench->params->entries[i];
        if (!param_is_trained(param))
            continue;
        float *value = params_value(bench->params, i),
              *gradient = params_gradient(bench->params, i);
        double largest = 0;
        for (size_t j = 0; j < param->count; j++)
            largest = fmax(largest, fabs((double)gradient[j]));
        assert_true(largest > 1e-6);
        size_t stride = param->count / 24 + 1;
        for (size_t j = 0; j < param->count; j += stride) {
            float kept = value[j], step = 4e-3f;
            value[j] = kept + step;
            double up = loss_of(bench);
            value[j] = kept - step;
            double down = loss_of(bench);
            value[j] = kept;
            double slope = (up - down) / (2 * (double)step);
            checked++;
            wrong += fabs(slope - (double)gradient[j]) > 0.02 * (largest + fabs(slope));
        }
    }
    assert_true(checked >= 20);
    if (wrong * 10 > checked)
        fail_msg("%d of %d gradients differ from finite differences", wrong, checked);
}

static void gradient_of_convolutions(void **state)
{
    int channels[] = {4, 16};
    for (int round = 0; round < 8; round++) {
        struct bench bench = {0};
        struct shape shape = {.h = 7, .w = 6, .c = round % 2 ? 3 : 1};
        bench_start(&bench, shape);
        int c = channels[round / 4], stride = 1 + round % 3 % 2;
        int x = network_conv(bench.network, "one", NETWORK_INPUT, c, 3, stride);
        x = network_conv(bench.network, "two", x, 16, round % 4 < 2 ? 3 : 1, stride);
        network_conv(bench.network, "three", x, 5, 3, 1);
        bench_finish(&bench, shape, (uint64_t)round);
        check_gradients(&bench);
        bench_release(&bench);
    }
}

static void gradient_of_depthwise_convolutions(void **state)
{
    for (int round = 0; round < 6; round++) {
        struct bench bench = {0};
        struct shape shape = {.h = 7, .w = 6, .c = round % 2 ? 3 : 1};
        bench_start(&bench, shape);
        int x = network_depthwise(bench.network, "first", NETWORK_INPUT, 3, 1);
        x = network_conv(bench.network, "wide", x, round < 3 ? 5 : 40, 1, 1);
        int y = network_depthwise(bench.network, "one", x, 3 + round % 2 * 2, 1 + round % 3);
        int z = network_depthwise(bench.network, "two", x, 3, 1 + round % 3);
        x = network_add(bench.network, "add", y, z);
        network_conv(bench.network, "out", x, 4, 1, 1);
        bench_finish(&bench, shape, (uint64_t)(80 + round));
        check_gradients(&bench);
        bench_release(&bench);
    }
}

static void gradient_of_dense_and_l2_normalise(void **state)
{
    struct bench bench = {0};
    struct shape shape = {.h = 3, .w = 3, .c = 4};
    bench_start(&bench, shape);
    int x = network_dense(bench.network, "dense", NETWORK_INPUT, 16);
    x = network_relu(bench.network, "relu", x);
    x = network_dense(bench.network, "embedding", x, 10);
    network_l2_normalise(bench.network, "length", x);
    bench_finish(&bench, shape, 5);
    check_gradients(&bench);
    bench_release(&bench);
}

static void gradient_of_biases_and_dropout(void **state)
{
    for (int round = 0; round < 4; round++) {
        struct bench bench = {0};
        struct shape shape = {.h = 6, .w = 6, .c = 1};
        bench_start(&bench, shape);
        int x = network_conv(bench.network, "conv1", NETWORK_INPUT, round % 2 ? 16 : 6, 5, 1);
        int y = network_bias(bench.network, "bias1", x, true);
        /* `x` has two readers: the second one in the backward pass adds its gradient. */
        int z = network_bias(bench.network, "bias2", x, round < 2);
        x = network_add_relu(bench.network, "add", y, z);
        x = network_max_pool(bench.network, "pool", x, 2, 2);
        x = network_dense(bench.network, "hidden", x, 32);
        x = network_dropout(bench.network, "dropout", x, 0.5f);
        network_dense(bench.network, "logits", x, 4);
        bench_finish(&bench, shape, (uint64_t)(40 + round));
        if (round)
            network_tape_draw(bench.tape,
                              &(struct layer_draw){.seed = 1, .step = 2, .position = 3});
        check_gradients(&bench);
        bench_release(&bench);
    }
}

/* Returns which values survive in a network that only applies dropout to ones, as 1 or 0 each. */
static void find_survivors(float rate, const struct layer_draw *draw, int n, float *ret)
{
    struct bench bench = {0};
    struct shape shape = {.h = 1, .w = 1, .c = 1};
    bench_start(&bench, shape);
    int x = network_dense(bench.network, "ones", NETWORK_INPUT, 64);
    network_dropout(bench.network, "dropout", x, rate);
    bench_finish(&bench, shape, 1);
    for (size_t i = 0; i < bench.params->count; i++)
        for (size_t j = 0; j < bench.params->entries[i].count; j++)
            params_value(bench.params, i)[j] = i == 1; /* the bias */
    network_pack(bench.network);
    if (draw)
        network_tape_draw(bench.tape, draw);
    const float *out = network_forward(bench.network, bench.tape, bench.workspace, bench.input, n);
    memcpy(ret, out, (size_t)n * 64 * sizeof(*ret));
    bench_release(&bench);
}

static void dropout_depends_only_on_step_and_position(void **state)
{
    float plain[64], all[3 * 64], second[64], later[64];
    find_survivors(0.25f, NULL, 1, plain);
    for (int i = 0; i < 64; i++)
        assert_true(plain[i] == 1);
    find_survivors(0.25f, &(struct layer_draw){.seed = 7, .step = 5, .position = 10}, 3, all);
    int dropped = 0;
    for (int i = 0; i < 3 * 64; i++) {
        assert_true(all[i] == 0 || fabsf(all[i] - 4.0f / 3) < 1e-6f);
        dropped += all[i] == 0;
    }
    assert_in_range(dropped, 24, 72); /* 48 expected, deviation 6 */
    find_survivors(0.25f, &(struct layer_draw){.seed = 7, .step = 5, .position = 11}, 1, second);
    assert_memory_equal(second, all + 64, sizeof(second));
    find_survivors(0.25f, &(struct layer_draw){.seed = 7, .step = 6, .position = 11}, 1, later);
    assert_memory_not_equal(later, second, sizeof(later));
}

static void gradient_of_norm_and_pools(void **state)
{
    for (int round = 0; round < 4; round++) {
        struct bench bench = {0};
        struct shape shape = {.h = 8, .w = 8, .c = 2};
        bench_start(&bench, shape);
        int x = network_conv(bench.network, "conv", NETWORK_INPUT, 8, 3, 1);
        x = network_group_norm(bench.network, "norm", x, round < 2 ? 2 : 8, round % 2);
        x = round % 2 ? network_max_pool(bench.network, "max", x, 2, 2)
                      : network_average_pool(bench.network, "average", x, 3, 2);
        x = network_conv(bench.network, "conv2", x, 6, 3, 1);
        network_average_pool(bench.network, "global", x, 0, 0);
        /* the average pool leaves 3×3, the maximum 4×4: both square */
        bench_finish(&bench, shape, (uint64_t)(20 + round));
        check_gradients(&bench);
        bench_release(&bench);
    }
}

static void gradient_of_batch_norm(void **state)
{
    for (int round = 0; round < 4; round++) {
        struct bench bench = {0};
        struct shape shape = {.h = 5, .w = 5, .c = 2};
        bench_start(&bench, shape);
        int x = network_conv(bench.network, "conv", NETWORK_INPUT, round % 2 ? 16 : 6, 3, 1);
        int y = network_batch_norm(bench.network, "norm", x, true);
        int z = network_batch_norm(bench.network, "beside", x, false);
        x = network_add_relu(bench.network, "add", y, z);
        x = network_conv(bench.network, "conv2", x, 6, 3, 2);
        network_batch_norm(bench.network, "last", x, false);
        bench_finish(&bench, shape, (uint64_t)(60 + round));
        if (round < 2) /* otherwise with running statistics, which are constants */
            network_tape_draw(bench.tape, &(struct layer_draw){.step = 1});
        check_gradients(&bench);
        bench_release(&bench);
    }
}

static void gradient_of_residual_blocks(void **state)
{
    struct bench bench = {0};
    struct shape shape = {.h = 8, .w = 8, .c = 1};
    bench_start(&bench, shape);
    struct network *network = bench.network;
    int x = network_conv(network, "stem", NETWORK_INPUT, 16, 3, 1);
    x = network_group_norm(network, "stem.norm", x, 4, true);
    /* A block with an identity shortcut. */
    int y = network_conv(network, "a.conv1", x, 16, 3, 1);
    y = network_group_norm(network, "a.norm1", y, 2, true);
    y = network_conv(network, "a.conv2", y, 16, 3, 1);
    y = network_group_norm(network, "a.norm2", y, 2, false);
    x = network_add_relu(network, "a.add", y, x);
    /* A block with stride 2 and a projection shortcut. */
    y = network_conv(network, "b.conv1", x, 32, 3, 2);
    y = network_group_norm(network, "b.norm1", y, 2, false);
    int z = network_conv(network, "b.project", x, 32, 1, 2);
    x = network_add_relu(network, "b.add", y, z);
    network_dense(network, "dense", x, 12);
    bench_finish(&bench, shape, 77);
    check_gradients(&bench);
    bench_release(&bench);
}

static void check_gradient_of_the_input(int fields)
{
    struct bench bench = {0};
    struct shape shape = {.h = 1, .w = 1, .c = 24};
    enum { INPUTS = SAMPLES * 24 };
    bench_start(&bench, shape);
    int x = network_dense(bench.network, "one", NETWORK_INPUT, 32);
    x = network_relu(bench.network, "relu", x);
    x = network_dense(bench.network, "two", x, 1);
    if (fields)
        network_add(bench.network, "sum", x,
                    network_fm(bench.network, "pairs", NETWORK_INPUT, fields));
    bench_finish(&bench, shape, 31);
    (void)loss_of(&bench);
    float d_input[INPUTS];
    params_clear_gradients(bench.params);
    network_backward_to_input(bench.network, bench.tape, bench.workspace, bench.weight,
                              bench.params->gradients, d_input);
    int wrong = 0;
    for (int i = 0; i < INPUTS; i++) {
        float kept = bench.input[i], step = 4e-3f;
        bench.input[i] = kept + step;
        double up = loss_of(&bench);
        bench.input[i] = kept - step;
        double down = loss_of(&bench);
        bench.input[i] = kept;
        double slope = (up - down) / (2 * (double)step);
        wrong += fabs(slope - (double)d_input[i]) > 0.02 * (0.1 + fabs(slope));
    }
    if (wrong * 10 > INPUTS)
        fail_msg("%d of %d gradients of the input differ from finite differences", wrong, INPUTS);
    bench_release(&bench);
}

static void gradient_of_the_input(void **state)
{
    for (int fields = 0; fields <= 4;
         fields += 2) /* with 2 and with 4 vectors and their products */
        check_gradient_of_the_input(fields);
}

static void fm_layer_adds_the_products_of_all_pairs(void **state)
{
    struct bench bench = {0};
    struct shape shape = {.h = 1, .w = 1, .c = 6};
    bench_start(&bench, shape);
    int pairs = network_fm(bench.network, "pairs", NETWORK_INPUT, 3);
    network_add(bench.network, "sum", network_dense(bench.network, "none", NETWORK_INPUT, 1),
                pairs);
    bench_finish(&bench, shape, 1);
    memset(bench.params->values, 0, bench.params->floats * sizeof(float));
    network_pack(bench.network);
    const float vectors[] = {1, 2, 3, 4, -5, 6}; /* (1,2)·(3,4) + (1,2)·(-5,6) + (3,4)·(-5,6) */
    const float *out = network_forward(bench.network, bench.tape, bench.workspace, vectors, 1);
    assert_true(out[0] == 11 + 7 + 9);
    bench_release(&bench);
}

static void gradients_of_batch_parts_add_up(void **state)
{
    struct bench bench = {0};
    struct shape shape = {.h = 6, .w = 6, .c = 1};
    bench_start(&bench, shape);
    int x = network_conv(bench.network, "conv", NETWORK_INPUT, 16, 3, 2);
    x = network_group_norm(bench.network, "norm", x, 1, true);
    network_dense(bench.network, "dense", x, 4);
    bench_finish(&bench, shape, 9);
    (void)loss_of(&bench);
    params_clear_gradients(bench.params);
    network_backward(bench.network, bench.tape, bench.workspace, bench.weight,
                     bench.params->gradients);
    float *parts = zero_floats(bench.params->floats);
    for (int i = 0; i < SAMPLES; i++) {
        network_forward(bench.network, bench.tape, bench.workspace, bench.input + i * 36, 1);
        network_backward(bench.network, bench.tape, bench.workspace, bench.weight + i * 4, parts);
    }
    assert_true(apart(bench.params->gradients, parts, bench.params->floats) < 1e-5);
    free(parts);
    bench_release(&bench);
}

static void invalid_networks_are_rejected(void **state)
{
    struct err err = ERR_INIT;
    struct bench bench = {0};
    bench_start(&bench, (struct shape){.h = 4, .w = 4, .c = 1});
    int x = network_conv(bench.network, "conv", NETWORK_INPUT, 6, 3, 1);
    network_group_norm(bench.network, "norm", x, 4, false);
    network_dense(bench.network, "later", x, 2);
    assert_int_equal(network_finish(bench.network, &err), -ERR_INVALID);
    assert_string_equal(err.message, "layer 'norm': 6 channels do not divide into 4 groups");
    bench_release(&bench);

    bench = (struct bench){0};
    bench_start(&bench, (struct shape){.h = 4, .w = 4, .c = 1});
    int a = network_conv(bench.network, "a", NETWORK_INPUT, 4, 3, 1);
    int b = network_conv(bench.network, "b", NETWORK_INPUT, 8, 3, 2);
    network_add_relu(bench.network, "add", a, b);
    assert_int_equal(network_finish(bench.network, &err), -ERR_INVALID);
    assert_string_equal(err.message, "layer 'add': 4×4×4 and 2×2×8 cannot be added");
    bench_release(&bench);

    bench = (struct bench){0};
    bench_start(&bench, (struct shape){.h = 4, .w = 4, .c = 1});
    network_relu(bench.network, "relu", NETWORK_INPUT);
    assert_int_equal(network_finish(bench.network, &err), -ERR_UNSUPPORTED);
    bench_release(&bench);
}

static void shape_hash_differs_between_models(void **state)
{
    uint64_t hash[3];
    for (int i = 0; i < 3; i++) {
        struct params *params = params_new();
        params_declare(params, "a", (int[]){3, 4, 1, 1}, PARAM_HE, 3);
        params_declare(params, i == 1 ? "c" : "b", (int[]){i == 2 ? 5 : 4, 1, 1, 1}, PARAM_ZERO, 0);
        hash[i] = params_shape_hash(params);
        params_free(params);
    }
    assert_true(hash[0] != hash[1] && hash[0] != hash[2] && hash[1] != hash[2]);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(gradient_of_convolutions),
        cmocka_unit_test(gradient_of_depthwise_convolutions),
        cmocka_unit_test(gradient_of_dense_and_l2_normalise),
        cmocka_unit_test(gradient_of_biases_and_dropout),
        cmocka_unit_test(dropout_depends_only_on_step_and_position),
        cmocka_unit_test(gradient_of_norm_and_pools),
        cmocka_unit_test(gradient_of_batch_norm),
        cmocka_unit_test(gradient_of_residual_blocks),
        cmocka_unit_test(gradient_of_the_input),
        cmocka_unit_test(fm_layer_adds_the_products_of_all_pairs),
        cmocka_unit_test(gradients_of_batch_parts_add_up),
        cmocka_unit_test(invalid_networks_are_rejected),
        cmocka_unit_test(shape_hash_differs_between_models),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

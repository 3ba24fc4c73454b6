/* Tests bags of ids: the fast version against the reference on random shapes, gradients against
 * finite differences, rejected input, and a classifier of bags of words that learns a known
 * answer. */
#include "random_floats.h"

#include "train/layers/embedding_bag.h"
#include "train/network/loss_softmax.h"
#include "train/network/network.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { BAGS_MAX = 12, IDS_MAX = 9 };

/* A batch with its own memory. It has empty bags, and ids that appear several times in one bag and
 * in other bags. */
struct batch {
    struct embedding_bags bags;
    size_t offsets[BAGS_MAX + 1];
    int64_t ids[BAGS_MAX * IDS_MAX];
    int32_t ids32[BAGS_MAX * IDS_MAX];
    float weights[BAGS_MAX * IDS_MAX];
};

static void draw_batch(struct batch *batch, struct rand *rand, int round, size_t rows)
{
    *batch = (struct batch){0};
    size_t count = 1 + rand_below(rand, BAGS_MAX), total = 0;
    for (size_t b = 0; b < count; b++) {
        size_t size = rand_below(rand, 3) ? rand_below(rand, IDS_MAX) : 0;
        for (size_t i = 0; i < size; i++, total++) {
            batch->ids[total] = (int64_t)rand_below(rand, rows);
            batch->ids32[total] = (int32_t)batch->ids[total];
            batch->weights[total] = (float)rand_normal(rand);
        }
        batch->offsets[b + 1] = total;
    }
    batch->bags = (struct embedding_bags){
        .count = count,
        .offsets = batch->offsets,
        .ids = round % 2 ? batch->ids : NULL,
        .ids32 = round % 2 ? NULL : batch->ids32,
        .weights = round % 3 == 1 ? batch->weights : NULL,
        .mean = round % 3 == 2,
    };
}

static void embedding_bag_agrees_with_its_reference(void **state)
{
    struct rand rand;
    rand_init(&rand, 11);
    for (int round = 0; round < 300; round++) {
        size_t rows = round % 5 ? 1 + rand_below(&rand, 30) : 1;
        int width = round % 7 ? 1 + (int)rand_below(&rand, 70) : 1;
        struct batch batch;
        draw_batch(&batch, &rand, round, rows);
        size_t outputs = batch.bags.count * (size_t)width, values = rows * (size_t)width,
               total = batch.offsets[batch.bags.count];
        _cleanup_free_ float *table = random_floats(&rand, values),
                             *d_out = random_floats(&rand, outputs);
        _cleanup_free_ float *want = random_floats(&rand, outputs),
                             *got = random_floats(&rand, outputs);
        embedding_bag_forward_ref(&batch.bags, width, table, want);
        embedding_bag_forward(&batch.bags, width, table, got);
        assert_true(apart(want, got, outputs) < 1e-6);

        _cleanup_free_ float *dense = zero_floats(values), *sparse = zero_floats(values),
                             *gradient = random_floats(&rand, total * (size_t)width);
        struct embedding_bag_place scratch[BAGS_MAX * IDS_MAX];
        int64_t ids[BAGS_MAX * IDS_MAX];
        embedding_bag_backward_ref(&batch.bags, width, d_out, dense);
        size_t count = embedding_bag_backward(&batch.bags, width, d_out, scratch, ids, gradient);
        for (size_t i = 0; i < count; i++) {
            assert_true(i == 0 || ids[i] > ids[i - 1]);
            memcpy(sparse + (size_t)ids[i] * (size_t)width, gradient + i * (size_t)width,
                   (size_t)width * sizeof(float));
        }
        assert_true(apart(dense, sparse, values) < 1e-5);
    }
}

static double weighted_sum(const struct embedding_bags *bags, int width, const float *table,
                           const float *factors)
{
    float out[BAGS_MAX * 8];
    double sum = 0;
    embedding_bag_forward(bags, width, table, out);
    for (size_t i = 0; i < bags->count * (size_t)width; i++)
        sum += (double)out[i] * (double)factors[i];
    return sum;
}

static void assert_slope(double up, double down, float gradient)
{
    double slope = (up - down) / 0.02;
    if (fabs(slope - (double)gradient) > 1e-3 * (1 + fabs(slope)))
        fail_msg("%g is not the slope %g", (double)gradient, slope);
}

static void gradients_agree_with_finite_differences(void **state)
{
    enum { ROWS = 5, WIDTH = 8 };
    struct rand rand;
    rand_init(&rand, 12);
    for (int round = 0; round < 12; round++) {
        struct batch batch;
        draw_batch(&batch, &rand, round, ROWS);
        _cleanup_free_ float *table = random_floats(&rand, (size_t)ROWS * WIDTH),
                             *factors = random_floats(&rand, (size_t)BAGS_MAX * WIDTH),
                             *dense = zero_floats((size_t)ROWS * WIDTH);
        embedding_bag_backward_ref(&batch.bags, WIDTH, factors, dense);
        for (size_t i = 0; i < (size_t)ROWS * WIDTH; i++) {
            float kept = table[i];
            table[i] = kept + 0.01F;
            double up = weighted_sum(&batch.bags, WIDTH, table, factors);
            table[i] = kept - 0.01F;
            double down = weighted_sum(&batch.bags, WIDTH, table, factors);
            table[i] = kept;
            assert_slope(up, down, dense[i]);
        }
        if (!batch.bags.weights)
            continue;
        float d_weights[BAGS_MAX * IDS_MAX];
        embedding_bag_backward_weights(&batch.bags, WIDTH, table, factors, d_weights);
        for (size_t i = 0; i < batch.offsets[batch.bags.count]; i++) {
            float kept = batch.weights[i];
            batch.weights[i] = kept + 0.01F;
            double up = weighted_sum(&batch.bags, WIDTH, table, factors);
            batch.weights[i] = kept - 0.01F;
            double down = weighted_sum(&batch.bags, WIDTH, table, factors);
            batch.weights[i] = kept;
            assert_slope(up, down, d_weights[i]);
        }
    }
}

static void assert_rejected(const struct embedding_bag *bag, struct embedding_bags bags,
                            const char *says)
{
    struct err err = ERR_INIT;
    assert_true(embedding_bag_check(bag, &bags, &err) < 0);
    assert_non_null(strstr(err.message, says));
}

static void invalid_bags_are_rejected(void **state)
{
    _cleanup_(cleanup_embedding_bag) struct embedding_bag *bag = embedding_bag_new(3, 2, 1);
    const int64_t ids[] = {0, 2, 1}, low[] = {0, -1, 1}, high[] = {0, 2, 3};
    const size_t offsets[] = {0, 0, 3}, falling[] = {0, 3, 2}, late[] = {1, 2, 3};
    const float weights[] = {1, 1, 1};
    struct embedding_bags good = {.count = 2, .offsets = offsets, .ids = ids}, wrong = good;
    assert_int_equal(embedding_bag_check(bag, &good, NULL), 0);
    wrong.ids = low;
    assert_rejected(bag, wrong, "id -1 is not in the table, which has rows 0 to 2");
    wrong.ids = high;
    assert_rejected(bag, wrong, "id 3 is not in the table, which has rows 0 to 2");
    wrong = good;
    wrong.offsets = falling;
    assert_rejected(bag, wrong, "bag 1: the offsets must not decrease");
    wrong.offsets = late;
    assert_rejected(bag, wrong, "the offsets of the bags must start at 0, not 1");
    wrong.count = 0;
    assert_rejected(bag, wrong, "the offsets of the bags must start at 0, not 1");
    wrong = good;
    wrong.mean = true;
    wrong.weights = weights;
    assert_rejected(bag, wrong, "use their sum");
    embedding_bag_compute_gradient(bag, &(struct embedding_bags){.offsets = offsets}, NULL);
    assert_int_equal(bag->touched, 0); /* no bag at all */
}

/* Half of the words belong to one class, half to the other, and the majority decides. In the end
 * each single word is classified correctly, although no training sentence had only one word. */
static void classifier_learns_bags_of_words(void **state)
{
    enum { WORDS = 40, WIDTH = 6, BATCH = 32, LENGTH = 5, STEPS = 300 };
    _cleanup_(cleanup_embedding_bag) struct embedding_bag *bag = embedding_bag_new(WORDS, WIDTH, 7);
    _cleanup_(cleanup_params) struct params *params = params_new();
    struct shape shape = {.h = 1, .w = 1, .c = WIDTH};
    _cleanup_(cleanup_network) struct network *network = network_new(params, shape);
    network_dense(network, "classes", NETWORK_INPUT, 2);
    assert_int_equal(network_finish(network, NULL), 0);
    params_initialise(params, 7);
    _cleanup_(cleanup_network_tape) struct network_tape *tape = network_tape_new(network, WORDS);
    _cleanup_(cleanup_network_workspace) struct network_workspace *space =
        network_workspace_new(network, WORDS);
    struct rand rand;
    rand_init(&rand, 7);
    size_t offsets[WORDS + 1];
    int64_t ids[BATCH * LENGTH];
    uint8_t labels[WORDS];
    float vectors[WORDS * WIDTH], d_vectors[WORDS * WIDTH], d_logits[WORDS * 2];
    for (int step = 0; step < STEPS; step++) {
        for (size_t b = 0; b <= BATCH; b++)
            offsets[b] = b * LENGTH;
        for (size_t b = 0; b < BATCH; b++) {
            int second = 0;
            for (size_t i = 0; i < LENGTH; i++) {
                ids[b * LENGTH + i] = (int64_t)rand_below(&rand, WORDS);
                second += ids[b * LENGTH + i] >= WORDS / 2;
            }
            labels[b] = second > LENGTH / 2;
        }
        struct embedding_bags bags = {.count = BATCH, .offsets = offsets, .ids = ids, .mean = true};
        embedding_bag_forward(&bags, WIDTH, bag->table, vectors);
        network_pack(network);
        const float *logits = network_forward(network, tape, space, vectors, BATCH);
        loss_softmax(logits, labels, BATCH, 2, 1.0F / BATCH, d_logits);
        params_clear_gradients(params);
        network_backward_to_input(network, tape, space, d_logits, params->gradients, d_vectors);
        for (size_t i = 0; i < params->floats; i++)
            params->values[i] -= 0.5F * params->gradients[i];
        embedding_bag_compute_gradient(bag, &bags, d_vectors);
        assert_in_range(bag->touched, 1, WORDS);
        embedding_bag_step(bag, 0.1F);
    }
    for (size_t i = 0; i < WORDS; i++) {
        ids[i] = (int64_t)i;
        offsets[i + 1] = i + 1;
        labels[i] = i >= WORDS / 2;
    }
    struct embedding_bags words = {.count = WORDS, .offsets = offsets, .ids = ids};
    embedding_bag_forward(&words, WIDTH, bag->table, vectors);
    network_pack(network);
    const float *logits = network_forward(network, tape, space, vectors, WORDS);
    assert_int_equal(loss_softmax(logits, labels, WORDS, 2, 1, d_logits).right, WORDS);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(embedding_bag_agrees_with_its_reference),
        cmocka_unit_test(gradients_agree_with_finite_differences),
        cmocka_unit_test(invalid_bags_are_rejected),
        cmocka_unit_test(classifier_learns_bags_of_words),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

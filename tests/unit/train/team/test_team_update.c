/* Tests that the threads of a team update the parameters to the same bits as one thread that makes
 * each update separately. It runs enough steps for every kind of state to have an effect. */
#include "random_floats.h"

#include "train/team/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIDE = 8, BATCH = 12, PART = 2, OUT = 112, STEPS = 3, BY_HAND = 0 };

struct run {
    struct params *params;
    struct network *network;
    struct optimizer *optimizer;
    struct team *team;
    struct reducer *reducer; /* makes the sums exact */
};

/* Makes enough parameters for four threads, in entries that do not begin at the bounds of
 * slices. */
static struct run run_new(enum optimizer_kind kind, enum precision precision, int threads)
{
    static struct reducer alone;
    alone = reducer_single();
    struct run run = {.params = params_new(), .reducer = &alone};
    run.network = network_new(run.params, (struct shape){.h = SIDE, .w = SIDE, .c = 1});
    network_set_precision(run.network, precision);
    int x = network_conv(run.network, "conv", NETWORK_INPUT, 16, 3, 1);
    x = network_batch_norm(run.network, "norm", x, true);
    x = network_dense(run.network, "dense1", x, OUT);
    network_dense(run.network, "dense2", x, OUT);
    assert_int_equal(network_finish(run.network, NULL), 0);
    params_initialise(run.params, 5);
    network_pack(run.network);
    run.optimizer = optimizer_new(kind, 0.01f, run.params);
    struct team_options options = {.network = run.network,
                                   .params = run.params,
                                   .samples = BATCH,
                                   .part = PART,
                                   .threads = threads == BY_HAND ? 1 : threads,
                                   .reducer = run.reducer};
    assert_int_equal(team_new(&options, &run.team, NULL), 0);
    return run;
}

static void run_free(struct run *run)
{
    team_free(run->team);
    optimizer_free(run->optimizer);
    network_free(run->network);
    params_free(run->params);
}

/* `outputs` are those of the last step, so that the weights packed before it have an effect. */
static struct run run_steps(enum optimizer_kind kind, enum precision precision, float clip,
                            int threads, const float *inputs, const float *d_outputs,
                            float *outputs)
{
    struct run run = run_new(kind, precision, threads);
    for (uint64_t step = 1; step <= STEPS; step++) {
        struct layer_draw draw = {.step = step};
        assert_int_equal(team_forward(run.team, inputs, &draw, outputs, NULL), 0);
        assert_int_equal(team_backward(run.team, d_outputs, NULL), 0);
        assert_int_equal(team_reduce(run.team, NULL), 0);
        team_learn(run.team);
        if (threads != BY_HAND) {
            team_update(run.team, run.optimizer, clip, step, 0.01f);
            continue;
        }
        optimizer_clip(run.params, clip);
        optimizer_step(run.optimizer, run.params, step, 0.01f);
        network_pack(run.network);
    }
    return run;
}

static void check_threads(enum optimizer_kind kind, enum precision precision, float clip)
{
    struct rand rand;
    rand_init(&rand, 7);
    float *inputs = random_floats(&rand, BATCH * SIDE * SIDE),
          *d_outputs = random_floats(&rand, BATCH * OUT);
    float *outputs = zero_floats(BATCH * OUT), *by_hand = zero_floats(BATCH * OUT);
    struct run one = run_steps(kind, precision, clip, BY_HAND, inputs, d_outputs, by_hand);
    size_t floats = one.params->floats, slots = (size_t)one.optimizer->slot_count * floats;
    for (int threads = 1; threads <= 4; threads++) {
        struct run run = run_steps(kind, precision, clip, threads, inputs, d_outputs, outputs);
        assert_memory_equal(run.params->values, one.params->values, floats * sizeof(float));
        assert_memory_equal(run.optimizer->slots, one.optimizer->slots, slots * sizeof(float));
        assert_memory_equal(outputs, by_hand, BATCH * OUT * sizeof(float));
        run_free(&run);
    }
    run_free(&one);
    free(inputs), free(d_outputs), free(outputs), free(by_hand);
}

static void update_is_bit_identical_for_any_number_of_threads(void **state)
{
    (void)state;
    for (int kind = OPTIMIZER_SGD; kind <= OPTIMIZER_ADAGRAD; kind++) {
        check_threads((enum optimizer_kind)kind, PRECISION_FP32, 0);
        check_threads((enum optimizer_kind)kind, PRECISION_FP32, 0.5f);
    }
    check_threads(OPTIMIZER_ADAM, PRECISION_BF16, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(update_is_bit_identical_for_any_number_of_threads),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

/* Tests the threads of a worker, and several workers: the parts of a batch give the result of the
 * whole batch, also in layers with batch statistics. A failed collective changes nothing. */
#include "../models/thread_reducer.h"
#include "random_floats.h"

#include "train/network/optimizer.h"
#include "train/team/team.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

enum { SIDE = 6, BATCH = 24, PART = 4, OUT = 5 };

struct model {
    struct params *params;
    struct network *network;
};

/* Adds a batch norm, or a bias, which does not depend on the other samples. */
static int add_norm(struct network *network, const char *name, int input, bool wide, bool relu)
{
    return wide ? network_batch_norm(network, name, input, relu)
                : network_bias(network, name, input, relu);
}

static struct model model_new(bool wide)
{
    struct model model = {.params = params_new()};
    model.network = network_new(model.params, (struct shape){.h = SIDE, .w = SIDE, .c = 1});
    struct network *network = model.network;
    int x = network_conv(network, "conv1", NETWORK_INPUT, 16, 3, 1);
    x = add_norm(network, "norm1", x, wide, true);
    int y = network_conv(network, "conv2", x, 16, 3, 1);
    y = add_norm(network, "norm2", y, wide, false);
    x = network_add_relu(network, "add", y, x);
    x = network_dense(network, "dense", x, OUT);
    add_norm(network, "norm3", x, wide, false);
    assert_int_equal(network_finish(network, NULL), 0);
    params_initialise(model.params, 3);
    network_pack(network);
    return model;
}

static void model_free(struct model *model)
{
    network_free(model->network);
    params_free(model->params);
}

struct worker {
    struct thread_reducer reducer;
    struct model model;
    int threads, first, count, share;
    size_t bucket;
    float tail;
    const float *inputs, *d_outputs; /* of the whole batch */
    float *outputs;
    pthread_t thread;
    int result;
};

/* Runs two steps with the same pictures. The gradients of the first step are so small that the
 * quanta chosen from them are too small for the second, whose parts must be added again. */
static void *run_worker(void *argument)
{
    struct worker *worker = argument;
    struct reducer *reducer = &worker->reducer.reducer;
    struct params *params = worker->model.params;
    struct team *team = NULL;
    struct team_options options = {.network = worker->model.network,
                                   .params = params,
                                   .samples = worker->count,
                                   .share_max = worker->share,
                                   .part = PART,
                                   .threads = worker->threads,
                                   .reducer = reducer,
                                   .bucket = worker->bucket};
    size_t first = (size_t)worker->first;
    float *d_outputs = zero_floats(BATCH * OUT);
    worker->result = team_new(&options, &team, NULL);
    for (int step = 0; step < 2 && worker->result == 0; step++) {
        for (int i = 0; i < BATCH * OUT; i++)
            d_outputs[i] = worker->d_outputs[i] * (step ? 1 : 1e-5f);
        worker->result = team_forward(team, worker->inputs + first * SIDE * SIDE,
                                      &(struct layer_draw){.step = 1, .position = first},
                                      worker->outputs + first * OUT, NULL);
        if (worker->result == 0)
            worker->result = team_backward(team, d_outputs + first * OUT, NULL);
        params->gradients[params->floats] = 1; /* the tail */
        if (worker->result == 0)
            worker->result = team_reduce(team, NULL);
        worker->tail = params->gradients[params->floats];
        if (worker->result == 0)
            team_learn(team);
    }
    team_free(team);
    free(d_outputs);
    return NULL;
}

/* Runs all workers, and returns the gradients and values that rank `of` has in the end. */
static void run_workers(int workers, int threads, bool wide, size_t bucket, const float *inputs,
                        const float *d_outputs, float *outputs, int of, float *gradients,
                        float *values)
{
    struct thread_group group = {.size = workers};
    struct worker worker[THREAD_WORKERS_MAX];
    int share = (BATCH + workers - 1) / workers;
    pthread_barrier_init(&group.barrier, NULL, (unsigned)workers);
    for (int i = 0; i < workers; i++) {
        int first = i * share < BATCH ? i * share : BATCH;
        worker[i] = (struct worker){.reducer = thread_reducer(&group, i),
                                    .model = model_new(wide),
                                    .bucket = bucket,
                                    .threads = threads,
                                    .first = first,
                                    .count = BATCH - first < share ? BATCH - first : share,
                                    .share = share,
                                    .inputs = inputs,
                                    .d_outputs = d_outputs,
                                    .outputs = outputs};
        if (bucket)
            send_in_background(&worker[i].reducer);
        assert_int_equal(pthread_create(&worker[i].thread, NULL, run_worker, &worker[i]), 0);
    }
    for (int i = 0; i < workers; i++) {
        pthread_join(worker[i].thread, NULL);
        assert_int_equal(worker[i].result, 0);
        assert_true(worker[i].tail == (float)workers);
        reducer_queue_free(worker[i].reducer.queue);
    }
    struct params *params = worker[of].model.params;
    memcpy(gradients, params->gradients, params->floats * sizeof(float));
    memcpy(values, params->values, params->floats * sizeof(float));
    for (int i = 0; i < workers; i++)
        model_free(&worker[i].model);
    pthread_barrier_destroy(&group.barrier);
}

static void parts_and_workers_agree_with_the_whole_batch(void **state)
{
    struct rand rand;
    rand_init(&rand, 8);
    struct model whole = model_new(true);
    size_t floats = whole.params->floats;
    float *inputs = random_floats(&rand, BATCH * SIDE * SIDE),
          *d_outputs = random_floats(&rand, BATCH * OUT);
    /* The brightness differs between pictures, so that a part has other statistics than the
     * batch. */
    for (int i = 0; i < BATCH * SIDE * SIDE; i++)
        inputs[i] = inputs[i] * (float)(1 + i / SIDE / SIDE % 5) + 0.1f * (float)(i / SIDE / SIDE);
    struct network_tape *tape = network_tape_new(whole.network, BATCH);
    struct network_workspace *workspace = network_workspace_new(whole.network, BATCH);
    network_tape_draw(tape, &(struct layer_draw){.step = 1});
    const float *expected = network_forward(whole.network, tape, workspace, inputs, BATCH);
    params_clear_gradients(whole.params);
    network_backward(whole.network, tape, workspace, d_outputs, whole.params->gradients);

    static const struct {
        int workers, threads;
        bool bits; /* the shares are whole parts, so the bits are the same */
    } runs[] = {{1, 1, true}, {1, 3, true},  {2, 1, true},  {3, 1, true}, {3, 2, true},
                {6, 1, true}, {4, 1, false}, {5, 2, false}, {8, 1, false}};
    float *first_outputs = NULL, *first_gradients = NULL, *first_values = NULL;
    for (size_t i = 0; i < ARRAY_SIZE(runs); i++) {
        float *outputs = zero_floats(BATCH * OUT), *gradients = zero_floats(floats),
              *values = zero_floats(floats);
        run_workers(runs[i].workers, runs[i].threads, true, 0, inputs, d_outputs, outputs,
                    runs[i].workers - 1, gradients, values);
        assert_true(apart(expected, outputs, BATCH * OUT) < 1e-4);
        assert_true(apart(whole.params->gradients, gradients, floats) < 1e-4);
        assert_true(apart(first_values ? first_values : values, values, floats) < 1e-5);
        if (first_outputs && runs[i].bits) {
            assert_memory_equal(first_outputs, outputs, BATCH * OUT * sizeof(float));
            assert_memory_equal(first_gradients, gradients, floats * sizeof(float));
            assert_memory_equal(first_values, values, floats * sizeof(float));
        }
        if (first_outputs) {
            free(outputs), free(gradients), free(values);
        } else {
            first_outputs = outputs;
            first_gradients = gradients;
            first_values = values;
        }
    }
    /* The running statistics have changed. */
    assert_true(apart(whole.params->values, first_values, floats) > 1e-3);
    free(first_outputs), free(first_gradients), free(first_values);
    free(inputs), free(d_outputs);
    network_tape_free(tape);
    network_workspace_free(workspace);
    model_free(&whole);
}

/* Gradients that are sent while others are computed give the same sums as gradients that are sent
 * at the end. */
static void gradients_sent_in_background_give_the_same_sums(void **state)
{
    struct rand rand;
    rand_init(&rand, 10);
    struct model model = model_new(false);
    size_t floats = model.params->floats;
    float *inputs = random_floats(&rand, BATCH * SIDE * SIDE),
          *d_outputs = random_floats(&rand, BATCH * OUT), *outputs = zero_floats(BATCH * OUT),
          *at_the_end = zero_floats(floats), *on_the_way = zero_floats(floats),
          *values = zero_floats(floats);
    /* The last is larger than all gradients. */
    static const size_t buckets[] = {1, 300, 2000, 1 << 20};
    for (int workers = 1; workers <= 3; workers++) {
        run_workers(workers, 2, false, 0, inputs, d_outputs, outputs, 0, at_the_end, values);
        for (size_t i = 0; i < ARRAY_SIZE(buckets); i++) {
            run_workers(workers, 1 + (int)i % 2, false, buckets[i], inputs, d_outputs, outputs,
                        workers - 1, on_the_way, values);
            assert_memory_equal(at_the_end, on_the_way, floats * sizeof(float));
        }
    }
    free(inputs), free(d_outputs), free(outputs);
    free(at_the_end), free(on_the_way), free(values);
    model_free(&model);
}

/* One of two workers. The other one stops answering after some calls. */
struct breaking_reducer {
    struct reducer reducer;
    int gathers_left;
};

static int breaking_allgather(struct reducer *reducer, const float *own, size_t count, float *all,
                              struct err *err)
{
    struct breaking_reducer *self = CONTAINER_OF(reducer, struct breaking_reducer, reducer);
    if (self->gathers_left-- == 0)
        return err_set(err, ERR_UNAVAILABLE, "worker 1 is gone");
    memcpy(all, own, count * sizeof(*all));
    memcpy(all + count, own, count * sizeof(*all));
    return 0;
}

static int doubling_allreduce(struct reducer *reducer, float *data, size_t count, struct err *err)
{
    for (size_t i = 0; i < count; i++)
        data[i] *= 2;
    return 0;
}

static void failed_collective_changes_no_parameters(void **state)
{
    struct rand rand;
    rand_init(&rand, 9);
    float *inputs = random_floats(&rand, BATCH * SIDE * SIDE),
          *d_outputs = random_floats(&rand, BATCH * OUT), *outputs = zero_floats(BATCH * OUT);
    /* Three calls for the norms forward, three backward, one for the parts. In a first step
     * nothing is known about the parts, so the last four calls are made again. */
    enum { FORWARD = 3, BACK = 6, ALL = 11 };
    for (int fails = 0; fails <= ALL; fails++) {
        struct model model = model_new(true);
        float *before = zero_floats(model.params->floats);
        memcpy(before, model.params->values, model.params->floats * sizeof(float));
        struct breaking_reducer reducer = {.reducer = {.size = 2,
                                                       .allreduce = doubling_allreduce,
                                                       .allgather = breaking_allgather},
                                           .gathers_left = fails};
        struct team_options options = {.network = model.network,
                                       .params = model.params,
                                       .samples = BATCH,
                                       .share_max = BATCH,
                                       .part = PART,
                                       .threads = 2,
                                       .reducer = &reducer.reducer};
        struct team *team = NULL;
        struct err err = ERR_INIT;
        assert_int_equal(team_new(&options, &team, NULL), 0);
        int result = team_forward(team, inputs, &(struct layer_draw){.step = 1}, outputs, &err);
        assert_int_equal(result, fails < FORWARD ? -ERR_UNAVAILABLE : 0);
        if (result == 0)
            result = team_backward(team, d_outputs, &err);
        assert_int_equal(result, fails < BACK ? -ERR_UNAVAILABLE : 0);
        if (result == 0)
            result = team_reduce(team, &err);
        assert_int_equal(result, fails < ALL ? -ERR_UNAVAILABLE : 0);
        size_t learned;
        for (const float *quantum = team_learned(team, &learned); learned--; quantum++)
            assert_true(result == 0 || *quantum == 0);
        if (result < 0)
            assert_string_equal(err.message, "worker 1 is gone");
        assert_memory_equal(before, model.params->values, model.params->floats * sizeof(float));
        if (result == 0)
            team_learn(team);
        assert_int_equal(
            memcmp(before, model.params->values, model.params->floats * sizeof(float)) != 0,
            result == 0);
        team_free(team);
        free(before);
        model_free(&model);
    }
    free(inputs), free(d_outputs), free(outputs);
}

static struct model one_channel_model(void)
{
    struct model model = {.params = params_new()};
    model.network = network_new(model.params, (struct shape){.h = 1, .w = 1, .c = 1});
    int x = network_dense(model.network, "same", NETWORK_INPUT, 1);
    network_batch_norm(model.network, "norm", x, false);
    assert_int_equal(network_finish(model.network, NULL), 0);
    params_initialise(model.params, 1);
    *params_value(model.params, 0) = 1; /* weight; the bias is 0 */
    network_pack(model.network);
    return model;
}

/* The running statistics are those of PyTorch: momentum 0.1, and the unbiased variance. */
static void running_statistics_follow_the_batches(void **state)
{
    struct model model = one_channel_model();
    struct params *params = model.params;
    enum { SCALE = 2, SHIFT, MEAN, VARIANCE };
    struct optimizer *optimizer = optimizer_new(OPTIMIZER_ADAM, 0.5f, params);
    float inputs[] = {0, 2}, outputs[2], d_outputs[] = {1, -2};
    struct team *team = NULL;
    struct team_options options = {
        .network = model.network, .params = params, .samples = 2, .part = 1, .threads = 1};
    assert_int_equal(team_new(&options, &team, NULL), 0);
    assert_int_equal(team_forward(team, inputs, &(struct layer_draw){.step = 1}, outputs, NULL), 0);
    assert_true(fabsf(outputs[0] + 1) < 1e-4f && fabsf(outputs[1] - 1) < 1e-4f);
    assert_int_equal(team_backward(team, d_outputs, NULL), 0);
    assert_true(*params_value(params, MEAN) == 0 && *params_value(params, VARIANCE) == 1);
    team_learn(team);
    assert_true(fabsf(*params_value(params, MEAN) - 0.1f) < 1e-6f);
    assert_true(fabsf(*params_value(params, VARIANCE) - 1.1f) < 1e-6f);
    assert_true(*params_gradient(params, MEAN) == 0 && *params_gradient(params, VARIANCE) == 0);
    *params_gradient(params, MEAN) = 5; /* no code writes or reads this gradient */
    optimizer_step(optimizer, params, 1, 0.1f);
    assert_true(fabsf(*params_value(params, MEAN) - 0.1f) < 1e-6f);
    assert_true(fabsf(*params_value(params, VARIANCE) - 1.1f) < 1e-6f);
    assert_int_equal(params_trainable(params), 4);

    *params_value(params, SCALE) = 2;
    *params_value(params, SHIFT) = 0.5f;
    *params_value(params, 0) = 1;
    *params_value(params, 1) = 0;
    network_pack(model.network);
    struct network_tape *tape = network_tape_new(model.network, 2);
    struct network_workspace *workspace = network_workspace_new(model.network, 2);
    const float *served = network_forward(model.network, tape, workspace, inputs, 2);
    for (int i = 0; i < 2; i++)
        assert_true(fabsf(served[i] - (0.5f + 2 * (inputs[i] - 0.1f) / sqrtf(1.1f + 1e-5f))) <
                    1e-5f);
    network_tape_free(tape);
    network_workspace_free(workspace);
    team_free(team);
    optimizer_free(optimizer);
    model_free(&model);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parts_and_workers_agree_with_the_whole_batch),
        cmocka_unit_test(gradients_sent_in_background_give_the_same_sums),
        cmocka_unit_test(failed_collective_changes_no_parameters),
        cmocka_unit_test(running_statistics_follow_the_batches),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}

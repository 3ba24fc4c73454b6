/* Implements the optimizers and learning-rate schedules; see optimizer.h. */
#include "train/network/optimizer.h"

#include "base/mem.h"

#include <math.h>

struct optimizer *optimizer_new(enum optimizer_kind kind, float weight_decay,
                                const struct params *params)
{
    struct optimizer *optimizer = mem_zalloc(sizeof(*optimizer));
    *optimizer = (struct optimizer){
        .kind = kind,
        .momentum = 0.9f,
        .decay_square = 0.999f,
        .epsilon = 1e-8f,
        .weight_decay = weight_decay,
        .slot_count = kind == OPTIMIZER_ADAM ? 2 : 1,
        .floats = params->floats,
    };
    optimizer->slots = mem_calloc((size_t)optimizer->slot_count * params->floats, sizeof(float));
    if (kind == OPTIMIZER_ADAGRAD)
        for (size_t i = 0; i < params->floats; i++)
            optimizer->slots[i] = OPTIMIZER_ADAGRAD_START;
    return optimizer;
}

struct optimizer *optimizer_free(struct optimizer *optimizer)
{
    if (!optimizer)
        return NULL;
    free(optimizer->slots);
    free(optimizer);
    return NULL;
}

const char *optimizer_name(enum optimizer_kind kind)
{
    return kind == OPTIMIZER_ADAM ? "adam" : kind == OPTIMIZER_ADAGRAD ? "adagrad" : "sgd";
}

static void step_sgd(const struct optimizer *o, float rate, float decay, size_t count,
                     float *restrict value, const float *restrict gradient,
                     float *restrict velocity)
{
    for (size_t i = 0; i < count; i++) {
        velocity[i] = o->momentum * velocity[i] + gradient[i] + decay * value[i];
        value[i] -= rate * velocity[i];
    }
}

static void step_adagrad(float rate, float decay, size_t count, float *restrict value,
                         const float *restrict gradient, float *restrict square)
{
    for (size_t i = 0; i < count; i++) {
        float slope = gradient[i] + decay * value[i];
        square[i] += slope * slope;
        value[i] -= rate * slope / sqrtf(square[i]);
    }
}

static void step_adam(const struct optimizer *o, uint64_t step, float rate, float decay,
                      size_t count, float *restrict value, const float *restrict gradient,
                      float *restrict mean, float *restrict square)
{
    float first = o->momentum, second = o->decay_square, epsilon = o->epsilon;
    float mean_factor = (float)(1 / (1 - pow((double)first, (double)step)));
    float square_factor = (float)(1 / (1 - pow((double)second, (double)step)));
    for (size_t i = 0; i < count; i++) {
        mean[i] = first * mean[i] + (1 - first) * gradient[i];
        square[i] = second * square[i] + (1 - second) * gradient[i] * gradient[i];
        value[i] -= rate * (mean[i] * mean_factor / (sqrtf(square[i] * square_factor) + epsilon) +
                            decay * value[i]);
    }
}

void optimizer_step_slice(struct optimizer *optimizer, struct params *params, uint64_t step,
                          float rate, size_t first, size_t last)
{
    for (size_t i = 0; i < params->count; i++) {
        const struct param *entry = &params->entries[i];
        size_t end = entry->offset + entry->count;
        size_t from = entry->offset > first ? entry->offset : first, to = end < last ? end : last;
        if (from >= to || !param_is_trained(entry))
            continue;
        bool weights = entry->start == PARAM_HE || entry->start == PARAM_XAVIER;
        float decay = weights ? optimizer->weight_decay : 0;
        float *value = params->values + from, *slot = optimizer->slots + from;
        const float *gradient = params->gradients + from;
        if (optimizer->kind == OPTIMIZER_ADAM)
            step_adam(optimizer, step, rate, decay, to - from, value, gradient, slot,
                      slot + optimizer->floats);
        else if (optimizer->kind == OPTIMIZER_ADAGRAD)
            step_adagrad(rate, decay, to - from, value, gradient, slot);
        else
            step_sgd(optimizer, rate, decay, to - from, value, gradient, slot);
    }
}

void optimizer_step(struct optimizer *optimizer, struct params *params, uint64_t step, float rate)
{
    optimizer_step_slice(optimizer, params, step, rate, 0, params->floats);
}

/* Uses eight independent sums in a fixed order, so that the result is the same on every
 * processor. */
static double square_sum(const float *x, size_t count)
{
    double sum[8] = {0}, total = 0;
    size_t i = 0;
    for (; i + 8 <= count; i += 8)
        for (size_t j = 0; j < 8; j++)
            sum[j] += (double)x[i + j] * (double)x[i + j];
    for (; i < count; i++)
        total += (double)x[i] * (double)x[i];
    for (size_t j = 0; j < 8; j++)
        total += sum[j];
    return total;
}

double optimizer_clip(struct params *params, float max_norm)
{
    double square = 0;
    for (size_t i = 0; max_norm > 0 && i < params->count; i++)
        if (param_is_trained(&params->entries[i]))
            square += square_sum(params_gradient(params, i), params->entries[i].count);
    double length = sqrt(square);
    if (!(length > (double)max_norm) || !isfinite(length))
        return length;
    float factor = (float)((double)max_norm / length);
    for (size_t i = 0; i < params->count; i++) {
        float *gradient = params_gradient(params, i);
        for (size_t j = 0; j < params->entries[i].count; j++)
            gradient[j] *= factor;
    }
    return length;
}

int optimizer_clip_check(float max_norm, struct err *err)
{
    if (max_norm >= 0 && isfinite(max_norm))
        return 0;
    return err_set(
        err, ERR_INVALID,
        "the largest norm of the gradient is %g, but must be a positive number, or 0 for no limit",
        (double)max_norm);
}

float optimizer_schedule_rate(const struct schedule *schedule, uint64_t step)
{
    if (step <= schedule->warm_up)
        return schedule->rate * (float)step / (float)schedule->warm_up;
    if (schedule->kind == SCHEDULE_CONSTANT || schedule->steps <= schedule->warm_up)
        return schedule->rate;
    double done =
        (double)(step - schedule->warm_up) / (double)(schedule->steps - schedule->warm_up);
    double floor = 0.01;
    return schedule->rate * (float)(floor + (1 - floor) * (0.5 + 0.5 * cos(M_PI * fmin(done, 1))));
}

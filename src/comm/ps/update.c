/* Implements the update rules; see update.h. The compiler vectorizes the loops for several
 * instruction sets (base/widest.h). */
#include "comm/ps/update.h"

#include "base/widest.h"

#include <math.h>
#include <string.h>

int ps_update_check(const struct ps_update *update, struct err *err)
{
    if (update->rule != PS_SGD && update->rule != PS_ADAGRAD)
        return err_set(err, ERR_INVALID, "unknown update rule %d: expected SGD or Adagrad",
                       (int)update->rule);
    if (update->rule == PS_ADAGRAD && !(update->accumulator > 0 && isfinite(update->accumulator)))
        return err_set(err, ERR_INVALID,
                       "the initial accumulator of Adagrad is %g, but it must be a finite number "
                       "greater than 0",
                       (double)update->accumulator);
    return 0;
}

bool ps_update_equal(const struct ps_update *a, const struct ps_update *b)
{
    return a->rule == b->rule && (a->rule == PS_SGD || a->accumulator == b->accumulator);
}

size_t ps_update_state_count(const struct ps_update *update, size_t count)
{
    return update->rule == PS_ADAGRAD ? count : 0;
}

void ps_update_init(const struct ps_update *update, float *state, size_t count)
{
    for (size_t i = 0; i < ps_update_state_count(update, count); i++)
        state[i] = update->accumulator;
}

WIDEST static void update_sgd(float *restrict values, const float *restrict gradient, size_t count,
                              float rate)
{
    for (size_t i = 0; i < count; i++)
        values[i] -= rate * gradient[i];
}

WIDEST static void update_adagrad(float *restrict values, float *restrict sums,
                                  const float *restrict gradient, size_t count, float rate)
{
    for (size_t i = 0; i < count; i++) {
        float g = gradient[i], sum = sums[i] + g * g;
        sums[i] = sum;
        values[i] -= rate * g / sqrtf(sum);
    }
}

void ps_update_apply(const struct ps_update *update, float *values, float *state,
                     const float *gradient, size_t count, float rate)
{
    if (update->rule == PS_ADAGRAD)
        update_adagrad(values, state, gradient, count, rate);
    else
        update_sgd(values, gradient, count, rate);
}

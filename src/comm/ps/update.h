/* The inner loops of the update rules of ps.h, for dense ranges and for rows. `state` is the
 * optimizer state of the values. */
#ifndef TRAINYARD_COMM_PS_UPDATE_H
#define TRAINYARD_COMM_PS_UPDATE_H

#include "comm/ps/ps.h"

int ps_update_check(const struct ps_update *update, struct err *err);
bool ps_update_equal(const struct ps_update *a, const struct ps_update *b);

/* Returns the number of floats in the state of `count` values. */
size_t ps_update_state(const struct ps_update *update, size_t count);
void ps_update_init(const struct ps_update *update, float *state, size_t count);
void ps_update_apply(const struct ps_update *update, float *values, float *state,
                     const float *gradient, size_t count, float rate);

#endif

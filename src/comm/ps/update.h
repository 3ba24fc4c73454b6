/* The update rules of ps.h as inner loops, for dense ranges and for rows. `state` has the floats
 * that the rule keeps per value. */
#ifndef TRAINYARD_COMM_PS_UPDATE_H
#define TRAINYARD_COMM_PS_UPDATE_H

#include "comm/ps/ps.h"

int ps_update_check(const struct ps_update *update, struct err *err);
bool ps_update_equal(const struct ps_update *a, const struct ps_update *b);

/* The number of floats of state for `count` values. */
size_t ps_update_state(const struct ps_update *update, size_t count);
void ps_update_init(const struct ps_update *update, float *state, size_t count);
void ps_update_apply(const struct ps_update *update, float *values, float *state,
                     const float *gradient, size_t count, float rate);

#endif

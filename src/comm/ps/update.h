/* The update rules of ps.h (SGD and Adagrad) as loops over values, for dense ranges and for rows.
 * `state` is the optimizer state of the values. Called by ps_store, embedding_table, the snapshots
 * and client*.c. */
#ifndef TRAINYARD_COMM_PS_UPDATE_H
#define TRAINYARD_COMM_PS_UPDATE_H

#include "comm/ps/ps.h"

/* Fails with ERR_INVALID if the rule is unknown or its accumulator is invalid. */
int ps_update_check(const struct ps_update *update, struct err *err);
bool ps_update_equal(const struct ps_update *a, const struct ps_update *b);

/* Returns the number of floats in the state of `count` values. */
size_t ps_update_state_count(const struct ps_update *update, size_t count);
/* Sets the initial state of `count` values. */
void ps_update_init(const struct ps_update *update, float *state, size_t count);
/* Applies one gradient to `count` values and to their state. With SGD `state` is not used and may
 * be NULL. */
void ps_update_apply(const struct ps_update *update, float *values, float *state,
                     const float *gradient, size_t count, float rate);

#endif

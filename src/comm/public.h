/* Converts struct err to the error object of <trainyard/error.h>. Included by public*.c only. */
#ifndef TRAINYARD_COMM_PUBLIC_H
#define TRAINYARD_COMM_PUBLIC_H

#include "base/err.h"

#include <trainyard/error.h>

/* Returns 0 if `result` is 0. Otherwise fills `error`, which may be NULL, and returns the negative
 * public code of `err`. */
int comm_public_answer(int result, const struct err *err, struct ty_error *error);

#endif

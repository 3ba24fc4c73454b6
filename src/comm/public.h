/* Converts results of struct err to those of <trainyard/error.h>. Included by public*.c only. */
#ifndef TRAINYARD_COMM_PUBLIC_H
#define TRAINYARD_COMM_PUBLIC_H

#include "base/err.h"

#include <trainyard/error.h>

/* Returns 0, or the negative public code of `err` and fills `error`, which may be NULL. */
int comm_public_answer(int result, const struct err *err, struct ty_error *error);

#endif

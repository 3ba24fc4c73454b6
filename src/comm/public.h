/* How inner results become public ones. Included by public*.c only. */
#ifndef TRAINYARD_COMM_PUBLIC_H
#define TRAINYARD_COMM_PUBLIC_H

#include "base/err.h"

#include <trainyard/error.h>

/* The result of an inner call as a public one; `error` may be NULL. */
int comm_public_answer(int result, const struct err *err, struct ty_error *error);

#endif

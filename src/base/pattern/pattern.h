/* Regular expressions in the syntax of Go and RE2. The only query is whether the text has a match
 * anywhere. All alternatives are followed in parallel, so the time is at most proportional to the
 * size of the expression times the size of the text, for any input. Look-around and back references
 * do not exist in this syntax. Pure and fuzzed, because both the expression and the text come from
 * users. */
#ifndef TRAINYARD_BASE_PATTERN_PATTERN_H
#define TRAINYARD_BASE_PATTERN_PATTERN_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PATTERN_REPEAT_MAX = 1000,   /* largest N and M in a{N,M}, as in RE2 */
    PATTERN_DEPTH_MAX = 100,     /* nested groups */
    PATTERN_PROGRAM_MAX = 10000, /* steps of a compiled expression, with repetitions expanded */
};

struct pattern;

/* Compiles into the arena. Returns -ERR_BAD_REQUEST with Go's message ("missing closing ): `(`"),
 * or -ERR_UNSUPPORTED for Unicode classes (\pL), which Go has and this file has not. */
int pattern_compile(struct arena *arena, const char *expression, const struct pattern **ret,
                    struct err *err);

/* Sets *ret to whether the text has a match. Returns -ERR_TOO_LARGE if the text is too long for an
 * expression of this size. */
int pattern_find(const struct pattern *pattern, const char *text, size_t size, bool *ret,
                 struct err *err);

#endif

/* Regular expressions in the syntax of Go and RE2, for the schemas of CRDs. The flag i ignores the
 * case of ASCII letters only. The only query is whether the text contains a match. All alternatives
 * are followed in parallel, so for any input the time is at most proportional to the number of
 * steps of the compiled expression times the size of the text. The syntax has no look-around and no
 * back references. The code is fuzzed, because both the expression and the text come from users. */
#ifndef TRAINYARD_BASE_PATTERN_PATTERN_H
#define TRAINYARD_BASE_PATTERN_PATTERN_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PATTERN_REPEAT_MAX = 1000,   /* largest N or M in a{N,M}, as in RE2 */
    PATTERN_DEPTH_MAX = 100,     /* nested groups */
    PATTERN_PROGRAM_MAX = 10000, /* steps of a compiled expression, with repetitions expanded */
};

struct pattern;

/* Compiles the expression into the arena. Returns 0, -ERR_BAD_REQUEST with the same message as Go
 * ("missing closing ): `(`"), or -ERR_UNSUPPORTED for \p, \P (Unicode classes) and \Q, which Go
 * supports but this parser does not. */
int pattern_compile(struct arena *arena, const char *expression, const struct pattern **ret,
                    struct err *err);

/* Sets *ret to true if the text contains a match, else to false. Returns 0, or -ERR_TOO_LARGE if a
 * fixed amount of work gave no result. */
int pattern_find(const struct pattern *pattern, const char *text, size_t size, bool *ret,
                 struct err *err);

#endif

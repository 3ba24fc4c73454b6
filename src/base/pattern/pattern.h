/* Regular expressions as Go and RE2 write them, asked one thing only: is there a match anywhere in
 * the text? All possibilities are followed side by side, so the time is bounded by the size of the
 * expression times that of the text, whatever anybody writes; look-around and references back are
 * not in the language. Pure and fuzzed: both sides come from outside. */
#ifndef TRAINYARD_BASE_PATTERN_H
#define TRAINYARD_BASE_PATTERN_H

#include "base/arena.h"
#include "base/err.h"

#include <stdbool.h>
#include <stddef.h>

enum {
    PATTERN_REPEAT_MAX = 1000,   /* in a{N,M}, as in RE2 */
    PATTERN_DEPTH_MAX = 100,     /* of groups in groups */
    PATTERN_PROGRAM_MAX = 10000, /* steps an expression may take, written out */
};

struct pattern;

/* In the arena. ERR_BAD_REQUEST in Go's words ("missing closing ): `(`"), or ERR_UNSUPPORTED for
 * what Go has and this has not (classes of Unicode: \pL). */
int pattern_compile(struct arena *arena, const char *expression, const struct pattern **ret,
                    struct err *err);

/* ERR_TOO_LARGE where the text is too long to be looked at with such an expression. */
int pattern_find(const struct pattern *pattern, const char *text, size_t size, bool *ret,
                 struct err *err);

#endif

/* What an expression becomes: the steps a match takes. Between pattern_parse.c, which makes them,
 * and pattern.c, which follows them. */
#ifndef TRAINYARD_BASE_PATTERN_PROGRAM_H
#define TRAINYARD_BASE_PATTERN_PROGRAM_H

#include "base/pattern/pattern.h"

#include <stdint.h>

struct pattern_range {
    uint32_t first, last;
};

/* Sorted ranges of characters that do not touch. */
struct pattern_set {
    const struct pattern_range *ranges;
    size_t count;
};

enum pattern_op {
    OP_SET,   /* one character of `set`, then the next step */
    OP_SPLIT, /* go on at `a` and at `b` */
    OP_JUMP,  /* go on at `a` */
    OP_TEXT_BEGIN,
    OP_TEXT_END,
    OP_LINE_BEGIN,
    OP_LINE_END,
    OP_WORD_EDGE,
    OP_NO_WORD_EDGE,
    OP_FOUND,
};

struct pattern_step {
    enum pattern_op op;
    uint32_t a, b;
    struct pattern_set set;
};

struct pattern {
    const struct pattern_step *steps;
    size_t count;
};

#endif

/* A compiled expression: an array of steps. steps.c creates the steps, and pattern.c executes
 * them. */
#ifndef TRAINYARD_BASE_PATTERN_PROGRAM_H
#define TRAINYARD_BASE_PATTERN_PROGRAM_H

#include "base/pattern/pattern.h"

#include <stdint.h>

struct pattern_range {
    uint32_t first, last;
};

/* A set of characters, as sorted ranges with gaps between them. */
struct pattern_set {
    const struct pattern_range *ranges;
    size_t count;
};

enum pattern_op {
    OP_SET,   /* match one character of `set`, then continue with the next step */
    OP_SPLIT, /* continue at `a` and at `b` */
    OP_JUMP,  /* continue at `a` */
    /* Assertions: continue with the next step if the assertion is true at this position. */
    OP_TEXT_BEGIN,
    OP_TEXT_END,
    OP_LINE_BEGIN,
    OP_LINE_END,
    OP_WORD_BOUNDARY,
    OP_NO_WORD_BOUNDARY,
    OP_FOUND, /* the text contains a match */
};

struct pattern_step {
    enum pattern_op op;
    uint32_t a, b;          /* for OP_SPLIT and OP_JUMP: indices of steps */
    struct pattern_set set; /* for OP_SET */
};

struct pattern {
    const struct pattern_step *steps;
    size_t count;
};

#endif

/* Between the files that make an expression into steps: sets of characters (pattern_set.c), the
 * tree (pattern_parse.c), the steps (pattern_steps.c). A tree comes first, since what is repeated
 * so many times is written out so many times. */
#ifndef TRAINYARD_BASE_PATTERN_TREE_H
#define TRAINYARD_BASE_PATTERN_TREE_H

#include "base/pattern/program.h"
#include "base/vec.h"

enum { PATTERN_CHARACTER_MAX = 0x10ffff, PATTERN_UNLIMITED = -1 };

/* ---- A set in the making; pattern_set_finish() ends it, pattern_set_drop() gives it up. */
struct pattern_set_builder {
    VEC(struct pattern_range) ranges;
};
void pattern_set_add(struct pattern_set_builder *set, uint32_t first, uint32_t last);
/* ASCII letters in the other case, too. */
void pattern_set_add_other_case(struct pattern_set_builder *set);
/* \d, \s, \w and, in capitals, all others; false: no such class. */
bool pattern_set_add_perl(struct arena *arena, struct pattern_set_builder *set, char letter);
/* "[:alpha:]" at `text`: behind it, or NULL for none that is known. */
const char *pattern_set_add_named(struct arena *arena, struct pattern_set_builder *set,
                                  const char *text);
/* Sorted, what overlaps or touches made one; then the others, if these are the ones it has not. */
struct pattern_set pattern_set_finish(struct arena *arena, struct pattern_set_builder *set,
                                      bool negated);
void pattern_set_drop(struct pattern_set_builder *set);

/* ---- The tree. */
enum pattern_node_type { NODE_EMPTY, NODE_SET, NODE_EDGE, NODE_BOTH, NODE_EITHER, NODE_REPEAT };

struct pattern_node {
    enum pattern_node_type type;
    struct pattern_set set; /* of NODE_SET */
    enum pattern_op edge;   /* of NODE_EDGE */
    const struct pattern_node *left,
        *right;   /* of NODE_BOTH and NODE_EITHER; left: of NODE_REPEAT */
    int min, max; /* of NODE_REPEAT; PATTERN_UNLIMITED */
};

int pattern_parse(struct arena *arena, const char *expression, const struct pattern_node **ret,
                  struct err *err);

#endif

/* Declarations for the files that compile an expression: set.c builds sets of characters, parse.c
 * the syntax tree, and steps.c the steps. A tree is needed because a repetition a{N} becomes N
 * copies of the steps of a. */
#ifndef TRAINYARD_BASE_PATTERN_TREE_H
#define TRAINYARD_BASE_PATTERN_TREE_H

#include "base/pattern/program.h"
#include "base/vec.h"

enum { PATTERN_CHARACTER_MAX = 0x10ffff, PATTERN_UNLIMITED = -1 };

/* ---- A set under construction. pattern_set_finish() and pattern_set_drop() free it. */
struct pattern_set_builder {
    VEC(struct pattern_range) ranges;
};
void pattern_set_add(struct pattern_set_builder *set, uint32_t first, uint32_t last);
/* Adds the upper or lower case form of each ASCII letter in the set. */
void pattern_set_add_other_case(struct pattern_set_builder *set);
/* Adds the class \d, \s or \w, or its complement for a capital letter. Returns false for any other
 * letter. */
bool pattern_set_add_perl(struct arena *arena, struct pattern_set_builder *set, char letter);
/* Adds the class whose name starts at `text` ("[:alpha:]"). Returns a pointer to the text after the
 * name, or NULL if there is no such class. */
const char *pattern_set_add_named(struct arena *arena, struct pattern_set_builder *set,
                                  const char *text);
/* Returns the set, or its complement if `negated`, with sorted and merged ranges. */
struct pattern_set pattern_set_finish(struct arena *arena, struct pattern_set_builder *set,
                                      bool negated);
void pattern_set_drop(struct pattern_set_builder *set);

/* ---- The tree. */
enum pattern_node_type {
    NODE_EMPTY,         /* matches the empty text */
    NODE_SET,           /* matches one character of `set` */
    NODE_ASSERTION,     /* matches the empty text where `assertion` is true */
    NODE_CONCATENATION, /* matches `left`, then `right` */
    NODE_ALTERNATION,   /* matches `left` or `right` */
    NODE_REPEAT,        /* matches `left` from `min` to `max` times */
};

struct pattern_node {
    enum pattern_node_type type;
    struct pattern_set set;
    enum pattern_op assertion;
    /* For NODE_CONCATENATION and NODE_ALTERNATION; NODE_REPEAT uses `left` only. */
    const struct pattern_node *left, *right;
    int min, max; /* max may be PATTERN_UNLIMITED */
};

/* Parses the expression into a tree in the arena. Returns like pattern_compile(). */
int pattern_parse(struct arena *arena, const char *expression, const struct pattern_node **ret,
                  struct err *err);

#endif

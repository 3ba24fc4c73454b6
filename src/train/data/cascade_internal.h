/* The parts of a cascade. cascade_read.c reads them, and cascade.c evaluates them. */
#ifndef TRAINYARD_TRAIN_DATA_CASCADE_INTERNAL_H
#define TRAINYARD_TRAIN_DATA_CASCADE_INTERNAL_H

#include "base/vec.h"
#include "train/data/cascade.h"

enum {
    CASCADE_RECTANGLES = 3, /* largest number of rectangles per feature */
    CASCADE_SUBSET = 8,     /* 32-bit words in a set of the 256 patterns */
};

struct cascade_rectangle {
    int x, y, width, height;
    float weight;
};

struct cascade_feature {
    /* number of rectangles; a local binary pattern uses only the first one, as its upper left
     * cell */
    int count;
    struct cascade_rectangle rectangles[CASCADE_RECTANGLES];
};

/* A node of a tree leads to `left` or to `right`. A positive value is the index of a later node of
 * the tree. Any other value is the negated index of a leaf of the tree. Both indices count from the
 * first node or leaf of the tree. */
struct cascade_node {
    int left, right;
    int feature;     /* index in the features of the cascade */
    float threshold; /* Haar features: go left if the scaled feature is less than this */
    /* local binary patterns: a set of 256 bits; go left if the bit with the number of the pattern
     * is set */
    uint32_t subset[CASCADE_SUBSET];
};

/* The nodes and leaves of a tree, as ranges in the lists of the cascade. */
struct cascade_tree {
    uint32_t first_node, node_count;
    uint32_t first_leaf, leaf_count;
};

/* A window passes a stage if the leaves that its trees reach add up to at least `threshold`, less a
 * tolerance for rounding (cascade.c). */
struct cascade_stage {
    uint32_t first_tree, tree_count;
    float threshold;
};

struct cascade {
    bool patterns;     /* the features are local binary patterns, not Haar features */
    int width, height; /* of the window, in pixels */
    VEC(struct cascade_stage) stages;
    VEC(struct cascade_tree) trees;
    VEC(struct cascade_node) nodes;
    VEC(float) leaves;
    VEC(struct cascade_feature) features;
};

#endif

/* The parts of a cascade: cascade_read.c fills them, cascade.c evaluates them. */
#ifndef TRAINYARD_TRAIN_DATA_CASCADE_INTERNAL_H
#define TRAINYARD_TRAIN_DATA_CASCADE_INTERNAL_H

#include "base/vec.h"
#include "train/data/cascade.h"

enum { CASCADE_RECTANGLES = 3, CASCADE_SUBSET = 8 };

struct cascade_rectangle {
    int x, y, width, height;
    float weight;
};

struct cascade_feature {
    /* number of rectangles; 1 for a local binary pattern, whose rectangle is the upper left cell */
    int count;
    struct cascade_rectangle rectangles[CASCADE_RECTANGLES];
};

/* If `left` or `right` is positive, it is the index of a later node of the tree. Otherwise its
 * negative is the index of a leaf of the tree. Both indices count from the first node or leaf of
 * the tree. */
struct cascade_node {
    int left, right;
    int feature;
    float threshold; /* Haar: go left if the feature is below it */
    /* local binary patterns: go left if this set of bits has the pattern */
    uint32_t subset[CASCADE_SUBSET];
};

struct cascade_tree {
    uint32_t node, nodes, leaf, leaves;
};

struct cascade_stage {
    uint32_t tree, trees;
    float threshold;
};

struct cascade {
    bool patterns; /* local binary patterns instead of Haar features */
    int width, height;
    VEC(struct cascade_stage) stages;
    VEC(struct cascade_tree) trees;
    VEC(struct cascade_node) nodes;
    VEC(float) leaves;
    VEC(struct cascade_feature) features;
};

#endif

/* What a cascade is made of: cascade_read.c fills it, cascade.c runs it. */
#ifndef TRAINYARD_TRAIN_CASCADE_INTERNAL_H
#define TRAINYARD_TRAIN_CASCADE_INTERNAL_H

#include "base/vec.h"
#include "train/data/cascade.h"

enum { CASCADE_RECTANGLES = 3, CASCADE_SUBSET = 8 };

struct cascade_rectangle {
    int x, y, width, height;
    float weight;
};

struct cascade_feature {
    int count; /* of rectangles; the one of a pattern is its first cell */
    struct cascade_rectangle rectangles[CASCADE_RECTANGLES];
};

/* Where a node leads: to a later node of its tree if positive, else to leaf -value. */
struct cascade_node {
    int left, right;
    int feature;
    float threshold;                 /* Haar: left below it */
    uint32_t subset[CASCADE_SUBSET]; /* patterns: left for those in it */
};

struct cascade_tree {
    uint32_t node, nodes, leaf, leaves;
};

struct cascade_stage {
    uint32_t tree, trees;
    float threshold;
};

struct cascade {
    bool patterns; /* local binary patterns, not Haar */
    int width, height;
    VEC(struct cascade_stage) stages;
    VEC(struct cascade_tree) trees;
    VEC(struct cascade_node) nodes;
    VEC(float) leaves;
    VEC(struct cascade_feature) features;
};

#endif

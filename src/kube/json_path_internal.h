/* The parsed form of a path. json_path_parse.c makes it, and json_path.c evaluates it. */
#ifndef TRAINYARD_KUBE_JSON_PATH_INTERNAL_H
#define TRAINYARD_KUBE_JSON_PATH_INTERNAL_H

#include "kube/json_path.h"

enum json_path_step_type {
    STEP_NAME,   /* the member of that name */
    STEP_ALL,    /* every member or element */
    STEP_SLICE,  /* one element of a list, or a range of elements */
    STEP_FILTER, /* the members or elements for which a comparison holds */
    STEP_DEEP,   /* the members of that name at any depth */
};

enum json_path_comparison {
    COMPARE_EXISTS,
    COMPARE_EQ,
    COMPARE_NE,
    COMPARE_LT,
    COMPARE_LE,
    COMPARE_GT,
    COMPARE_GE
};

struct json_path_step {
    enum json_path_step_type type;
    const char *name; /* for STEP_NAME and STEP_DEEP */

    /* For STEP_SLICE. If `one` is set, the step selects only the element at `first`. Otherwise it
     * selects every `stride`-th element from `first` (default: 0) up to, but without, `end`
     * (default: the end of the list). Negative positions count from the end of the list. */
    bool one, has_first, has_end;
    int64_t first, end, stride;

    /* For STEP_FILTER. The first value at the path `left` within the element is compared with
     * `right`. `right` is NULL for COMPARE_EXISTS. */
    const struct json_path *left;
    enum json_path_comparison comparison;
    const struct json *right;
};

struct json_path {
    struct json_path_step steps[JSON_PATH_STEPS_MAX];
    size_t count;
};

#endif

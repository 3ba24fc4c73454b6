/* The factor by which a test does more than in `make test`: TRAINYARD_TEST_SCALE, which `make soak`
 * sets. */
#ifndef TRAINYARD_TESTS_LIB_TEST_SCALE_H
#define TRAINYARD_TESTS_LIB_TEST_SCALE_H

#include <stdbool.h>
#include <stdlib.h>

static inline unsigned test_scale(void)
{
    const char *text = getenv("TRAINYARD_TEST_SCALE");
    int scale = text ? atoi(text) : 1;
    return scale > 1 ? (unsigned)scale : 1;
}

/* Whether a test that can try all cases should do so. */
static inline bool test_is_soak(void)
{
    return test_scale() > 1;
}

#endif
